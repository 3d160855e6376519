"""What comes out: numbers against independent references, and scikit-learn's conventions."""

import importlib.util
import pathlib
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from conftest import low_rank
from sklearn.base import clone
from sklearn.decomposition import NMF
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler

from fairer_nmf import FairerNMF, _core, _data, estimate_baseline

ROOT = pathlib.Path(__file__).resolve().parents[3]


def losses(X, W, H, groups, names, E):
    """Losses in plain NumPy."""
    R = X - W @ H
    return np.array(
        [
            (np.linalg.norm(R[groups == g]) - e) / np.linalg.norm(X[groups == g])
            for g, e in zip(names, E)
        ]
    )


@pytest.mark.parametrize("method", ["am", "mu", "standard"])
def test_losses_are_those_that_numpy_finds(method, data):
    X, groups = data
    model = FairerNMF(4, method=method, random_state=0)
    W = model.fit_transform(X, sensitive_features=groups)
    H, E = model.components_, model.baseline_errors_
    expected = losses(X, W, H, groups, model.groups_, E)
    np.testing.assert_allclose(model.group_losses_, expected, atol=1e-9)
    np.testing.assert_allclose(model.group_errors_, expected + E / model.group_norms_, atol=1e-9)
    assert model.worst_loss_ == model.group_losses_.max()
    assert model.history_.shape == (model.n_iter_, 3)
    assert (W >= 0).all() and (H >= 0).all()
    assert model.global_bound_ <= model.worst_loss_ + 1e-9
    if method == "am":
        assert 0 <= model.step_gap_ < 1e-5
        assert (np.diff(model.history_.max(axis=1)) < 1e-7).all()


def test_am_is_fairer_than_standard(data):
    X, groups = data
    fair = FairerNMF(3, random_state=0).fit(X, sensitive_features=groups)
    standard = FairerNMF(3, method="standard", random_state=0).fit(X, sensitive_features=groups)
    assert (fair.criterion_, standard.criterion_) == ("adjusted-loss", "loss")
    assert fair.worst_criterion_ < standard.worst_loss_
    np.testing.assert_allclose(fair.baseline_errors_, standard.baseline_errors_)
    fair.set_params(baseline="best").fit(X, sensitive_features=groups)
    assert fair.criterion_ == "loss" and fair.worst_criterion_ == fair.worst_loss_
    assert fair.worst_loss_ < standard.worst_loss_


@pytest.mark.parametrize("update", ["auto", "mu", "hals", "nnls"])
def test_standard_finds_the_error_of_scikit_learn(update):
    X = low_rank(200, 40, 5, noise=0.3)
    ours = FairerNMF(5, method="standard", update=update, tol=1e-6, n_init=5, random_state=0).fit(X)
    theirs = min(
        NMF(5, init="random", solver="cd", tol=1e-7, max_iter=3000, random_state=s)
        .fit(X)
        .reconstruction_err_
        for s in range(5)
    )
    assert ours.group_errors_[0] * np.linalg.norm(X) == pytest.approx(theirs, rel=5e-3)


def test_twenty_mu_iterations_are_the_papers(data):
    """Against `references/paper_mu.py`, written from the paper's Algorithm 3."""
    source = ROOT / "references/paper_mu.py"
    spec = importlib.util.spec_from_file_location("paper_mu", source)
    paper = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(paper)
    X, labels = data
    groups = _data.encode_groups(labels)
    rng = np.random.default_rng(1)
    W, H = rng.random((len(X), 4)), rng.random((4, X.shape[1]))
    E = np.array([0.5, 0.7, 0.9])
    expected = paper.fairer_mu(
        X, groups.codes, E, W, H, start="equal", stop=None, max_iterations=20, clip=0.0
    )
    settings = FairerNMF(4, method="mu", baseline=E, max_iter=20, tol=0.0)._settings(groups)
    settings["polish"] = False
    model, ours = _core.fit(X, groups, settings, H, W)
    np.testing.assert_allclose(ours, expected["W"], rtol=1e-9)
    np.testing.assert_allclose(model.components, expected["H"], rtol=1e-9)
    np.testing.assert_allclose(model.losses, expected["losses"], rtol=1e-9)


