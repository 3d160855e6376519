"""From Dask's collections to shares of the rows on its workers."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask.delayed import delayed
from distributed import Client
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from fairer_nmf import _cluster, _core, _data
from fairer_nmf._align import index_of
from fairer_nmf._balance import balanced, evenly
from fairer_nmf._groups import Groups, encode_groups, of_two_types

#: Shares for every thread of a worker, and in all, where there are more partitions than that: a task
#: costs the scheduler about a millisecond.
SHARES_PER_THREAD = 1
MOST_SHARES = 256
#: scikit-learn's validation as in memory, of partitions, which may have no rows.
VALIDATION = _data.VALIDATION | {"ensure_min_samples": 0}


class Blocks(NamedTuple):
    """Partitions that are not computed yet: rows and labels beside each other."""

    rows: list[Any]
    labels: list[Any] | None
    #: Of frames, the columns that are features, and the names of these.
    columns: list[Any] | None
    feature_names: list[str] | None
    #: Number of rows of every partition, where it is known.
    sizes: list[int] | None
    dtype: Any


class Columns(NamedTuple):
    """Labels that are columns of a frame."""

    names: Any


class Block(NamedTuple):
    """A partition on a worker, as the Rust side takes it."""

    X: Any
    groups: Groups | None


class Found(NamedTuple):
    """What the driver hears of a partition."""

    rows: int
    features: int
    single: bool
    labels: list[tuple[Any, ...]] | None
    names: list[Any]
    #: The order of every feature's labels, where they have one of their own.
    orders: list[list[Any] | None]


def blocks_of(X: Any, sensitive_features: Any = None) -> Blocks:
    """Take a Dask array or frame, or a folder of Parquet, apart."""
    columns = names = None
    if isinstance(X, (str, os.PathLike)):
        X = _frames().read_parquet(os.fspath(X))
    if hasattr(X, "npartitions") and hasattr(X, "columns"):
        twice = X.columns[X.columns.duplicated()]
        if len(twice):
            raise ValueError(f"X has more than one column called {twice[0]!r}: rename all but one")
        if isinstance(sensitive_features, str) or _is_names(sensitive_features):
            one = isinstance(sensitive_features, str)
            wanted = [sensitive_features] if one else list(sensitive_features)
            missing = [name for name in wanted if name not in X.columns]
            if missing:
                raise ValueError(f"sensitive_features names {missing[0]!r}, which X has no column of")
            sensitive_features = Columns(wanted[0] if one else wanted)
            columns = [name for name in X.columns if name not in wanted]
        else:
            columns = list(X.columns)
        _refuse_words(columns, [X.dtypes[name] for name in columns])
        names, dtype = _names_and_type(X._meta[columns])
        rows, sizes = list(X.to_delayed()), None
    elif isinstance(X, da.Array):
        if X.ndim != 2:
            raise ValueError(f"X is a matrix of rows and features, found {X.ndim} dimensions")
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        rows, dtype = list(X.to_delayed()[:, 0]), X.dtype
        known = not np.isnan(X.chunks[0]).any()
        sizes = [int(size) for size in X.chunks[0]] if known else None
    else:
        raise TypeError(
            f"X must be a Dask array or frame, or a folder of Parquet, found {type(X).__name__}: "
            "for data in memory use fairer_nmf.FairerNMF"
        )
    labels = None if sensitive_features is None else _labels(sensitive_features, sizes, len(rows))
    dtype = np.dtype(dtype) if np.dtype(dtype) in (np.float32, np.float64) else np.dtype(np.float64)
    return Blocks(rows, labels, columns, names, sizes, dtype)


def _frames() -> Any:
    try:
        import dask.dataframe as frames
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"folders of Parquet need dask.dataframe and pyarrow ({error}): "
            "pip install 'fairer-nmf[dask]'"
        ) from error
    return frames


def _is_names(labels: Any) -> bool:
    return isinstance(labels, (list, tuple)) and all(isinstance(name, str) for name in labels)


def _refuse_words(columns: list[Any], kinds: list[Any]) -> None:
    words = [str(n) for n, kind in zip(columns, kinds, strict=True) if kind.kind not in "biuf"]
    if words:
        raise ValueError(
            f"columns {_data.some(words)} are not numbers: leave them out of X, or name them as "
            "sensitive_features"
        )


def _names_and_type(frame: Any) -> tuple[list[str] | None, Any]:
    """Give the names of a frame's features, where they are words, and the type of its numbers in memory."""
    if len(frame.columns) == 0:
        raise ValueError("X has no columns that are features: at least one is needed")
    told = BaseEstimator()
    dtype = validate_data(told, frame, **VALIDATION).dtype
    names = getattr(told, "feature_names_in_", None)
    return None if names is None else names.tolist(), dtype


