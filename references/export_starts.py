"""Data for the study of starts (crates/fairer-nmf-bench/src/bin/starts.rs): scikit-learn's tables with
their own classes as groups.

    .venv/bin/pip install numpy scikit-learn
    .venv/bin/python references/export_starts.py target/starts

Writes NAME.csv: the class, then the features; no header.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn import datasets

out = Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
for name, load in [("wine", datasets.load_wine), ("cancer", datasets.load_breast_cancer), ("digits", datasets.load_digits)]:
    found = load()
    table = np.c_[found.target, found.data]
    np.savetxt(out / f"{name}.csv", table, fmt="%.17g", delimiter=",")
    print(name, found.data.shape)
