"""Reading speed against polars (CSV) and NumPy (.npy), in the same run.

    cargo build --release --example read_time -p fairer-nmf-io
    python -m venv v && v/bin/pip install numpy polars
    v/bin/python read_speed.py TARGET/release/examples/read_time [GB] [npy]

Writes files of about GB gigabytes (default 1) to a temporary folder and removes them; `npy`: that format only.
Each time is the best of 3 rounds of 3; the programs take turns, so that other work on the
machine hurts both. The matrix sums must agree to 1e-9 of their size.
"""
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

PROGRAM = sys.argv[1]
GIGABYTES = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
ROUNDS = 3


def ours(path, *group):
    words = subprocess.run([PROGRAM, path, *group], check=True, capture_output=True, text=True)
    return tuple(float(word) for word in words.stdout.split())


def timed(function):
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - start)
    return best, result


def compare(name, path, theirs, which, *group):
    """`which`: 0 the time to read, 1 the time to read and add up."""
    best_ours = best_theirs = float("inf")
    for _ in range(ROUNDS):
        seconds, total = timed(theirs)
        best_theirs = min(best_theirs, seconds)
        mine = ours(path, *group)
        best_ours = min(best_ours, mine[which])
    assert abs(mine[2] - total) <= 1e-9 * abs(total), (mine[2], total)
    size = Path(path).stat().st_size / 1e9
    print(f"{name:44} {size:5.2f} GB  theirs {best_theirs:6.3f} s  ours {best_ours:6.3f} s  ratio {best_ours / best_theirs:5.2f}", flush=True)


def numbers(rows, columns, decimals=None):
    X = np.random.default_rng(0).random((rows, columns))
    return X if decimals is None else X.round(decimals)


def csv(name, X, folder, group=False, quote="necessary"):
    path = f"{folder}/table.csv"
    frame = pl.DataFrame(X, schema=[f"c{i}" for i in range(X.shape[1])])
    arguments = []
    if group:
        labels = np.array(["north", "south", "east, west"])[np.arange(len(X)) % 3]
        frame = frame.with_columns(pl.Series("group", labels))
        arguments = ["group"]
    frame.write_csv(path, quote_style=quote)
    total = float(X.sum())
    del frame
    compare(f"{name}: polars.read_csv", path, lambda: (pl.read_csv(path), total)[1], 0, *arguments)
    if not group:
        compare(f"{name}: polars.read_csv().to_numpy()", path, lambda: (pl.read_csv(path).to_numpy(), total)[1], 0)
    Path(path).unlink()


with tempfile.TemporaryDirectory() as folder:
    if sys.argv[3:] != ["npy"]:
        rows = int(GIGABYTES * 1e9 / (100 * 19.3))
        csv("CSV, 100 columns, 17 digits", numbers(rows, 100), folder)
        csv("CSV, 100 columns, 3 decimals", numbers(int(GIGABYTES * 1e9 / (100 * 5.9)), 100, 3), folder)
        csv("CSV, 17 digits, quoted group", numbers(rows, 100), folder, group=True)
    path = f"{folder}/matrix.npy"
    np.save(path, numbers(int(GIGABYTES * 1e9 / 8000), 1000))
    compare(".npy: np.load and sum", path, lambda: float(np.load(path).sum()), 1)
    compare(".npy: np.load(mmap) and sum", path, lambda: float(np.load(path, mmap_mode='r').sum()), 1)
