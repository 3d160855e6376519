"""Fits to rows that stay on disk."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairer_nmf import _core, _data, _meaning
from fairer_nmf._fitted import Fitted
from fairer_nmf._messages import in_names_of
from fairer_nmf._parameters import Parameters
from fairer_nmf._progress import listener
from fairer_nmf._warn import warn


def refuse(told: Parameters, sample_weight: Any, W: Any, H: Any) -> None:
    """Refuse what needs all rows in memory, before any of them is read."""
    if told.memory is None:
        raise ValueError(
            "X is a path: say how much memory the fit may take, as in memory='2GB', or read the file "
            "and give an array"
        )
    needs = "needs all rows in memory"
    if W is not None or H is not None:
        raise ValueError(f"a start of your own {needs}: leave W and H out")
    if sample_weight is not None:
        raise ValueError(f"sample_weight {needs}: leave it out")
    _meaning.refuse_what_needs_memory(told)


def _columns(path: str, labels: Any, memory: str) -> list[str] | None:
    """Give the columns of a table that labels name; none where they are labels themselves."""
    if isinstance(labels, str):
        return [labels]
    if not (isinstance(labels, (list, tuple)) and all(isinstance(name, str) for name in labels)):
        return None
    names = _core.columns_on_disk(path, memory)
    # Labels of rows repeat, names of columns do not.
    if names is None or len(set(labels)) < len(labels):
        return None
    unknown = [name for name in labels if name not in names]
    if unknown and len(unknown) < len(labels):
        raise ValueError(f"sensitive_features names {unknown[0]!r}, which is no column of {path}")
    return None if unknown else list(labels)


def _check_count(path: str, labels: Any, rows: int) -> None:
    """Refuse a list that is neither columns of a table nor one label per row."""
    if isinstance(labels, (list, tuple)) and len(labels) != rows:
        raise ValueError(
            f"sensitive_features has {len(labels)} entries, {path} has {rows} rows: give one label per "
            "row, or names of its columns"
        )


class Held(NamedTuple):
    """Data on disk, and their groups."""

    rows: _core.OnDisk
    groups: _data.Groups | None


def hold(
    path: str, labels: Any, memory: str, threads: int, verbose: int, merges: bool, encode: Any
) -> Held:
    """Open the data, converting a table where that was not done before, and give their groups."""
    columns = _columns(path, labels, memory)
    held = _core.OnDisk(path, columns or [], memory, threads)
    if held.note is not None and "converted once" in held.note:
        warn(held.note)
    elif held.note is not None and verbose:
        print(held.note)
    if columns is None:
        if held.feature_names is not None:
            _check_count(path, labels, held.rows)
        return Held(held, encode(labels))
    if held.groups is None:
        raise ValueError(f"sensitive_features names a column, and {path} has none: give one label per row")
    if merges:
        raise ValueError("merge_small needs the labels of all rows: give them as an array")
    return Held(held, encode(np.array(held.groups, dtype=object)))


def fit(estimator: Fitted, path: str, y: Any, labels: Any, wanted: bool) -> NDArray[Any] | None:
    """Fit, and give W where it is wanted."""
    threads, merges = _data.threads(estimator.n_jobs), bool(estimator.merge_small)
    held, groups = hold(
        path, labels, str(estimator.memory), threads, estimator.verbose, merges,
        lambda labels: estimator._groups(labels, None),
    )  # fmt: skip
    names = held.feature_names
    estimator.__dict__.pop("feature_names_in_", None)
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    settings = estimator._settings(groups)
    _meaning.best_for_adjusted(settings)
    if groups is None and settings["method"] in ("am", "mu"):
        _meaning.warn_of_no_groups(settings["method"], y)
    with listener(estimator.verbose, settings["max_iterations"]) as progress, in_names_of(names):
        model, rows, reads = _core.fit_on_disk(held, groups, settings, wanted, progress)
    estimator.n_features_in_ = model.components.shape[1]
    estimator._set_fitted(model)
    estimator.reads_ = reads
    if groups is not None:
        estimator.groups_ = groups.to_array()
    for note in held.notes:
        warn(note)
    _meaning.pass_on_warnings(model, groups)
    return rows
