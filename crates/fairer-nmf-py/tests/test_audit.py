"""Audits of any dictionary."""

import json
import signal
import threading
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from scipy.optimize import nnls
from sklearn.decomposition import NMF

from fairer_nmf import FairerNMF, audit
from fairer_nmf.datasets import make_synthetic_1


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


def test_the_page_of_a_pair_and_of_sparse_named_data(data):
    X, groups = data
    model = NMF(3, init="nndsvda", random_state=0, max_iter=500)
    frame = pd.DataFrame(X, columns=[f"item {i}" for i in range(15)])
    W = model.fit_transform(X)
    page = audit(
        frame, model.components_, W=W, sensitive_features=groups, normalize="features"
    ).to_html(draws=100, permutations=100)
    assert "item 0" in page
    sparse_page = audit(sparse.csr_array(X), model.components_, sensitive_features=groups).to_html(
        draws=100, permutations=0
    )
    assert "small" in sparse_page


def test_the_page_has_the_sections_of_the_program(data):
    X, groups = data
    result = audit(X, H=X[:4], sensitive_features=groups)
    page = result.to_html(draws=100, permutations=100)
    for title in ("Who pays?", "Is it real?", "What does fairness cost", "How good is this fit?"):
        assert title in page, title
    for part in ("Standard NMF", "Your dictionary", "trade-off", "eld-out", "No model of rank 4"):
        assert part in page, part
    # The dictionary comes first, and the cost is that of the way to Fairer-NMF.
    assert "under <bdi>your dictionary</bdi>" in page.split('class="lead"')[1].split(". ")[0]
    assert "Going from <bdi>your dictionary</bdi> to <bdi>Fairer-NMF (AM)</bdi> makes" in page
    alone = result.to_html(draws=100, permutations=100, folds=0, compare=False)
    assert "Is it real?" in alone and "What are the topics?" in alone
    for part in ("Standard NMF", "Fairer-NMF (AM)", "What does fairness cost"):
        assert part not in alone, part
    assert "How good is this fit?" not in alone
    plain = result.to_html(draws=0, permutations=0, folds=0)
    assert "Is it real?" not in plain and "What does fairness cost" in plain
    with pytest.raises(ValueError, match="two folds"):
        result.to_html(folds=1)


def numbers_of(page):
    """What a page carries for programs."""
    start = page.index('id="report-data">') + len('id="report-data">')
    return json.loads(page[start : page.index("</script>", start)])


def test_json_says_what_the_page_says(data):
    X, groups = data
    result = audit(X, H=X[:4], sensitive_features=groups)
    few = {"draws": 100, "permutations": 100, "folds": 2}
    page = numbers_of(result.to_html("Same", **few))
    found = result.to_dict("Same", **few)
    text = json.loads(result.to_json("Same", **few))
    # Times differ from run to run.
    for content in (page, found, text):
        for fit in content["quality"]["fits"]:
            assert fit.pop("seconds") > 0
    assert found == page == text
    assert [model["name"] for model in found["models"]] == [
        "Your dictionary", "Standard NMF", "Fairer-NMF (AM)",
    ]  # fmt: skip
    for group in found["who_pays"]["groups"]:
        row = result.by_group.loc[group["name"]]
        assert group["rows"] == row["rows"]
        assert group["results"][0]["loss"] == pytest.approx(row["loss"], rel=1e-12)
        assert group["results"][0]["relative_error"] == pytest.approx(row["relative_error"])
        assert group["relative_baseline"] == pytest.approx(row["baseline_error"] / row["norm"])
    # The table behind the first picture has the same numbers.
    table = result.to_html(**few).split('<section id="who-pays"')[1].split("<tbody")[1]
    assert f'data-v="{found["who_pays"]["groups"][0]["norm"]}"' in table
    assert found["is_it_real"]["evidence"][0]["loss"]["lo"] is not None
    assert result.to_dict(draws=0, permutations=0, folds=0)["is_it_real"] is None
    hidden = result.to_json(min_group_size=30, **few)
    assert "small" not in json.loads(hidden)["who_pays"]["groups"][0]["name"]
    assert '"small"' not in hidden and json.loads(hidden)["hidden_groups"] == 1


def test_a_page_can_refit_as_the_program_does(data):
    X, groups = data
    H = NMF(3, init="nndsvda", random_state=0, max_iter=500).fit(X).components_
    result = audit(X, H=H, sensitive_features=groups, baseline_runs=2)
    few = {"draws": 200, "permutations": 0, "folds": 0}
    fixed = result.to_dict(**few)["is_it_real"]
    anew = result.to_dict(**few, refit=25, fitted_by="standard")["is_it_real"]
    assert [d["bootstrap"] for d in fixed["draws"]] == 3 * [
        {"draws": 200, "mode": "dictionary-fixed"}
    ]
    for draws in anew["draws"]:
        assert draws["bootstrap"] == {"draws": 25, "mode": "refit"}
        assert draws["permutation"]["draws"] == 25
    assert {e["tested"] for e in anew["evidence"]} == {"loss"}
    for held, new in zip(fixed["evidence"], anew["evidence"], strict=True):
        assert (held["group"], held["model"]) == (new["group"], new["model"])
        assert held["loss"] != new["loss"]
        # The median of the draws is the estimate.
        assert new["loss"]["lo"] < new["loss"]["hi"]
    page = result.to_html(**few, refit=25, fitted_by="standard")
    assert "with baselines and dictionary fitted again on each draw" in page
    # The seed is the audit's.
    again = result.to_dict(**few, refit=25, fitted_by="standard")["is_it_real"]
    assert again == anew
    # Another method fits other dictionaries to the draws.
    other = result.to_dict(**few, refit=25, fitted_by="am", compare=False)["is_it_real"]
    assert other["evidence"][0]["loss"] != anew["evidence"][0]["loss"]
    for arguments, sentence in [({}, "fitted_by is None"), ({"fitted_by": "svd"}, "'svd'")]:
        with pytest.raises(ValueError, match=sentence):
            result.to_html(refit=10, **arguments)
    pair = audit(X, H=H, W=result.representation, sensitive_features=groups)
    with pytest.raises(ValueError, match="leave W out"):
        pair.to_json(refit=10, fitted_by="standard")


