"""From what Python users hold to what the Rust side takes."""

from __future__ import annotations

import os
from numbers import Integral, Real
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from fairer_nmf._groups import MOST_GROUPS, Groups, encode_groups, weighted
from fairer_nmf._merge import OTHER, merged, together

__all__ = ["MOST_GROUPS", "OTHER", "Groups", "encode_groups", "merged", "together", "weighted"]

#: Keyword arguments of scikit-learn's validation. Finite and non-negative entries are checked
#: once, by the library, which names the row and the column.
VALIDATION: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    "ensure_all_finite": False,
}


#: The largest count that any parameter may be.
MOST = 2**31 - 1
#: The most threads; more than any machine has, fewer than would bring one down.
MOST_THREADS = 1024


def named(X: Any) -> Any:
    """Give X for validation: without a mask, and with names that every scikit-learn understands.

    polars 2 has dropped the interchange protocol by which scikit-learn before 1.8 reads names.
    """
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a LazyFrame, which holds no numbers yet: give X.collect()")
    refuse_mask("X", X)
    if type(X).__module__.startswith("polars") and not hasattr(X, "__dataframe__"):
        try:
            import pandas as pd
        except ImportError:
            return X
        return pd.DataFrame(X.to_numpy(), columns=list(X.columns), copy=False)
    return X


def refuse_mask(name: str, values: Any) -> None:
    """Refuse masked entries, which NumPy's conversions would take as if they were there."""
    if np.ma.is_masked(values):
        masked = np.argwhere(np.ma.getmaskarray(values))
        place = ", ".join(map(str, masked[0].tolist()))
        raise ValueError(
            f"{name} has {len(masked)} masked entries, the first at [{place}]: leave their rows or "
            f"columns out, or give them a value ({name}.filled(0)); FairerNMF(missing='unobserved') "
            "takes those of X as unobserved"
        )


def some(names: list[str], most: int = 5) -> str:
    """Join the first few of many names."""
    rest = len(names) - most
    return ", ".join(names) if rest <= 0 else f"{', '.join(names[:most])} and {rest} more"


def native(X: Any) -> Any:
    """Give validated data the memory layout the Rust side reads; a copy only where it must.

    Dense arrays with any strides and CSR matrices in canonical form pass through.
    """
    if not sparse.issparse(X):
        whole = all(step % X.itemsize == 0 for step in X.strides)
        return X if X.flags.aligned and whole else X.copy()
    # SciPy itself reads beyond the end of a matrix whose starts do not fit.
    starts, stored = X.indptr, min(len(X.indices), len(X.data))
    rising = len(starts) == X.shape[0] + 1 and starts[0] == 0 and not (np.diff(starts) < 0).any()
    if not rising or starts[-1] > stored:
        raise ValueError(
            f"X is a broken sparse matrix: its indptr must rise from 0 to at most {stored}, with one more "
            "entry than there are rows; make it anew with scipy.sparse.csr_array((data, indices, indptr))"
        )
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if all(part.flags.c_contiguous and part.flags.aligned for part in (X.indptr, X.indices, X.data)):
        return X
    parts = tuple(np.require(part, requirements=["C", "A"]) for part in (X.data, X.indices, X.indptr))
    return type(X)(parts, shape=X.shape)


def in_order_of(feature_names: Any, H: Any) -> Any:
    """Give a named dictionary with its features in the order of the data's, where these have names."""
    own = getattr(H, "columns", None)
    if feature_names is None or own is None:
        return H
    names, own = list(feature_names), list(own)
    if names == own or not all(isinstance(name, str) for name in names + own):
        return H
    for where, have, wanted in (("H", set(own), names), ("X", set(names), own)):
        missing = [name for name in wanted if name not in have]
        if missing:
            raise ValueError(
                f"X and H have named features, but {where} has no {missing[0]!r}: "
                "give both the same names, or H without names"
            )
    return H[names]


def factor(values: Any, name: str = "H") -> NDArray[np.float64] | None:
    """Give a factor as a float64 matrix."""
    if values is None:
        return None
    refuse_mask(name, values)
    if sparse.issparse(values):
        values = values.toarray()
    array = np.array(values, dtype=np.float64, order="C", ndmin=2)
    if array.ndim != 2:
        raise ValueError(f"{name} is a matrix, found {array.ndim} dimensions")
    return array


def count(name: str, value: Any, least: int = 1) -> int:
    """Check a whole-number parameter."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, found {value!r}")
    if value < least:
        raise ValueError(f"{name} is {value}: must be at least {least}")
    if int(value) > MOST:
        raise ValueError(f"{name} is {value}: must be at most {MOST}")
    return int(value)


def number(name: str, value: Any) -> float:
    """Check a real-number parameter."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, found {value!r}")
    return float(value)


def room(X: Any, groups: Groups | None, rank: int) -> None:
    """Ask for the memory of a fit's numbers and give it back, so that too little is an exception.

    The library, in the middle of its work, could only end the process.
    """
    (rows, features), sums = X.shape, 1 + (1 if groups is None else len(groups.names))
    numbers = rank * (rows + sums * (features + rank))
    try:
        np.empty(numbers, dtype=np.float64)
    except (MemoryError, ValueError):
        raise MemoryError(
            f"a fit of {rows} rows and {features} features with n_components={rank} takes at least "
            f"{numbers / 2**27:.1f} GiB more than X, which is not there: use fewer rows, features or topics"
        ) from None


def scaled(normalize: str | None) -> bool:
    """Tell whether features are scaled."""
    if normalize not in (None, "features"):
        raise ValueError(f"normalize is {normalize!r}: expected 'features' or None")
    return normalize is not None


def seed(random_state: Any) -> int:
    """Give one seed: an integer is itself, so that the program's `--seed` means the same."""
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        if not 0 <= int(random_state) < 2**64:
            raise ValueError(f"random_state is {random_state}: must be from 0 to 2**64 - 1")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def threads(n_jobs: int | None) -> int:
    """Give the number of threads: None and -1 are all that this process may use.

    joblib's workers announce their share in ``OMP_NUM_THREADS``; a default follows it.
    """
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs is {n_jobs!r}: expected None, -1 or a number of threads")
    if n_jobs is not None and n_jobs > MOST_THREADS:
        raise ValueError(f"n_jobs is {n_jobs}: must be at most {MOST_THREADS}")
    if n_jobs is not None and n_jobs > 0:
        return int(n_jobs)
    available = int(joblib.cpu_count())
    if n_jobs is not None:
        return max(1, available + 1 + int(n_jobs))
    for name in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS"):
        value = os.environ.get(name, "")
        if value.isdigit() and int(value) > 0:
            return min(int(value), available)
    return available
