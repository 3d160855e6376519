"""The report of an audit: what it says, and that page, JSON and charts say the same."""

import json
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from fairer_nmf import audit
from scipy import sparse
from sklearn.decomposition import NMF


def test_the_page_of_a_pair_and_of_sparse_named_data(data):
    X, groups = data
    model = NMF(3, init="nndsvda", random_state=0, max_iter=500)
    frame = pd.DataFrame(X, columns=[f"item {i}" for i in range(15)])
    W = model.fit_transform(X)
    page = audit(
        frame, model.components_, W=W, sensitive_features=groups, normalize="features"
    ).report(draws=100, permutations=100).html()
    assert "item 0" in page
    found = audit(sparse.csr_array(X), model.components_, sensitive_features=groups)
    assert "small" in found.report(draws=100, permutations=0).html()


def test_the_page_has_the_sections_of_the_program(data):
    X, groups = data
    result = audit(X, H=X[:4], sensitive_features=groups)
    page = result.report(draws=100, permutations=100).html()
    for title in ("Who pays?", "Is it real?", "What does fairness cost", "How good is this fit?"):
        assert title in page, title
    for part in ("Standard NMF", "Your topics", "trade-off", "eld-out", "No model of rank 4"):
        assert part in page, part
    # The dictionary comes first, and the cost is that of the way to Fairer-NMF.
    assert "under <bdi>your topics</bdi>" in page.split('class="lead"')[1].split(". ")[0]
    assert "Going from <bdi>your topics</bdi> to <bdi>Fairer-NMF (AM)</bdi> makes" in page
    alone = result.report(draws=100, permutations=100, folds=0, compare=False).html()
    assert "Is it real?" in alone and "What are the topics?" in alone
    for part in ("Standard NMF", "Fairer-NMF (AM)", "What does fairness cost"):
        assert part not in alone, part
    assert "How good is this fit?" not in alone
    plain = result.report(draws=0, permutations=0, folds=0).html()
    assert "bootstrap draws" not in plain and "What does fairness cost" in plain
    with pytest.raises(ValueError, match="two folds"):
        result.report(folds=1)


def numbers_of(page):
    """What a page carries for programs."""
    start = page.index('id="report-data">') + len('id="report-data">')
    return json.loads(page[start : page.index("</script>", start)])


def test_json_says_what_the_page_says(data):
    X, groups = data
    result = audit(X, H=X[:4], sensitive_features=groups)
    few = {"draws": 100, "permutations": 100, "folds": 2}
    report = result.report("Same", **few)
    found = report.to_dict()
    # It was computed once: even the times are the same.
    assert found == numbers_of(report.html()) == json.loads(report.json())
    assert [model["name"] for model in found["models"]] == [
        "Your topics", "Standard NMF", "Fairer-NMF (AM)",
    ]  # fmt: skip
    for group in found["who_pays"]["groups"]:
        row = result.by_group.loc[group["name"]]
        assert group["rows"] == row["rows"]
        assert group["results"][0]["loss"] == pytest.approx(row["loss"], rel=1e-12)
        assert group["results"][0]["relative_error"] == pytest.approx(row["relative_error"])
        assert group["relative_baseline"] == pytest.approx(row["baseline_error"] / row["norm"])
    # The table behind the first picture has the same numbers.
    table = report.html().split('<section id="who-pays"')[1].split("<tbody")[1]
    assert f'data-v="{found["who_pays"]["groups"][0]["norm"]}"' in table
    assert found["who_pays"]["groups"][0]["results"][0]["loss_low"] is not None
    bare = result.report(draws=0, permutations=0, folds=0).to_dict()["is_it_real"]
    assert [draws["unseen"] for draws in bare["draws"]] == [True, False, True]
    hidden = result.report(min_group_size=30, **few).json()
    assert "small" not in json.loads(hidden)["who_pays"]["groups"][0]["name"]
    named = '"name": "small"'
    assert named in result.report(**few).json()
    assert named not in hidden and json.loads(hidden)["hidden_groups"] == 1


def test_a_page_can_refit_as_the_program_does(data):
    X, groups = data
    H = NMF(3, init="nndsvda", random_state=0, max_iter=500).fit(X).components_
    result = audit(X, H=H, sensitive_features=groups, baseline_runs=2)
    few = {"draws": 200, "permutations": 0, "folds": 0}
    fixed = result.report(**few).to_dict()
    refitted = result.report(**few, refit=25, fitted_by="standard")
    anew = refitted.to_dict()
    # With the dictionary fixed, a bootstrap does not cover: the limits are those of samples not seen.
    assert [d["bootstrap"] for d in fixed["is_it_real"]["draws"]] == 3 * [None]
    first = [group["results"][0] for group in fixed["who_pays"]["groups"]]
    assert all(row["loss_low"] < row["loss_high"] for row in first)
    for draws in anew["is_it_real"]["draws"]:
        assert draws["bootstrap"] == {"draws": 25}
    tests = [draws["permutation"] for draws in anew["is_it_real"]["draws"]]
    # A model that evens the groups out is not tested.
    assert tests == 2 * [{"draws": 25, "tested": "loss"}] + [None]
    rows = [
        [result for group in found["who_pays"]["groups"] for result in group["results"]]
        for found in (fixed, anew)
    ]
    assert len(rows[0]) == 9
    for held, new in zip(*rows, strict=True):
        assert held["loss"] == new["loss"]
        # Limits that hold are kept, and those of the draws stand beside them: their median is the loss.
        assert held.get("loss_low") == new.get("loss_low")
        assert new["refit_loss_low"] < new["loss"] < new["refit_loss_high"]
    assert "“with all fitted again”" in refitted.html()
    # The seed is the audit's.
    again = result.report(**few, refit=25, fitted_by="standard")
    assert again.to_dict()["who_pays"] == anew["who_pays"]
    # Another method fits other dictionaries to the draws.
    other = result.report(**few, refit=25, fitted_by="am", compare=False)
    low = [r["who_pays"]["groups"][0]["results"][0]["refit_loss_low"] for r in (other.to_dict(), anew)]
    assert low[0] != low[1]
    for arguments, sentence in [({}, "fitted_by is None"), ({"fitted_by": "svd"}, "'svd'")]:
        with pytest.raises(ValueError, match=sentence):
            result.report(refit=10, **arguments)
    pair = audit(X, H=H, W=result.representation, sensitive_features=groups)
    with pytest.raises(ValueError, match="leave W out"):
        pair.report(refit=10, fitted_by="standard")