def test_groups_that_are_small_for_the_rank_are_named(data):
    X, groups = data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        audit(X, H=X[:10], sensitive_features=groups, baseline_runs=1)
    with pytest.warns(UserWarning, match=r"twice the rank 11: small \(20\)\. A dictionary"):
        audit(X, H=X[:11], sensitive_features=groups, baseline_runs=1)


def test_the_page_shows_a_pair_as_it_is(data):
    X, groups = data
    H, W = X[:4], np.ones((len(X), 4))
    result = audit(X, H=H, W=W, sensitive_features=groups)
    pages = [
        audit(X, H=H, W=pair, sensitive_features=groups).to_html(
            draws=0, permutations=0, folds=0, compare=False
        )
        for pair in (W, None)
    ]
    worst = f"{100 * result.worst:.1f}"
    assert worst in pages[0] and worst not in pages[1]


def test_intervals_are_in_the_table_where_they_were_asked_for(data):
    X, groups = data
    plain = audit(X, H=X[:4], sensitive_features=groups)
    assert not any("low" in column for column in plain.by_group)
    table = audit(X, H=X[:4], sensitive_features=groups, draws=999, level=0.9).by_group
    assert list(table.columns[-4:]) == [
        "relative_error_low", "relative_error_high", "loss_low", "loss_high",
    ]  # fmt: skip
    pd.testing.assert_frame_equal(table[plain.by_group.columns], plain.by_group)
    W = np.array([nnls(X[:4].T, x)[0] for x in X])
    for g, row in table.iterrows():
        assert row["relative_error_low"] < row["relative_error"] < row["relative_error_high"]
        shift = row["relative_error"] - row["loss"]
        assert row["loss_low"] == pytest.approx(row["relative_error_low"] - shift)
        assert row["loss_high"] == pytest.approx(row["relative_error_high"] - shift)
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


def test_charts_are_saved_as_svg_and_png(data, tmp_path):
    X, groups = data
    result = audit(X, H=X[:4], sensitive_features=groups)
    few = {"draws": 50, "permutations": 50, "folds": 2}
    files = result.save_charts(tmp_path / "charts", **few)
    stems = {path.stem for path in files}
    assert {"who-pays", "is-it-real", "trade-off", "topic-use"} <= stems
    assert len(files) == 2 * len(stems)
    for path in files:
        content = path.read_bytes()
        if path.suffix == ".png":
            assert content.startswith(b"\x89PNG\r\n\x1a\n") and len(content) > 5000
            assert int.from_bytes(content[16:20], "big") >= 1000
        else:
            assert content.startswith(b"<svg")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        result.save_charts(tmp_path / "charts", **few)
    assert result.save_charts(tmp_path / "charts", overwrite=True, **few) == files


def test_ctrl_c_stops_an_audit(data):
    X, groups = data
    result = audit(X, H=X[:4], sensitive_features=groups)
    timer = threading.Timer(1.0, signal.raise_signal, [signal.SIGINT])
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        # Days of folds and draws.
        result.to_html(draws=50, permutations=2_000_000_000)
    assert time.monotonic() - begin < 60, "it went on"


def test_intersections(data):
    X, groups = data
    frame = pd.DataFrame({"size": groups, "site": np.arange(len(X)) % 2})
    table = audit(X, H=X[:4], sensitive_features=frame).to_frame()
    assert table["size"].tolist()[:2] == ["large", "large"] and table["site"].tolist()[:2] == [0, 1]
    assert table.columns.tolist() == [
        "size", "site", "rows", "norm", "baseline_error", "relative_error", "loss",
    ]  # fmt: skip
    assert table["rows"].sum() == len(X)


def test_page_notebook_and_plot(data):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    X, groups = data
    groups = np.where(groups == "small", "<small>", groups)
    result = audit(X, H=X[:4], sensitive_features=groups)
    page = result.to_html(title="Who & what", draws=200, permutations=200)
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "&lt;small&gt;" in page and "<small>" not in page and "Who &amp; what" in page
    assert "http://" not in page.replace("http://www.w3.org/", "") and "src=" not in page
    assert "2 000" not in page and "Topic 4" in page and "feature 0" in page
    plain = result.to_html(draws=0, permutations=0)
    assert len(plain) < len(page)
    hidden = result.to_html(draws=0, permutations=0, min_group_size=30)
    assert "&lt;small&gt;" not in hidden
    assert "&lt;small&gt;" in result._repr_html_() and "<small>" not in result._repr_html_()
    assert "worst loss" in repr(result)
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
