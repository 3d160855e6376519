"""Python and the program `fairer-nmf` share one file format, and one answer.

The program is looked for in ``FAIRER_NMF_PROGRAM``, in ``target/release`` and on the path. Where it
is not, these tests fail: parity that nobody checked is not parity.
"""

import json
import os
import pathlib
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from fairer_nmf import FairerNMF
from fairer_nmf.datasets import make_synthetic_2

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
