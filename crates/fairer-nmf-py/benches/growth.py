"""How time, memory and traffic grow with rows, features, rank, groups, workers and partitions.

    python benches/growth.py

Everything is held against one setting (BASE), in which one thing at a time is changed. Every measurement is
a process of its own: the time of an iteration of the AM scheme (a fit of many iterations less one of few, the
shortest of some repeats of either), and how much memory the process took beyond what it has with the package
imported: with the rows in memory (X among it), and with the rows on disk and a budget (`memory=`) of which
they take several times. Traffic is that of a round on a Dask cluster of processes, as the fit counts it
(`traffic_`): questions once for every share of the rows, and answers that reach the driver.
"""

import os
import resource
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

BASE = {"rows": 100_000, "features": 100, "rank": 20, "groups": 4}
CHANGES = [
    {}, {"rows": 200_000}, {"rows": 400_000}, {"features": 200}, {"features": 400}, {"rank": 10},
    {"rank": 40}, {"groups": 8}, {"groups": 32},
]  # fmt: skip
#: Workers and partitions, beside the numbers of BASE; traffic does not depend on the rows, so that few are enough.
CLUSTERS = [(1, 8), (2, 8), (4, 8), (2, 2), (2, 32)]
BUDGET = "16MB"
FEW, MANY, REPEATS = 30, 40, 3
OPTIONS = {"n_init": 1, "init": "random", "tol": 0, "baseline": "zero", "bound": False, "random_state": 0}


def labels(rows, groups):
    return np.random.default_rng(1).integers(0, groups, rows).astype(str)


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


def used():
    """Give the most memory that the process had so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def measure(path, rank, groups, kind):
    """In a process of its own: print seconds of an iteration, and MB."""
    warnings.simplefilter("ignore")
    codes = labels(np.load(path, mmap_mode="r").shape[0], groups)
    before = used()
    X = np.load(path) if kind == "memory" else path
    more = {} if kind == "memory" else {"memory": BUDGET}
    taken = {FEW: [], MANY: []}
    for _ in range(REPEATS):
        for iterations, times in taken.items():
            begin = time.perf_counter()
            FairerNMF(rank, max_iter=iterations, **OPTIONS, **more).fit(X, sensitive_features=codes)
            times.append(time.perf_counter() - begin)
    print((min(taken[MANY]) - min(taken[FEW])) / (MANY - FEW), used() - before)


def child(*arguments):
    run = [sys.executable, __file__, *map(str, arguments)]
    return [float(v) for v in subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()]


def alone():
    print("| changed | in memory: ms an iteration | of base | MB | on disk: ms an iteration | of base | MB |")
    print("|---|---|---|---|---|---|---|")
    first = None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        for change in CHANGES:
            setting = BASE | change
            write(path, setting["rows"], setting["features"])
            own, there = (child(path, setting["rank"], setting["groups"], kind) for kind in ("memory", "disk"))
            first = first or (own[0], there[0])
            name = ", ".join(f"{key} {value}" for key, value in change.items()) or "nothing"
            print(
                f"| {name} | {1e3 * own[0]:.1f} | {own[0] / first[0]:.2f} | {own[1]:.0f} | "
                f"{1e3 * there[0]:.1f} | {there[0] / first[1]:.2f} | {there[1]:.0f} |",
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
    few = BASE | {"rows": 4000}
    settings = [(2, 8, {})] + [(2, 8, c) for c in ({"rows": 40_000}, {"features": 200}, {"rank": 40}, {"groups": 8})]
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
        measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    else:
        warnings.simplefilter("ignore")
        print(f"base: {BASE}, on disk with a budget of {BUDGET}")
        alone()
        together()
