"""Losses over ranks, methods and trials."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from fairer_nmf import _choices, _core, _data
from fairer_nmf._align import index_of
from fairer_nmf._baseline import estimate_baseline, reading, yardstick
from fairer_nmf._estimator import FairerNMF
from fairer_nmf._figures import axes_or, over_ranks
from fairer_nmf._messages import in_names_of
from fairer_nmf._progress import counted
from fairer_nmf._types import Method
from fairer_nmf._warn import warn

if TYPE_CHECKING:
    import pandas as pd


#: What random groups of a size pay: their mean, and the ends of nine of ten.
BAND = ["chance_mean", "chance_low", "chance_high"]


class Sweep:
    """Losses over ranks; made by :func:`sweep`.

    Attributes
    ----------
    records : pandas.DataFrame
        One row per method, rank, trial and group, as the program's ``sweep --json`` has them:
        `method`, `rank`, `trial`, `seed`, the group (a column for every sensitive feature),
        `rows`, `norm`, `baseline_error`, `relative_error`, `loss`, `worst_loss`, `total_error`,
        `status` and `iterations`.
    chance : pandas.DataFrame
        What random groups of every group's size pay under standard NMF, by rank: `rank`, the group,
        `rows`, `chance_mean` and `chance_low` to `chance_high`, the range of nine of ten. Small groups
        have larger losses by construction: compare their losses less `chance_mean`.
    """

    def __init__(self, records: pd.DataFrame, chance: pd.DataFrame, features: list[Any]) -> None:
        self.records = records
        self.chance = chance
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

    Fits that lose clearly more of all data than standard NMF are warned of, with the group that they were bent for.

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
    standards: dict[int, FairerNMF] = {}
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
                # Said of all fits together below.
                warnings.filterwarnings("ignore", message="this fit loses")
                model.fit(X, sensitive_features=sensitive_features, sample_weight=sample_weight)
            unfinished += model._model.status != "converged"
            if method == "standard":
                standards.setdefault(rank, model)
            norm = np.linalg.norm(model.group_norms_)
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
                    "total_error": model._model.total_error / norm,
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
    records = records[keys + others]
    for sentence in _rises(records, groups, index):
        warn(sentence)
    told = yardstick(runs.get("baseline", "best"), runs.get("baseline_runs", 5), groups, seed)
    plain = {key: parameters[key] for key in (*own, "n_init", "tol", "max_iter") if key in parameters}
    bands = []
    # One group is all rows, and nothing is random about it.
    for rank in dict.fromkeys(ranks) if len(index) > 1 else ():
        if rank not in standards:
            standards[rank] = FairerNMF(rank, method="standard", baseline="zero", random_state=seed, **plain)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                standards[rank].fit(X, sensitive_features=sensitive_features, sample_weight=sample_weight)
        model = standards[rank]
        found = _chance(X, groups, model.components_, told, own, sample_weight)
        band = pd.DataFrame(found, columns=BAND, index=index)
        band.insert(0, "rows", model._model.rows)
        band = band.reset_index()
        band.insert(0, "rank", rank)
        bands.append(band)
    columns = ["rank", *index.names, "rows", *BAND]
    chance = pd.concat(bands, ignore_index=True) if bands else pd.DataFrame(columns=columns)
    return Sweep(records, chance, list(index.names))


def _chance(
    X: Any, groups: _data.Groups, components: Any, told: _core.Yardstick, own: dict[str, Any], weight: Any
) -> list[list[float]]:
    """What random groups of the sizes pay under a dictionary."""
    names, index = getattr(X, "columns", None), index_of(X)
    missing = own.get("missing", "error")
    X = _data.native(check_array(_data.named(_choices.unmasked(missing, X)), **_data.VALIDATION))
    how = reading(own.get("normalize"), missing, own.get("n_jobs"))
    with in_names_of(names):
        return _core.chance(X, _data.weighted(groups, weight, index, X.shape[0]), components, told, how)


def _rises(records: pd.DataFrame, groups: _data.Groups, index: pd.Index) -> list[str]:
    """What is said of methods that lose clearly more of all data than standard NMF, in the mean of the trials."""
    keys = ["rank", "method"]
    errors = records.groupby([*keys, *index.names], sort=False)["relative_error"].mean()
    totals = records.groupby(keys, sort=False)["total_error"].mean()
    rows = records["rows"].tolist()[: len(index)]
    fits = []
    for rank, method in totals.index:
        if method == "standard" or (rank, "standard") not in totals:
            continue
        falls = errors.loc[(rank, "standard")].to_numpy() - errors.loc[(rank, method)].to_numpy()
        of_groups = list(zip(groups.names, rows, falls.tolist(), strict=True))
        fits.append((method, rank, totals[rank, method], totals[rank, "standard"], of_groups))
    return _core.rises(fits)
