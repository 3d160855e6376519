"""One pass of fairer-nmf against the two products alone in NumPy and SciPy.

    python crates/fairer-nmf-bench/benches/compare_pass.py > compare_pass.txt

NumPy (OpenBLAS) and SciPy compute XHᵀ and WᵀX, nothing else; the pass also updates W
and forms WᵀW. Both run on the same shapes, types and threads, by turns in the same
run; the fastest of each side is printed, by the clock and in processor time (which
counts on a loaded machine, where the clock does not). Targets: dense at most 0.8 of
NumPy, CSR at most 0.5 of SciPy, whose products use one thread whatever they are given.
"""

import argparse
import os
import pathlib
import platform
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PROGRAM = TARGET / "release/examples/pass_time"

# kind, type, rows, columns, rank, filled
LARGE = [
    ("dense", "f64", 100_000, 1_000, 20, 1.0),
    ("dense", "f64", 100_000, 1_000, 50, 1.0),
    ("dense", "f32", 100_000, 1_000, 20, 1.0),
    ("dense", "f32", 100_000, 1_000, 50, 1.0),
    ("csr", "f64", 100_000, 20_000, 20, 0.005),
    ("csr", "f64", 100_000, 20_000, 50, 0.005),
    ("csr", "f32", 100_000, 20_000, 20, 0.005),
]
SMALL = [
    ("dense", "f64", 500, 12, 3, 1.0),
    ("dense", "f64", 500, 12, 9, 1.0),
    ("csr", "f64", 300, 200, 20, 0.07),
]


def peer(kind, dtype, rows, columns, rank, filled, threads):
    """Run in its own process, so that OpenBLAS gets its number of threads at start."""
    import numpy as np

    rng = np.random.default_rng(0)
    kind_of_number = {"f32": np.float32, "f64": np.float64}[dtype]
    if kind == "dense":
        X = rng.random((rows, columns), dtype=kind_of_number)
    else:
        import scipy.sparse as sp

        per_row = round(columns * filled)
        bins = columns // per_row
        indices = rng.integers(0, bins, (rows, per_row)) + np.arange(per_row) * bins
        X = sp.csr_matrix(
            (rng.random(rows * per_row, dtype=kind_of_number),
             indices.ravel().astype(np.int32),
             np.arange(0, rows * per_row + 1, per_row, dtype=np.int32)),
            shape=(rows, columns))  # fmt: skip
    H = rng.random((rank, columns), dtype=kind_of_number)
    W = rng.random((rows, rank), dtype=kind_of_number)
    many = 2000 if rows * columns < 1_000_000 else 2
    print("ready", flush=True)
    for _ in sys.stdin:
        begin, used = time.perf_counter(), time.process_time()
        if rows * columns < 1_000_000:  # whole iterations, as in references/paper_mu.py
            for _ in range(many):
                H = H * (W.T @ X) / np.maximum(W.T @ W @ H, 1.19e-7)
                W = W * (X @ H.T) / np.maximum(W @ (H @ H.T), 1.19e-7)
                if kind == "dense":
                    np.linalg.norm(X - W @ H)
        else:
            for _ in range(many):
                X @ H.T
                W.T @ X if kind == "dense" else X.T @ W
        print((time.perf_counter() - begin) / many, (time.process_time() - used) / many, flush=True)


def start(command, threads):
    environment = os.environ | {"OPENBLAS_NUM_THREADS": str(threads)}
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True, env=environment)  # fmt: skip
    assert process.stdout.readline().strip() == "ready"
    return process


def ask(process):
    process.stdin.write("\n")
    process.stdin.flush()
    return [float(word) for word in process.stdout.readline().split()]


def compare(shape, threads, rounds):
    kind, dtype, rows, columns, rank, filled = shape
    plain = [kind, dtype, str(rows), str(columns), str(rank), str(threads), str(filled)]
    ours = start([PROGRAM, *plain], threads)
    theirs = start([sys.executable, __file__, "--peer", *plain], threads)
    times = [(ask(ours), ask(theirs)) for _ in range(rounds)]
    for process in (ours, theirs):
        process.stdin.close()
    memory = ours.stdout.read().strip()
    (wall, cpu), (other_wall, other_cpu) = ([min(t) for t in zip(*side)] for side in zip(*times))
    unit, scale = ("µs", 1e6) if other_wall < 1e-3 else ("ms", 1e3)
    print(f"{kind:5} {dtype} {rows:7} x {columns:<6} r={rank:<3} threads={threads}  "
          f"wall {wall * scale:7.1f} / {other_wall * scale:7.1f} {unit} = {wall / other_wall:4.2f}  "
          f"cpu {cpu * scale:7.1f} / {other_cpu * scale:7.1f} {unit} = {cpu / other_cpu:4.2f}  "
          f"{memory}", flush=True)  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", nargs=7)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="start of the lines to run")
    options = parser.parse_args()
    if options.peer:
        kind, dtype, *numbers, filled = options.peer
        rows, columns, rank, threads = map(int, numbers)
        return peer(kind, dtype, rows, columns, rank, float(filled), threads)
    import numpy as np

    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo")
                if line.startswith("model name")), platform.processor())  # fmt: skip
    print(f"{cpu}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; NumPy {np.__version__}")
    print("ours: a whole iteration of standard MU; theirs: XHᵀ and WᵀX alone "
          "(whole MU iterations for the small shapes)")  # fmt: skip
    for shape in SMALL + LARGE:
        for threads in [1, 2]:
            if " ".join(map(str, shape)).startswith(options.only):
                compare(shape, threads, options.rounds)
    print(f"load at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