@pytest.mark.parametrize("normalize", [None, "features"])
def test_a_given_start_is_used(normalize, data):
    X, groups = data
    first = FairerNMF(3, random_state=0, normalize=normalize)
    W = first.fit_transform(X, sensitive_features=groups)
    again = FairerNMF(3, random_state=1, normalize=normalize, baseline=first.baseline_errors_)
    again.fit_transform(X, sensitive_features=groups, W=W, H=first.components_)
    # The method never loses what it starts with.
    assert (again.history_.max(axis=1) <= first.worst_loss_ + 1e-6).all()
    with pytest.raises(ValueError, match="the start's components is 2 x 15, expected 3 x 15"):
        again.fit(X, sensitive_features=groups, H=first.components_[:2])


def test_normalised_features_are_the_papers_and_components_speak_of_the_original(data):
    X, groups = data
    X = X * np.linspace(0.1, 100, X.shape[1])
    scale = 1 / np.linalg.norm(X, axis=0)
    inside = FairerNMF(4, normalize="features", baseline="paper", random_state=0)
    W = inside.fit_transform(X, sensitive_features=groups)
    outside = FairerNMF(4, baseline="paper", random_state=0)
    W2 = outside.fit_transform(X * scale, sensitive_features=groups)
    np.testing.assert_allclose(inside.group_losses_, outside.group_losses_, atol=1e-7)
    np.testing.assert_allclose(W, W2, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(inside.components_ * scale, outside.components_, rtol=1e-4, atol=1e-7)
    relative = np.linalg.norm(X - inside.inverse_transform(W)) / np.linalg.norm(X)
    assert relative < 0.2
    np.testing.assert_allclose(inside.transform(X), W, rtol=1e-5, atol=1e-7)
    assert inside.score(X, sensitive_features=groups) == pytest.approx(-inside.worst_loss_)


@pytest.mark.parametrize("method", ["am", "mu", "standard"])
def test_transform_needs_no_groups_and_agrees_with_the_fit(method, data):
    X, groups = data
    model = FairerNMF(4, method=method, random_state=0)
    W = model.fit_transform(X, sensitive_features=groups)
    np.testing.assert_allclose(model.transform(X), W, atol=1e-7)
    np.testing.assert_allclose(model.inverse_transform(W), W @ model.components_)
    with pytest.raises(ValueError, match="3 columns, the model has 4 topics"):
        model.inverse_transform(W[:, :3])


@pytest.mark.parametrize("baseline", ["adjusted", "best"])
def test_score_is_minus_the_worst_of_the_criterion(data, baseline):
    X, groups = data
    model = FairerNMF(4, baseline=baseline, random_state=0).fit(X, sensitive_features=groups)
    assert model.score(X, sensitive_features=groups) == pytest.approx(-model.worst_criterion_)
    # Relative losses do not depend on the unit of the data.
    assert model.score(7 * X, sensitive_features=groups) == pytest.approx(-model.worst_criterion_)
    plain = FairerNMF(4, method="standard", random_state=0).fit(X)
    error = np.linalg.norm(X - plain.inverse_transform(plain.transform(X))) / np.linalg.norm(X)
    assert plain.score(X) == pytest.approx(-error)
    with pytest.raises(ValueError, match="group 'new' was not in the fit"):
        model.score(X, sensitive_features=["new"] * len(X))


def test_without_groups_it_is_plain_nmf(data):
    X, _ = data
    model = FairerNMF(4, random_state=0).fit(X)
    assert model.groups_.tolist() == ["all"]
    assert model.baseline_errors_.tolist() == [0.0]
    assert model.worst_loss_ == model.group_errors_[0]
    assert model.global_bound_ is None


def test_seeds(data):
    X, groups = data
    fit = lambda seed, **p: FairerNMF(3, random_state=seed, **p).fit(X, sensitive_features=groups)
    np.testing.assert_array_equal(fit(1).components_, fit(1).components_)
    np.testing.assert_array_equal(fit(1, n_jobs=1).components_, fit(1, n_jobs=3).components_)
    assert (fit(1).components_ != fit(2).components_).any()
    for make in (np.random.RandomState, np.random.default_rng):
        np.testing.assert_array_equal(fit(make(3)).components_, fit(make(3)).components_)
    fit(None)
    assert fit(0, n_init=4).worst_loss_ <= fit(0).worst_loss_


def test_baselines(data):
    X, groups = data
    E = estimate_baseline(X, 3, sensitive_features=groups, baseline="paper", random_state=0)
    model = FairerNMF(3, baseline="paper", random_state=0).fit(X, sensitive_features=groups)
    assert list(E) == ["large", "middle", "small"] == model.groups_.tolist()
    np.testing.assert_array_equal(E.errors, model.baseline_errors_)
    np.testing.assert_array_equal(E.norms, model.group_norms_)
    assert E.run_errors.shape == (3, 5)
    np.testing.assert_allclose(E.run_errors.mean(axis=1), E.errors)
    assert E.to_frame().loc["small", "baseline_error"] == E["small"]
    for baseline in (E, dict(E), E.errors, list(E.errors), pd.Series(dict(E))):
        again = FairerNMF(3, random_state=0, baseline=baseline).fit(X, sensitive_features=groups)
        np.testing.assert_array_equal(again.components_, model.components_)
    zero = FairerNMF(3, random_state=0, baseline="zero").fit(X, sensitive_features=groups)
    np.testing.assert_array_equal(zero.group_losses_, zero.group_errors_)
    best = estimate_baseline(X, 3, sensitive_features=groups, baseline="best", random_state=0)
    assert (best.errors <= E.errors * 1.0001).all()
    with pytest.raises(ValueError, match="no number for group 'middle'"):
        FairerNMF(3, baseline={"large": 1, "small": 1}).fit(X, sensitive_features=groups)
    with pytest.raises(ValueError, match="baseline errors: 2 values for 3 groups"):
        FairerNMF(3, baseline=[1.0, 2.0]).fit(X, sensitive_features=groups)


def test_clone_pickle_and_output(data):
    X, groups = data
    model = FairerNMF(3, random_state=0, normalize="features").fit(X, sensitive_features=groups)
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.transform(X), model.transform(X))
    np.testing.assert_array_equal(twin.history_, model.history_)
    np.testing.assert_array_equal(twin._model.losses, model._model.losses)
    np.testing.assert_array_equal(twin._model.norms, model._model.norms)
    assert not hasattr(clone(model), "components_")
    assert model.get_feature_names_out().tolist() == ["fairernmf0", "fairernmf1", "fairernmf2"]
    frame = pd.DataFrame(X, index=range(5, 5 + len(X)), columns=[f"f{i}" for i in range(15)])
    named = clone(model).set_output(transform="pandas")
    W = named.fit_transform(frame, sensitive_features=groups)
    assert W.columns.tolist() == ["fairernmf0", "fairernmf1", "fairernmf2"]
    assert W.index.equals(frame.index)


