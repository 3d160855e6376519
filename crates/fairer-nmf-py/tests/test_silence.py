"""Nothing wrong in silence: what used to give another answer without a word is refused or remarked."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.decomposition import NMF
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from fairer_nmf import FairerNMF, audit, estimate_baseline


def test_a_score_without_groups_is_refused_after_a_fit_with_groups(data):
    X, groups = data
    model = FairerNMF(3, random_state=0).fit(X, sensitive_features=groups)
    with pytest.raises(ValueError, match=r"give sensitive_features.*enable_metadata_routing=True"):
        model.score(X)
    assert model.score(X, sensitive_features=groups) == pytest.approx(-model.worst_criterion_)


def test_cross_validation_without_routing_says_so(data):
    X, groups = data
    order = np.random.default_rng(0).permutation(len(X))
    X, groups = X[order], groups[order]
    model = FairerNMF(3, baseline="zero", n_init=1, random_state=0)
    with pytest.warns(UserWarning, match="enable_metadata_routing=True"):
        scores = cross_val_score(model, X, params={"sensitive_features": groups}, cv=3)
    assert np.isnan(scores).all()
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_val_score(model, X, params={"sensitive_features": groups}, cv=3)
    assert (scores < 0).all()


def test_a_fold_without_a_rare_group_is_named_and_stratifying_is_the_cure(data):
    X, groups = data  # sorted by group: plain folds lack whole groups
    model = FairerNMF(2, baseline="zero", n_init=1, random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        arguments = {"params": {"sensitive_features": groups}}
        with pytest.warns(UserWarning, match=r"'small' was not in the fit.*StratifiedKFold"):
            scores = cross_val_score(model, X, cv=6, **arguments)
        assert np.isnan(scores[0])
        folds = list(StratifiedKFold(5).split(X, groups))
        assert np.isfinite(cross_val_score(model, X, cv=folds, **arguments)).all()


@pytest.mark.parametrize("method", ["am", "mu"])
def test_a_method_that_needs_groups_warns_where_it_has_none(method, data):
    X, groups = data
    model = FairerNMF(3, method=method, tol=1e-3, random_state=0)
    with pytest.warns(UserWarning, match="y is ignored: groups are given as sensitive_features="):
        model.fit(X, groups)
    with pytest.warns(UserWarning, match="method='standard' if plain NMF is meant"):
        model.fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, groups, sensitive_features=groups)
        FairerNMF(3, method="standard", random_state=0).fit(X, groups)


def test_warnings_point_at_the_line_of_the_user(data):
    X, groups = data
    pipeline = make_pipeline(MaxAbsScaler(), FairerNMF(3, random_state=0))
    calls = [
        lambda: FairerNMF(3, random_state=0).fit(X),
        lambda: FairerNMF(3, random_state=0).fit_transform(X),
        lambda: FairerNMF(3, random_state=0).set_output(transform="pandas").fit_transform(X),
        lambda: pipeline.fit(X),
        lambda: pipeline.fit_transform(X),
        lambda: audit(X, X[:11], sensitive_features=groups, baseline_runs=1),
    ]
    for call in calls:
        with pytest.warns(UserWarning) as caught:
            call()
        assert {warning.filename for warning in caught} == {__file__}


def test_masks_are_refused(data):
    X, groups = data
    masked = np.ma.masked_array(X, mask=np.zeros(X.shape, dtype=bool))
    open_mask = audit(masked, X[:3], sensitive_features=groups, baseline="zero").by_group
    assert open_mask.equals(audit(X, X[:3], sensitive_features=groups, baseline="zero").by_group)
    masked[7, 2] = np.ma.masked
    model = FairerNMF(2, baseline="zero", random_state=0).fit(X, sensitive_features=groups)
    sentence = r"X has 1 masked entries, the first at \[7, 2\].*X\.filled\(0\)"
    for call in (
        lambda: model.fit(masked, sensitive_features=groups),
        lambda: model.transform(masked),
        lambda: model.score(masked, sensitive_features=groups),
        lambda: audit(masked, X[:3], sensitive_features=groups),
        lambda: estimate_baseline(masked, 2, sensitive_features=groups),
    ):
        with pytest.raises(ValueError, match=sentence):
            call()
    with pytest.raises(ValueError, match="H has 1 masked entries"):
        audit(X, masked[5:9], sensitive_features=groups)
    with pytest.raises(ValueError, match="W has 1 masked entries"):
        audit(X, X[:15], W=masked, sensitive_features=groups)
    labels = np.ma.masked_array(groups, mask=np.arange(len(X)) == 5)
    for given in (labels, labels[:, None], {"g": labels}):
        with pytest.raises(ValueError, match="row 5 has no group label"):
            model.fit(X, sensitive_features=given)


def test_a_relative_error_above_one_is_remarked(data):
    X, groups = data
    model = NMF(3, init="nndsvda", random_state=0, max_iter=500)
    W = model.fit_transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        audit(X, model.components_, W=W, sensitive_features=groups)
    with pytest.warns(UserWarning, match=r"more than there is .*'large' \(.*Was W computed for other"):
        table = audit(X / 10, model.components_, W=W, sensitive_features=groups).by_group
    assert (table["relative_error"] > 1).all()


def test_numbers_are_not_taken_for_labels(data):
    X, _ = data
    numbers = np.random.default_rng(0).random(len(X))
    sentence = r"forms 120 groups of 120 rows, more than max_groups \(100\): cut numbers"
    for call in (
        lambda: FairerNMF(2, random_state=0).fit(X, sensitive_features=numbers),
        lambda: audit(X, X[:2], sensitive_features=numbers),
        lambda: estimate_baseline(X, 2, sensitive_features=numbers),
    ):
        with pytest.raises(ValueError, match=sentence):
            call()
    # The limit can be raised and lowered.
    ids = np.arange(len(X)) // 1
    with pytest.warns(UserWarning):
        table = audit(X, X[:2], sensitive_features=ids, baseline="zero", max_groups=120).by_group
    assert len(table) == 120
    with pytest.raises(ValueError, match=r"forms 3 groups .* max_groups \(2\)"):
        FairerNMF(2, max_groups=2).fit(X, sensitive_features=np.arange(len(X)) % 3)
    cut = pd.cut(pd.Series(numbers), 3)
    assert len(audit(X, X[:2], sensitive_features=cut, baseline="zero").by_group) == 3


def test_many_small_groups_are_one_warning(data):
    X, _ = data
    with pytest.warns(UserWarning) as caught:
        FairerNMF(2, n_init=1, max_iter=50, tol=1e-2, random_state=0).fit(
            X, sensitive_features=np.arange(len(X)) // 2
        )
    sentences = [str(w.message) for w in caught if "rows than topics" in str(w.message)]
    assert len(sentences) == 1 == len(caught)
    assert "60 groups have no more rows than topics (2): '0' (2), " in sentences[0]
    assert "and 55 more" in sentences[0]
