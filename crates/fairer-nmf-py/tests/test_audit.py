"""Audits of any dictionary."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from scipy.optimize import nnls
from sklearn.decomposition import NMF

from fairer_nmf import FairerNMF, audit
from fairer_nmf.datasets import load_heart_disease, make_synthetic_1


def test_any_dictionary_gets_its_best_coordinates(data):
    X, groups = data
    H = NMF(4, init="nndsvda", random_state=0, max_iter=500).fit(X).components_
    result = audit(X, H=H, sensitive_features=groups)
    W = np.array([nnls(H.T, x)[0] for x in X])
    for g, row in result.by_group.iterrows():
        error = np.linalg.norm((X - W @ H)[groups == g])
        norm = np.linalg.norm(X[groups == g])
        assert row["norm"] == pytest.approx(norm)
        assert row["rows"] == (groups == g).sum()
        assert row["relative_error"] == pytest.approx(error / norm)
        assert row["loss"] == pytest.approx((error - row["baseline_error"]) / norm)
    np.testing.assert_allclose(result.representation, W, atol=1e-8)
    losses = result.by_group["loss"]
    assert result.worst == losses.max() == losses[result.worst_group]
    assert result.difference()["loss"] == losses.max() - losses.min()
    assert result.overall_error == pytest.approx(np.linalg.norm(X - W @ H) / np.linalg.norm(X))


def test_a_pair_is_taken_as_it_is(data):
    X, groups = data
    model = NMF(4, init="nndsvda", random_state=0, max_iter=500)
    W = model.fit_transform(X)
    result = audit(X, H=model.components_, W=W, sensitive_features=groups, baseline="zero")
    R = X - W @ model.components_
    for g in np.unique(groups):
        expected = np.linalg.norm(R[groups == g]) / np.linalg.norm(X[groups == g])
        assert result.by_group.loc[g, "loss"] == pytest.approx(expected)


@pytest.mark.parametrize("normalize", [None, "features"])
def test_an_audit_of_our_own_fit_finds_what_the_fit_found(data, normalize):
    X, groups = data
    X = X * np.linspace(1, 9, X.shape[1])
    model = FairerNMF(4, random_state=0, normalize=normalize).fit(X, sensitive_features=groups)
    for matrix in (X, sparse.csr_array(X)):
        result = audit(
            matrix, model.components_, sensitive_features=groups, normalize=normalize, random_state=0
        )
        np.testing.assert_allclose(result.by_group["loss"], model.group_losses_, atol=1e-6)


def test_groups_that_are_small_for_the_rank_are_named(data):
    X, groups = data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        audit(X, H=X[:10], sensitive_features=groups, baseline_runs=1)
    with pytest.warns(UserWarning, match=r"twice the rank 11: small \(20\)\. A dictionary"):
        audit(X, H=X[:11], sensitive_features=groups, baseline_runs=1)


def test_intervals_are_in_the_table_where_they_were_asked_for(data):
    X, groups = data
    plain = audit(X, H=X[:4], sensitive_features=groups)
    assert not any("low" in column for column in plain.by_group)
    table = audit(X, H=X[:4], sensitive_features=groups, draws=999, level=0.9).by_group
    # The loss has a baseline that was fitted to these rows: no interval without the page's corrections.
    assert list(table.columns[-2:]) == ["relative_error_low", "relative_error_high"]
    pd.testing.assert_frame_equal(table[plain.by_group.columns], plain.by_group)
    W = np.array([nnls(X[:4].T, x)[0] for x in X])
    for g, row in table.iterrows():
        assert row["relative_error_low"] < row["relative_error"] < row["relative_error_high"]
        # SciPy's percentile bootstrap, with its own draws.
        rows = groups == g
        squares = ((X - W @ X[:4])[rows] ** 2).sum(axis=1), (X[rows] ** 2).sum(axis=1)
        scipys = stats.bootstrap(
            squares, lambda e, x, axis: np.sqrt(e.sum(axis) / x.sum(axis)), paired=True,
            vectorized=True, n_resamples=9999, confidence_level=0.9, method="percentile",
            random_state=0,
        ).confidence_interval  # fmt: skip
        width = scipys.high - scipys.low
        assert row["relative_error_low"] == pytest.approx(scipys.low, abs=0.15 * width)
        assert row["relative_error_high"] == pytest.approx(scipys.high, abs=0.15 * width)
    with pytest.raises(ValueError, match="level"):
        audit(X, H=X[:4], sensitive_features=groups, draws=10, level=1.5)


def test_the_verdict_comes_first_and_is_the_reports(data):
    X, groups = data
    found = audit(X, H=X[:4], sensitive_features=groups)
    verdict = found.verdict
    assert verdict["code"] in ("evidence", "no-evidence", "too-few-rows")
    assert verdict == found.report(draws=0, permutations=0, folds=0, compare=False).verdict
    assert repr(found).startswith(verdict["sentence"])
    assert found._repr_html_().startswith("<p><b>" + verdict["sentence"].split("“")[0])
    none = found.report(draws=0, permutations=0, folds=0, compare=False, chance_draws=0)
    # Without random groups there is no evidence.
    expected = "not-tested" if verdict["code"] == "evidence" else verdict["code"]
    assert none.verdict["excess_loss"] is None and none.verdict["code"] == expected
    with pytest.raises(ValueError, match="chance_time"):
        found.report(draws=0, permutations=0, compare=False, chance_time=-1.0)


def test_groups_with_no_more_rows_than_topics_are_not_the_worst():
    X = np.random.default_rng(0).random((60, 8))
    groups = np.array(["tiny"] * 3 + ["small"] * 3 + ["large"] * 54)
    with pytest.warns(UserWarning, match="twice the rank"):
        found = audit(X, H=X[:4], sensitive_features=groups)
        allowed = audit(X, H=X[:4], sensitive_features=groups, allow_small_groups=True)
        merged = audit(X, H=X[:4], sensitive_features=groups, merge_small=5)
    assert found.worst_group == "large" and found.worst == found.by_group["loss"]["large"]
    assert allowed.worst == allowed.by_group["loss"].max()
    assert merged.by_group["rows"].to_dict() == {"Other": 6, "large": 54}
    with pytest.raises(ValueError, match="control_features"):
        audit(X, X[:4], sensitive_features=groups, control_features=groups, merge_small=5)


def test_intersections(data):
    X, groups = data
    frame = pd.DataFrame({"size": groups, "site": np.arange(len(X)) % 2})
    table = audit(X, H=X[:4], sensitive_features=frame).to_frame()
    assert table["size"].tolist()[:2] == ["large", "large"] and table["site"].tolist()[:2] == [0, 1]
    assert table.columns.tolist() == [
        "size", "site", "rows", "norm", "baseline_error", "relative_error", "loss",
        "chance_mean", "chance_low", "chance_high", "excess_loss",
        "cross_fitted_loss", "difference", "difference_low", "difference_high", "adjusted_p",
    ]  # fmt: skip
    assert table["rows"].sum() == len(X)


def test_notebook_and_plot(data):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    X, groups = data
    groups = np.where(groups == "small", "<small>", groups)
    result = audit(X, H=X[:4], sensitive_features=groups)
    assert "&lt;small&gt;" in result._repr_html_() and "<small>" not in result._repr_html_()
    said = repr(result)
    assert "worst loss" in said and "where a random group of its size would show" in said
    # Losses of groups of different sizes are not compared as they are.
    assert "above the smallest" not in said + result._repr_html_()
    axes = result.plot()
    assert [label.get_text() for label in axes.get_yticklabels()][-1] == "<small>"
    assert len(axes.patches) == 6
    assert result.plot(ax=axes) is axes


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"H": None}, TypeError, "H is the dictionary"),
        ({"sensitive_features": None}, TypeError, "give sensitive_features"),
        ({"H": -np.ones((2, 15))}, ValueError, "entries must be finite and not negative"),
        ({"H": np.ones((2, 3))}, ValueError, "components is 2 x 3, expected 2 x 15"),
        ({"W": np.ones((2, 2))}, ValueError, "representation is 2 x 2, expected 120 x 2"),
        ({"baseline": {"small": 1.0}}, ValueError, "no number for group"),
    ],
)
def test_wrong_arguments(arguments, error, sentence, data):
    X, groups = data
    good = {"H": np.ones((2, 15)), "sensitive_features": groups}
    with pytest.raises(error, match=sentence):
        audit(X, **{**good, **arguments})


def test_a_named_dictionary_is_read_by_name():
    X, groups = make_synthetic_1(random_state=0)
    names = [f"f{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    H = pd.DataFrame(np.random.default_rng(0).random((2, X.shape[1])), columns=names)

    def worst(H):
        return audit(frame, H=H, sensitive_features=groups, baseline="zero", draws=0).worst

    assert worst(H[names[::-1]]) == worst(H) == worst(H.to_numpy())
    assert worst(H.rename(columns=dict(zip(names, range(len(names)))))) == worst(H)
    with pytest.raises(ValueError, match="but H has no 'f3'"):
        worst(H.rename(columns={"f3": "other"}))


def test_of_a_model_that_evens_out_the_verdict_is_about_standard_nmf():
    heart = load_heart_disease()
    s = heart.sensitive_features
    model = FairerNMF(3, random_state=0).fit(heart.data, sensitive_features=s)
    found = audit(heart.data, model, sensitive_features=s)
    few = {"draws": 0, "permutations": 0, "folds": 0}
    report = found.report(**few)
    assert found.verdict == report.verdict and found.verdict["code"] != "not-tested"
    assert [m["name"] for m in report.to_dict()["models"]][0] == "Standard NMF"
    alone = found.report(**few, compare=False).verdict
    assert alone["code"] == "not-tested" and "standard NMF" in alone["sentence"]
    # The same dictionary without its history is judged as it is.
    bare = audit(heart.data, model.components_, sensitive_features=s, normalize="features")
    assert bare.verdict["sentence"] != found.verdict["sentence"]


def test_chance_stands_beside_the_loss_whatever_the_baseline(data):
    X, groups = data
    H = NMF(3, init="nndsvda", max_iter=500, random_state=0).fit(X).components_
    for baseline in ("paper", "zero", "best"):
        found = audit(X, H, sensitive_features=groups, baseline=baseline)
        chance = found.chance
        assert chance.index.equals(found.by_group.index)
        assert (chance["chance_low"] <= chance["chance_high"]).all()
        excess = found.by_group["loss"] - chance["chance_mean"]
        assert np.allclose(excess, chance["excess_loss"], atol=5e-3 if baseline == "best" else 1e-9)
        assert all(column in found._repr_html_() for column in ["excess_loss", "chance_mean", "chance_high"])
        assert found.to_frame()["chance_mean"].tolist() == chance["chance_mean"].tolist()
        bare = found.without_data()
        assert bare._repr_html_() == found._repr_html_() and bare.to_frame().equals(found.to_frame())
        # What a reader has to know besides stands below the sentence.
        lines = repr(found).splitlines()
        notes = [note["sentence"] for note in found.verdict["notes"]]
        assert lines[1 : 1 + len(notes)] == notes
        assert (baseline == "zero") == ("the whole error" in repr(found))


def test_draws_too_few_for_a_range_are_refused(data):
    X, groups = data
    H = NMF(3, init="nndsvda", max_iter=500, random_state=0).fit(X).components_
    found = audit(X, H, sensitive_features=groups)
    with pytest.raises(ValueError, match="chance draws is 5: give 20 or more"):
        found.report(chance_draws=5)


def test_what_matters_is_the_users_to_say(data):
    X, groups = data
    H = NMF(3, init="nndsvda", max_iter=500, random_state=0).fit(X).components_
    few = {"draws": 0, "permutations": 0, "folds": 0, "compare": False, "chance_draws": 0}
    found = audit(X, H, sensitive_features=groups, level=0.999999)
    assert found.report(**few, level=0.999999, matters=0.99).verdict["code"] == "no-evidence"
    assert found.report(**few, level=0.999999, matters=1e-9).verdict["code"] == "too-few-rows"
    with pytest.raises(ValueError, match="matters is 5"):
        found.report(**few, matters=5)


def test_a_page_is_called_by_what_the_groups_are_made_of(data):
    X, groups = data
    few = {"draws": 0, "permutations": 0, "folds": 0, "chance_draws": 0, "compare": False}

    def title(labels, *given):
        return audit(X, H=X[:4], sensitive_features=labels).report(*given, **few).to_dict()["title"]

    assert title(groups) == "Audit"
    assert title(pd.Series(groups, name="sex")) == "Audit by sex"
    assert title(pd.Series(groups, name="sex"), "Mine") == "Mine"
    assert title(pd.DataFrame({"site": "here", "sex": groups})) == "Audit by site and sex"


def test_a_model_that_was_bent_for_a_few_rows_is_said_to_be():
    heart = load_heart_disease()
    few = 93 * np.arange(1, 9) % len(heart.data)
    groups = np.where(np.isin(np.arange(len(heart.data)), few), "few", "rest")
    options = {"normalize": "features", "baseline": "best", "random_state": 0}
    short = {"draws": 0, "permutations": 0, "folds": 0, "chance_draws": 0}

    def warned(model, baseline="best"):
        found = audit(heart.data, model, sensitive_features=groups, normalize="features", baseline=baseline)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            report = found.report(**short).to_dict()
        said = [w["sentence"] for w in report["warnings"] if w["code"] == "total-error-rose"]
        assert said == [str(w.message) for w in caught if "it was bent for" in str(w.message)]
        return said

    rest = "loses 24.6 %: it was bent for group 'few' (8 rows); is that what you want?"
    standard = FairerNMF(5, method="standard", **options).fit(heart.data, sensitive_features=groups)
    [said] = warned(standard)
    assert said.startswith("Fairer-NMF loses 2") and said.endswith(rest)
    # What allows for chance is not bent.
    assert warned(standard, "adjusted") == []
    # A fit says it itself, by the standard NMF that its search begins from.
    with pytest.warns(UserWarning, match=r"^this fit loses 2.*bent for group 'few' \(8 rows\)"):
        bent = FairerNMF(5, **options).fit(heart.data, sensitive_features=groups)
    [said] = warned(bent)
    assert said.startswith("this model loses 2") and said.endswith(rest)