def test_the_page_shows_a_pair_as_it_is(data):
    X, groups = data
    H, W = X[:4], np.ones((len(X), 4))
    result = audit(X, H=H, W=W, sensitive_features=groups)
    pages = [
        audit(X, H=H, W=pair, sensitive_features=groups)
        .report(draws=0, permutations=0, folds=0, compare=False)
        .html()
        for pair in (W, None)
    ]
    worst = f"{100 * result.worst:.1f}"
    assert worst in pages[0] and worst not in pages[1]


def test_a_report_is_saved_by_the_name_of_its_file(data, tmp_path):
    X, groups = data
    report = audit(X, H=X[:4], sensitive_features=groups).report(
        draws=50, permutations=50, folds=2
    )
    files = report.save(tmp_path / "charts")
    stems = {path.stem for path in files}
    assert {"who-pays", "is-it-real", "trade-off", "topic-use"} <= stems
    assert len(files) == 2 * len(stems)
    assert {path.name: path.read_bytes() for path in files} == report.charts()
    for path in files:
        content = path.read_bytes()
        if path.suffix == ".png":
            assert content.startswith(b"\x89PNG\r\n\x1a\n") and len(content) > 5000
            assert int.from_bytes(content[16:20], "big") >= 1000
        else:
            assert content.startswith(b"<svg")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        report.save(tmp_path / "charts")
    assert report.save(tmp_path / "charts", overwrite=True) == files
    assert report.save(tmp_path / "page.html")[0].read_text() == report.html()
    assert report.save(tmp_path / "page.json")[0].read_text() == report.json()
    with pytest.raises(ValueError, match=r"ends in \.html or \.json"):
        report.save(tmp_path / "page.pdf")


def test_ctrl_c_stops_an_audit(data):
    X, groups = data
    result = audit(X, H=X[:4], sensitive_features=groups)
    timer = threading.Timer(1.0, signal.raise_signal, [signal.SIGINT])
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        # Days of folds and draws.
        result.report(draws=50, permutations=2_000_000_000)
    assert time.monotonic() - begin < 60, "it went on"


def test_a_page_needs_no_network_and_escapes_names(data):
    X, groups = data
    groups = np.where(groups == "small", "<small>", groups)
    result = audit(X, H=X[:4], sensitive_features=groups)
    page = result.report(title="Who & what", draws=200, permutations=200).html()
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "&lt;small&gt;" in page and "<small>" not in page and "Who &amp; what" in page
    assert "http://" not in page.replace("http://www.w3.org/", "") and "src=" not in page
    assert "2 000" not in page and "Topic 4" in page and "f0" in page
    plain = result.report(draws=0, permutations=0).html()
    assert len(plain) < len(page)
    hidden = result.report(draws=0, permutations=0, min_group_size=30).html()
    assert "&lt;small&gt;" not in hidden


def test_a_report_begins_with_its_verdict(data):
    X, groups = data
    groups = np.where(groups == "small", "<small>", groups)
    report = audit(X, H=X[:4], sensitive_features=groups).report(
        draws=20, permutations=20, folds=2
    )
    verdict = report.verdict
    assert verdict["code"] in ("evidence", "no-evidence", "too-few-rows")
    assert verdict["group"] in set(groups) and verdict["sentence"]
    assert repr(report).startswith(verdict["sentence"])
    shown = report._repr_html_()
    assert shown.startswith("<p><b>") and "<small>" not in shown
    page = report.html()
    assert page.index('class="verdict') < page.index('class="chart"')
    frame = report.to_frame()
    assert len(frame) == 9
    row = frame.loc[(verdict["group"], "Your topics")]
    assert row["excess_loss"] == verdict["excess_loss"]
    assert row["difference"] == verdict["difference"] and row["chance_low"] < row["chance_high"]
    assert 0 < row["relative_error_adjusted_p"] <= 1 and "p_value" not in frame
    # A test that was not asked for is no verdict.
    one = audit(X, H=X[:4], sensitive_features=np.repeat("all", len(X)))
    assert one.report(draws=0, permutations=0, folds=0).verdict["code"] == "not-tested"