def test_save_and_load(tmp_path, data):
    X, groups = data
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(15)])
    for parameters in (
        {"normalize": "features"},
        {"method": "standard", "update": "mu", "baseline": "best", "baseline_runs": 2},
        {"method": "mu", "baseline": [0.1, 0.2, 0.3]},
        {"baseline": "zero", "init": "random", "tol": 1e-3},
    ):
        model = FairerNMF(3, random_state=5, **parameters).fit(frame, sensitive_features=groups)
        path = tmp_path / "model.safetensors"
        model.save(path)
        loaded = FairerNMF.load(path)
        np.testing.assert_array_equal(loaded.transform(frame), model.transform(frame))
        np.testing.assert_array_equal(loaded.group_losses_, model.group_losses_)
        assert loaded.feature_names_in_.tolist() == frame.columns.tolist()
        again = clone(loaded).fit(frame, sensitive_features=groups)
        np.testing.assert_array_equal(again.components_, model.components_)


def test_the_model_file_is_safetensors(tmp_path, data):
    """Readable without this package: length, JSON header, numbers."""
    import json

    X, groups = data
    model = FairerNMF(3, random_state=0).fit(X, sensitive_features=groups)
    model.save(tmp_path / "m.safetensors")
    content = (tmp_path / "m.safetensors").read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    begin, end = header["components"]["data_offsets"]
    H = np.frombuffer(content[8 + length :][begin:end], "<f8").reshape(header["components"]["shape"])
    np.testing.assert_array_equal(H, model.components_)


