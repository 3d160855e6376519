"""Independent numbers for the audit's statistics: SciPy and plain NumPy, none of our code.

    python3 -m venv .venv && .venv/bin/pip install numpy scipy
    .venv/bin/python references/make_audit_oracle.py

Writes crates/fairer-nmf/tests/data/audit_oracle.json.
"""

import json
from pathlib import Path

import numpy as np
import scipy
from scipy.optimize import linear_sum_assignment, nnls
from scipy.stats import bootstrap

DRAWS = 100_000
OTHER_DRAWS = 40_000  # of the bootstrap under test
LEVEL = 0.9
OUT = Path(__file__).parent.parent / "crates/fairer-nmf/tests/data/audit_oracle.json"

rng = np.random.default_rng(2411)
SIZES = {"small": 8, "noisy": 30, "large": 62}
RANK, FEATURES = 3, 7


def make_data():
    """Three groups over shared and own topics, rows interleaved, one row all zero."""
    topics = rng.gamma(0.5, size=(5, FEATURES))
    parts, labels = [], []
    for g, (name, size) in enumerate(SIZES.items()):
        use = rng.gamma(0.7, size=(size, 5)) * (np.arange(5) != g)
        noise = {"small": 0.15, "noisy": 0.35, "large": 0.1}[name]
        parts.append(use @ topics + noise * rng.exponential(size=(size, FEATURES)))
        labels += [name] * size
    x = np.vstack(parts)
    order = rng.permutation(len(labels))
    x, labels = x[order].round(4), np.array(labels)[order]
    x[np.flatnonzero(labels == "large")[5]] = 0.0
    return x, labels, rng.gamma(0.6, size=(RANK, FEATURES)).round(4)


def r_error(e2, x2, axis=-1):
    return np.sqrt(e2.sum(axis) / x2.sum(axis))


def main():
    x, labels, h = make_data()
    w = np.array([nnls(h.T, row)[0] for row in x])
    e2 = ((x - w @ h) ** 2).sum(1)
    x2 = (x**2).sum(1)
    names = sorted(SIZES)
    baselines = [1.0, 0.5, 0.25]

    intervals = {}
    for name in names:
        rows = labels == name
        found = bootstrap((e2[rows], x2[rows]), r_error, paired=True, vectorized=True, method="percentile",
                          n_resamples=DRAWS, confidence_level=LEVEL, batch=10_000, rng=np.random.default_rng(1))
        # The ends, and between which values another bootstrap's ends must lie: quantiles at q ± 4 standard
        # errors of a quantile's rank, which needs no assumption on the density.
        slack = 4 * np.sqrt((1 - LEVEL) / 2 * (1 + LEVEL) / 2 * (1 / DRAWS + 1 / OTHER_DRAWS))
        bands = [np.quantile(found.bootstrap_distribution, [q - slack, q + slack])
                 for q in ((1 - LEVEL) / 2, (1 + LEVEL) / 2)]
        intervals[name] = [found.confidence_interval.low, found.confidence_interval.high, *bands[0], *bands[1]]

    as_bad, expected = dict.fromkeys(names, 0), dict.fromkeys(names, 0.0)
    observed = {n: r_error(e2[labels == n], x2[labels == n]) for n in names}
    for _ in range(DRAWS):
        shuffled = rng.permutation(labels)
        for n in names:
            value = r_error(e2[shuffled == n], x2[shuffled == n])
            as_bad[n] += value >= observed[n]
            expected[n] += value / DRAWS

    mass = {n: w[labels == n].sum(0) * h.sum(1) for n in names}
    use = np.array([mass[n] / mass[n].sum() for n in names])

    big, other = rng.gamma(0.5, size=(12, 20)).round(4), rng.gamma(0.5, size=(15, 20)).round(4)
    unit = lambda a: a / np.linalg.norm(a, axis=1, keepdims=True)
    cosine = unit(big) @ unit(other).T
    first, second = linear_sum_assignment(cosine, maximize=True)

    out = {
        "scipy": scipy.__version__, "draws": DRAWS, "level": LEVEL,
        "x": x.tolist(), "labels": labels.tolist(), "components": h.tolist(), "names": names,
        "baselines": baselines,
        "row_squared_errors": e2.tolist(), "representation": w.tolist(),
        "relative_errors": [float(observed[n]) for n in names],
        "losses": [float(observed[n] - b / np.sqrt(x2[labels == n].sum())) for n, b in zip(names, baselines)],
        "intervals": [[float(v) for v in intervals[n]] for n in names],
        "p": [(1 + int(as_bad[n])) / (1 + DRAWS) for n in names],
        "expected": [float(expected[n]) for n in names],
        "use": use.tolist(), "share": (use / use.sum(0)).tolist(),
        "match": {"first": big.tolist(), "second": other.tolist(), "partner": second.tolist(),
                  "similarity": cosine[first, second].tolist()},
    }
    OUT.write_text(json.dumps(out) + "\n")
    print({n: (observed[n], intervals[n], out["p"][i]) for i, n in enumerate(names)})


main()
