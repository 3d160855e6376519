"""Time to the same error as scikit-learn's NMF(solver="cd"), and the cost of the Python layer.

    python benches/compare_sklearn.py            # prints the table that compare_sklearn.txt holds
    python benches/compare_sklearn.py --quick    # smaller data, for a look
    python benches/compare_sklearn.py --program TARGET/release/fairer-nmf    # and the Rust program

Both begin at the same random factors (drawn as scikit-learn's init="random" does), from three
starts. scikit-learn runs with its default tolerance, at most 200 iterations, and sets the error to
reach; ours (`method="standard"`) then runs exactly as many iterations as it needs for an error at
least as low, the last step for W included. The problem has many minima: where ours ends in a higher
one (marked `>`, with both ends), the error to reach is the one that both reach, our end (to 1e-6 of
itself), and scikit-learn too runs just as many iterations as it needs. Both have the same number of
threads. Times are the lowest of several repeats, taken in turns, so that other load on the machine
falls on both; the last line of a case adds its starts up.
"""

import argparse
import json
import os
import platform
import subprocess
import tempfile
import time
import warnings

THREADS = 2
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(THREADS)

import numpy as np  # noqa: E402
import sklearn  # noqa: E402
from scipy import sparse  # noqa: E402
from sklearn.decomposition import NMF  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402

from fairer_nmf import FairerNMF, __version__, _core, _data  # noqa: E402


def seconds(work):
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def dense(rows, columns, rank, dtype=np.float64):
    """Sparse topics times sparse use, and noise."""
    rng = np.random.default_rng(0)
    W = rng.gamma(0.3, 1.0, (rows, rank)).astype(dtype)
    H = rng.gamma(0.3, 1.0, (rank, columns)).astype(dtype)
    X = W @ H
    X += rng.random((rows, columns), dtype=dtype) * dtype(0.5 * X.mean())
    return X


def counts(rows, columns, rank, length):
    """Documents of about `length` words, each of a few topics, as a CSR matrix."""
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(columns, 0.02), rank).cumsum(axis=1)
    use = rng.dirichlet(np.full(rank, 0.1), rows).cumsum(axis=1)
    row = np.repeat(np.arange(rows), rng.poisson(length, rows))
    topic = (rng.random(len(row))[:, None] > use[row]).sum(axis=1).clip(max=rank - 1)
    column = np.empty(len(row), dtype=np.int64)
    for k in range(rank):
        mine = topic == k
        column[mine] = np.searchsorted(topics[k], rng.random(mine.sum())).clip(max=columns - 1)
    X = sparse.csr_matrix((np.ones(len(row)), (row, column)), shape=(rows, columns))
    X.sum_duplicates()
    X.data = np.log1p(X.data)
    return X


def norm(X):
    return np.sqrt((X.data**2).sum()) if sparse.issparse(X) else np.linalg.norm(X)


def start(X, rank, seed):
    """Factors as scikit-learn's init="random" draws them."""
    rng = np.random.default_rng(seed)
    size = np.sqrt(X.mean() / rank)
    W = (size * np.abs(rng.standard_normal((X.shape[0], rank)))).astype(X.dtype)
    return W, (size * np.abs(rng.standard_normal((rank, X.shape[1])))).astype(X.dtype)


def fewest(reaches, most):
    """The smallest number up to `most` that reaches it, if larger ones do too."""
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle + 1, high)
    return low


def to_the_same_error(X, rank, seed, repeats):
    """Seconds of scikit-learn and ours, the two ends, the errors reached and the iterations."""
    W, H = start(X, rank, seed)
    theirs = NMF(rank, solver="cd", init="custom", random_state=0)
    ours = FairerNMF(rank, method="standard", tol=0.0, max_iter=400, n_jobs=THREADS, random_state=0)
    size = norm(X)

    def fit(model):
        return model.fit_transform(X, W=W.copy(), H=H.copy())

    def their_error(iterations):
        fit(theirs.set_params(max_iter=iterations))
        return theirs.reconstruction_err_ / size

    fit(ours)
    history = ours.history_[:, 0]
    ends = their_error(200), history[-1]
    target = ends[0]
    if history[-1] > target:
        target = history[-1] * (1 + 1e-6)
        theirs.set_params(max_iter=fewest(lambda k: their_error(k) <= target, theirs.n_iter_))
    ours.set_params(max_iter=int(np.flatnonzero(history <= target)[0]) + 1)
    best = [np.inf, np.inf]
    for _ in range(repeats):
        for i, model in enumerate((theirs, ours)):
            best[i] = min(best[i], seconds(lambda: fit(model))[0])
    errors = theirs.reconstruction_err_ / size, ours.group_errors_[0]
    return best, ends, errors, (theirs.n_iter_, ours.n_iter_)


def small_overhead():
    """Microseconds of a whole fit of small data and of the Rust call in it."""
    X = dense(100, 10, 3)
    groups = np.repeat(["a", "b"], 50)
    model = FairerNMF(2, baseline="zero", max_iter=1, tol=1.0, random_state=0, n_jobs=THREADS)
    encoded = _data.encode_groups(groups)
    settings = model._settings(encoded)
    whole, inside = [], []
    for _ in range(1000):
        whole.append(seconds(lambda: model.fit(X, sensitive_features=groups))[0])
        inside.append(seconds(lambda: _core.fit(X, encoded, settings))[0])
    return np.median(whole) * 1e6, np.median(inside) * 1e6