def test_pipeline_and_grid_search_with_routing(data):
    X, groups = data
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(MinMaxScaler(), FairerNMF(3, random_state=0))
        pipeline.fit(X, sensitive_features=groups)
        assert len(pipeline[-1].groups_) == 3
        y = np.arange(len(X)) % 2
        classifier = make_pipeline(FairerNMF(3, random_state=0), LogisticRegression())
        classifier.fit(X, y, sensitive_features=groups)
        assert len(classifier[0].groups_) == 3
        assert classifier.predict(X).shape == y.shape
        order = np.random.default_rng(0).permutation(len(X))
        search = GridSearchCV(
            FairerNMF(random_state=0, tol=1e-3), {"n_components": [2, 5], "baseline": ["zero"]}, cv=3
        )
        search.fit(X[order], sensitive_features=groups[order])
        assert search.best_params_["n_components"] == 5
        assert len(search.best_estimator_.groups_) == 3
        search = GridSearchCV(
            make_pipeline(MaxAbsScaler(), FairerNMF(random_state=0, tol=1e-3, baseline="zero")),
            {"fairernmf__n_components": [2, 5]},
            cv=3,
            error_score="raise",
        )
        search.fit(X[order], sensitive_features=groups[order])
        assert search.best_params_ == {"fairernmf__n_components": 5}
        assert pipeline.score(X, sensitive_features=groups) == pytest.approx(
            -pipeline[-1].worst_criterion_
        )
        refused = make_pipeline(
            FairerNMF(3, random_state=0).set_fit_request(sensitive_features=False)
        )
        with pytest.raises(TypeError):
            refused.fit(X, sensitive_features=groups)


def test_pipeline_and_grid_search_without_routing(data):
    X, groups = data
    pipeline = make_pipeline(MinMaxScaler(), FairerNMF(3, random_state=0))
    pipeline.fit(X, fairernmf__sensitive_features=groups)
    assert len(pipeline[-1].groups_) == 3
    search = GridSearchCV(FairerNMF(method="standard", random_state=0), {"n_components": [2, 4]}, cv=3).fit(X)
    assert search.best_params_ == {"n_components": 4}


@pytest.mark.parametrize(
    ("parameters", "error", "sentence"),
    [
        ({"n_components": 0}, ValueError, "n_components is 0: must be at least 1"),
        ({"n_components": 2.5}, TypeError, "n_components must be an integer, found 2.5"),
        ({"n_components": True}, TypeError, "n_components must be an integer"),
        ({"method": "magic"}, ValueError, "method is 'magic': expected 'am', 'mu' or 'standard'"),
        ({"update": "hals"}, ValueError, "update is 'hals': expected 'auto' unless"),
        ({"method": "standard", "update": "x"}, ValueError, "update is 'x': expected"),
        ({"init": "custom"}, ValueError, "init is 'custom': expected 'auto', 'random', 'nndsvd'"),
        ({"baseline": "worst"}, ValueError, "baseline is 'worst'"),
        ({"baseline": [-1.0, 1.0, 1.0]}, ValueError, "must be finite and not negative"),
        ({"baseline_runs": 0}, ValueError, "baseline_runs is 0"),
        ({"n_init": 0}, ValueError, "n_init is 0"),
        ({"tol": -1.0}, ValueError, "tolerance is -1: must be finite and not negative"),
        ({"tol": "small"}, TypeError, "tol must be a number"),
        ({"max_iter": 0}, ValueError, "max_iter is 0"),
        ({"normalize": "rows"}, ValueError, "normalize is 'rows': expected 'features' or None"),
        ({"n_jobs": 0}, ValueError, "n_jobs is 0"),
        ({"random_state": -1}, ValueError, "random_state is -1"),
        ({"random_state": 2**64}, ValueError, r"must be from 0 to 2\*\*64 - 1"),
        ({"n_components": 2**70}, ValueError, "n_components is .*: must be at most 2147483647"),
        ({"n_jobs": 10**6}, ValueError, "n_jobs is 1000000: must be at most 1024"),
    ],
)
def test_wrong_parameters(parameters, error, sentence, data):
    X, groups = data
    with pytest.raises(error, match=sentence):
        FairerNMF(**parameters).fit(X, sensitive_features=groups)


