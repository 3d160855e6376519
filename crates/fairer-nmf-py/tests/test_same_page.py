"""The program and the package fit the same model and write the same page."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from test_program import run

from fairer_nmf import FairerNMF, audit
from fairer_nmf.datasets import make_synthetic_2


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
        "--json", content, "--normalize", "none", "--draws", 50, "--permutations", 50, "--folds", 2,
        "--quiet")  # fmt: skip
    theirs = json.loads(content.read_text())["report"]
    found = audit(frame, H=H, sensitive_features=groups)
    report = found.report(theirs["title"], draws=50, permutations=50, folds=2)
    ours = report.to_dict()
    iterations = [fit["iterations"] for fit in theirs["quality"]["fits"]]
    assert [fit["iterations"] for fit in ours["quality"]["fits"]] == iterations
    assert len(iterations) == 2, "standard NMF and Fairer-NMF"
    for content in (ours, theirs):
        content["command"] = content["generated"] = None
        for fit in content["quality"]["fits"]:
            fit["seconds"] = None
    assert ours == theirs
    assert plain(report.html()) == plain(page.read_text())


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


def plain(page):
    """Give a page without what may differ: who made it, when, and how long it took."""
    page = re.sub(r'<script type="application/json".*?</script>', "", page, flags=re.DOTALL)
    page = re.sub(r'<p class="generated">.*?</p>', "", page)
    page = re.sub(r"<p>Made by</p><pre>.*?</pre>", "", page, flags=re.DOTALL)
    page = re.sub(r'<td[^>]*data-label="Time">.*?</td>', "", page)
    return re.sub(r" in [0-9.]+\u00a0(ms|s|min)\b", "", page)
