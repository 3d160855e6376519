"""Python and the program `fairer-nmf` share one file format, and one answer.

The program is looked for in ``FAIRER_NMF_PROGRAM``, in ``target/release`` and on the path. Where it
is not, these tests fail: parity that nobody checked is not parity.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import fairer_nmf
from fairer_nmf import FairerNMF, sweep
from fairer_nmf.datasets import load_heart_disease, make_synthetic_2

ROOT = pathlib.Path(__file__).resolve().parents[3]
CANDIDATES = [
    os.environ.get("FAIRER_NMF_PROGRAM"),
    ROOT / "target/release/fairer-nmf",
    shutil.which("fairer-nmf"),
]
PROGRAM = next((str(p) for p in CANDIDATES if p and os.access(p, os.X_OK)), None)


def run(*arguments):
    assert PROGRAM, "build the program first: cargo build --release -p fairer-nmf-cli"
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def table(data, tmp_path):
    X, groups = data
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    path = tmp_path / "data.csv"
    frame.assign(group=groups).to_csv(path, index=False)
    return frame, groups, path


@pytest.mark.parametrize("normalize", ["features", None])
def test_the_program_and_python_give_the_same_model(normalize, table, tmp_path):
    frame, groups, path = table
    file = tmp_path / "program.safetensors"
    run(
        "fit", path, "--group-by", "group", "--rank", 4, "--seed", 3, "--normalize",
        normalize or "none", "--n-init", 2, "--tol", 1e-4, "--no-compare", "--model", file,
        "--quiet",
    )  # fmt: skip
    theirs = FairerNMF.load(file)
    ours = FairerNMF(4, random_state=3, n_init=2, tol=1e-4, normalize=normalize)
    ours.fit(frame, sensitive_features=groups)
    assert theirs.groups_.tolist() == ours.groups_.tolist()
    assert theirs.feature_names_in_.tolist() == frame.columns.tolist()
    np.testing.assert_allclose(theirs.components_, ours.components_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(theirs.group_losses_, ours.group_losses_, atol=1e-12)


@pytest.mark.parametrize(
    ("noise", "rank", "method"),
    [(0.0, 6, "am"), (0.0, 6, "standard"), (0.2, 4, "mu"), (0.2, 4, "am"), (0.2, 4, "standard")],
)
def test_the_defaults_are_the_programs(noise, rank, method, tmp_path):
    """Data that a rank fits exactly, where the rule for settled groups decides, and data with noise."""
    X, groups = make_synthetic_2(random_state=2)
    X = X + noise * np.random.default_rng(0).random(X.shape)
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    path, file = tmp_path / "data.csv", tmp_path / "program.safetensors"
    frame.assign(group=groups).to_csv(path, index=False)
    run(
        "fit", path, "--group-by", "group", "--rank", rank, "--method", method, "--normalize", "none",
        "--no-compare", "--model", file, "--quiet",
    )  # fmt: skip
    theirs = FairerNMF.load(file)
    ours = FairerNMF(rank, method=method, random_state=0).fit(frame, sensitive_features=groups)
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_allclose(ours.components_, theirs.components_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.history_, theirs.history_, rtol=1e-9, atol=1e-12)
    assert json.loads(ours._model.parameters) == json.loads(theirs._model.parameters)


def test_the_program_reads_what_python_saved(table, tmp_path):
    frame, groups, path = table
    model = FairerNMF(3, random_state=0, normalize="features").fit(frame, sensitive_features=groups)
    file, output = tmp_path / "python.safetensors", tmp_path / "W.npy"
    model.save(file)
    run("transform", path, "--drop", "group", "--model", file, "--output", output)
    np.testing.assert_allclose(np.load(output), model.transform(frame), rtol=1e-9, atol=1e-12)


def test_a_sweep_is_the_programs(table, tmp_path):
    frame, groups, path = table
    file = tmp_path / "sweep.json"
    run(
        "sweep", path, "--group-by", "group", "--ranks", "2,4", "--trials", 2, "--normalize", "none",
        "--n-init", 2, "--tol", 1e-4, "--seed", 5, "--json", file, "--quiet",
    )  # fmt: skip
    written = json.loads(file.read_text())
    theirs = pd.DataFrame(written["records"])
    labels = pd.Series(groups, name="group")
    ours = sweep(
        frame, [2, 4], sensitive_features=labels, trials=2, n_init=2, tol=1e-4, random_state=5
    )
    keys = ["method", "rank", "trial", "group"]
    mine, others = (t.sort_values(keys).reset_index(drop=True) for t in (ours.records, theirs))
    assert (mine[[*keys, "seed", "rows", "status", "iterations"]] == others[
        [*keys, "seed", "rows", "status", "iterations"]
    ]).all(axis=None)  # fmt: skip
    for column in ("norm", "baseline_error", "relative_error", "loss", "worst_loss", "total_error"):
        np.testing.assert_allclose(mine[column], others[column], rtol=1e-9, atol=1e-12)
    chance = pd.DataFrame(written["chance"])
    assert list(ours.chance) == list(chance)
    assert (ours.chance[["rank", "group", "rows"]] == chance[["rank", "group", "rows"]]).all(axis=None)
    for column in ("chance_mean", "chance_low", "chance_high"):
        np.testing.assert_allclose(ours.chance[column], chance[column], rtol=1e-9, atol=1e-12)
    means = theirs.groupby(["method", "rank", "group"])["loss"].mean()
    assert ours.worst_loss.loc[4, "am"] == pytest.approx(means["am"][4].max())
    assert ours.smallest_rank(means["am"][4].max() + 1e-9) == 4
    assert ours.smallest_rank(-1.0) is None
    with pytest.raises(ValueError, match="against the same baselines; take 'best'"):
        sweep(frame, [2], sensitive_features=labels, baseline="adjusted")


def test_a_sweep_says_which_fits_were_bent_for_a_few_rows():
    heart = load_heart_disease(as_frame=True)
    few = np.where(np.isin(np.arange(len(heart.data)), 93 * np.arange(1, 9) % len(heart.data)), "few", "rest")
    asked = {"sensitive_features": few, "trials": 1, "normalize": "features"}
    with pytest.warns(UserWarning, match=r"Fairer-NMF \(AM\) with 5 topics loses .* bent for group 'few'") as said:
        sweep(heart.data, [5], methods=["standard", "am"], **asked)
    assert sum("bent for group" in str(w.message) for w in said) == 1, "once, of all fits together"
    # Without standard NMF there is nothing to set it beside, but chance is told.
    found = sweep(heart.data, [5], methods=["am"], **asked)
    few_of_chance = found.chance.set_index("group").loc["few"]
    assert few_of_chance["rows"] == 8
    assert few_of_chance["chance_mean"] > 5 * found.chance.set_index("group").loc["rest", "chance_mean"]


def test_pip_installs_the_program(tmp_path):
    """The command beside the interpreter is the program itself, with its exit codes."""
    command = shutil.which("fairer-nmf", path=os.path.dirname(sys.executable))
    assert command, "pip install . puts fairer-nmf beside python"

    def typed(*arguments, program=command):
        return subprocess.run(
            [program, *map(str, arguments)], capture_output=True, text=True, timeout=120, cwd=tmp_path
        )

    version = typed("--version")
    assert version.stdout.split() == ["fairer-nmf", fairer_nmf.__version__] and version.returncode == 0
    table = tmp_path / "t.csv"
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.random((30, 4)), columns=list("abcd")).assign(g=["x", "y"] * 15).to_csv(
        table, index=False
    )
    arguments = ("fit", "t.csv", "--group-by", "g", "--rank", 2, "--json", "-")
    theirs, ours = typed(*arguments, program=PROGRAM), typed(*arguments)
    assert ours.returncode == theirs.returncode == 0, ours.stderr

    mine, others = json.loads(ours.stdout), json.loads(theirs.stdout)
    for content in (mine, others):
        assert content.pop("seconds")
    assert mine == others
    wrong = typed("fit", "absent.csv", "--rank", 2)
    assert wrong.returncode == 2 and "absent.csv" in wrong.stderr
    assert typed("fit").returncode == 2
    # A page says what was typed, not what Python was called with.
    done = typed(*arguments[:-2], "--report", "r.html", "--draws", 0, "--permutations", 0, "--folds", 0)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "r.html").read_text()
    assert "fairer-nmf fit t.csv --group-by g --rank 2" in page and "python" not in page.lower()


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_ctrl_c_ends_the_installed_program(tmp_path):
    command = shutil.which("fairer-nmf", path=os.path.dirname(sys.executable))
    X = np.random.default_rng(0).random((2000, 60))
    np.save(tmp_path / "X.npy", X)
    (tmp_path / "g.txt").write_text("\n".join(["a", "b"] * 1000))
    process = subprocess.Popen(
        [command, "fit", "X.npy", "--groups", "g.txt", "--rank", "20", "--tol", "0", "--quiet",
         "--max-iter", "4000000000", "--no-compare", "--model", "m.safetensors",
         "--checkpoint", "state", "--every", "1ms"],
        cwd=tmp_path, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    # It is under way once it has kept something.
    while not (tmp_path / "state").exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1 and "stopped" in said.lower()