def test_wrong_data(data, tmp_path):
    X, groups = data
    model = FairerNMF(3, random_state=0)
    bad = X.copy()
    bad[7, 2] = -0.5
    with pytest.raises(ValueError, match=r"Negative values in data: entry at row 7, column 2 is -0.5"):
        model.fit(bad, sensitive_features=groups)
    bad[7, 2] = np.nan
    with pytest.raises(ValueError, match="entry at row 7, column 2 is NaN"):
        model.fit(bad, sensitive_features=groups)
    with pytest.raises(ValueError, match="119 group labels for 120 rows: give one label per row"):
        model.fit(X, sensitive_features=groups[1:])
    with pytest.raises(TypeError, match="sensitive_features must be a list"):
        model.fit(X, sensitive_features="sex")
    zero = X.copy()
    zero[groups == "small"] = 0
    with pytest.raises(ValueError, match="all entries of group 'small' are zero"):
        model.fit(zero, sensitive_features=groups)
    with pytest.raises(ValueError, match="all entries are zero: there is nothing to factorise"):
        model.fit(np.zeros((5, 3)))
    model.fit(X, sensitive_features=groups)
    even = model.score(X, sensitive_features=groups, sample_weight=np.full(len(X), 4.0))
    assert even == pytest.approx(model.score(X, sensitive_features=groups))
    with pytest.raises(ValueError, match="14 features"):
        model.transform(X[:, 1:])
    assert (model.transform(np.zeros((2, 15))) == 0).all()
    with pytest.raises(FileNotFoundError, match="nowhere"):
        model.save(tmp_path / "nowhere" / "m.safetensors")
    with pytest.raises(OSError, match="absent"):
        FairerNMF.load(tmp_path / "absent.safetensors")
    (tmp_path / "foreign").write_bytes(b"\x08\0\0\0\0\0\0\0{}      ")
    with pytest.raises(ValueError, match="not a model of fairer-nmf"):
        FairerNMF.load(tmp_path / "foreign")


def test_the_default_fit_allows_every_group_what_a_random_one_would_pay(data):
    X, groups = data
    model = FairerNMF(3, random_state=0).fit(X, sensitive_features=groups)
    assert model.criterion_ == "adjusted-loss" and (model.group_allowances_ > 0).all()
    excess = model.group_losses_ - model.group_allowances_
    assert model.worst_criterion_ == pytest.approx(excess.max())
    assert model.worst_loss_ == pytest.approx(model.group_losses_.max())
    assert model.global_bound_ <= model.worst_criterion_ + 1e-9
    assert model.score(X, sensitive_features=groups) == pytest.approx(-excess.max())
    mean, low, high = model.group_chance_.T
    assert (low <= mean).all() and (mean <= high).all()
    paper = FairerNMF(3, baseline="paper", random_state=0).fit(X, sensitive_features=groups)
    assert paper.criterion_ == "loss" and paper.worst_criterion_ == paper.worst_loss_
    assert not hasattr(paper, "group_chance_")
    held_out = FairerNMF(3, baseline="held-out", random_state=0).fit(X, sensitive_features=groups)
    assert (held_out.baseline_errors_ > model.baseline_errors_).all()
    for fitted in (model, paper, held_out):
        again = clone(pickle.loads(pickle.dumps(fitted)))
        assert again.baseline == fitted.baseline


def test_small_groups_stay_outside_or_are_put_together(tmp_path):
    X = np.random.default_rng(1).random((66, 8))
    groups = np.array([1] * 3 + [2] * 3 + [3] * 20 + [4] * 40)
    with pytest.warns(UserWarning, match="outside the maximum, inside the total"):
        model = FairerNMF(4, random_state=0).fit(X, sensitive_features=groups)
    assert model._model.outside == [True, True, False, False]
    assert model.worst_loss_ == model.group_losses_[2:].max()
    assert model.score(X, sensitive_features=groups) == pytest.approx(-model.worst_criterion_)
    with pytest.warns(UserWarning, match="no more rows than topics"):
        FairerNMF(4, allow_small_groups=True, random_state=0).fit(X, sensitive_features=groups)
    merged = FairerNMF(4, merge_small=5, random_state=0).fit(X, sensitive_features=groups)
    assert merged.groups_.tolist() == [3, 4, "Other"]
    # On other data the groups are those of the fit, whatever their sizes there.
    assert merged.score(X[:20], sensitive_features=[1, 9, 3, 4] * 5) < 0
    model.save(tmp_path / "m.safetensors")
    assert FairerNMF.load(tmp_path / "m.safetensors").allow_small_groups is False
