"""What a dictionary, from any library, costs each group."""

from __future__ import annotations

import html
import os
import pathlib
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from fairer_nmf import _baseline, _core, _data

if TYPE_CHECKING:
    import pandas as pd


class _Subject(NamedTuple):
    """What was audited, for the page; the data are the caller's, not a copy."""

    X: Any
    groups: _data.Groups
    H: NDArray[np.float64]
    W: NDArray[np.float64] | None
    settings: _core.PageSettings


class Audit:
    """What a dictionary costs each group; made by :func:`audit`.

    Attributes
    ----------
    by_group : pandas.DataFrame
        One row per group: `rows`, `norm` ‖X_g‖, `baseline_error` E_g, `relative_error`
        ‖X_g − W_g H‖/‖X_g‖ and `loss` (‖X_g − W_g H‖ − E_g)/‖X_g‖. Where the audit had `draws`,
        also the ends of their bootstrap intervals: `relative_error_low`, `relative_error_high`,
        `loss_low` and `loss_high`.
    worst : float
        The largest loss.
    worst_group : str
        The group that has it.
    difference : float
        The largest loss minus the smallest.
    overall_error : float
        ‖X − WH‖/‖X‖ over all rows.
    representation : ndarray of shape (n_samples, n_components)
        W: as given, or the best for the dictionary.
    """

    def __init__(
        self, by_group: pd.DataFrame, representation: NDArray[Any], subject: _Subject
    ) -> None:
        self.by_group = by_group
        self.representation = representation
        self._subject = subject

    @property
    def worst(self) -> float:
        """The largest loss."""
        return float(self.by_group["loss"].max())

    @property
    def worst_group(self) -> str:
        """The group with the largest loss."""
        return str(self.by_group["loss"].idxmax())

    @property
    def difference(self) -> float:
        """The largest loss minus the smallest."""
        return float(self.by_group["loss"].max() - self.by_group["loss"].min())

    @property
    def overall_error(self) -> float:
        """The relative error of all rows together."""
        norms = self.by_group["norm"].to_numpy(dtype=np.float64)
        errors = self.by_group["relative_error"].to_numpy(dtype=np.float64) * norms
        return float(np.linalg.norm(errors) / np.linalg.norm(norms))

    def to_frame(self) -> pd.DataFrame:
        """Give the table with the groups as its first column."""
        return self.by_group.reset_index()

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
            Groups with fewer rows appear nowhere on the page.

        Returns
        -------
        str
            The page.
        """
        settings = self._settings(draws, permutations, folds, compare, level, min_group_size)
        X, groups, H, W, _ = self._subject
        return _core.audit_page(X, groups, H, W, {**settings, "title": title})

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
        overwrite: bool = False,
    ) -> list[pathlib.Path]:
        """Write the charts of :meth:`to_html` into a folder, each as SVG and as PNG.

        Parameters
        ----------
        folder : path
            Where the files go; made if it is not there.
        draws, permutations, folds, compare, level, min_group_size
            As for :meth:`to_html`.
        overwrite : bool, default=False
            Replace charts that exist.

        Returns
        -------
        list of pathlib.Path
            The files.
        """
        settings = self._settings(draws, permutations, folds, compare, level, min_group_size)
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
    ) -> _core.PageSettings:
        return {
            **self._subject.settings,
            "draws": _data.count("draws", draws, least=0),
            "permutations": _data.count("permutations", permutations, least=0),
            "folds": _data.count("folds", folds, least=0),
            "compare": bool(compare),
            "level": _data.number("level", level),
            "min_group_size": _data.count("min_group_size", min_group_size, least=0),
        }

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
        if ax is None:
            from matplotlib import pyplot

            _, ax = pyplot.subplots(figsize=(6, 1 + 0.4 * len(self.by_group)))
        table = self.by_group.iloc[::-1]
        names = [str(name) for name in table.index]
        share = table["baseline_error"] / table["norm"]
        ax.barh(names, share, color="#b8c4ce", label="own dictionary (baseline)")
        ax.barh(names, table["loss"], left=share, color="#c8553d", label="loss by sharing")
        ax.set_xlabel("relative error")
        ax.legend(frameon=False)
        return ax

    def __repr__(self) -> str:
        return (
            f"<Audit of {len(self.by_group)} groups: worst loss {self.worst:.4f} "
            f"({self.worst_group}), difference {self.difference:.4f}>"
        )

    def _repr_html_(self) -> str:
        worst = html.escape(self.worst_group)
        table: str = self.by_group.to_html(float_format="{:.4f}".format)
        return (
            f"<p>Worst loss <b>{self.worst:.4f}</b> ({worst}), "
            f"difference {self.difference:.4f}</p>{table}"
        )


def audit(
    X: Any,
    H: Any,
    *,
    sensitive_features: Any,
    W: Any = None,
    baseline: Any = "paper",
    baseline_runs: int = 5,
    normalize: str | None = None,
    draws: int = 0,
    level: float = 0.95,
    n_jobs: int | None = None,
    random_state: Any = 0,
) -> Audit:
    """Measure what a dictionary costs each group.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Non-negative data.
    H : array-like of shape (n_components, n_features)
        The dictionary, in the original features: `components_` of this or any other library.
    sensitive_features : array-like or frame
        One label per row; a frame of several columns forms intersections.
    W : array-like of shape (n_samples, n_components), optional
        The coordinates; the best for the dictionary if absent.
    baseline : {"paper", "best", "zero"}, array-like or mapping, default="paper"
        As for :class:`FairerNMF`.
    baseline_runs : int, default=5
        Runs per group behind the baseline.
    normalize : {"features"} or None, default=None
        Measure errors with every feature scaled to unit norm over all rows.
    draws : int, default=0
        Bootstrap draws behind intervals of every group's error and loss, with the dictionary
        fixed; 0 leaves the intervals out of `by_group`.
    level : float, default=0.95
        Level of the intervals.
    n_jobs : int, optional
        Threads; None and -1 are all.
    random_state : int, RandomState, Generator or None, default=0
        The seed of the baseline and of the draws.

    Returns
    -------
    Audit
        Table, worst loss, difference, page and plot.

    Examples
    --------
    >>> from sklearn.decomposition import NMF
    >>> from fairer_nmf import audit
    >>> from fairer_nmf.datasets import make_synthetic_1
    >>> X, groups = make_synthetic_1(random_state=0)
    >>> standard = NMF(n_components=4, init="nndsvda", random_state=0).fit(X)
    >>> result = audit(X, H=standard.components_, sensitive_features=groups)
    >>> result.by_group["rows"].to_dict()
    {'High rank': 500, 'Low rank': 500}
    >>> result.worst_group
    'High rank'
    """
    import pandas as pd

    feature_names = getattr(X, "columns", None)
    X = _data.native(check_array(X, **_data.VALIDATION))
    H, W = _data.factor(H), _data.factor(W)
    if H is None:
        raise TypeError("H is the dictionary: give the components of a model")
    groups = _data.encode_groups(sensitive_features)
    if groups is None:
        raise TypeError("an audit compares groups: give sensitive_features")
    names = groups.names
    settings: _core.PageSettings = {
        "title": "Audit",
        "normalize": _data.scaled(normalize),
        "baselines": [],
        "baseline_runs": _data.count("baseline_runs", baseline_runs),
        "baseline_spreads": None,
        "feature_names": None if feature_names is None else [str(name) for name in feature_names],
        "draws": 0,
        "permutations": 0,
        "folds": 0,
        "compare": False,
        "level": 0.95,
        "min_group_size": 0,
        "seed": _data.seed(random_state),
        "threads": _data.threads(n_jobs),
    }
    _, errors, runs = _core.estimate_baselines(
        X,
        groups,
        len(H),
        baseline if isinstance(baseline, str) else "",
        settings["baseline_runs"],
        _baseline.given(baseline, names),
        settings["normalize"],
        settings["seed"],
        settings["threads"],
    )
    _warn_of_small_groups(groups, len(H))
    settings["baselines"] = errors
    settings["baseline_runs"] = len(runs[0])
    if len(runs[0]) > 1:
        settings["baseline_spreads"] = np.std(runs, axis=1, ddof=1).tolist()
    norms, relative_errors, losses, representation = _core.evaluate(
        X, groups, H, W, errors, False, settings["normalize"], None, settings["threads"]
    )
    table = pd.DataFrame(
        {
            "rows": np.bincount(groups.codes, minlength=len(names)),
            "norm": norms,
            "baseline_error": errors,
            "relative_error": relative_errors,
            "loss": losses,
        },
        index=pd.Index(names, name="group"),
    )
    draws = _data.count("draws", draws, least=0)
    if draws:
        table[["relative_error_low", "relative_error_high", "loss_low", "loss_high"]] = (
            _core.intervals(
                X,
                groups,
                H,
                W,
                errors,
                settings["normalize"],
                (draws, _data.number("level", level), settings["seed"]),
                settings["threads"],
            )
        )
    return Audit(table, representation, _Subject(X, groups, H, W, settings))


def _warn_of_small_groups(groups: _data.Groups, rank: int) -> None:
    rows = np.bincount(groups.codes, minlength=len(groups.names))
    pairs = zip(groups.names, rows, strict=True)
    small = [f"{name} ({count})" for name, count in pairs if count < 2 * rank]
    if small:
        warnings.warn(
            f"groups with fewer rows than twice the rank {rank}: {', '.join(small)}. A dictionary "
            "of their own fits almost anything, so their losses look larger than on new samples; "
            "the page of to_html has held-out losses",
            UserWarning,
            stacklevel=3,
        )
