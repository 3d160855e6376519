"""What an audit found: its tables, its verdict, and what chance would show."""

from __future__ import annotations

import copy
import html
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from fairer_nmf import _figures, _page
from fairer_nmf._frame import GroupTable
from fairer_nmf._page import Pages, Subject, in_words

if TYPE_CHECKING:
    import pandas as pd

#: What :attr:`Audit.chance` has, by the names of the JSON.
_CHANCE = [
    "chance_mean", "chance_low", "chance_high", "excess_loss",
    "cross_fitted_loss", "difference", "difference_low", "difference_high", "adjusted_p",
]  # fmt: skip


class Gone:
    """Stands for data that were left out."""

    def __iter__(self) -> Any:
        raise ValueError("this audit was made without_data(): audit the data again for a report")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # pickle and copy ask
            raise AttributeError(name)
        return self.__iter__()


class Audit(GroupTable, Pages):
    """What a dictionary costs each group; made by :func:`audit`.

    Attributes
    ----------
    by_group : pandas.DataFrame
        One row per group, by its labels (of several features: with a level for each): `rows`, `norm` ‖X_g‖, `baseline_error` E_g, `relative_error`
        ‖X_g − W_g H‖/‖X_g‖ and `loss` (‖X_g − W_g H‖ − E_g)/‖X_g‖. Where the audit had `draws`,
        also the ends of bootstrap intervals of the error: `relative_error_low` and
        `relative_error_high`.
    verdict : dict
        What is said first, as in the report: `code`, `sentence`, `notes` (each with a `code` and a
        `sentence`) and more.
    chance : pandas.DataFrame
        What random groups of every group's size lose, and how the groups differ beyond that.
    worst : float
        The largest loss of the groups with more rows than topics.
    worst_group : label, or tuple of labels
        The group that has it.
    overall : pandas.Series
        The same of all rows together; with control features a frame.
    overall_error : float
        ‖X − WH‖/‖X‖ over all rows.
    representation : ndarray of shape (n_samples, n_components)
        W: as given, or the best for the dictionary.

    Notes
    -----
    `overall`, `by_group`, :meth:`difference`, :meth:`ratio`, :meth:`group_max`,
    :meth:`group_min`, `sensitive_levels` and `control_levels` are those of Fairlearn's
    ``MetricFrame``, with the columns for metrics.
    """

    def __init__(
        self, by_group: pd.DataFrame, representation: NDArray[Any], subject: Subject
    ) -> None:
        self.by_group = by_group
        self.representation = representation
        self._subject = subject
        self._verdict: dict[str, Any] | None = None
        self._chance: pd.DataFrame | None = None
        #: Whether verdict and chance are about standard NMF fitted beside.
        self._beside = False
        self._allow_small_groups = False

    @property
    def _inside(self) -> pd.Series[Any]:
        """Losses of the groups that can be the worst: with more rows than topics, if any has."""
        losses = self.by_group["loss"]
        inside = (self.by_group["rows"] > self.representation.shape[1]).to_numpy()
        return losses[inside] if inside.any() and not self._allow_small_groups else losses

    @property
    def worst(self) -> float:
        """The largest loss of the groups with more rows than topics."""
        return float(self._inside.max())

    @property
    def worst_group(self) -> Any:
        """The group with the largest loss of those."""
        return self._inside.idxmax()

    @property
    def verdict(self) -> dict[str, Any]:
        """What is said first: `code`, `group`, `excess_loss`, `adjusted_p`, `sentence` and more.

        Found once, when it is first asked for or shown, by short fits to parts of the data: some
        dozens for every group and model.
        """
        if self._verdict is None and isinstance(self._subject, Gone):
            why = "Whether some group pays more than the others was not tested: the data are not here."
            return {"code": "not-tested", "group": None, "sentence": why}
        if self._verdict is None:
            settings, model = self._subject.settings, self._subject.dictionary[2]
            # Of a model that evens the groups out it is about standard NMF, which is fitted beside it.
            self._beside = model is not None and model.evened_out(self._subject.groups.names)
            bare = self.report(
                draws=0,
                permutations=0,
                folds=0,
                compare=self._beside,
                level=settings["level"],
                matters=settings["matters"],
            )
            self._verdict = bare.verdict
            first = bare.to_frame().groupby("group", sort=False).first()
            self._chance = first.reindex(columns=_CHANCE).set_axis(self.by_group.index)
        return self._verdict

    @property
    def chance(self) -> pd.DataFrame | None:
        """What the verdict is made of, a row per group; found with it, none without the data.

        `chance_mean`, `chance_low`, `chance_high`: what random groups of the size lose (mean, and the
        range of nine of ten); `excess_loss`: the loss less that mean, with its baseline estimated as theirs are; `cross_fitted_loss`:
        that of new rows, where neither dictionary has seen the rows that it is measured on; `difference` with `difference_low`
        and `difference_high`: the loss less that of the other groups, with limits that hold for all
        groups together; `adjusted_p`: of that or of random groups, whichever is larger, each adjusted over the groups.
        Of a model that evens the groups out all of it is about standard NMF.
        """
        _ = self.verdict
        return self._chance

    @property
    def overall_error(self) -> float:
        """The relative error of all rows together, each counted once."""
        if self._whole is not None:
            return self._whole[2]
        norms = self.by_group["norm"].to_numpy(dtype=np.float64)
        errors = self.by_group["relative_error"].to_numpy(dtype=np.float64) * norms
        return float(np.linalg.norm(errors) / np.linalg.norm(norms))

    def without_data(self) -> Audit:
        """Give the same tables without the data, to be pickled and handed on; no report is left.

        The verdict is kept; the representation, which has a row per sample, is left out too.
        """
        bare = copy.copy(self)
        bare._verdict = self.verdict
        bare._chance = self._chance
        bare.representation = self.representation[:0]
        bare._subject = cast(Any, Gone())
        return bare

    def to_frame(self) -> pd.DataFrame:
        """Give `by_group` with `chance` beside it, and the groups as the first column.

        What random groups of the same sizes lose takes fits of its own: they are made when it is first asked for. Of a
        model that evens the groups out it is about standard NMF, and the columns say so (`standard_chance_mean`).
        """
        return self._beside_chance("standard_", _CHANCE).reset_index()

    def _beside_chance(self, about: str, columns: list[str]) -> pd.DataFrame:
        """Give `by_group` with columns of `chance`, under names that say of what they are."""
        chance = self.chance
        if chance is None:
            return self.by_group
        return self.by_group.join(chance[columns].add_prefix(about if self._beside else ""))

    def plot(self, ax: Any = None) -> Any:
        """Draw every group's own baseline and its loss on top, as horizontal bars.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure if absent.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        ax = _figures.axes_or(ax, (6, 1 + 0.4 * len(self.by_group)))
        table = self.by_group.iloc[::-1]
        names = [str(name) for name in table.index]
        share = table["baseline_error"] / table["norm"]
        ax.barh(names, share, color="#b8c4ce", label="own dictionary (baseline)")
        ax.barh(names, table["loss"], left=share, color="#c8553d", label="loss by sharing")
        ax.set_xlabel("relative error")
        ax.legend(frameon=False)
        return ax

    @property
    def _payer(self) -> str:
        """The worst loss, with what random groups of that size show beside it."""
        said = f"worst loss {shown(self.worst)} ({self.worst_group})"
        chance = self.chance
        # Of a model that evens the groups out, chance is about standard NMF beside it.
        if chance is None or self._beside:
            return said
        of_group = chance.loc[[name == self.worst_group for name in chance.index]]
        low, high = of_group[["chance_low", "chance_high"]].to_numpy(dtype=np.float64)[0]
        if not np.isfinite([low, high]).all():
            return said
        return f"{said}, where a random group of its size would show {shown(low)} to {shown(high)}"

    @property
    def _said(self) -> list[str]:
        return in_words(self.verdict)

    def __repr__(self) -> str:
        said = "\n".join(self._said)
        return f"{said}\n<Audit of {len(self.by_group)} groups: {self._payer}>"

    def _repr_html_(self) -> str:
        said, worst = _page.first(self._said), html.escape(self._payer)
        columns = [*_CHANCE[:4], "difference", "adjusted_p"]
        # Of a model that evens the groups out, chance is about standard NMF beside it.
        groups = self._beside_chance("standard NMF: ", columns)
        table: str = groups.to_html(float_format=shown, na_rep="–")
        return f"{said}<p>{worst[0].upper()}{worst[1:]}</p>{table}"


def shown(value: float) -> str:
    """Write a number as it is read; what rounds to zero has no sign."""
    return f"{round(value, 4) + 0.0:.4f}"
