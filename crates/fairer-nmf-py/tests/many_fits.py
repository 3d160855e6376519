"""Many fits in one process: how much memory it holds, every tenth of the way.

    python crates/fairer-nmf-py/tests/many_fits.py 10000
"""

import sys
import warnings

import numpy as np

from fairer_nmf import FairerNMF


def resident() -> int:
    """Memory that this process holds now, in KiB."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def measure(fits: int) -> list[int]:
    """Memory after every tenth of so many fits of every kind: dense, f32, sparse, saved, refused."""
    import scipy.sparse

    rng = np.random.default_rng(0)
    X = rng.random((60, 12)) * (rng.random((60, 12)) > 0.5)
    groups = np.arange(60) % 3
    kinds = [X, X.astype(np.float32), scipy.sparse.csr_array(X)]
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(fits):
            model = FairerNMF(3, n_init=1, max_iter=20, random_state=i, n_jobs=1)
            W = model.fit_transform(kinds[i % 3], sensitive_features=groups)
            assert np.isfinite(W).all()
            if i % 50 == 0:
                try:
                    model.fit(-X, sensitive_features=groups)
                except ValueError:
                    pass
            if (i + 1) % max(1, fits // 10) == 0:
                found.append(resident())
    return found


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    held = measure(count)
    print(f"{count} fits; KiB held after every tenth: {held}; from the second tenth on {held[-1] - held[1]:+}")
