"""Write the numbers that the Rust MU tests must meet to 1e-10: mu_oracle.json.

    python references/make_mu_oracle.py

A 14 x 9 problem with three interleaved groups of unequal size and scale, rank 3,
20 iterations from the stored W0 and H0, by paper_mu.py. Python prints a float with
the fewest digits that read back to the same double, so the file loses nothing.
"""

import json
import pathlib
import re

import numpy as np

import paper_mu

TARGET = (pathlib.Path(__file__).resolve().parents[1]
          / "crates/fairer-nmf/tests/data/mu_oracle.json")  # fmt: skip
M, N, RANK, ITERATIONS = 14, 9, 3, 20
GROUP = np.array([0, 1, 2, 0, 1, 0, 2, 0, 1, 0, 1, 0, 2, 1])  # 6, 5 and 3 rows


def problem():
    """X (a few zeros, one zero row, group 2 ten times larger), W0, H0."""
    rng = np.random.default_rng(20241109)
    X = rng.random((M, N)) * (rng.random((M, N)) < 0.8)
    X[GROUP == 2] *= 10.0
    X[9] = 0.0
    X = np.round(X, 6)  # short to read; exact as stored all the same
    W, H = paper_mu.random_factors(rng, M, N, RANK)
    return X, W, H


def check_well_posed(X, E, W, H, case):
    """The numbers hang neither on the clip nor on a near tie for the worst group."""
    run = lambda k, clip: paper_mu.fairer_mu(  # noqa: E731
        X, GROUP, E, W, H, rule=case["rule"], step=case["step"], start=case["start"],
        stop=None, max_iterations=k, clip=clip)  # fmt: skip
    norms = paper_mu.group_norms(X, GROUP)
    second, first = np.sort((paper_mu.group_norms(X - W @ H, GROUP) - E) / norms)[-2:]
    assert first - second > 1e-6, "a near tie at the start"
    for k in range(1, ITERATIONS + 1):
        fit = run(k, paper_mu.CLIP)
        assert np.array_equal(fit["W"], run(k, 1e-30)["W"]), "the clip is active"
        second, first = np.sort(fit["losses"])[-2:]
        assert first - second > 1e-6, "a near tie"


def as_lists(result):
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in result.items()}


def main():
    X, W, H = problem()
    norms = paper_mu.group_norms(X, GROUP)
    E = np.round(np.array([0.31, 0.18, 0.22]) * norms, 6)  # given, not estimated
    cases = [
        dict(name="decaying_from_zero", rule="decaying", start="zero", step=None),
        dict(name="decaying_from_equal", rule="decaying", start="equal", step=None),
        dict(name="largest", rule="largest", start="zero", step=None),
        dict(name="fixed_0.1_from_equal", rule="fixed", start="equal", step=0.1),
        dict(name="fixed_0.1_from_zero", rule="fixed", start="zero", step=0.1),
    ]
    for case in cases:
        check_well_posed(X, E, W, H, case)
        fit = paper_mu.fairer_mu(X, GROUP, E, W, H, rule=case["rule"], step=case["step"],
                                 start=case["start"], stop=None,
                                 max_iterations=ITERATIONS)  # fmt: skip
        total = fit["c"].sum()
        case |= as_lists(fit) | dict(c_normalised=(fit["c"] / total).tolist())
    W_s, H_s, error, k = paper_mu.standard_nmf(X, W, H, None, ITERATIONS)
    standard = as_lists(dict(W=W_s, H=H_s, error=float(error), iterations=k,
                             errors=paper_mu.group_norms(X - W_s @ H_s, GROUP) / norms,
                             ))  # fmt: skip
    oracle = dict(
        about="made by references/make_mu_oracle.py; errors and losses are relative to ||X_l||; "
        "order of updates: c, H, W; denominators are max(denominator, clip); "
        "c is as in the algorithm (not normalised), c_normalised sums to 1; "
        "the H step weighs group l by (c_l / ||X_l||)^2; the clip acts only where the "
        "numerator is 0 too, so c and c_normalised give the same W and H",
        clip=paper_mu.CLIP,
        rank=RANK,
        iterations=ITERATIONS,
        X=X.tolist(),
        group=GROUP.tolist(),
        group_norms=norms.tolist(),
        baseline_errors=E.tolist(),
        W0=W.tolist(),
        H0=H.tolist(),
        cases=cases,
        standard=standard,
    )
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(oracle, indent=1)
    text = re.sub(r"\[\s+([-\d.eE+,\s]+?)\s+\]", lambda m: f"[{' '.join(m[1].split())}]", text)
    assert json.loads(text) == oracle
    TARGET.write_text(text + "\n")
    print(f"wrote {TARGET}")


if __name__ == "__main__":
    main()
