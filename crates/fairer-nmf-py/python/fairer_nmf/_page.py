"""The page of an audit, the same as JSON, and its charts as files."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairer_nmf import _core, _data


class Subject(NamedTuple):
    """What was audited; the data are the caller's, not a copy."""

    X: Any
    groups: _data.Groups
    H: NDArray[np.float64]
    W: NDArray[np.float64] | None
    settings: _core.PageSettings


class Pages:
    """What an audit says in full, for people and for programs."""

    _subject: Subject

    def to_html(
        self,
        title: str = "Audit",
        *,
        draws: int = 2000,
        permutations: int = 2000,
        folds: int = 5,
        compare: bool = True,
        level: float = 0.95,
        min_group_size: int = 0,
        refit: int = 0,
        fitted_by: str | None = None,
    ) -> str:
        """Give the audit as one self-contained HTML page.

        The page says who pays, whether it is real, what fairness would cost and whom, how good
        the fit is, and what the topics are. The code behind it is that of the program
        `fairer-nmf`.

        Parameters
        ----------
        title : str, default="Audit"
            Heading of the page.
        draws : int, default=2000
            Bootstrap draws behind the intervals; 0 leaves them out.
        permutations : int, default=2000
            Random groups behind the test; 0 leaves it out.
        folds : int, default=5
            Folds of the held-out baselines, at least 2; 0 leaves them out.
        compare : bool, default=True
            Fit standard NMF and Fairer-NMF of the same rank and set them beside the dictionary:
            who would be better and worse off under Fairer-NMF, the trade-off between total error
            and worst loss, topics matched with those of standard NMF.
        level : float, default=0.95
            Level of the intervals.
        min_group_size : int, default=0
            Groups with fewer rows appear nowhere on the page, and no totals with them.
        refit : int, default=0
            Draws of the intervals and of the test in which baselines and dictionary, also those
            it is compared with, are fitted anew, so that the luck of the fit counts too (slow).
            The page shows these in place of those with the dictionary fixed.
        fitted_by : {"standard", "am", "mu"}, optional
            How the dictionary was fitted, for `refit`: "standard" is any usual NMF, such as
            scikit-learn's; "am" and "mu" are the methods of :class:`FairerNMF`.

        Returns
        -------
        str
            The page.
        """
        settings = self._settings(
            draws, permutations, folds, compare, level, min_group_size, refit, fitted_by
        )
        X, groups, H, W, _ = self._subject
        return _core.audit_page(X, groups, H, W, {**settings, "title": title})

    def to_json(
        self,
        title: str = "Audit",
        *,
        draws: int = 2000,
        permutations: int = 2000,
        folds: int = 5,
        compare: bool = True,
        level: float = 0.95,
        min_group_size: int = 0,
        refit: int = 0,
        fitted_by: str | None = None,
    ) -> str:
        """Give what the page of :meth:`to_html` shows as JSON.

        It is what the program writes as `report`; docs/report.md names the fields.

        Parameters
        ----------
        title, draws, permutations, folds, compare, level, min_group_size, refit, fitted_by
            As for :meth:`to_html`.

        Returns
        -------
        str
            Indented JSON; numbers that do not exist are null.
        """
        settings = self._settings(
            draws, permutations, folds, compare, level, min_group_size, refit, fitted_by
        )
        X, groups, H, W, _ = self._subject
        return _core.audit_json(X, groups, H, W, {**settings, "title": title})

    def to_dict(self, title: str = "Audit", **options: Any) -> dict[str, Any]:
        """Give what the page of :meth:`to_html` shows as dicts and lists.

        Parameters
        ----------
        title : str, default="Audit"
            Heading of the page.
        **options
            As for :meth:`to_html`.

        Returns
        -------
        dict
            The content of :meth:`to_json`; numbers that do not exist are None.
        """
        content: dict[str, Any] = json.loads(self.to_json(title, **options))
        return content

    def save_charts(
        self,
        folder: str | os.PathLike[str],
        *,
        draws: int = 2000,
        permutations: int = 2000,
        folds: int = 5,
        compare: bool = True,
        level: float = 0.95,
        min_group_size: int = 0,
        refit: int = 0,
        fitted_by: str | None = None,
        overwrite: bool = False,
    ) -> list[pathlib.Path]:
        """Write the charts of :meth:`to_html` into a folder, each as SVG and as PNG.

        Parameters
        ----------
        folder : path
            Where the files go; made if it is not there.
        draws, permutations, folds, compare, level, min_group_size, refit, fitted_by
            As for :meth:`to_html`.
        overwrite : bool, default=False
            Replace charts that exist.

        Returns
        -------
        list of pathlib.Path
            The files.
        """
        settings = self._settings(
            draws, permutations, folds, compare, level, min_group_size, refit, fitted_by
        )
        place = pathlib.Path(folder)
        place.mkdir(exist_ok=True)
        X, groups, H, W, _ = self._subject
        files = [
            (place / name, content)
            for name, content in _core.audit_charts(X, groups, H, W, settings)
        ]
        there = [path for path, _ in files if path.exists()]
        if there and not overwrite:
            raise FileExistsError(f"{there[0]} exists: give another folder, or overwrite=True")
        for path, content in files:
            path.write_bytes(content)
        return [path for path, _ in files]

    def _settings(
        self,
        draws: int,
        permutations: int,
        folds: int,
        compare: bool,
        level: float,
        min_group_size: int,
        refit: int,
        fitted_by: str | None,
    ) -> _core.PageSettings:
        refit = _data.count("refit", refit, least=0)
        if refit and fitted_by not in ("standard", "am", "mu"):
            raise ValueError(
                f"fitted_by is {fitted_by!r}: to refit a dictionary, say how it was fitted, "
                "'standard' (any usual NMF, such as scikit-learn's), 'am' or 'mu'"
            )
        if refit and self._subject.W is not None:
            raise ValueError("refit finds the coordinates anew: leave W out of the audit")
        return {
            **self._subject.settings,
            "draws": _data.count("draws", draws, least=0),
            "permutations": _data.count("permutations", permutations, least=0),
            "folds": _data.count("folds", folds, least=0),
            "compare": bool(compare),
            "level": _data.number("level", level),
            "min_group_size": _data.count("min_group_size", min_group_size, least=0),
            "refit": refit,
            "fitted_by": fitted_by or "",
        }