def _labels(labels: Any, sizes: list[int] | None, partitions: int) -> list[Any]:
    """Give the labels of every partition."""
    if isinstance(labels, Columns):
        return [labels] * partitions
    if isinstance(labels, da.Array):
        parts = _cut_array(labels, sizes)
    elif hasattr(labels, "npartitions") and hasattr(labels, "to_delayed"):
        parts = list(labels.to_delayed())
    elif sizes is not None and hasattr(labels, "__len__") and not isinstance(labels, str):
        _refuse_other_count(len(labels), sum(sizes))
        ends = np.cumsum(sizes)
        cut = labels.iloc if hasattr(labels, "iloc") else np.asarray(labels)
        parts = [cut[end - size : end] for size, end in zip(sizes, ends, strict=True)]
    else:
        raise TypeError(
            f"sensitive_features must be a Dask array or series with the partitions of X, "
            f"found {type(labels).__name__}"
        )
    if len(parts) != partitions:
        raise ValueError(
            f"sensitive_features has {len(parts)} partitions and X has {partitions}: "
            "repartition them alike"
        )
    return parts


def _cut_array(labels: Any, sizes: list[int] | None) -> list[Any]:
    """Give the labels of every partition; those of unknown sizes are compared on the workers."""
    own = labels.chunks[0]
    if sizes is not None and not np.isnan(own).any() and own != tuple(sizes):
        _refuse_other_count(sum(own), sum(sizes))
        labels = labels.rechunk({0: tuple(sizes)})
    if labels.ndim > 1:
        labels = labels.rechunk(dict.fromkeys(range(1, labels.ndim), -1))
    return list(labels.to_delayed().reshape(labels.numblocks[0], -1)[:, 0])


def _refuse_other_count(labels: int, rows: int) -> None:
    if labels != rows:
        raise ValueError(f"{labels} group labels for {rows} rows: give one label per row")


def prepare(number: int, X: Any, labels: Any, columns: Any, dtype: Any, most: int) -> Block:
    """Make a partition what the Rust side takes, on a worker; a copy only where it must be."""
    index = index_of(X)
    if isinstance(labels, Columns):
        labels = X[labels.names]
    X = _matrix(X if columns is None else X[columns], dtype)
    if X.ndim != 2:
        raise ValueError(f"partition {number} has {X.ndim} dimensions, expected rows of features")
    groups = None if labels is None else _grouped(number, labels, index, X.shape[0], most)
    return Block(X, groups)


def _matrix(X: Any, dtype: Any) -> Any:
    if hasattr(X, "columns"):
        X = check_array(X, **VALIDATION | {"dtype": dtype})
    if sparse.issparse(X):
        X = X.tocsr()
        return _data.native(X if X.dtype == dtype else X.astype(dtype))
    return _data.native(np.asarray(X, dtype=dtype))


def _grouped(number: int, labels: Any, index: Any, rows: int, most: int) -> Groups | None:
    if len(labels) != rows:
        raise ValueError(
            f"partition {number} has {len(labels)} group labels for {rows} rows: "
            "give sensitive_features the partitions of X"
        )
    try:
        return encode_groups(labels, index, most) if rows > 0 else None
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from None


def describe(block: Block) -> Found:
    """Tell the driver of a partition."""
    groups = block.groups
    rows, features = block.X.shape
    single = block.X.dtype == np.float32
    if groups is None:
        return Found(rows, features, single, None, [], [])
    return Found(rows, features, single, groups.labels, groups.features, groups.orders)


def united(found: dict[int, Found], most: int) -> Groups | None:
    """Give the groups of all partitions in the order that they would have in memory; no codes."""
    labelled = [part for part in found.values() if part.labels is not None]
    if not labelled:
        return None
    labels = list(dict.fromkeys(label for part in labelled for label in part.labels or []))
    columns = {}
    for place, name in enumerate(labelled[0].names):
        _refuse_two_types(found, place)
        # Where partitions differ in it there is no order, as in memory.
        orders = [part.orders[place] for part in labelled]
        order = orders[0] if all(other == orders[0] for other in orders) else None
        columns[name] = _column([label[place] for label in labels], order)
    return encode_groups(columns, None, most)


def _refuse_two_types(found: dict[int, Found], place: int) -> None:
    seen: dict[Any, Any] = {}
    for number, part in found.items():
        for label in part.labels or []:
            first = seen.setdefault(label[place], label[place])
            if type(first) is not type(label[place]):
                raise of_two_types(first, label[place], f"partition {number}")