def large_overhead(rows, columns):
    """Seconds of a whole fit of large data and of the Rust call in it."""
    X = dense(rows, columns, 10, np.float32)
    groups = np.arange(rows) % 4
    model = FairerNMF(10, method="standard", baseline="zero", tol=0.0, max_iter=10, random_state=0)
    model.set_params(n_jobs=THREADS)
    encoded = _data.encode_groups(groups)
    settings = model._settings(encoded)
    settings["bound"] = False
    model._settings = lambda groups: settings  # the same work for both
    best = [np.inf, np.inf]
    for _ in range(3):
        best[0] = min(best[0], seconds(lambda: model.fit(X, sensitive_features=groups))[0])
        best[1] = min(best[1], seconds(lambda: _core.fit(X, encoded, settings))[0])
    return best


def from_file(model, folder):
    X = np.load(f"{folder}/X.npy", mmap_mode="r")  # as the program reads it
    return model.fit(X, sensitive_features=np.load(f"{folder}/groups.npy"))


def beside_the_program(program, rows, columns):
    """Seconds from the file to the model, in Python (running already) and by the program as a whole."""
    X = dense(rows, columns, 10, np.float32)
    groups = np.arange(rows) % 4
    model = FairerNMF(10, method="standard", baseline="zero", tol=0.0, max_iter=10, random_state=0)
    model.set_params(n_jobs=THREADS)
    best = [np.inf, np.inf]
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/X.npy", X)
        np.save(f"{folder}/groups.npy", groups)
        command = [program, "fit", f"{folder}/X.npy", "--groups", f"{folder}/groups.npy", "--rank", "10"]
        command += ["--method", "standard", "--baseline", "zero", "--tol", "0", "--max-iter", "10"]
        command += ["--normalize", "none", "--threads", str(THREADS), "--n-init", str(model.n_init)]
        command += ["--precision", "f32", "--no-compare", "--quiet", "--json", "-"]
        for _ in range(3):
            best[0] = min(best[0], seconds(lambda: from_file(model, folder))[0])
            time_of_program, run = seconds(lambda: subprocess.run(command, capture_output=True, check=True))
            best[1] = min(best[1], time_of_program)
            said = json.loads(run.stdout)
    return best, model.worst_loss_ - said["worst_loss"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--program", help="the Rust program, to compare a large fit with its own")
    options = parser.parse_args()
    quick = options.quick
    warnings.simplefilter("ignore", ConvergenceWarning)
    load = os.getloadavg()[0]
    size = "quick (a tenth of the rows)" if quick else "full"
    print(f"fairer-nmf {__version__}, scikit-learn {sklearn.__version__}, numpy {np.__version__}, {size},")
    print(f"Python {platform.python_version()}, {THREADS} threads, load at the start {load:.1f}\n")
    scale = 10 if quick else 1
    cases = [
        ("dense f64", dense(20_000 // scale, 500, 20), 20),
        ("dense f32", dense(20_000 // scale, 500, 20, np.float32), 20),
        ("dense f64", dense(5_000 // scale, 2_000, 50), 50),
        ("sparse f64", counts(50_000 // scale, 5_000, 20, 60), 20),
        ("sparse f64", counts(20_000 // scale, 10_000, 50, 100), 50),
    ]
    print("data        shape            rank  scikit-learn  fairer-nmf  ratio   errors           iterations")
    for name, X, rank in cases:
        head = f"{name:10s}  {X.shape[0]:6d} x {X.shape[1]:5d}   {rank:4d}"
        total = np.zeros(2)
        for seed in range(3):
            best, ends, errors, iterations = to_the_same_error(X, rank, seed, 2)
            total += best
            note = f"   > {ends[0]:.5f} {ends[1]:.5f}" if ends[1] > ends[0] else ""
            print(
                f"{head}  {best[0]:10.2f} s  {best[1]:8.2f} s  {best[0] / best[1]:5.1f}   "
                f"{errors[0]:.5f} {errors[1]:.5f}  {iterations[0]:3d} {iterations[1]:3d}{note}",
                flush=True,
            )
        print(f"{'all starts':29s}  {total[0]:10.2f} s  {total[1]:8.2f} s  {total[0] / total[1]:5.1f}", flush=True)
    whole, inside = small_overhead()
    print(f"\n100 x 10, 2 groups, 1 iteration: {whole:.0f} us, of which Rust {inside:.0f} us: ", end="")
    print(f"Python layer {whole - inside:.0f} us")
    rows = 100_000 // scale
    whole, inside = large_overhead(rows, 1000)
    print(f"{rows} x 1000 f32, 4 groups, 10 iterations: {whole:.2f} s, ", end="")
    print(f"of which Rust {inside:.2f} s: Python layer {100 * (whole / inside - 1):.1f} %")
    if options.program:
        (whole, inside), difference = beside_the_program(options.program, rows, 1000)
        print(f"{rows} x 1000 f32, 4 groups, 10 iterations and the bound, from the file: {whole:.2f} s, ", end="")
        print(f"the Rust program {inside:.2f} s: {100 * (whole / inside - 1):+.1f} %", end="")
        print(f" (worst losses differ by {difference:.0e})")
    print(f"load at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
