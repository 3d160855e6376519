"""The best value of the lower bound, found another way: cutting planes with NumPy's full spectra.

    python3 -m venv .venv && .venv/bin/pip install numpy scipy
    .venv/bin/python references/make_bound_oracle.py      # about a minute

The bound for weights w (sum 1) is the t with sum_l w_l (t + e_l)^2 = tail_r(w), where tail_r(w) is the sum of
all but the r largest eigenvalues of sum_l w_l X_l'X_l/N_l^2. tail_r is concave, and the spectral projection
at any w gives a linear function above it. A linear program finds the best w for all such functions so far;
its value is an upper limit, the true t at that w a lower one. Both meet.

Writes crates/fairer-nmf/tests/data/bound_oracle.json: the problems by their recipe (the test makes the same
numbers) and for each both limits, and the bound at even weights and of the best single group.
"""

import json
from pathlib import Path

import numpy as np
from scipy.optimize import linprog

OUT = Path(__file__).parent.parent / "crates/fairer-nmf/tests/data/bound_oracle.json"


def data(rows, columns, groups, salt, skew):
    """A Weyl sequence; row i is of group (i*i + i//3) % groups, and group g has its numbers to the power
    1 + skew*g after a shift of its columns."""
    group = np.array([(i * i + i // 3) % groups for i in range(rows)])
    x = np.empty((rows, columns))
    for i in range(rows):
        for j in range(columns):
            t = ((i * columns + j) + salt) * 0.7548776662466927
            v = t - np.floor(t)
            lift = ((j * (group[i] + 1)) % 5) * skew
            x[i, j] = v * v + lift
    # Groups are numbered by their first appearance in the order of their names.
    return x, group


def tail(grams, w, rank):
    values, vectors = np.linalg.eigh(np.tensordot(w, grams, 1))
    top = vectors[:, len(values) - rank:]
    return values[: len(values) - rank].sum(), np.array([1 - np.sum(top * (g @ top)) for g in grams])


def root(w, e, tail):
    mean, square = w @ e, w @ (e * e)
    d = mean * mean - square + tail
    trivial = -e.min()
    return trivial if d <= 0 else max(np.sqrt(d) - mean, trivial)


def best(grams, e, rank):
    groups = len(grams)
    w = np.full(groups, 1 / groups)
    t, cuts, at = -e.min(), [], w
    for _ in range(3000):
        rest, cut = tail(grams, w, rank)
        cuts.append(cut)
        if root(w, e, rest) > t:
            t, at = root(w, e, rest), w
        # The largest t that the cuts allow: max z(t) = 0, by bisection.
        a = np.array(cuts)

        def value(t):
            q = (t + e) ** 2
            program = linprog(
                np.r_[np.zeros(groups), -1], A_ub=np.c_[-(a - q), np.ones(len(a))], b_ub=np.zeros(len(a)),
                A_eq=[np.r_[np.ones(groups), 0]], b_eq=[1], bounds=[(0, None)] * groups + [(None, None)],
                method="highs",
            )
            return program.x[:groups], -program.fun

        low, high = t, 1.0
        if value(t)[1] <= 1e-12:
            return t, t, at
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if value(middle)[1] > 0 else (low, middle)
            if high - low < 1e-9:
                break
        w = np.maximum(value(low)[0], 0)
        w /= w.sum()
        if high - t < 2e-7:
            return t, high, at
    return t, high, at


CASES = [
    # rows, columns, groups, rank, salt, skew, baselines as shares of the norms
    (120, 12, 10, 3, 0.3, 0.0, [0.0]),
    (151, 3, 10, 2, 0.1, 0.0, [0.0]),
    (151, 3, 10, 2, 0.7, 0.05, [0.1, 0.05]),
    (90, 8, 5, 3, 0.7, 0.1, [0.2]),
    (60, 20, 2, 4, 0.2, 0.2, [0.0]),
    (60, 20, 3, 5, 0.9, 0.1, [0.3, 0.1, 0.2]),
    (40, 70, 6, 4, 0.4, 0.1, [0.1]),
    (200, 15, 20, 5, 0.5, 0.02, [0.0]),
    # Baselines above the norms of all but one group: that group alone rules.
    (80, 10, 4, 2, 0.6, 0.1, [1.6, 0.1, 2.0, 1.5]),
    (80, 10, 6, 3, 0.8, 0.0, [1.2, 3.0, 1.1, 0.15, 1.5, 1.0]),
]


def main():
    out = []
    for rows, columns, groups, rank, salt, skew, shares in CASES:
        x, group = data(rows, columns, groups, salt, skew)
        names = sorted(set(group.tolist()))
        blocks = [x[group == g] for g in names]
        norms = np.array([np.linalg.norm(b) for b in blocks])
        grams = np.array([b.T @ b / n**2 for b, n in zip(blocks, norms)])
        e = np.array([shares[l % len(shares)] for l in range(len(names))])
        low, high, _ = best(grams, e, rank)
        even = np.full(len(names), 1 / len(names))
        single = max(root(np.eye(len(names))[l], e, tail(grams, np.eye(len(names))[l], rank)[0])
                     for l in range(len(names)))
        case = dict(rows=rows, columns=columns, groups=groups, rank=rank, salt=salt, skew=skew, shares=shares,
                    low=low, high=high, even=root(even, e, tail(grams, even, rank)[0]), single=single)
        print(case, flush=True)
        out.append(case)
    OUT.write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
