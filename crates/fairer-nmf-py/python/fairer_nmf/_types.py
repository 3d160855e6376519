"""What parameters may be, for type checkers: a mistyped name fails in mypy and pyright."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

Method = Literal["am", "mu", "standard"]
Grouping = Literal["combined", "each", "each-and-combined", "members"]
Ties = Literal["any", "leximin"]
Discover = Literal["topics", "errors", "held-out-errors"]
Missing = Literal["error", "unobserved"]
Update = Literal["auto", "mu", "hals", "nnls"]
Init = Literal["auto", "random", "nndsvd", "nndsvda"]
BaselineName = Literal["adjusted", "best", "held-out", "paper", "zero"]
PerGroup = Sequence[float] | NDArray[Any] | Mapping[Any, float]
Normalize = Literal["features"] | None
StartWeights = Literal["even", "bound"]

if TYPE_CHECKING:
    Baseline = BaselineName | PerGroup | pd.Series[Any]
    Weights = StartWeights | PerGroup | pd.Series[Any]
