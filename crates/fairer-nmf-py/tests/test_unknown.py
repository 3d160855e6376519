"""Unknown groups, penalties, unobserved cells and `compare`: against scikit-learn, SciPy and the program."""

import json
import subprocess

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.decomposition import NMF
from test_program import PROGRAM

import fairer_nmf
from fairer_nmf import FairerNMF, audit, compare, sweep
from fairer_nmf.datasets import make_synthetic_1

RANK = 3


def low_rank(seed=0, rows=40, features=9, noise=0.05):
    rng = np.random.default_rng(seed)
    W, H = rng.random((rows, RANK)) ** 2, rng.random((RANK, features)) ** 3
    return W @ H + noise * rng.random((rows, features)), W, H


def objective(X, W, H, alpha_W, alpha_H, l1_ratio):
    """Give scikit-learn's objective, from its documentation."""
    alpha_H = alpha_W if alpha_H == "same" else alpha_H
    (m, n), l2 = X.shape, 1 - l1_ratio
    return (
        0.5 * np.sum((X - W @ H) ** 2)
        + n * alpha_W * (l1_ratio * W.sum() + 0.5 * l2 * np.sum(W**2))
        + m * alpha_H * (l1_ratio * H.sum() + 0.5 * l2 * np.sum(H**2))
    )


@pytest.mark.parametrize("update", ["hals", "nnls"])
@pytest.mark.parametrize(
    "penalties",
    [
        {"alpha_W": 0.001},
        {"alpha_W": 0.001, "l1_ratio": 1.0},
        {"alpha_W": 0.002, "alpha_H": 0.0005, "l1_ratio": 0.5},
    ],
)
@pytest.mark.filterwarnings("ignore:.*Convergence")
def test_the_objective_is_scikit_learns_at_its_optimum(penalties, update):
    X, W, H = low_rank()
    theirs = NMF(RANK, init="custom", solver="cd", tol=1e-12, max_iter=50_000, **penalties)
    their_W = theirs.fit_transform(X, W=W.copy(), H=H.copy())
    ours = FairerNMF(RANK, method="standard", update=update, tol=1e-12, **penalties)
    our_W = ours.fit_transform(X, W=W, H=H)
    all_of = {"alpha_H": "same", "l1_ratio": 0.0, **penalties}
    a = objective(X, our_W, ours.components_, **all_of)
    b = objective(X, their_W, theirs.components_, **all_of)
    assert a == pytest.approx(b, rel=1e-5)
    # The same coordinates of new rows for the same dictionary.
    theirs.components_ = ours.components_
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=2e-4)


def test_penalties_are_for_standard_nmf_alone():
    X, *_ = low_rank()
    with pytest.raises(ValueError, match="method='standard'"):
        FairerNMF(2, alpha_W=0.1).fit(X, sensitive_features=[0, 1] * 20)
    with pytest.raises(ValueError, match="hals or nnls"):
        FairerNMF(2, method="standard", update="mu", alpha_W=0.1).fit(X)
    with pytest.raises(ValueError, match="alpha_H is 'other'"):
        FairerNMF(2, method="standard", alpha_H="other").fit(X)


def test_the_worst_share_never_rises_and_is_what_its_definition_says(tmp_path):
    X, *_ = low_rank(rows=60)
    X[50:] = 0  # rows of zeros have error 0
    share = 0.2
    model = FairerNMF(RANK, worst_share=share, random_state=0).fit(X)
    assert np.all(np.diff(model.worst_share_history_) <= 0)
    left = np.linalg.norm(X - model.transform(X) @ model.components_, axis=1)
    norms = np.linalg.norm(X, axis=1)
    errors = np.divide(left, norms, out=np.zeros(60), where=norms > 0)
    worst = np.sort(errors)[::-1][: int(share * 60)].mean()
    assert model.worst_share_error_ == pytest.approx(worst, abs=1e-6)
    model.save(tmp_path / "m")
    back = FairerNMF.load(tmp_path / "m")
    assert back.worst_share == share
    assert back.worst_share_error_ == model.worst_share_error_
    with pytest.raises(ValueError, match="objective of its own"):
        FairerNMF(2, worst_share=0.1, method="standard").fit(X)
    with pytest.raises(ValueError, match="at most 1"):
        FairerNMF(2, worst_share=2.0).fit(X)


