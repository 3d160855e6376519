"""Fits to rows on the workers of a Dask cluster.

The loop runs here, as it does in memory; the workers hold the rows. A round sends a dictionary to them
and brings back sums over rows, whose size does not depend on the number of rows.

Examples
--------
>>> import dask.array as da
>>> from distributed import Client
>>> from fairer_nmf.dask import FairerNMF
>>> from fairer_nmf.datasets import make_synthetic_1
>>> X, groups = make_synthetic_1(random_state=0)
>>> with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None):
...     rows = da.from_array(X, chunks=(250, -1))
...     model = FairerNMF(n_components=4, random_state=0, n_init=1, baseline="zero")
...     W = model.fit_transform(rows, sensitive_features=da.from_array(groups, chunks=250))
...     W.shape, W.compute().shape
((1000, 4), (1000, 4))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

try:
    import dask.array as da
    from dask.delayed import delayed
    from distributed import Client, default_client
except ImportError as missing:
    raise ImportError(
        f"fairer_nmf.dask needs Dask ({missing}): pip install 'fairer-nmf[dask]'"
    ) from missing

from sklearn.utils.validation import check_is_fitted

from fairer_nmf import _baseline, _cluster, _core, _data, _dictionary, _estimator, _meaning
from fairer_nmf import _partitions as partitions
from fairer_nmf._audited import Audit
from fairer_nmf._elsewhere import of_sums
from fairer_nmf._messages import in_names_of
from fairer_nmf._progress import listener
from fairer_nmf._types import Normalize

if TYPE_CHECKING:
    from fairer_nmf._types import Baseline

__all__ = ["FairerNMF", "audit"]


def _client(client: Client | None) -> Client:
    if client is None:
        try:
            client = default_client()
        except ValueError:
            raise ValueError(
                "there is no Dask cluster: make a client first, client = distributed.Client(), or "
                "give one"
            ) from None
    if client.asynchronous:
        raise TypeError("the client is asynchronous: give one made without asynchronous=True")
    return client


class FairerNMF(_estimator.FairerNMF):
    """:class:`fairer_nmf.FairerNMF` for rows on the workers of a Dask cluster.

    The same parameters and attributes, and with the same seed the same model up to the rounding of
    sums, for any partitions and any number of workers. Every worker passes over its rows on one
    thread per task; `n_jobs` is not used. Workers may be lost, retired and added while a fit runs.
    `checkpoint` is a file of the driver's machine; it has no rows, which the workers make anew, and
    a fit may go on from it in memory, on disk or on another cluster.

    Not offered, because they need all rows in one place: ``init="nndsvd"`` and ``"nndsvda"``,
    ``n_components="auto"``, groups that overlap, weights of samples, and starts `W`, `H` of your own.
    ``baseline="adjusted"`` is ``"best"`` here, since random groups are not drawn.

    Attributes
    ----------
    client : distributed.Client
        The client; by default the latest that was made. It can be set.
    traffic_ : dict
        What the fit sent and received: `rounds`, `questions` (several may share a round), and bytes
        `sent` and `received` by the driver.
    """

    _own_client: Client | None = None

    @property
    def client(self) -> Client:
        """The client of the cluster."""
        return _client(self._own_client)

    @client.setter
    def client(self, client: Client | None) -> None:
        self._own_client = client

    def __getstate__(self) -> Any:
        state = dict(super().__getstate__())
        state.pop("_own_client", None)
        return state

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        W: Any = None,
        H: Any = None,
    ) -> FairerNMF:
        """Fit the dictionary.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame or path
            Non-negative rows: an array with dense blocks or blocks of SciPy CSR, a frame, or a
            folder of Parquet.
        y : ignored
            For scikit-learn's conventions.
        sensitive_features : Dask array, series or frame, optional
            One label per row, with the partitions of X. Of a frame or a folder of Parquet also the
            name of its column, or several; these are then no features.
        sample_weight, W, H : None
            Not offered here.

        Returns
        -------
        FairerNMF
            The estimator.
        """
        if W is not None or H is not None:
            raise ValueError("a start of your own needs all rows in memory: leave W and H out")
        _refuse_weights(sample_weight)
        client, most = self.client, _data.count("max_groups", self.max_groups)
        blocks = partitions.blocks_of(X, sensitive_features)
        self._check_settings()
        with in_names_of(blocks.feature_names):
            rows = partitions.spread(client, blocks, most)
        self.n_features_in_ = rows.features
        self.__dict__.pop("feature_names_in_", None)
        if blocks.feature_names is not None:
            self.feature_names_in_ = np.array(blocks.feature_names, dtype=object)
        settings = self._settings(rows.groups)
        settings["threads"] = _cluster.AT_A_TIME
        if rows.groups is None and settings["method"] in ("am", "mu"):
            _meaning.warn_of_no_groups(settings["method"], y)
        about = rows.about(settings["normalize"], None)
        with (
            listener(self.verbose, settings["max_iterations"]) as progress,
            _cluster.Rounds(client, rows.held) as rounds,
        ):
            model = _core.fit_shares(rounds.ask, about, settings, progress)
        self._set_fitted(model)
        self.traffic_ = rounds.traffic()
        if rows.groups is not None:
            self.groups_ = rows.groups.to_array()
        _meaning.pass_on_warnings(model, rows.groups)
        return self

    def _settings(self, groups: _data.Groups | None) -> _core.Settings:
        settings = super()._settings(groups)
        _meaning.best_for_adjusted(settings)
        return settings

    def _check_settings(self) -> None:
        """Refuse before any data move."""
        if self.memory is not None:
            raise ValueError("memory is for rows on the disk of one machine: workers have limits of their own")
        if self.merge_small != 0:
            raise ValueError("merge_small needs all rows in memory: leave it out, or fit there")
        _meaning.refuse_what_needs_memory(self)

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        W: Any = None,
        H: Any = None,
    ) -> Any:
        """Fit the dictionary and give the coordinates of the rows, which stay on the workers.

        Parameters
        ----------
        X, y, sensitive_features, sample_weight, W, H
            As for `fit`.

        Returns
        -------
        dask.array.Array of shape (n_samples, n_components)
            W, not computed yet.
        """
        self.fit(
            X, y, sensitive_features=sensitive_features, sample_weight=sample_weight, W=W, H=H
        )
        if isinstance(sensitive_features, str) or partitions._is_names(sensitive_features):
            return self._transform(partitions.blocks_of(X, sensitive_features))
        return self.transform(X)

    def transform(self, X: Any) -> Any:
        """Give the best coordinates of rows for the dictionary; groups are not needed.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame or path
            As for `fit`; of a frame the features of the fit are taken.

        Returns
        -------
        dask.array.Array of shape (n_samples, n_components)
            The exact non-negative least squares solution of every row, not computed yet.
        """
        check_is_fitted(self)
        return self._transform(partitions.blocks_of(self._features_of(X)))

    def _features_of(self, X: Any, labels: Any = None) -> Any:
        """Give the columns of the fit, and those that are labels."""
        names = getattr(self, "feature_names_in_", None)
        if isinstance(X, str) or hasattr(X, "__fspath__"):
            X = partitions._frames().read_parquet(X)
        if names is None or not hasattr(X, "columns"):
            return X
        missing = [name for name in names if name not in X.columns]
        if missing:
            raise ValueError(f"X has no column {missing[0]!r}, which the model was fitted on")
        named = labels if isinstance(labels, (list, tuple)) else [labels]
        beside = [name for name in X.columns if any(isinstance(n, str) and n == name for n in named)]
        return X[[*(name for name in beside if name not in names), *names]]

    def _transform(self, blocks: partitions.Blocks) -> Any:
        rank = len(self.components_)
        own = delayed(_transformed)
        model = delayed(self._model)
        sizes: Any = blocks.sizes or [np.nan] * len(blocks.rows)
        parts = [
            da.from_delayed(
                own(number, rows, model, blocks.columns, blocks.dtype), (size, rank), blocks.dtype
            )
            for number, (rows, size) in enumerate(zip(blocks.rows, sizes, strict=True))
        ]
        return da.concatenate(parts, axis=0, allow_unknown_chunksizes=True)

    def inverse_transform(self, X: Any) -> Any:
        """Give the rows that coordinates stand for, in the original features.

        Parameters
        ----------
        X : dask.array.Array of shape (n_samples, n_components)
            Coordinates W.

        Returns
        -------
        dask.array.Array of shape (n_samples, n_features)
            ``W @ components_``, not computed yet.
        """
        check_is_fitted(self)
        if not isinstance(X, da.Array):
            return super().inverse_transform(X)
        H = self.components_.astype(X.dtype, copy=False)
        return cast(Any, X).map_blocks(np.matmul, H, dtype=X.dtype, chunks=(X.chunks[0], (H.shape[1],)))

    def score(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> float:
        """Give minus the worst loss on data, so that larger is better.

        Parameters
        ----------
        X, y, sensitive_features
            As for `fit`; groups that the fit has seen.
        sample_weight : None
            Not offered here.

        Returns
        -------
        float
            Minus the worst loss; baselines are the fit's, as shares of the groups' norms.
        """
        check_is_fitted(self)
        _refuse_weights(sample_weight)
        X = self._features_of(X, sensitive_features)
        blocks = partitions.blocks_of(X, sensitive_features)
        most = _data.count("max_groups", self.max_groups)
        with in_names_of(blocks.feature_names):
            rows = partitions.spread(self.client, blocks, most)
        shares = [0.0]
        if rows.groups is not None or self._model.groups != ["all"]:
            shares = _meaning.baseline_shares(self._model, rows.groups)
        about = rows.about(False, self._model.scale)
        with _cluster.Rounds(self.client, rows.held) as rounds:
            zero: _core.Yardstick = {"baseline": "zero", "runs": 1, "errors": None, "seed": 0}
            _, _, _, errors, _ = _core.evaluate_shares(
                rounds.ask, about, self.components_, zero, None, 1
            )
        return -max(error - share for error, share in zip(errors, shares, strict=True))


def _refuse_weights(sample_weight: Any) -> None:
    if sample_weight is not None:
        raise ValueError("weights of samples need all rows in memory: leave sample_weight out")


def _transformed(number: int, X: Any, model: _core.Model, columns: Any, dtype: Any) -> Any:
    block = partitions.prepare(number, X, None, columns, dtype, _data.MOST_GROUPS)
    try:
        return model.transform(block.X, 1)
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from None


def audit(
    X: Any,
    H: Any,
    *,
    sensitive_features: Any,
    baseline: Baseline = "best",
    baseline_runs: int = 5,
    normalize: Normalize | Literal["auto"] = "auto",
    draws: int = 0,
    level: float = 0.95,
    max_groups: int = _data.MOST_GROUPS,
    random_state: Any = 0,
    verbose: int = 0,
    client: Client | None = None,
) -> Audit:
    """Measure what a dictionary costs each group of rows on the workers of a cluster.

    Parameters
    ----------
    X : dask.array.Array, dask.dataframe.DataFrame or path
        As for :meth:`FairerNMF.fit`.
    H : array-like of shape (n_components, n_features), or a fitted model
        As for :func:`fairer_nmf.audit`.
    sensitive_features : Dask array, series or frame, or names of columns
        One label per row, with the partitions of X.
    baseline, baseline_runs, normalize, draws, level, max_groups, random_state, verbose
        As for :func:`fairer_nmf.audit`. In the draws of the bootstrap every row counts as often as
        a Poisson variable of mean 1 says, so that they add over workers.
    client : distributed.Client, optional
        The client; by default the latest that was made.

    Returns
    -------
    Audit
        Table, worst loss, difference and plot; without the data, so that there is no page.
    """
    if sensitive_features is None:
        raise TypeError("an audit compares groups: give sensitive_features")
    if isinstance(baseline, str) and baseline == "adjusted":
        raise ValueError("baseline='adjusted' needs all rows in memory: use 'paper' or 'best'")
    blocks = partitions.blocks_of(X, sensitive_features)
    client = _client(client)
    with in_names_of(blocks.feature_names):
        rows = partitions.spread(client, blocks, _data.count("max_groups", max_groups))
    assert rows.groups is not None, "there are labels, and rows"
    scaled, scale = _dictionary.scaling(normalize, H, blocks.feature_names)
    H = _dictionary.of(H, blocks.feature_names, rows.features)
    draws = _data.count("draws", draws, least=0)
    drawn = (draws, _data.number("level", level))
    yardstick = _baseline.yardstick(baseline, baseline_runs, rows.groups, random_state)
    about = rows.about(scaled, scale)
    with (
        listener(verbose, draws) as progress,
        _cluster.Rounds(client, rows.held) as rounds,
    ):
        count, norms, errors, relative, ends = _core.evaluate_shares(
            rounds.ask,
            about,
            H,
            yardstick,
            drawn if draws else None,
            _cluster.AT_A_TIME,
            progress,
        )
    found = of_sums(rows.groups, len(H), (count, norms, errors, relative))
    if draws:
        found.by_group[["relative_error_low", "relative_error_high"]] = ends
    return found
