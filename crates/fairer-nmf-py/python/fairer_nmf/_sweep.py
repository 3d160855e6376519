"""Losses over ranks, methods and trials."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sklearn.exceptions import ConvergenceWarning

from fairer_nmf import _data
from fairer_nmf._align import index_of
from fairer_nmf._baseline import estimate_baseline
from fairer_nmf._estimator import FairerNMF
from fairer_nmf._figures import axes_or, over_ranks
from fairer_nmf._progress import counted
from fairer_nmf._types import Method
from fairer_nmf._warn import warn

if TYPE_CHECKING:
    import pandas as pd


class Sweep:
    """Losses over ranks; made by :func:`sweep`.

    Attributes
    ----------
    records : pandas.DataFrame
        One row per method, rank, trial and group, as the program's ``sweep --json`` has them:
        `method`, `rank`, `trial`, `seed`, the group (a column for every sensitive feature),
        `rows`, `norm`, `baseline_error`, `relative_error`, `loss`, `worst_loss`, `status` and
        `iterations`.
    """

    def __init__(self, records: pd.DataFrame, features: list[Any]) -> None:
        self.records = records
        self._features = features

    @property
    def worst_loss(self) -> pd.DataFrame:
        """The largest mean loss of any group, by rank and method."""
        means = self.records.groupby(["method", "rank", *self._features], sort=False)["loss"].mean()
        worst = means.groupby(level=["rank", "method"], sort=False).max()
        return worst.unstack("method")

    def smallest_rank(self, threshold: float, method: Method = "am") -> int | None:
        """Give the smallest rank at which no group's mean loss exceeds a threshold.

        Parameters
        ----------
        threshold : float
            The loss that is still acceptable.
        method : {"am", "mu", "standard"}, default="am"
            The method that is meant.

        Returns
        -------
        int or None
            The rank; None where every rank exceeds it.
        """
        worst = self.worst_loss[method]
        below = worst.index[worst <= _data.number("threshold", threshold)]
        return int(min(below)) if len(below) else None

    def to_frame(self) -> pd.DataFrame:
        """Give the records."""
        return self.records

    def plot(self, ax: Any = None) -> Any:
        """Draw the worst loss of every method over the ranks.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure if absent.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        ax = axes_or(ax, (6, 4))
        table = self.worst_loss.sort_index()
        for method in table:
            ax.plot(table.index, table[method], marker="o", label=str(method))
        ax.set_xlabel("rank")
        ax.set_ylabel("worst loss")
        ax.legend(frameon=False)
        return ax

    def figures(self) -> dict[str, Any]:
        """Draw loss and error of every group over the ranks, one Matplotlib figure per method.

        Returns
        -------
        dict of str to matplotlib.figure.Figure
            By names such as ``loss-by-rank-am`` and ``error-by-rank-am``.
        """
        drawn = {}
        for method, records in self.records.groupby("method", sort=False):
            for name, column in (("loss", "loss"), ("error", "relative_error")):
                axes = over_ranks(records, self._features, column)
                axes.set(title=f"{method}: {name} by rank", ylabel=f"{name} (mean ± sd)")
                drawn[f"{name}-by-rank-{method}"] = axes.get_figure()
        return drawn

    def __repr__(self) -> str:
        table = self.worst_loss
        return f"<Sweep of {len(table)} ranks, worst losses:\n{table.round(4)}>"


