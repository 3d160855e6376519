"""From Dask's collections to shares of the rows on its workers."""

from __future__ import annotations

import bisect
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

from fairer_nmf import _cluster, _core, _data
from fairer_nmf._align import index_of
from fairer_nmf._groups import Groups, encode_groups

#: Shares for every thread of a worker, and in all, where there are more partitions than that: a task
#: costs the scheduler about a millisecond.
SHARES_PER_THREAD = 1
MOST_SHARES = 256


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
    #: The order of every feature's labels, where they have one of their own.
    categories: list[list[Any] | None]


class Found(NamedTuple):
    """What the driver hears of a partition."""

    rows: int
    features: int
    single: bool
    labels: list[tuple[Any, ...]] | None
    names: list[Any]
    categories: list[list[Any] | None]


def blocks_of(X: Any, sensitive_features: Any = None) -> Blocks:
    """Take a Dask array or frame, or a folder of Parquet, apart."""
    columns = names = None
    if isinstance(X, (str, os.PathLike)):
        X = _frames().read_parquet(os.fspath(X))
    if hasattr(X, "npartitions") and hasattr(X, "columns"):
        if isinstance(sensitive_features, str) or _is_names(sensitive_features):
            chosen = sensitive_features
            wanted = [chosen] if isinstance(chosen, str) else list(chosen)
            missing = [name for name in wanted if name not in X.columns]
            if missing:
                raise ValueError(f"sensitive_features names {missing[0]!r}, which X has no column of")
            sensitive_features = Columns(chosen)
            columns = [name for name in X.columns if name not in wanted]
        else:
            columns = list(X.columns)
        kinds = [X.dtypes[name] for name in columns]
        _refuse_words(columns, kinds)
        names, rows = [str(name) for name in columns], list(X.to_delayed())
        sizes, dtype = None, np.result_type(*kinds) if kinds else np.float64
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


def _labels(labels: Any, sizes: list[int] | None, partitions: int) -> list[Any]:
    """Give the labels of every partition."""
    if isinstance(labels, Columns):
        return [labels] * partitions
    if isinstance(labels, da.Array):
        if sizes is not None and labels.chunks[0] != tuple(sizes):
            if sum(labels.chunks[0]) != sum(sizes):
                raise ValueError(
                    f"{sum(labels.chunks[0])} group labels for {sum(sizes)} rows: "
                    "give one label per row"
                )
            labels = labels.rechunk({0: tuple(sizes)})
        labels = labels.rechunk({1: -1}) if labels.ndim == 2 else labels
        parts = list(labels.to_delayed().reshape(labels.numblocks[0], -1)[:, 0])
    elif hasattr(labels, "npartitions") and hasattr(labels, "to_delayed"):
        parts = list(labels.to_delayed())
    elif sizes is not None and hasattr(labels, "__len__") and not isinstance(labels, str):
        if len(labels) != sum(sizes):
            raise ValueError(
                f"{len(labels)} group labels for {sum(sizes)} rows: give one label per row"
            )
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


def prepare(number: int, X: Any, labels: Any, columns: Any, dtype: Any, most: int) -> Block:
    """Make a partition what the Rust side takes, on a worker; a copy only where it must be."""
    index = index_of(X)
    if isinstance(labels, Columns):
        labels = X[labels.names]
    if columns is not None:
        X = X[columns].to_numpy(dtype=dtype)
    if sparse.issparse(X):
        X = X.tocsr()
        X = _data.native(X if X.dtype == dtype else X.astype(dtype))
    else:
        X = _data.native(np.asarray(X, dtype=dtype))
    if X.ndim != 2:
        raise ValueError(f"partition {number} has {X.ndim} dimensions, expected rows of features")
    groups, categories = None, []
    if labels is not None:
        try:
            if X.shape[0] > 0:
                groups = encode_groups(labels, index, most)
        except ValueError as error:
            raise ValueError(f"partition {number}: {error}") from None
        if groups is not None and len(groups.codes) != X.shape[0]:
            raise ValueError(
                f"partition {number} has {len(groups.codes)} group labels for {X.shape[0]} rows: "
                "give sensitive_features the partitions of X"
            )
        categories = _categories(labels)
    return Block(X, groups, categories)


def _categories(labels: Any) -> list[list[Any] | None]:
    columns = [labels[name] for name in labels.columns] if hasattr(labels, "columns") else [labels]
    kinds = [getattr(column, "dtype", None) for column in columns]
    return [
        list(kind.categories) if getattr(kind, "ordered", False) else None  # type: ignore[union-attr]
        for kind in kinds
    ]


def describe(block: Block) -> Found:
    """Tell the driver of a partition."""
    groups = block.groups
    labels, names = (None, []) if groups is None else (groups.labels, groups.features)
    rows, features = block.X.shape
    return Found(rows, features, block.X.dtype == np.float32, labels, names, block.categories)


def united(found: list[Found], most: int) -> Groups | None:
    """Give the groups of all partitions in the order that they would have in memory; no codes."""
    labelled = [part for part in found if part.labels is not None]
    if not labelled:
        return None
    labels = list(dict.fromkeys(label for part in labelled for label in part.labels or []))
    columns = {}
    for place, name in enumerate(labelled[0].names):
        values = [label[place] for label in labels]
        order = labelled[0].categories[place] if labelled[0].categories else None
        columns[name] = _column(values, order)
    return encode_groups(columns, None, most)


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
        groups = united([found[number] for number in kept], most)
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

    `rows` has how many every partition has.
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
        cuts = np.array_split(np.array(own), count)
        shares += [(worker, [int(number) for number in cut]) for cut in cuts]
    return sorted(shares, key=lambda share: share[1])


def balanced(at: dict[int, str], rows: dict[int, int], threads: dict[str, int]) -> dict[int, str]:
    """Give the worker of every partition, so that each has rows in proportion to its threads.

    A round waits for the slowest, and Dask leaves partitions where they are: on one worker, if they were
    made there or copied to it. One is moved, once, where the fuller of two workers then waits a tenth
    less or more.
    """
    if not threads:
        return at
    own: dict[str, list[tuple[int, int]]] = {worker: [] for worker in sorted(threads)}
    load = dict.fromkeys(own, 0)
    homeless = []
    for number, worker in at.items():
        if worker in own:
            own[worker].append((rows[number], number))
            load[worker] += rows[number]
        else:
            homeless.append((rows[number], number))
    for held in own.values():
        held.sort()

    def waits(worker: str) -> float:
        return load[worker] / threads[worker]

    def give(part: tuple[int, int], worker: str) -> None:
        bisect.insort(own[worker], part)
        load[worker] += part[0]

    for part in sorted(homeless, reverse=True):
        give(part, min(own, key=waits))
    while True:
        fullest, emptiest = max(own, key=waits), min(own, key=waits)
        # The largest partition after which the emptiest waits a tenth less than the fullest did.
        room = 0.9 * waits(fullest) * threads[emptiest] - load[emptiest]
        place = bisect.bisect_right(own[fullest], room, key=lambda part: part[0])
        if fullest == emptiest or place == 0:
            return {number: worker for worker, held in own.items() for _, number in held}
        part = own[fullest].pop(place - 1)
        load[fullest] -= part[0]
        give(part, emptiest)