def _column(values: list[Any], order: list[Any] | None) -> Any:
    import pandas as pd

    if order is not None:
        return pd.Series(pd.Categorical(values, categories=order, ordered=True))
    if all(isinstance(value, pd.Timestamp) for value in values):
        return pd.DatetimeIndex(values).to_numpy()
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def hold(
    number: int, parts: Sequence[Block], numbers: list[int], firsts: list[int], codes: Any, count: int
) -> _cluster.Held:
    """Make the share of some partitions, on a worker."""
    made = []
    for block, first, code in zip(parts, firsts, codes, strict=True):
        own = np.zeros(block.X.shape[0], dtype=np.int64)
        if block.groups is not None:
            own = np.asarray(code, dtype=np.int64)[block.groups.codes]
        made.append(_cluster.Part(block.X, own, count, first))
    return _cluster.Held(number, numbers, made)


class Spread(NamedTuple):
    """Rows on the workers of a cluster, ready for questions."""

    held: list[Any]
    groups: Groups | None
    features: int
    single: bool

    def about(self, normalize: bool, scale: NDArray[np.float64] | None) -> _core.About:
        """Give what the Rust side needs to know of them."""
        return {
            "names": ["all"] if self.groups is None else self.groups.names,
            "features": self.features,
            "single": self.single,
            "normalize": normalize,
            "scale": None if scale is None else scale.tolist(),
        }


def spread(client: Client, blocks: Blocks, most: int) -> Spread:
    """Bring partitions to the workers and check them."""
    name = uuid.uuid4().hex[:8]
    labels = blocks.labels or [None] * len(blocks.rows)
    prepared = delayed(prepare, pure=False)
    tasks = [
        prepared(number, rows, own, blocks.columns, blocks.dtype, most)
        for number, (rows, own) in enumerate(zip(blocks.rows, labels, strict=True))
    ]
    try:
        made = client.compute(tasks, sync=False)
        # Keys of one group of their own: Dask then leaves tasks where their data are.
        keys = [(f"fairer_nmf_describe-{name}", number) for number in range(len(made))]
        described = client.map(describe, made, key=keys, pure=False)
        found: list[Found] = _cluster.gathered(client, described)
        kept = [number for number, part in enumerate(found) if part.rows > 0]
        if not kept:
            raise ValueError("X has no rows")
        _refuse_other_features(found, kept)
        groups = united({number: found[number] for number in kept}, most)
        firsts = dict(zip(kept, np.cumsum([0] + [found[n].rows for n in kept]).tolist()))
        held = []
        rows_of = {number: found[number].rows for number in kept}
        for number, (worker, own) in enumerate(_together(client, made, rows_of)):
            held.append(
                client.submit(
                    hold,
                    number,
                    [made[n] for n in own],
                    own,
                    [firsts[n] for n in own],
                    [_codes(found[n], groups) for n in own],
                    1 if groups is None else len(groups.names),
                    key=f"fairer_nmf_hold-{name}-{number}",
                    workers=[worker] if worker else None,
                    allow_other_workers=bool(worker),
                )
            )
        # Refuses what cannot be fitted, with the number of the partition.
        _cluster.gathered(client, held, results=False)
        for future in held:
            if future.status == "error":
                future.result()
    except _cluster.LOST as error:
        raise _cluster.explained(client, error) from error
    return Spread(held, groups, found[kept[0]].features, blocks.dtype == np.float32)


def _refuse_other_features(found: list[Found], kept: list[int]) -> None:
    features = found[kept[0]].features
    for number in kept:
        if found[number].features != features:
            raise ValueError(
                f"partition {number} has {found[number].features} features, partition {kept[0]} "
                f"has {features}: give all partitions the same columns"
            )


def _codes(part: Found, groups: Groups | None) -> list[int] | None:
    if groups is None or part.labels is None:
        return None
    place = {label: code for code, label in enumerate(groups.labels)}
    return [place[label] for label in part.labels]


def _together(client: Client, made: list[Any], rows: dict[int, int]) -> list[tuple[str, list[int]]]:
    """Give the worker and the partitions of every share: as many as threads, of partitions of one worker.

    `rows` has how many every partition has; shares of a worker have about as many each.
    """
    threads, kept = client.nthreads(), list(rows)
    total = max(1, sum(threads.values()))
    most = min(SHARES_PER_THREAD * total, MOST_SHARES)
    places = client.who_has([made[number] for number in kept])
    at = {number: min(places.get(made[number].key) or ("",)) for number in kept}
    at = balanced(at, rows, threads)
    if len(kept) <= most:
        return [(at[number], [number]) for number in kept]
    shares = []
    for worker in sorted(set(at.values())):
        own = [number for number in kept if at[number] == worker]
        count = min(len(own), max(1, most * threads.get(worker, 1) // total))
        shares += [(worker, share) for share in evenly(own, rows, count)]
    return sorted(shares, key=lambda share: share[1])
