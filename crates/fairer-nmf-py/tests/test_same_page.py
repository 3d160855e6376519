"""The program and the package fit the same model and write the same page."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from test_program import run

from fairer_nmf import FairerNMF, audit
from fairer_nmf.datasets import make_synthetic_2


#: Few draws, on either side.
FEW = ["--draws", 50, "--permutations", 50, "--folds", 2, "--quiet"]


def exact():
    """Data of rank 6 without noise, which six topics fit exactly."""
    X, groups = make_synthetic_2(random_state=1)
    rows = np.r_[0:60, 500:560, 1000:1040]
    return X[rows], np.asarray(groups)[rows]


@pytest.fixture(params=["noisy", "exactly fittable"])
def either(request, data, tmp_path):
    X, groups = data if request.param == "noisy" else exact()
    frame = pd.DataFrame(X, columns=[f"item {i}" for i in range(X.shape[1])])
    path = tmp_path / "data.csv"
    frame.assign(group=groups).to_csv(path, index=False)
    return frame, groups, path


def test_the_same_iterations_by_default(either, tmp_path):
    frame, groups, path = either
    file, found = tmp_path / "program.safetensors", tmp_path / "fit.json"
    run("fit", path, "--group-by", "group", "--rank", 6, "--no-compare", "--model", file,
        "--json", found, "--quiet")  # fmt: skip
    ours = FairerNMF(6, random_state=0, normalize="features")
    ours.fit(frame, sensitive_features=groups)
    theirs = FairerNMF.load(file)
    assert json.loads(found.read_text())["iterations"] == ours.n_iter_ == theirs.n_iter_
    np.testing.assert_allclose(theirs.components_, ours.components_, rtol=1e-9, atol=1e-12)


def test_program_and_python_write_the_same_page(either, tmp_path):
    """Two audits of one dictionary of another library, from the file and from memory."""
    frame, groups, path = either
    rng = np.random.default_rng(5)
    H = pd.DataFrame(rng.random((6, frame.shape[1])), columns=frame.columns)
    H.to_csv(tmp_path / "H.csv", index=False)
    page, content = tmp_path / "page.html", tmp_path / "audit.json"
    run("audit", path, "--group-by", "group", "--components", tmp_path / "H.csv", "--report", page,
        "--json", content, "--normalize", "none", *FEW)  # fmt: skip
    theirs = json.loads(content.read_text())["report"]
    assert len(theirs["quality"]["fits"]) == 2, "standard NMF and Fairer-NMF"
    same(audit(frame, H=H, sensitive_features=groups), theirs, page)


#: What is typed for a model of ours, what the estimator is told for the same, and whom the page sets side by side.
OURS = [
    ([], {}, ["Standard NMF", "Fairer-NMF (AM)"]),
    (["--method", "standard"], {"method": "standard"}, ["Standard NMF", "Fairer-NMF (AM)"]),
    (
        ["--fairness", 0.5],
        {"fairness": 0.5},
        ["Standard NMF", "Fairer-NMF in part", "Fairer-NMF (AM)"],
    ),
    (["--fairness", 0], {"fairness": 0.0}, ["Standard NMF", "Fairer-NMF (AM)"]),
    (
        ["--worst-share", 0.2],
        {"worst_share": 0.2},
        ["Worst share of rows", "Standard NMF", "Fairer-NMF (AM)"],
    ),
]


@pytest.mark.parametrize("typed, told, models", OURS, ids=["am", "standard", "half", "none", "worst share"])
def test_a_model_of_ours_has_one_page(either, typed, told, models, tmp_path):
    """Fitted and audited by the program, and by the package."""
    frame, groups, path = either
    file, page, content = (tmp_path / name for name in ("m.safetensors", "page.html", "audit.json"))
    run("fit", path, "--group-by", "group", "--rank", 6, *typed, "--no-compare", "--model", file,
        "--quiet")  # fmt: skip
    run("audit", path, "--group-by", "group", "--model", file, "--report", page, "--json", content, *FEW)
    theirs = json.loads(content.read_text())["report"]
    assert [model["name"] for model in theirs["models"]] == models
    model = FairerNMF(6, random_state=0, normalize="features", **told)
    model.fit(frame, sensitive_features=groups)
    # Whoever has fitted it, and in whatever order the columns stand.
    for own, rows in ((model, frame), (FairerNMF.load(file), frame[frame.columns[::-1]])):
        same(audit(rows, own, sensitive_features=groups), theirs, page)


def test_new_rows_are_measured_in_the_scale_of_the_fit(data, tmp_path):
    X, groups = data
    frame = pd.DataFrame(X, columns=[f"item {i}" for i in range(X.shape[1])])
    some = np.arange(len(X)) % 2 == 0
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    frame[some].assign(group=groups[some]).to_csv(old, index=False)
    frame[~some].assign(group=groups[~some]).to_csv(new, index=False)
    file, page, content = (tmp_path / name for name in ("m.safetensors", "page.html", "audit.json"))
    run("fit", old, "--group-by", "group", "--rank", 4, "--no-compare", "--model", file, "--quiet")
    run("audit", new, "--group-by", "group", "--model", file, "--report", page, "--json", content, *FEW)
    model = FairerNMF(4, random_state=0, normalize="features")
    model.fit(frame[some], sensitive_features=groups[some])
    found = audit(frame[~some], model, sensitive_features=groups[~some])
    same(found, json.loads(content.read_text())["report"], page)
    # By hand: rows in the scale of the fit, and the dictionary as the fit has it.
    by_hand = audit(X[~some] * model._model.scale, model._model.components, sensitive_features=groups[~some])
    np.testing.assert_allclose(found.by_group, by_hand.by_group, rtol=1e-6, atol=1e-6)


def test_groups_of_a_model_are_known_by_name(data):
    """In whatever order their categories are; and groups that were given are not those that a model has found."""
    X, groups = data
    order = ["small", "middle", "large"]
    ordered = pd.Categorical(groups, categories=order, ordered=True)
    model = FairerNMF(6, random_state=0).fit(X, sensitive_features=ordered)
    assert model.groups_.tolist() == order

    def told(model, labels):
        return audit(X, model, sensitive_features=labels).report(draws=50, permutations=50, folds=2).to_dict()

    one, other = told(model, ordered), told(model, groups)
    allowed = [{g["name"]: g["allowance"] for g in of["who_pays"]["groups"]} for of in (one, other)]
    assert allowed[0] == pytest.approx(allowed[1], abs=1e-9) and any(allowed[0].values())
    curves = [of["quality"]["fits"][-1]["history"] for of in (one, other)]
    assert curves[0] == pytest.approx(curves[1], abs=1e-9)
    finder = FairerNMF(3, discover="errors", random_state=0).fit(X)
    of_found = told(finder, finder.groups_[finder.discovered_labels_])
    assert of_found["found_by"] == "errors" and of_found["verdict"]["code"] == "not-tested"
    of_given = told(finder, groups)
    assert "found_by" not in of_given and of_given["verdict"]["code"] != "not-tested"


def test_the_page_of_a_fit_is_of_what_the_fit_made_small(either, tmp_path):
    frame, groups, path = either
    found = tmp_path / "fit.json"
    run("fit", path, "--group-by", "group", "--rank", 3, "--json", found, "--report",
        tmp_path / "page.html", "--draws", 50, "--permutations", 50, "--folds", 2, "--quiet")  # fmt: skip
    theirs = json.loads(found.read_text())["report"]
    model = FairerNMF(3, random_state=0, normalize="features").fit(frame, sensitive_features=groups)
    report = audit(frame, model, sensitive_features=groups).report(draws=50, permutations=50, folds=2)
    ours = report.to_dict()
    assert ours["quality"]["criterion"] == theirs["quality"]["criterion"] == model.criterion_
    for one, other in zip(ours["who_pays"]["groups"], theirs["who_pays"]["groups"], strict=True):
        assert one["name"] == other["name"]
        assert one["allowance"] == pytest.approx(other["allowance"], abs=1e-9)
    assert set(model.notes_) <= {note["sentence"] for note in ours["notes"]}
    assert ours["verdict"] == theirs["verdict"]


def same(found, theirs, page):
    """Hold the report of an audit against the program's.

    Left out is what rightly differs: by whom, by which command and when it was made, and how long fits took.
    """
    report = found.report(theirs["title"], draws=50, permutations=50, folds=2)
    ours, theirs = report.to_dict(), json.loads(json.dumps(theirs))
    for content in (ours, theirs):
        content["command"] = content["generated"] = None
        for fit in content["quality"]["fits"]:
            fit["seconds"] = None
    assert ours == theirs
    assert plain(report.html()) == plain(page.read_text())


def plain(page):
    """Give a page without what may differ: who made it, when, and how long it took."""
    page = re.sub(r'<script type="application/json".*?</script>', "", page, flags=re.DOTALL)
    page = re.sub(r'<p class="generated">.*?</p>', "", page)
    page = re.sub(r"<p>Made by</p><pre>.*?</pre>", "", page, flags=re.DOTALL)
    page = re.sub(r'<td[^>]*data-label="Time">.*?</td>', "", page)
    return re.sub(r" in [0-9.]+\u00a0(ms|s|min)\b", "", page)
