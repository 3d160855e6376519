"""The paper's MU scheme in plain NumPy: the oracle and timing reference of fairer-nmf.

Kassab, George, Needell, Geng, Jafar Nia, Li, "Towards a Fairer Non-negative
Matrix Factorization", arXiv 2411.09847: Algorithm 1 (`baseline_errors`) and
Algorithm 3 (`fairer_mu`), with standard NMF (`standard_nmf`). Every update is one
multiplicative step, H before W:

    H <- H * (W~^T X~) / (W~^T W~ H)      W <- W * (X H^T) / (W H H^T)

where X~, W~ hold rows times c_l / ||X_l|| (standard NMF: rows as they are).
Where the published code departs from the text the choice is an option.
Norms are Frobenius norms. X: m x n, W: m x r, H: r x n, group: m labels 0..L-1.

    python paper_mu.py hd --rank 5 --seed 0 --stop loss
"""

import argparse
import pathlib
import time

import numpy as np

CLIP = 1.19e-7  # smallest denominator: the f32 epsilon, to three figures
TOLERANCE = 1e-4  # relative change per iteration, see `settled`
MAX_ITERATIONS = 10_000
DATA = pathlib.Path(__file__).resolve().parents[2] / "shared/data"


def multiply(factor, numerator, denominator, clip=CLIP):
    """One multiplicative update; clip > 0 keeps the denominator positive."""
    return factor * numerator / np.maximum(denominator, clip)


def update_H(X, W, H, clip=CLIP):
    return multiply(H, W.T @ X, W.T @ W @ H, clip)


def update_W(X, W, H, clip=CLIP):
    return multiply(W, X @ H.T, W @ (H @ H.T), clip)


def random_factors(rng, m, n, rank):
    """W (m x r), then H (r x n), uniform on [0, 1)."""
    return rng.random((m, rank)), rng.random((rank, n))


def settled(new, old, tolerance):
    """|new - old| / |new| < tolerance, without dividing."""
    return np.abs(new - old) < tolerance * np.abs(new)


def standard_nmf(X, W, H, tolerance=TOLERANCE, max_iterations=MAX_ITERATIONS, clip=CLIP):
    """Standard NMF by MU from (W, H); stops when the error ||X - WH|| has settled.

    tolerance=None runs max_iterations. Returns W, H, error, iterations.
    """
    error = np.linalg.norm(X - W @ H)
    for k in range(1, max_iterations + 1):
        H = update_H(X, W, H, clip)
        W = update_W(X, W, H, clip)
        old, error = error, np.linalg.norm(X - W @ H)
        if tolerance is not None and settled(error, old, tolerance):
            break
    return W, H, error, k


def baseline_errors(X, group, rank, rng, runs=5, **options):
    """Algorithm 1: E_l, the mean error of `runs` standard NMFs of each group alone.

    Returns E (L), every run's error (L x runs) and iterations (L x runs).
    """
    L = group.max() + 1
    errors, iterations = np.empty((L, runs)), np.empty((L, runs), dtype=int)
    for l in range(L):
        X_l = X[group == l]
        for t in range(runs):
            W, H = random_factors(rng, *X_l.shape, rank)
            _, _, errors[l, t], iterations[l, t] = standard_nmf(X_l, W, H, **options)
    return errors.mean(axis=1), errors, iterations


def group_norms(X, group):
    return np.array([np.linalg.norm(X[group == l]) for l in range(group.max() + 1)])


def next_coefficients(c, worst, rule, step):
    """Group coefficients after group `worst` had the largest loss."""
    e = np.zeros_like(c)
    e[worst] = 1.0
    if rule == "decaying":  # only ratios matter, so the paper need not normalise
        return c + e
    if rule == "largest":
        return e
    if rule == "fixed":
        return (1.0 - step) * c + step * e
    raise ValueError(f"unknown rule {rule!r}")


