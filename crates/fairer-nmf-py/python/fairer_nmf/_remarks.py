"""What an audit warns of."""

from __future__ import annotations

from typing import Any

from fairer_nmf import _data
from fairer_nmf._warn import warn


def warn_of_small_groups(groups: _data.Groups, rank: int) -> None:
    pairs = zip(groups.names, groups.counts()["rows"], strict=True)
    small = [f"{name} ({count})" for name, count in pairs if count < 2 * rank]
    if small:
        warn(
            f"groups with fewer rows than twice the rank {rank}: {_data.some(small)}. A dictionary "
            "of their own fits almost anything, so their losses look larger than on new samples; "
            "the page of report() has held-out losses"
        )


def warn_of_rise(warnings: list[dict[str, Any]]) -> None:
    """Warn where a model that evens the groups out costs all of them together clearly more than standard NMF."""
    for said in warnings:
        if said["code"] == "total-error-rose":
            warn(said["sentence"])


def warn_of_errors_above_one(names: list[str], relative_errors: list[float]) -> None:
    pairs = zip(names, relative_errors, strict=True)
    above = [f"{name!r} ({error:.3g})" for name, error in pairs if error > 1 + 1e-9]
    if above:
        warn(
            f"W and H leave more than there is (a relative error above 1, that of W = 0) of the "
            f"groups {_data.some(above)}. Was W computed for other data: another scale, order of "
            "rows, or preprocessing? Without W the best coordinates are taken"
        )
