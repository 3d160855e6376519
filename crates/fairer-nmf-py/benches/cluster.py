"""Two Dask workers with one thread each against two threads of one process, and what a round costs.

    python benches/cluster.py                      # 10^6 x 500 in f32 at rank 20
    python benches/cluster.py --rows 20000         # smaller data, for a look

Both fit the same rows from the same random start by the AM scheme, without baselines. A time is
that of one iteration: a fit of many iterations less one of few, divided by the difference, so that
reading, checking and starting do not count. The two take turns, and of several repeats the shortest fit
counts, of either length. The cost of a round is the time of an iteration on hardly any rows (as many features and
topics) on the cluster, less that in one process; bytes are those of a round's questions, once for
every worker, and of the answers.
"""

import argparse
import os
import platform
import time
import warnings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import dask.array as da  # noqa: E402
import distributed  # noqa: E402
import numpy as np  # noqa: E402

import fairer_nmf  # noqa: E402
import fairer_nmf.dask  # noqa: E402


def block(number, rows, features, rank):
    """Rows of a number of topics and noise, the same wherever they are made."""
    rng = np.random.default_rng(number)
    H = np.random.default_rng(2**32).gamma(0.3, 1.0, (rank, features)).astype(np.float32)
    X = rng.gamma(0.3, 1.0, (rows, rank)).astype(np.float32) @ H
    X += rng.random(X.shape, dtype=np.float32) * np.float32(0.5 * X.mean())
    return X


def data(rows, features, rank, blocks):
    size = -(-rows // blocks)
    import dask

    parts = [
        da.from_delayed(
            dask.delayed(block)(number, size, features, rank), (size, features), np.float32
        )
        for number in range(blocks)
    ]
    labels = np.random.default_rng(1).choice(["a", "b", "c"], size * blocks, p=[0.1, 0.3, 0.6])
    return da.concatenate(parts), labels


def fitted(make, X, labels, iterations, taken):
    """Fit, and enter the seconds."""
    model = make(iterations)
    begin = time.perf_counter()
    model.fit(X, sensitive_features=labels)
    taken.setdefault(iterations, []).append(time.perf_counter() - begin)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=500)
    parser.add_argument("--rank", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--blocks", type=int, default=8, help="partitions of the rows")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--few", type=int, default=2)
    parser.add_argument("--many", type=int, default=12)
    a = parser.parse_args()
    warnings.simplefilter("ignore")
    options = {
        "n_components": a.rank, "n_init": 1, "init": "random", "tol": 0, "baseline": "zero",
        "bound": False, "random_state": 0,
    }  # fmt: skip
    here = lambda n: fairer_nmf.FairerNMF(max_iter=n, n_jobs=a.workers, **options)  # noqa: E731
    there = lambda n: fairer_nmf.dask.FairerNMF(max_iter=n, **options)  # noqa: E731
    print(
        f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, "
        f"distributed {distributed.__version__}, fairer-nmf {fairer_nmf.__version__}; "
        f"{a.rows} x {a.features} f32, rank {a.rank}, {a.blocks} partitions, {a.workers} workers"
    )
    with distributed.Client(
        n_workers=a.workers, threads_per_worker=1, processes=True, dashboard_address=None,
        memory_limit=None,
    ):  # fmt: skip
        for name, rows, few, many in [
            ("all rows", a.rows, a.few, a.many),
            ("hardly any rows", 40 * a.blocks, 5, 105),
        ]:
            lazy, labels = data(rows, a.features, a.rank, a.blocks)
            lazy = lazy.persist()
            distributed.wait(lazy)
            X = lazy.compute()
            own, other = {}, {}
            for _ in range(a.repeats):
                for iterations in (few, many):
                    local = fitted(here, X, labels, iterations, own)
                    model = fitted(there, lazy, labels, iterations, other)
            one, two = ((min(t[many]) - min(t[few])) / (many - few) for t in (own, other))
            far = np.abs(model.components_ - local.components_).max() / local.components_.max()
            traffic, rounds = model.traffic_, model.traffic_["rounds"]
            print(
                f"{name}: an iteration takes {1e3 * one:.1f} ms on {a.workers} threads, "
                f"{1e3 * two:.1f} ms on {a.workers} workers: {two / one:.2f} times; a fit of {many} "
                f"{min(own[many]):.2f} s and {min(other[many]):.2f} s: {min(other[many]) / min(own[many]):.2f} times; "
                f"a round {traffic['sent'] / rounds / 1e3:.0f} KB out, "
                f"{traffic['received'] / rounds / 1e3:.0f} KB back; dictionaries differ by {far:.0e}"
            )
            if name != "all rows":
                print(f"overhead of a round: {1e3 * (two - one):.1f} ms")
            del lazy


if __name__ == "__main__":
    main()