def sweep(
    X: Any,
    ranks: Iterable[int],
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    methods: Sequence[Method] = ("standard", "am", "mu"),
    trials: int = 10,
    random_state: Any = 0,
    verbose: int = 0,
    **parameters: Any,
) -> Sweep:
    """Fit every method at every rank, several times each, as the program's ``sweep`` does.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Non-negative data.
    ranks : iterable of int
        Numbers of topics.
    sensitive_features : array-like or frame
        One label per row; a frame of several columns forms intersections.
    sample_weight : array-like of shape (n_samples,), optional
        The weights of the rows, as for :meth:`FairerNMF.fit`.
    methods : sequence of {"standard", "am", "mu"}
        The methods; all share the baselines of a trial.
    trials : int, default=10
        Repetitions; trial t has the seed ``random_state + t``.
    random_state : int, RandomState, Generator or None, default=0
        The seed of the first trial.
    verbose : int, default=0
        1 shows progress.
    **parameters
        Further parameters of :class:`FairerNMF`.

    Returns
    -------
    Sweep
        Records, the table of worst losses, and a plot.

    Examples
    --------
    >>> from fairer_nmf import sweep
    >>> from fairer_nmf.datasets import make_synthetic_1
    >>> X, groups = make_synthetic_1(random_state=0)
    >>> found = sweep(X, [2, 9], sensitive_features=groups, methods=["am"], trials=2)
    >>> (found.worst_loss["am"] < 0.01).tolist()
    [False, True]
    >>> found.smallest_rank(0.01)
    9
    """
    import pandas as pd

    ranks = [_data.count("ranks", rank) for rank in ranks]
    trials = _data.count("trials", trials)
    seed = _data.seed(random_state)
    limit = _data.count("max_groups", parameters.get("max_groups", _data.MOST_GROUPS))
    how = parameters.get("groups", "combined")
    groups = _data.encode_groups(sensitive_features, index_of(X), limit, how=how)
    least = _data.count("merge_small", parameters.get("merge_small", 0), least=0)
    groups = _data.merged(groups, least)
    if groups is None:
        raise TypeError("a sweep compares groups: give sensitive_features")
    shared = ("normalize", "n_jobs", "max_groups", "groups", "merge_small", "missing")
    own: dict[str, Any] = {key: parameters[key] for key in shared if key in parameters}
    runs: dict[str, Any] = {key: parameters.pop(key) for key in ("baseline", "baseline_runs") if key in parameters}
    if isinstance(runs.get("baseline"), str) and runs["baseline"] == "adjusted":
        raise ValueError("baseline='adjusted': a sweep compares methods against the same baselines; take 'best'")
    index = groups.to_index()
    jobs = [(rank, trial) for rank in ranks for trial in range(trials)]
    tables, unfinished = [], 0
    for rank, trial in counted(jobs, verbose, "sweep"):
        E: Any = runs.get("baseline", "best")
        if isinstance(E, str):
            E = estimate_baseline(
                X, rank, sensitive_features=sensitive_features, sample_weight=sample_weight,
                random_state=seed + trial, **own, **runs,
            )  # fmt: skip
        for method in dict.fromkeys(methods):
            settings: dict[str, Any] = {
                "bound": False, **parameters, "method": method, "random_state": seed + trial,
            }  # fmt: skip
            model = FairerNMF(rank, baseline=E, **settings)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(X, sensitive_features=sensitive_features, sample_weight=sample_weight)
            unfinished += model._model.status != "converged"
            table = pd.DataFrame(
                {
                    "method": method,
                    "rank": rank,
                    "trial": trial,
                    "seed": seed + trial,
                    "rows": model._model.rows,
                    "norm": model.group_norms_,
                    "baseline_error": model.baseline_errors_,
                    "relative_error": model.group_errors_,
                    "loss": model.group_losses_,
                    "worst_loss": model.worst_loss_,
                    "status": model._model.status,
                    "iterations": model.n_iter_,
                },
                index=index,
            ).reset_index()
            tables.append(table)
    if unfinished:
        warn(
            f"{unfinished} of {len(jobs) * len(set(methods))} fits did not converge: raise max_iter",
            ConvergenceWarning,
        )
    if not tables:
        raise ValueError("ranks and methods are empty: there is nothing to fit")
    records = pd.concat(tables, ignore_index=True)
    keys = ["method", "rank", "trial", "seed"]
    others = [column for column in records if column not in keys]
    return Sweep(records[keys + others], list(index.names))