@pytest.mark.parametrize("how", ["topics", "errors", "held-out-errors"])
def test_groups_are_found(how, tmp_path):
    X, _ = make_synthetic_1(random_state=0)
    X = X[::10]
    model = FairerNMF(2, discover=how, discover_groups=3, random_state=0, baseline="best", n_init=1)
    labels = model.fit(X).discovered_labels_
    assert not hasattr(model, "group_chance_")
    assert labels.shape == (len(X),)
    assert np.bincount(labels).tolist() == list(model._model.rows)
    assert clone(model).fit(X).discovered_labels_.tolist() == labels.tolist()
    model.save(tmp_path / "m")
    assert FairerNMF.load(tmp_path / "m").discover == how
    with pytest.raises(ValueError, match="finds the groups itself"):
        model.fit(X, sensitive_features=labels)
    with pytest.raises(ValueError, match="discover is 'rows'"):
        FairerNMF(2, discover="rows").fit(X)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_unobserved_cells_are_nan_or_masked(dtype):
    X, *_ = low_rank()
    X = X.astype(dtype)
    gaps = np.random.default_rng(1).random(X.shape) < 0.2
    holed = np.where(gaps, np.nan, X).astype(dtype)
    groups = np.arange(40) % 2
    settings = {"missing": "unobserved", "random_state": 0, "baseline": "best", "baseline_runs": 1}
    model = FairerNMF(2, **settings).fit(holed, sensitive_features=groups)
    masked = FairerNMF(2, **settings).fit(np.ma.array(X, mask=gaps), sensitive_features=groups)
    np.testing.assert_array_equal(model.components_, masked.components_)
    expected = [1 - gaps[groups == g].mean() for g in (0, 1)]
    np.testing.assert_allclose(model.observed_shares_, expected)
    assert model.global_bound_ is None
    W = model.transform(holed)
    for row, w, gap in zip(X, W, gaps, strict=True):
        exact, _ = nnls(model.components_[:, ~gap].T, row[~gap].astype(float))
        np.testing.assert_allclose(w, exact, atol=2e-4 if dtype == np.float32 else 1e-6)
    left = np.where(gaps, 0, X - W @ model.components_)
    errors = [
        np.linalg.norm(left[groups == g]) / np.linalg.norm(np.where(gaps, 0, X)[groups == g])
        for g in (0, 1)
    ]
    np.testing.assert_allclose(model.group_errors_, errors, rtol=1e-3)
    with pytest.raises(ValueError, match="nan|NaN"):
        FairerNMF(2).fit(holed, sensitive_features=groups)
    with pytest.raises(ValueError, match="missing is 'drop'"):
        FairerNMF(2, missing="drop").fit(holed)


