"""What a fit is told: the estimator's parameters, for the files that stand below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from os import PathLike

    from fairer_nmf._types import (
        Baseline, Discover, Grouping, Init, Method, Missing, Normalize, Ties, Update, Weights,
    )  # fmt: skip


class Parameters:
    """The parameters and their types; :class:`FairerNMF` has what they mean, and their defaults."""

    n_components: int | Literal["auto"]
    method: Method
    groups: Grouping
    fairness: float
    ties: Ties
    worst_share: float | None
    discover: Discover | None
    discover_groups: int
    alpha_W: float
    alpha_H: float | Literal["same"]
    l1_ratio: float
    missing: Missing
    update: Update
    init: Init
    start_weights: Weights
    baseline: Baseline
    baseline_runs: int
    allow_small_groups: bool
    merge_small: int
    n_init: int
    tol: float
    max_iter: int
    time_limit: float | None
    normalize: Normalize
    bound: bool
    memory: str | int | None
    checkpoint: str | PathLike[str] | None
    every: float
    resume: bool
    max_groups: int
    n_jobs: int | None
    random_state: Any
    verbose: int
