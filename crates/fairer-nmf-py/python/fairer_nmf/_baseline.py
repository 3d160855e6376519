"""Group baselines: what a dictionary of a group's own would leave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from fairer_nmf import _choices, _core, _data
from fairer_nmf._align import index_of
from fairer_nmf._messages import in_names_of
from fairer_nmf._progress import listener
from fairer_nmf._types import BaselineName, Grouping, Missing, Normalize


class BaselineEstimate(Mapping[Any, float]):
    """Baseline errors by group; made by :func:`estimate_baseline`.

    A mapping from a group's label (of several features: their tuple) to its E, so that it can be
    given to ``FairerNMF(baseline=...)`` and ``audit(baseline=...)``.

    Attributes
    ----------
    groups : list
        Labels of the groups.
    errors : ndarray of shape (n_groups,)
        E: what standard NMF of the group alone leaves, ‖X_g − W_g H_g‖.
    norms : ndarray of shape (n_groups,)
        ‖X_g‖; ``errors / norms`` are relative errors.
    run_errors : ndarray of shape (n_groups, n_runs)
        The error of every run behind E.
    """

    def __init__(
        self,
        index: Any,
        errors: NDArray[np.float64],
        norms: NDArray[np.float64],
        run_errors: NDArray[np.float64],
    ) -> None:
        self._index = index
        self.groups = index.tolist()
        self.errors = errors
        self.norms = norms
        self.run_errors = run_errors

    def __getitem__(self, group: Any) -> float:
        try:
            return float(self.errors[self.groups.index(group)])
        except ValueError:
            raise KeyError(group) from None

    def __iter__(self) -> Iterator[Any]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    def __repr__(self) -> str:
        values = ", ".join(f"{name!r}: {error:.6g}" for name, error in self.items())
        return f"BaselineEstimate({{{values}}})"

    def to_frame(self) -> Any:
        """Give one row per group, as a pandas frame."""
        import pandas as pd

        frame = pd.DataFrame(
            {
                "baseline_error": self.errors,
                "norm": self.norms,
                "relative_error": self.errors / self.norms,
            },
            index=self._index,
        )
        if self.run_errors.shape[1] > 1:
            frame["baseline_error_sd"] = self.run_errors.std(axis=1, ddof=1)
        return frame


def given(what: str, values: Any, groups: _data.Groups | None) -> list[float] | None:
    """Give numbers that the user states, in the order of the groups; None for a preset's name."""
    if isinstance(values, str):
        return None
    if hasattr(values, "to_dict"):  # a pandas Series
        values = values.to_dict()
    if not isinstance(values, Mapping):
        _data.refuse_mask(what, values)
        array = np.asarray(values, dtype=np.float64)
        if array.ndim != 1:
            raise ValueError(f"{what} must be a name or one number per group")
        numbers: list[float] = array.tolist()
        return numbers
    # By label, or by name as files have it.
    known = {str(key): float(value) for key, value in values.items()}
    names = ["all"] if groups is None else groups.names
    keys = ["all"] if groups is None else groups.keys()
    pairs = list(zip(map(str, keys), names, strict=True))
    for key, name in pairs:
        if key not in known and name not in known:
            raise ValueError(f"{what} has no number for group {name!r}")
    return [known[key] if key in known else known[name] for key, name in pairs]


def yardstick(
    baseline: Any, runs: int, groups: _data.Groups | None, random_state: Any
) -> _core.Yardstick:
    """Say by what losses are measured: a preset by its name, or numbers that the user states."""
    return {
        "baseline": baseline if isinstance(baseline, str) else None,
        "runs": _data.count("baseline_runs", runs),
        "errors": given("baseline", baseline, groups),
        "seed": _data.seed(random_state),
    }


def reading(normalize: Normalize, missing: Missing, n_jobs: int | None) -> _core.Reading:
    """Say how rows are read for what has no model yet."""
    return {
        "normalize": _data.scaled(normalize),
        "scale": None,
        "unobserved": _choices.is_unobserved(missing),
        "threads": _data.threads(n_jobs),
    }


def estimate_baseline(
    X: Any,
    n_components: int,
    *,
    sensitive_features: Any = None,
    groups: Grouping = "combined",
    sample_weight: Any = None,
    baseline: BaselineName = "best",
    baseline_runs: int = 5,
    merge_small: int = 0,
    missing: Missing = "error",
    normalize: Normalize = None,
    max_groups: int = _data.MOST_GROUPS,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: int = 0,
) -> BaselineEstimate:
    """Estimate what every group could have with a dictionary of its own.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Non-negative data.
    n_components : int
        Number of topics.
    sensitive_features : array-like or frame, optional
        One label per row; a frame of several columns forms intersections.
    groups : {"combined", "each", "each-and-combined", "members"}, default="combined"
        What several sensitive features mean, as for :class:`FairerNMF`.
    sample_weight : array-like of shape (n_samples,), optional
        The weights of the rows, as for :meth:`FairerNMF.fit`.
    baseline : {"best", "held-out", "paper", "zero"}, default="best"
        The lowest error of `baseline_runs` tight runs, the error on rows that the group's own
        dictionary has not seen, or the mean error of as many runs of multiplicative updates.
    baseline_runs : int, default=5
        Runs per group.
    merge_small : int, default=0
        Put groups with fewer rows together as "Other".
    missing : {"error", "unobserved"}, default="error"
        Whether NaN and masked entries are refused, or cells that nobody has seen.
    normalize : {"features"} or None, default=None
        Scale every feature to unit norm over all rows first.
    max_groups : int, default=100
        The most groups that are taken, so that a column of numbers is not taken for labels.
    n_jobs : int, optional
        Threads; None and -1 are all.
    random_state : int, RandomState, Generator or None
        The seed.
    verbose : int, default=0
        Show progress.

    Returns
    -------
    BaselineEstimate
        A mapping from the group's label to its error.

    Examples
    --------
    >>> from fairer_nmf import estimate_baseline
    >>> from fairer_nmf.datasets import make_synthetic_1
    >>> X, groups = make_synthetic_1(random_state=0)
    >>> E = estimate_baseline(X, 3, sensitive_features=groups, random_state=0)
    >>> list(E), E["Low rank"] < E["High rank"]
    (['High rank', 'Low rank'], True)
    """
    names, index = getattr(X, "columns", None), index_of(X)
    X = _data.named(_choices.unmasked(missing, X))
    X = _data.native(check_array(X, **_data.VALIDATION))
    encoded = _data.encode_groups(
        sensitive_features, index, _data.count("max_groups", max_groups), how=groups
    )
    encoded = _data.merged(encoded, _data.count("merge_small", merge_small, least=0))
    with listener(verbose, 0) as progress, in_names_of(names):
        norms, found, runs = _core.estimate_baselines(
            X,
            _data.weighted(encoded, sample_weight, index, X.shape[0]),
            _data.count("n_components", n_components),
            yardstick(baseline, baseline_runs, encoded, random_state),
            reading(normalize, missing, n_jobs),
            progress,
        )
    import pandas as pd

    index = pd.Index(["all"], name="group") if encoded is None else encoded.to_index()
    return BaselineEstimate(index, np.array(found), np.array(norms), np.array(runs))
