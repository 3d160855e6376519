"""A smoke test for an environment with nothing but the package: imports, fit, audit, program.

    python -m pip install fairer_nmf-*.whl && python crates/fairer-nmf-py/tests/smoke.py
"""

import pathlib
import subprocess
import sys
import sysconfig
import tempfile

import numpy as np

import fairer_nmf
from fairer_nmf import FairerNMF, audit
from fairer_nmf.datasets import load_heart_disease


def main() -> None:
    heart = load_heart_disease()
    groups = heart.sensitive_features
    model = FairerNMF(3, normalize="features", random_state=0)
    W = model.fit_transform(heart.data, sensitive_features=groups)
    assert W.shape == (297, 3) and model.global_bound_ <= model.worst_loss_ + 1e-9
    table = audit(heart.data, model, sensitive_features=groups).by_group
    assert np.allclose(table["loss"], model.group_losses_, atol=1e-6)

    name = "fairer-nmf.exe" if sys.platform == "win32" else "fairer-nmf"
    program = pathlib.Path(sysconfig.get_path("scripts")) / name
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert version.stdout.split() == ["fairer-nmf", fairer_nmf.__version__], version.stdout
    with tempfile.TemporaryDirectory() as folder:
        run = [program, "demo", "--quiet", "--out", folder]
        subprocess.run(run, check=True)
        assert any(pathlib.Path(folder).iterdir())
        file = pathlib.Path(folder) / "m.safetensors"
        model.save(file)
        topics = subprocess.run([program, "topics", file], capture_output=True, text=True, check=True)
        assert "opic" in topics.stdout
    print(f"fairer-nmf {fairer_nmf.__version__} works on Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
