"""What users of scikit-learn's NMF look for."""


import warnings

import numpy as np
import pandas as pd
import pytest
from conftest import low_rank
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF, LatentDirichletAllocation, MiniBatchNMF
from sklearn.decomposition._nmf import _initialize_nmf
from sklearn.exceptions import ConvergenceWarning

from fairer_nmf import FairerNMF, audit, estimate_baseline


def test_the_reconstruction_error_is_scikit_learns():
    X = low_rank(120, 20, 4, noise=0.2)
    ours = FairerNMF(4, method="standard", tol=1e-7, random_state=0)
    W = ours.fit_transform(X)
    assert ours.reconstruction_err_ == pytest.approx(np.linalg.norm(X - W @ ours.components_))
    theirs = NMF(4, init="nndsvda", tol=1e-7, max_iter=5000, random_state=0).fit(X)
    assert ours.reconstruction_err_ == pytest.approx(theirs.reconstruction_err_, rel=1e-2)


@pytest.mark.parametrize("form", ["array", "frame"])
@pytest.mark.parametrize(
    "estimator",
    [
        NMF(3, init="nndsvda", max_iter=500),
        MiniBatchNMF(3, init="nndsvda", max_iter=20),
        LatentDirichletAllocation(3, max_iter=3),
        KMeans(3, n_init=1),
        FairerNMF(3, method="standard", random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_any_fitted_model_can_be_audited(estimator, form, data):
    X, groups = data
    if form == "frame":
        X = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    fitted = estimator.set_params(random_state=0).fit(X)
    H = fitted.cluster_centers_ if isinstance(fitted, KMeans) else fitted.components_
    expected = audit(X, H, sensitive_features=groups).by_group
    pd.testing.assert_frame_equal(audit(X, fitted, sensitive_features=groups).by_group, expected)
    if form == "frame":
        # The model knows the names of its features.
        other = audit(X[X.columns[::-1]], fitted, sensitive_features=groups).by_group
        np.testing.assert_allclose(other["relative_error"], expected["relative_error"], rtol=1e-6)


def test_topics_of_gensim_can_be_audited(data):
    X, groups = data

    class Gensim:  # what gensim's models offer
        def get_topics(self):
            return X[:3]

    expected = audit(X, X[:3], sensitive_features=groups).by_group
    pd.testing.assert_frame_equal(audit(X, Gensim(), sensitive_features=groups).by_group, expected)


def test_a_model_is_audited_with_the_scaling_of_its_fit(data):
    X, groups = data
    X = X * np.linspace(1, 9, X.shape[1])
    model = FairerNMF(4, random_state=0, normalize="features").fit(X, sensitive_features=groups)
    found = audit(X, model, sensitive_features=groups, random_state=0).by_group
    np.testing.assert_allclose(found["loss"], model.group_losses_, atol=1e-6)
    unscaled = audit(X, model, sensitive_features=groups, normalize=None, random_state=0).by_group
    assert not np.allclose(unscaled["norm"], found["norm"])


def test_what_is_no_dictionary_is_refused(data):
    X, groups = data
    with pytest.raises(TypeError, match="NMF has no components_: fit it first"):
        audit(X, NMF(3), sensitive_features=groups)
    with pytest.raises(ValueError, match=r"H is 15 x 4, and X has 15 features: is H transposed\?.*H\.T"):
        audit(X, X[:4].T, sensitive_features=groups)


def test_columns_are_named_in_messages(data):
    X, groups = data
    frame = pd.DataFrame(X, columns=[f"item {j}" for j in range(X.shape[1])])
    model = FairerNMF(3, random_state=0).fit(frame, sensitive_features=groups)
    frame.iloc[7, 2] = -0.5
    sentence = r"entry at row 7, column 2 \('item 2'\) is -0.5"
    for call in (
        lambda: model.fit(frame, sensitive_features=groups),
        lambda: model.score(frame, sensitive_features=groups),
        lambda: audit(frame, X[:3], sensitive_features=groups),
        lambda: estimate_baseline(frame, 2, sensitive_features=groups),
        lambda: model.transform(frame),
    ):
        with pytest.raises(ValueError, match=sentence):
            call()


def test_a_time_limit_ends_a_fit(tmp_path):
    X = low_rank(400, 60, 12, noise=0.5)
    model = FairerNMF(12, method="standard", tol=0.0, max_iter=1_000_000_000, time_limit=0.3, random_state=0)
    with pytest.warns(ConvergenceWarning, match="time"):
        model.fit(X)
    model.save(tmp_path / "m")
    assert FairerNMF.load(tmp_path / "m").time_limit == 0.3
    # One limit for finding the groups and fitting them; the model keeps what was asked for.
    found = FairerNMF(3, discover="errors", tol=0.0, max_iter=1_000_000_000, time_limit=0.3, random_state=0)
    with pytest.warns(ConvergenceWarning):
        found.fit(X)
    found.save(tmp_path / "found")
    assert FairerNMF.load(tmp_path / "found").time_limit == 0.3
    for wrong in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="time_limit is .*: expected seconds"):
            FairerNMF(2, time_limit=wrong).fit(X, sensitive_features=np.arange(400) % 2)
    with pytest.raises(TypeError, match="time_limit must be a number, found '5m'"):
        FairerNMF(2, time_limit="5m").fit(X, sensitive_features=np.arange(400) % 2)


def test_start_weights(data, tmp_path):
    X, groups = data
    def fit(weights):
        return FairerNMF(3, start_weights=weights, n_init=1, random_state=0).fit(X, sensitive_features=groups)

    even, bound = fit("even"), fit("bound")
    given = fit([1.0, 1.0, 5.0])
    assert (even.history_[0] != bound.history_[0]).any()
    by_label = {"small": 5.0, "middle": 1.0, "large": 1.0}
    for weights in (by_label, pd.Series(by_label)):
        np.testing.assert_array_equal(fit(weights).components_, given.components_)
    for model in (bound, given):
        model.save(tmp_path / "m")
        again = FairerNMF.load(tmp_path / "m").fit(X, sensitive_features=groups)
        np.testing.assert_array_equal(again.components_, model.components_)
    with pytest.raises(ValueError, match="start_weights is 'odd': expected 'even', 'bound' or one"):
        fit("odd")
    with pytest.raises(ValueError, match="start_weights has no number for group 'large'"):
        fit({"small": 1.0})


def test_the_bound_can_be_switched_off(data):
    X, groups = data
    without = FairerNMF(3, bound=False, random_state=0).fit(X, sensitive_features=groups)
    assert without.global_bound_ is None
    with_bound = FairerNMF(3, random_state=0).fit(X, sensitive_features=groups)
    assert with_bound.global_bound_ is not None
    np.testing.assert_array_equal(without.components_, with_bound.components_)


@pytest.mark.parametrize("init", ["nndsvd", "nndsvda"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_start_from_singular_vectors_is_scikit_learns(init, form):
    """One step of HALS from it against scikit-learn's own start, with exact singular vectors."""
    X = low_rank(80, 12, 5, noise=0.3)
    X[X < np.quantile(X, 0.2)] = 0.0
    U, S, V = np.linalg.svd(X, full_matrices=False)
    W, H = np.zeros((80, 4)), np.zeros((4, 12))
    for j in range(4):  # the published algorithm
        pairs = [(np.maximum(s * U[:, j], 0), np.maximum(s * V[j], 0)) for s in (1, -1)]
        u, v = max(pairs, key=lambda pair: np.linalg.norm(pair[0]) * np.linalg.norm(pair[1]))
        size = np.sqrt(S[j] * np.linalg.norm(u) * np.linalg.norm(v))
        W[:, j], H[j] = size * u / np.linalg.norm(u), size * v / np.linalg.norm(v)
    theirs = _initialize_nmf(X, 4, init="nndsvd", random_state=0)
    np.testing.assert_allclose(theirs[1], H, atol=1e-4)  # its singular vectors are randomised
    if init == "nndsvda":
        level = X.mean() / np.sqrt(np.sqrt((X**2).mean()))
        W[W == 0], H[H == 0] = level, level
    parameters = {"method": "standard", "random_state": 0, "tol": 0.0, "max_iter": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ours = FairerNMF(4, init=init, **parameters).fit(form(X))
        given = FairerNMF(4, **parameters).fit(form(X), W=W, H=H)
    np.testing.assert_allclose(ours.components_, given.components_, rtol=1e-4, atol=1e-6)
    # No seed, no restarts.
    again = FairerNMF(4, init=init, n_init=1, method="standard", random_state=5).fit(X)
    first = FairerNMF(4, init=init, n_init=4, method="standard", random_state=0).fit(X)
    np.testing.assert_array_equal(again.components_, first.components_)
    with pytest.raises(ValueError, match="rank is 13: a start by NNDSVD"):
        FairerNMF(13, init=init, method="standard").fit(X)


def test_zeros_that_multiplicative_updates_cannot_leave_are_remarked(data):
    X, groups = data
    for parameters in ({"method": "mu"}, {"method": "standard", "update": "mu"}):
        with pytest.warns(UserWarning, match="cannot leave the zeros of init='nndsvd'.*'nndsvda'"):
            FairerNMF(3, init="nndsvd", tol=1e-2, **parameters).fit(X, sensitive_features=groups)
