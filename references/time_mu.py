"""Seconds of the plain NumPy MU scheme on one of the paper's data sets, baselines included.

    python time_mu.py 20n 20

Stops on the change of the error (the paper's text), which is the faster of its two rules.
"""

import sys
import time

import numpy as np

import paper_mu

dataset, rank = sys.argv[1], int(sys.argv[2])
X, group = paper_mu.load(dataset)
rng = np.random.default_rng(0)
begin = time.perf_counter()
E, _, _ = paper_mu.baseline_errors(X, group, rank, rng)
W, H = paper_mu.random_factors(rng, *X.shape, rank)
small = 1e-3 if dataset.startswith("ortho") else None
paper_mu.fairer_mu(X, group, E, W, H, stop="error", small_error=small)
print(time.perf_counter() - begin)