def fairer_mu(X, group, E, W, H, rule="decaying", step=None, start="zero", stop="loss",
              tolerance=TOLERANCE, small_loss=None, small_error=None,
              max_iterations=MAX_ITERATIONS, clip=CLIP):  # fmt: skip
    """Algorithm 3: Fairer-NMF by multiplicative updates from (W, H), given E_l.

    start: c before the first iteration, "zero" (the text) or "equal" (1/L, the code).
    stop: "error" (the text) or "loss" (the code): which quantity must settle in
        every group, or None to run max_iterations.
    small_loss, small_error: a group also counts as settled once its loss, or its
        relative error, is below this (1e-3 for the synthetic data sets).
    Returns a dict: W, H, c, errors and losses (both relative to ||X_l||), iterations.
    """
    N = group_norms(X, group)
    L = len(N)
    c = np.zeros(L) if start == "zero" else np.full(L, 1.0 / L)

    def measure():
        errors = group_norms(X - W @ H, group) / N
        return errors, errors - E / N

    errors, losses = measure()
    for k in range(1, max_iterations + 1):
        c = next_coefficients(c, np.argmax(losses), rule, step)
        scale = (c / N)[group][:, None]  # squared in the products: weights c^2 / N^2
        H = update_H(scale * X, scale * W, H, clip)
        W = update_W(X, W, H, clip)
        old_errors, old_losses = errors, losses
        errors, losses = measure()
        if stop is not None:
            done = (settled(errors, old_errors, tolerance) if stop == "error"
                    else settled(losses, old_losses, tolerance))  # fmt: skip
            if small_loss is not None:
                done |= losses < small_loss
            if small_error is not None:
                done |= errors < small_error
            if done.all():
                break
    return dict(W=W, H=H, c=c, errors=errors, losses=losses, iterations=k)


def load(name):
    """X and group of a data set of the paper: ortho1, ortho2, hd or 20n."""
    if name in ("ortho1", "ortho2"):
        file = np.load(DATA / f"synthetic/{name}.npz")
        return file["X"], file["group"]
    if name == "hd":
        file = np.load(DATA / "heart-disease/hd_297x12.npz")
        return file["X"], file["group"]
    file = np.load(DATA / "20newsgroups/20n_tfidf_1500x200.npz", allow_pickle=False)
    X = np.zeros(file["shape"])
    rows = np.repeat(np.arange(len(X)), np.diff(file["indptr"]))
    X[rows, file["indices"]] = file["data"]
    table = np.genfromtxt(DATA / "20newsgroups/20n_rows.csv", delimiter=",", skip_header=1,
                          usecols=1, dtype=int, encoding="utf-8")  # fmt: skip
    return X, table


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", choices=["ortho1", "ortho2", "hd", "20n"])
    parser.add_argument("--rank", type=int, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", choices=["zero", "equal"], default="equal")
    parser.add_argument("--stop", choices=["error", "loss"], default="loss")
    arguments = parser.parse_args()

    X, group = load(arguments.dataset)
    rng = np.random.default_rng(arguments.seed)
    synthetic = arguments.dataset.startswith("ortho")
    begin = time.perf_counter()
    E, _, iterations = baseline_errors(X, group, arguments.rank, rng)
    middle = time.perf_counter()
    W, H = random_factors(rng, *X.shape, arguments.rank)
    fit = fairer_mu(X, group, E, W, H, start=arguments.start, stop=arguments.stop,
                    small_loss=1e-3 if synthetic and arguments.stop == "loss" else None,
                    small_error=1e-3 if synthetic and arguments.stop == "error" else None)  # fmt: skip
    end = time.perf_counter()
    print("group  baseline    error     loss")
    for l, row in enumerate(zip(E / group_norms(X, group), fit["errors"], fit["losses"])):
        print(f"{l:5d}  " + "  ".join(f"{value: .5f}" for value in row))
    print(f"worst loss {fit['losses'].max():.6f}; baselines {middle - begin:.3f} s "
          f"(median {np.median(iterations):.0f} iterations), "
          f"MU scheme {end - middle:.3f} s ({fit['iterations']} iterations)")  # fmt: skip


if __name__ == "__main__":
    main()
