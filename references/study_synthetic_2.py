"""Why runs of standard NMF on synthetic 2 end where they do: starts, stopping rule, draw of the data.

For every rank, many random starts of `paper_mu.standard_nmf`'s updates (H before W) with two rules:

    total   the change of ||X - WH||, as in the published code
    groups  the change of every group's ||X_l - W_l H_l||, as in our fits

on the authors' matrix, and with the total rule on data drawn anew for every start. Printed: mean
and standard deviation of the groups' relative errors in percent, the share of runs in which group 3
has the highest, and the share that is stuck (the highest error more than 20 points above the
lowest maximum seen at that rank).

    python study_synthetic_2.py --starts 100
"""

import argparse

import numpy as np
import paper_mu as paper


def authors_matrix():
    with np.load(paper.DATA / "synthetic/ortho2.npz") as file:
        return file["X"], file["group"]


def draw(rng):
    """Another draw by the description of the data; features scaled to unit length."""
    pairs = np.zeros((6, 12))
    for i in range(6):
        first = i if i < 3 else i + 3
        pairs[i, [first, first + 3]] = 1.0
    groups = [pairs[rng.integers(0, 3, 500)] for _ in range(2)] + [pairs[rng.integers(3, 6, 500)]]
    groups[1] = np.maximum(groups[1] + rng.normal(0.0, 0.1, (500, 12)), 0.0)
    X = np.vstack(groups)
    return X / np.linalg.norm(X, axis=0), np.repeat([0, 1, 2], 500)


def one_run(X, group, rank, rng, rule):
    """Relative errors in percent of the groups after one run."""
    W, H = paper.random_factors(rng, *X.shape, rank)
    errors = paper.group_norms(X - W @ H, group)
    for _ in range(paper.MAX_ITERATIONS):
        H = paper.update_H(X, W, H)
        W = paper.update_W(X, W, H)
        before, errors = errors, paper.group_norms(X - W @ H, group)
        if rule == "total":
            still = paper.settled(np.linalg.norm(errors), np.linalg.norm(before), paper.TOLERANCE)
        else:
            still = paper.settled(errors, before, paper.TOLERANCE).all()
        if still:
            break
    return 100.0 * errors / paper.group_norms(X, group)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--starts", type=int, default=100)
    starts = parser.parse_args().starts
    X, group = authors_matrix()
    for rank in range(1, 7):
        for data, rule in (("authors", "total"), ("authors", "groups"), ("anew", "total")):
            runs = []
            for seed in range(starts):
                rng = np.random.default_rng(seed)
                drawn = draw(rng) if data == "anew" else (X, group)
                runs.append(one_run(*drawn, rank, rng, rule))
            errors = np.array(runs)
            worst = errors.max(axis=1)
            print(
                f"rank {rank}, data {data}, rule {rule}:",
                " ".join(f"{m:.2f}±{s:.2f}" for m, s in zip(errors.mean(0), errors.std(0, ddof=1))),
                f"group 3 highest {np.mean(errors.argmax(axis=1) == 2):.2f}",
                f"stuck {np.mean(worst > worst.min() + 20.0):.2f}",
                f"group 2, middle half {np.percentile(errors[:, 1], 25):.3f}"
                f" to {np.percentile(errors[:, 1], 75):.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
