"""How time, memory and traffic grow with rows, features, rank, groups, workers and partitions.

    python benches/growth.py

Everything is held against one setting (BASE), in which one thing at a time is changed. Every measurement is
a process of its own. Time is that of an iteration of the AM scheme: a fit of many iterations less one of few, the
shortest of some repeats of either. Memory is how much a process had at the most beyond what it had before a short fit of
ten times the rows: with the rows in memory (X among it), and with the rows on disk and a budget (`memory=`) of a fraction of
them; Linux tells it. Traffic is that of a round on a Dask cluster of processes, as the fit counts it
(`traffic_`): questions once for every share of the rows, and answers that reach the driver.
"""

import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402

from fairer_nmf import FairerNMF  # noqa: E402

BASE = {"rows": 20_000, "features": 100, "rank": 20, "groups": 4}
CHANGES = [
    {}, {"rows": 40_000}, {"rows": 80_000}, {"features": 200}, {"features": 400}, {"rank": 10},
    {"rank": 40}, {"groups": 8}, {"groups": 32},
]  # fmt: skip
#: Workers and partitions, beside the numbers of BASE; traffic does not depend on the rows, so that few are enough.
CLUSTERS = [(1, 8), (4, 8), (2, 2), (2, 32)]
BUDGET = "16MB"
FEW, MANY, REPEATS = 30, 50, 3
OPTIONS = {"n_init": 1, "init": "random", "tol": 0, "baseline": "zero", "bound": False, "random_state": 0}


def labels(rows, groups):
    return np.random.default_rng(1).integers(0, groups, rows, dtype=np.int8)


def write(path, rows, features):
    """Rows of eight topics and noise, in pieces."""
    H = np.random.default_rng(0).gamma(0.3, 1.0, (8, features)).astype(np.float32)
    out = np.lib.format.open_memmap(path, "w+", np.float32, (rows, features))
    for first in range(0, rows, 50_000):
        rng = np.random.default_rng(first + 1)
        count = min(50_000, rows - first)
        part = rng.gamma(0.3, 1.0, (count, 8)).astype(np.float32) @ H
        out[first : first + count] = part + 0.2 * rng.random(part.shape, dtype=np.float32)
    out.flush()


def megabytes(of):
    """Give a number about the memory of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith(of))


def fit(X, codes, rank, iterations, kind):
    more = {} if kind == "memory" else {"memory": BUDGET}
    FairerNMF(rank, max_iter=iterations, **OPTIONS, **more).fit(X, sensitive_features=codes)


def measure(path, rank, groups, kind, what):
    """In a process of its own: print seconds of an iteration, or MB."""
    warnings.simplefilter("ignore")
    codes = labels(np.load(path, mmap_mode="r").shape[0], groups)
    if what == "space":
        # What the package and its threads have in any case; the peak then begins anew.
        fit(np.random.default_rng(0).random((100, 10), dtype=np.float32), labels(100, groups), 2, 2, "memory")
        Path("/proc/self/clear_refs").write_text("5")
        before = megabytes("VmRSS")
        fit(np.load(path) if kind == "memory" else path, codes, rank, 2, kind)
        print(megabytes("VmHWM") - before)
        return
    X = np.load(path) if kind == "memory" else path
    taken = {FEW: [], MANY: []}
    for _ in range(REPEATS):
        for iterations, times in taken.items():
            begin = time.perf_counter()
            fit(X, codes, rank, iterations, kind)
            times.append(time.perf_counter() - begin)
    print((min(taken[MANY]) - min(taken[FEW])) / (MANY - FEW))


def child(*arguments):
    run = [sys.executable, __file__, *map(str, arguments)]
    return float(subprocess.run(run, capture_output=True, text=True, check=True).stdout)


def alone():
    print("| changed | in memory: ms an iteration | of base | MB | on disk: ms an iteration | of base | MB |")
    print("|---|---|---|---|---|---|---|")
    first = None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        for change in CHANGES:
            setting = BASE | change
            found = []
            for what, times in [("time", 1), ("space", 10)]:
                write(path, times * setting["rows"], setting["features"])
                for kind in ("memory", "disk"):
                    found.append(child(path, setting["rank"], setting["groups"], kind, what))
            own, there, space, space_there = found
            first = first or (own, there)
            name = ", ".join(f"{key} {value}" for key, value in change.items()) or "nothing"
            print(
                f"| {name} | {1e3 * own:.1f} | {own / first[0]:.2f} | {space:.0f} | "
                f"{1e3 * there:.1f} | {there / first[1]:.2f} | {space_there:.0f} |",
                flush=True,
            )


def traffic(client, setting, partitions):
    """Give rounds, and bytes out and back in one of them."""
    import dask.array as da

    import fairer_nmf.dask

    rows = setting["rows"]
    X = np.random.default_rng(0).random((rows, setting["features"]), dtype=np.float32)
    chunks = -(-rows // partitions)
    model = fairer_nmf.dask.FairerNMF(setting["rank"], max_iter=20, **OPTIONS)
    model.client = client
    codes = da.from_array(labels(rows, setting["groups"]), chunks=chunks)
    model.fit(da.from_array(X, chunks=(chunks, -1)), sensitive_features=codes)
    found = model.traffic_
    return found["rounds"], found["sent"] / found["rounds"], found["received"] / found["rounds"]


def together():
    import distributed

    print("\n| changed | workers | partitions | rounds | KB out in a round | KB back to the driver |")
    print("|---|---|---|---|---|---|")
    few = BASE | {"rows": 2000}
    changes = [{}, {"rows": 20_000}, {"features": 200}, {"rank": 40}, {"groups": 8}]
    settings = [(2, 8, change) for change in changes]
    settings += [(workers, partitions, {}) for workers, partitions in CLUSTERS]
    for workers, partitions, change in settings:
        with (
            distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            rounds, out, back = traffic(client, few | change, partitions)
        name = ", ".join(f"{key} {value}" for key, value in change.items()) or "nothing"
        print(f"| {name} | {workers} | {partitions} | {rounds} | {out / 1e3:.0f} | {back / 1e3:.0f} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
    else:
        warnings.simplefilter("ignore")
        print(f"base: {BASE}, on disk with a budget of {BUDGET}")
        alone()
        together()
