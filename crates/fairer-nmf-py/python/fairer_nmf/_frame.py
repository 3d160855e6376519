"""The table of an audit, and what it says of all groups together.

Names and meanings are those of Fairlearn's ``MetricFrame``, whose metrics are our columns.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

#: The columns that are compared between groups; the others are sizes.
COMPARED = ["relative_error", "loss"]

Against = Literal["between_groups", "to_overall"]


class GroupTable:
    """One row per group, and comparisons of the rows."""

    by_group: pd.DataFrame
    _controls: int = 0
    #: Rows, norm and relative error of all rows, where groups overlap and do not add up to them.
    _whole: tuple[int, float, float] | None = None

    @property
    def sensitive_levels(self) -> list[Hashable]:
        """Names of the sensitive features, as ``by_group.index`` has them."""
        return list(self.by_group.index.names[self._controls :])

    @property
    def control_levels(self) -> list[Hashable] | None:
        """Names of the control features; None where there are none."""
        return list(self.by_group.index.names[: self._controls]) or None

    @property
    def overall(self) -> Any:
        """What `by_group` says, of all rows together.

        The baseline is what a dictionary for every group would leave in total, and NaN where groups
        overlap. A Series; with control features a frame with a row for each of their combinations.
        """
        import pandas as pd

        if self._whole is not None:
            rows, norm, error = self._whole
            known = {"rows": rows, "norm": norm, "baseline_error": np.nan}
            return pd.Series({**known, "relative_error": error, "loss": np.nan})
        table = self.by_group
        squares = pd.DataFrame(
            {
                "rows": table["rows"],
                "norm": table["norm"] ** 2,
                "baseline_error": table["baseline_error"] ** 2,
                "error": (table["relative_error"] * table["norm"]) ** 2,
            }
        )
        levels = list(range(self._controls))
        sums = squares.groupby(level=levels).sum() if levels else squares.sum().to_frame().T
        norm, baseline, error = (np.sqrt(sums[c]) for c in ("norm", "baseline_error", "error"))
        found = pd.DataFrame(
            {
                "rows": sums["rows"].astype(np.int64),
                "norm": norm,
                "baseline_error": baseline,
                "relative_error": error / norm,
                "loss": (error - baseline) / norm,
            }
        )
        return found if levels else found.iloc[0].rename(None)

    def group_max(self) -> Any:
        """Give the largest value of every column over groups (with controls: within each)."""
        return self._over_groups(self.by_group, "max")

    def group_min(self) -> Any:
        """Give the smallest value of every column over groups (with controls: within each)."""
        return self._over_groups(self.by_group, "min")

    def difference(self, method: Against = "between_groups") -> Any:
        """Give how far groups are apart in relative error and loss.

        Parameters
        ----------
        method : {"between_groups", "to_overall"}, default="between_groups"
            The largest value minus the smallest, or the largest distance of a group from the
            value of all rows together.

        Returns
        -------
        pandas.Series, or with control features pandas.DataFrame
            By column.
        """
        table = self.by_group[COMPARED]
        if _checked(method) == "between_groups":
            return self._over_groups(table, "max") - self._over_groups(table, "min")
        return self._over_groups((table - self._overall_of_rows()).abs(), "max")

    def ratio(self, method: Against = "between_groups") -> Any:
        """Give how far groups are apart in relative error and loss, as ratios of at most 1.

        Losses may be zero or negative, where a ratio says little: look at `difference`.

        Parameters
        ----------
        method : {"between_groups", "to_overall"}, default="between_groups"
            The smallest value divided by the largest, or the smallest ratio of a group's value
            and that of all rows together, the larger below.

        Returns
        -------
        pandas.Series, or with control features pandas.DataFrame
            By column.
        """
        table = self.by_group[COMPARED]
        if _checked(method) == "between_groups":
            return self._over_groups(table, "min") / self._over_groups(table, "max")
        ratios = table / self._overall_of_rows()
        return self._over_groups(ratios.where(~(ratios > 1), 1 / ratios), "min")

    def _overall_of_rows(self) -> Any:
        """The overall values that belong to every row of `by_group`."""
        overall = self.overall[COMPARED]
        if not self._controls:
            return overall
        import pandas as pd

        index = self.by_group.index
        sensitive: Any = list(range(self._controls, index.nlevels))
        rows = index.droplevel(sensitive)
        return pd.DataFrame(overall.loc[rows].to_numpy(), index=index, columns=COMPARED)

    def _over_groups(self, table: pd.DataFrame, how: str) -> Any:
        if self._controls:
            return table.groupby(level=list(range(self._controls))).agg(how)
        return table.agg(how)


def _checked(method: str) -> str:
    if method not in ("between_groups", "to_overall"):
        raise ValueError(f"method is {method!r}: expected 'between_groups' or 'to_overall'")
    return method
