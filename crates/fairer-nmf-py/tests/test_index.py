"""Rows of pandas objects are matched by their index, wherever X and something else have one."""

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import NMF

from fairer_nmf import FairerNMF, audit, estimate_baseline


@pytest.fixture
def named(data):
    """X, labels and W with names of rows, and an order in which they are shuffled."""
    X, groups = data
    names = [f"row {i}" for i in range(len(X))]
    frame = pd.DataFrame(X, index=names, columns=[f"f{j}" for j in range(X.shape[1])])
    model = NMF(3, init="nndsvda", random_state=0, max_iter=500)
    W = pd.DataFrame(model.fit_transform(X), index=names)
    order = np.random.default_rng(0).permutation(len(X))
    return frame, pd.Series(groups, index=names, name="size"), W, model.components_, order


FORMS = {
    "series": lambda labels: labels,
    "frame": lambda labels: labels.to_frame(),
    "two columns": lambda labels: pd.DataFrame({"size": labels, "site": labels.str[0] == "s"}),
    "mapping": lambda labels: {"size": labels},
    "categorical": lambda labels: labels.astype("category"),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_the_order_of_labels_does_not_matter(form, named):
    X, labels, _, H, order = named
    shuffled = form(labels.iloc[order])
    fit = FairerNMF(3, random_state=0, n_init=1, baseline_runs=1)
    expected = fit.fit(X, sensitive_features=form(labels)).group_losses_
    score = fit.score(X, sensitive_features=form(labels))
    assert fit.score(X, sensitive_features=shuffled) == score
    np.testing.assert_array_equal(fit.fit(X, sensitive_features=shuffled).group_losses_, expected)
    E = [estimate_baseline(X, 2, sensitive_features=s, random_state=0) for s in (form(labels), shuffled)]
    np.testing.assert_array_equal(E[0].errors, E[1].errors)
    tables = [audit(X, H, sensitive_features=s).by_group for s in (form(labels), shuffled)]
    pd.testing.assert_frame_equal(*tables)


def test_the_order_of_coordinates_does_not_matter(named):
    X, labels, W, H, order = named
    right = audit(X, H, W=W, sensitive_features=labels).by_group
    pd.testing.assert_frame_equal(
        audit(X, H, W=W.iloc[order], sensitive_features=labels).by_group, right
    )
    fits = [
        FairerNMF(3, random_state=0, max_iter=3, tol=1.0).fit(X, sensitive_features=labels, W=w, H=H)
        for w in (W, W.iloc[order])
    ]
    np.testing.assert_array_equal(fits[0].components_, fits[1].components_)


def test_a_start_is_read_by_the_names_of_its_features(named):
    X, labels, W, H, _ = named
    H = pd.DataFrame(H, columns=X.columns)
    fits = [
        FairerNMF(3, random_state=0, max_iter=3, tol=1.0).fit(X, sensitive_features=labels, H=h)
        for h in (H, H[H.columns[::-1]])
    ]
    np.testing.assert_array_equal(fits[0].components_, fits[1].components_)


def test_other_indexes_are_refused_with_the_cure(named):
    X, labels, W, H, order = named
    other = labels.reset_index(drop=True)
    sentence = r"index of sensitive_features is not that of X: it has no 'row 0', .*to_numpy\(\)"
    model = FairerNMF(2, baseline="zero", random_state=0)
    for call in (
        lambda s: model.fit(X, sensitive_features=s),
        lambda s: model.fit(X.to_numpy(), sensitive_features=s) and model.score(X, sensitive_features=s),
        lambda s: audit(X, H, sensitive_features=s),
        lambda s: estimate_baseline(X, 2, sensitive_features=s),
    ):
        with pytest.raises(ValueError, match=sentence):
            call(other)
        with pytest.raises(ValueError, match=sentence):
            call(other.to_frame())
    with pytest.raises(ValueError, match=r"sensitive_features\['a'\] is not that of X"):
        model.fit(X, sensitive_features={"a": other})
    with pytest.raises(ValueError, match=r"the index of W is not that of X.*W\.to_numpy\(\)"):
        audit(X, H, W=W.reset_index(drop=True), sensitive_features=labels)
    # The cure works.
    model.fit(X, sensitive_features=other.to_numpy())


def test_repeated_names_are_fine_in_the_same_order_only(named):
    X, labels, _, H, order = named
    twice = [f"row {i // 2}" for i in range(len(X))]
    X, labels = X.set_axis(twice), labels.set_axis(twice)
    audit(X, H, sensitive_features=labels, baseline="zero")
    with pytest.raises(ValueError, match="'row 0' occurs more than once in that of X"):
        audit(X, H, sensitive_features=labels.iloc[order], baseline="zero")


def test_without_an_index_on_both_sides_the_order_counts(named):
    X, labels, _, H, order = named
    expected = audit(X, H, sensitive_features=labels, baseline="zero").by_group
    for given in (labels.to_numpy(), labels.tolist(), pd.Categorical(labels)):
        pd.testing.assert_frame_equal(
            audit(X, H, sensitive_features=given, baseline="zero").by_group, expected, check_names=False
        )
    bare = audit(X.to_numpy(), H, sensitive_features=labels.iloc[order], baseline="zero").by_group
    assert not np.allclose(bare["loss"], expected["loss"])


def test_observations_of_cells_are_matched_too(named):
    anndata = pytest.importorskip("anndata")
    X, labels, _, H, order = named
    cells = anndata.AnnData(X, obs=pd.DataFrame({"size": labels}))
    expected = audit(X, H, sensitive_features=labels, baseline="zero").by_group
    shuffled = cells.obs["size"].iloc[order]
    found = audit(cells.to_df(), H, sensitive_features=shuffled, baseline="zero").by_group
    np.testing.assert_allclose(found["loss"], expected["loss"])
