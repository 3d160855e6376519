"""Docstrings, type stubs and tutorials hold."""

import doctest
import importlib
import importlib.metadata
import inspect
import pathlib
import pkgutil
import re
import subprocess
import sys

import numpy as np
import pytest

import fairer_nmf
from fairer_nmf import _core, datasets

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODULES = ["fairer_nmf"] + [
    f"fairer_nmf.{module.name}"
    for module in pkgutil.iter_modules(fairer_nmf.__path__)
    if module.name != "_core"
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


def test_public_names_have_docstrings_with_parameters():
    for name in fairer_nmf.__all__:
        item = getattr(fairer_nmf, name)
        if callable(item):
            assert item.__doc__, name
        if inspect.isfunction(item):
            assert "Parameters\n" in item.__doc__ and "Examples\n" in item.__doc__, name


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_tutorials_run(script, tmp_path):
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=300, cwd=tmp_path,
        env={"MPLBACKEND": "Agg", "PATH": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "worst loss" in done.stdout


def optional_packages():
    """Packages that our extras bring, and a plain `pip install .` does not."""
    requirements = importlib.metadata.requires("fairer-nmf") or []
    name = re.compile(r"[A-Za-z0-9]+").match
    always = {name(r)[0] for r in requirements if "extra ==" not in r}
    return sorted({name(r)[0] for r in requirements} - always)


def test_the_readme_runs_without_extras(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    extras = optional_packages()
    assert "matplotlib" in extras
    absent = "".join(f"sys.modules[{package!r}] = None\n" for package in extras)
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{absent}{code}"],
        capture_output=True, text=True, timeout=300, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "female" in done.stdout


def test_types_are_checked():
    pytest.importorskip("mypy")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml"],
        capture_output=True, text=True, timeout=600, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_stub_names_what_the_library_has():
    stub = (ROOT / "crates/fairer-nmf-py/python/fairer_nmf/_core.pyi").read_text()
    for name in dir(_core):
        if not name.startswith("__"):
            assert f"def {name}(" in stub or f"class {name}" in stub, name
    for name in dir(_core.Model):
        if not name.startswith("_"):
            assert f"def {name}(" in stub, name


def test_heart_disease():
    heart = datasets.load_heart_disease()
    assert heart.data.shape == (297, 12) and (heart.data >= 0).all()
    assert dict(zip(*np.unique(heart.sensitive_features, return_counts=True))) == {
        "female": 96,
        "male": 201,
    }
    frame = datasets.load_heart_disease(as_frame=True)
    assert frame.data.columns.tolist() == heart.feature_names
    assert frame.sensitive_features.name == "sex" and set(frame.target) == {0, 1}


def test_synthetic_data():
    X, groups = datasets.make_synthetic_1(random_state=1)
    assert np.linalg.matrix_rank(X[groups == "Low rank"]) == 3
    assert np.linalg.matrix_rank(X[groups == "High rank"]) == 6
    X, groups = datasets.make_synthetic_2(random_state=1)
    assert np.linalg.matrix_rank(X[groups == "Group 1"]) == 3
    assert np.linalg.matrix_rank(X[groups == "Group 2"]) == 12
    np.testing.assert_array_equal(X, datasets.make_synthetic_2(random_state=1)[0])


LITERALS = """
import numpy as np
from fairer_nmf import FairerNMF, audit, estimate_baseline

X = np.ones((4, 3))
FairerNMF(2, method="amm")
FairerNMF(2, update="fast")
FairerNMF(2, init="nndvsd")
FairerNMF(2, baseline="papr")
FairerNMF(2, normalize="rows")
FairerNMF(2, start_weights="odd")
estimate_baseline(X, 2, baseline="papr")
audit(X, X, sensitive_features=[1, 2, 1, 2], normalize="rows")
audit(X, X, sensitive_features=[1, 2, 1, 2]).difference(method="x")
"""

FINE = """
import numpy as np
import pandas as pd
from fairer_nmf import FairerNMF, audit

X = np.ones((4, 3))
FairerNMF(2, method="am", baseline=[0.1, 0.2], start_weights=np.ones(2), normalize="features")
FairerNMF(2, baseline={"a": 0.1}, start_weights={"a": 1.0})
FairerNMF(2, baseline=pd.Series({"a": 0.1}))
audit(X, X, sensitive_features=[1, 2, 1, 2], baseline="best").difference(method="to_overall")
"""


def test_mistyped_names_fail_in_mypy(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "wrong.py").write_text(LITERALS)
    (tmp_path / "fine.py").write_text(FINE)

    def check(name):
        return subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--cache-dir", tmp_path, name],
            capture_output=True, text=True, timeout=600, cwd=tmp_path,
        )  # fmt: skip

    found = check("wrong.py").stdout
    lines = {int(line.split(":")[1]) for line in found.splitlines() if line.startswith("wrong.py:")}
    assert lines == set(range(6, 15)), found
    fine = check("fine.py")
    assert fine.returncode == 0, fine.stdout


def test_the_package_comes_without_scikit_learn_until_it_is_asked_for():
    code = "import sys, fairer_nmf._program; print('sklearn' in sys.modules, 'pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
    for name in fairer_nmf.__all__:
        assert getattr(fairer_nmf, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'FairNMF'"):
        fairer_nmf.FairNMF


def test_one_version_everywhere():
    cargo = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
    citation = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)[1]
    assert fairer_nmf.__version__ == cargo == citation
    assert f"## {cargo}" in (ROOT / "CHANGELOG.md").read_text()