def test_an_audit_of_unobserved_cells_is_of_the_others(tmp_path):
    X, *_ = low_rank()
    X = np.vstack([X, X + 0.1])
    gaps = np.random.default_rng(1).random(X.shape) < 0.2
    holed = np.where(gaps, np.nan, X)
    groups = np.arange(len(X)) % 2
    model = FairerNMF(2, missing="unobserved", random_state=0).fit(holed, sensitive_features=groups)
    found = audit(holed, model, sensitive_features=groups, draws=20)
    W = model.transform(holed)
    left = np.where(gaps, 0, X - W @ model.components_)
    seen = np.where(gaps, 0, X)
    for g in (0, 1):
        expected = np.linalg.norm(left[groups == g]) / np.linalg.norm(seen[groups == g])
        assert found.by_group["relative_error"][g] == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(found.by_group["relative_error"], model.group_errors_, rtol=1e-3)
    masked = audit(np.ma.array(X, mask=gaps), model, sensitive_features=groups)
    np.testing.assert_array_equal(masked.by_group["loss"], found.by_group["loss"])
    worst = model.worst_criterion_
    assert model.score(holed, sensitive_features=groups) == pytest.approx(-worst, abs=1e-3)
    page = found.report(draws=20, permutations=20, chance_draws=20)
    assert "over observed cells" in page.html()
    said = json.loads(page.json())["who_pays"]["groups"]
    np.testing.assert_allclose([g["observed"] for g in said], model.observed_shares_)
    with pytest.raises(ValueError, match="nan|NaN"):
        audit(holed, model.components_, sensitive_features=groups)
    given = audit(holed, model.components_, sensitive_features=groups, missing="unobserved", baseline="zero")
    assert given.by_group["relative_error"][0] == pytest.approx(found.by_group["relative_error"][0])
    with pytest.raises(ValueError, match="missing is 'zero'"):
        audit(X, model, sensitive_features=groups, missing="zero")
    # The program says the same of the same file and model.
    names = [f"f{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(holed, columns=names).assign(g=groups)
    frame.to_csv(tmp_path / "x.csv", index=False)
    asked = ["--group-by", "g", "--missing", "unobserved", "--quiet"]
    fit = ["fit", "x.csv", "-r", "2", "--normalize", "none", "--model", "m", "--json", "f.json", *asked]
    check = ["audit", "x.csv", "--model", "m", "--json", "a.json", "--draws", "0", *asked]
    for command in (fit, check):
        subprocess.run([PROGRAM, *command], cwd=tmp_path, check=True)
    fitted, audited = (json.loads((tmp_path / name).read_text()) for name in ("f.json", "a.json"))
    for one, other in zip(fitted["groups"], audited["groups"], strict=True):
        assert other["relative_error"] == pytest.approx(one["relative_error"], rel=1e-4)
        assert other["observed"] == one["observed"]
    assert audited["global_bound"] is None


def test_groups_that_were_found_are_not_tested():
    X, *_ = low_rank(rows=80)
    model = FairerNMF(2, discover="errors", random_state=0).fit(X)
    labels = model.groups_[model.discovered_labels_]
    found = audit(X, model, sensitive_features=labels)
    assert found.verdict["code"] == "not-tested"
    page = found.report(draws=20, permutations=20, chance_draws=20)
    assert "The groups were found in these data" in page.html()
    assert "relative_error_adjusted_p" not in page.json()
    # Other groups of the same rows are judged, and the dictionary itself: it evened out those that it found.
    others = audit(X, model, sensitive_features=np.arange(80) % 2)
    assert others.verdict["code"] != "not-tested"
    share = FairerNMF(2, worst_share=0.2, random_state=0).fit(X)
    judged = audit(X, share, sensitive_features=np.arange(80) % 2)
    assert not judged._subject.dictionary[2].evened_out(judged._subject.groups.names)
    with pytest.raises(ValueError, match="say how with discover"):
        FairerNMF(2, discover_groups=3).fit(X)


def test_what_needs_every_cell_says_so():
    X, *_ = low_rank()
    X[3, 2] = np.nan
    groups = np.arange(40) % 2
    with pytest.raises(ValueError, match="give the number of topics"):
        FairerNMF("auto", missing="unobserved").fit(X, sensitive_features=groups)
    with pytest.raises(ValueError, match="give a dense one"):
        FairerNMF(2, missing="unobserved").fit(sparse.csr_array(X), sensitive_features=groups)
    found = sweep(X, [2], sensitive_features=groups, methods=["am"], trials=1, missing="unobserved")
    assert np.isfinite(found.records["loss"]).all()


def test_families_may_have_their_intersections_beside_them(tmp_path):
    X, *_ = low_rank(rows=60)
    frame = pd.DataFrame({"sex": np.where(np.arange(60) % 3 == 0, "f", "m"), "old": np.arange(60) % 2})
    settings = {"baseline": "zero", "random_state": 0, "bound": False}
    model = FairerNMF(2, groups="each-and-combined", **settings).fit(X, sensitive_features=frame)
    found = audit(X, model, sensitive_features=frame, groups="each-and-combined", baseline="zero")
    assert found.by_group.loc["sex | old"]["rows"].sum() == 60
    alone = audit(X, model, sensitive_features=frame, baseline="zero")
    np.testing.assert_allclose(
        found.by_group.loc["sex | old"]["relative_error"], alone.by_group["relative_error"], rtol=1e-9
    )
    assert found.overall["rows"] == 60
    model.save(tmp_path / "m")
    assert FairerNMF.load(tmp_path / "m").groups == "each-and-combined"


def test_all_rows_are_counted_once_where_groups_overlap():
    X, *_ = low_rank(rows=60)
    members = pd.DataFrame({"f": np.arange(60) % 3 == 0, "east": np.arange(60) % 5 < 2})
    model = NMF(2, init="nndsvda", random_state=0, max_iter=1000).fit(X)
    found = audit(X, model, sensitive_features=members, groups="members", baseline="zero")
    rows = members.any(axis=1).to_numpy()
    W = found.representation
    expected = np.linalg.norm((X - W @ model.components_)[rows]) / np.linalg.norm(X[rows])
    assert found.overall_error == pytest.approx(expected, rel=1e-9)
    assert found.overall["rows"] == rows.sum()
    assert found.overall["relative_error"] == pytest.approx(expected, rel=1e-9)
    assert np.isnan(found.overall["loss"])
    # Rows in no group play no part, whatever the scaling.
    part = audit(
        X[rows], model, sensitive_features=members[rows], groups="members", baseline="zero", normalize="features",
    )  # fmt: skip
    whole = audit(X, model, sensitive_features=members, groups="members", baseline="zero", normalize="features")
    np.testing.assert_allclose(part.by_group["relative_error"], whole.by_group["relative_error"], rtol=1e-9)


def test_compare_has_the_numbers_of_the_program(tmp_path):
    X, groups = make_synthetic_1(random_state=0)
    X, groups = X[::20], np.asarray(groups)[::20]
    methods = ["standard", "am", "reweighted-norms", "fair-pca"]
    found = compare(X, 3, sensitive_features=groups, methods=methods, n_init=2, normalize="features")
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "g.txt").write_text("\n".join(map(str, groups)))
    asked = ["compare", "x.npy", "--groups", "g.txt", "-r", "3", "--n-init", "2", "--json", "c.json"]
    subprocess.run(
        [PROGRAM, *asked, "--methods", ",".join(methods), "--quiet"], cwd=tmp_path, check=True
    )
    theirs = json.loads((tmp_path / "c.json").read_text())
    assert found.attrs["global_bound"] == pytest.approx(theirs["global_bound"], rel=1e-9)
    for method in theirs["methods"]:
        ours = found[found["method"] == method["method"]]
        for column, key in (("loss", "losses"), ("relative_error", "relative_errors")):
            np.testing.assert_allclose(ours[column], method[key], rtol=1e-9)
        assert ours["total_error"].iloc[0] == pytest.approx(method["total_error"], rel=1e-9)
        assert ours["rows"].tolist() == theirs["rows"]
        for column in ("chance_mean", "chance_low", "chance_high"):
            np.testing.assert_allclose(ours[column], theirs[column], rtol=1e-9, err_msg=column)
    assert found.attrs["chance_draws"] == theirs["chance_draws"]
    twice = compare(X, 3, sensitive_features=groups, methods=["standard", "standard"], n_init=2)
    assert len(twice) == len(theirs["rows"]), "each method once"
    with pytest.raises(ValueError, match="expected some of standard"):
        compare(X, 3, sensitive_features=groups, methods=["best"])
    with pytest.raises(TypeError, match="fairness does not go with compare"):
        compare(X, 3, sensitive_features=groups, fairness=0.5)
    with pytest.raises(ValueError, match="take 'best'"):
        compare(X, 3, sensitive_features=groups, baseline="adjusted")


def test_a_cluster_refuses_what_needs_all_rows():
    pytest.importorskip("distributed")
    from fairer_nmf.dask import FairerNMF as ClusterNMF

    for name, value in (
        ("worst_share", 0.1), ("discover", "errors"), ("alpha_W", 0.1), ("missing", "unobserved"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"{name}={value!r} needs all rows in memory"):
            ClusterNMF(2, **{name: value})._check_settings()


def test_the_names_are_public():
    assert "compare" in fairer_nmf.__all__
