"""Audits of rows that are not in memory: on disk, or on a cluster."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from fairer_nmf import _baseline, _core, _data, _dictionary, _disk
from fairer_nmf._audited import Audit, Gone
from fairer_nmf._messages import in_names_of
from fairer_nmf._progress import listener
from fairer_nmf._remarks import warn_of_errors_above_one
from fairer_nmf._warn import warn


def of_sums(groups: _data.Groups, rank: int, found: tuple[Any, Any, Any, Any]) -> Audit:
    """Give the audit of rows that are not in memory, of rows, norms, baselines and errors of their groups."""
    import pandas as pd

    rows, norms, errors, relative = found
    warn_of_errors_above_one(groups.names, relative)
    table = {"rows": rows, "norm": norms, "baseline_error": errors, "relative_error": relative}
    frame = pd.DataFrame(table, index=groups.to_index())
    frame["loss"] = frame["relative_error"] - frame["baseline_error"] / frame["norm"]
    result = Audit(frame, np.empty((0, rank)), cast(Any, Gone()))
    result._controls = groups.controls
    return result


def on_disk(
    path: str, H: Any, labels: Any, memory: Any, given: dict[str, Any], about: tuple[Any, ...]
) -> Audit:
    """Measure what a dictionary costs each group of rows that stay on disk, which are read block by block."""
    normalize, baseline, runs, max_groups, n_jobs, random_state, verbose = about
    if memory is None:
        raise ValueError(
            "X is a path: say how much memory the audit may take, as in memory='2GB', or read the file "
            "and give an array"
        )
    for name in (name for name, value in given.items() if value is not None):
        raise ValueError(
            f"{name} needs all rows in memory: leave it out, or audit a part of the rows as an array"
        )
    if labels is None:
        raise TypeError("an audit compares groups: give sensitive_features")
    most, threads = _data.count("max_groups", max_groups), _data.threads(n_jobs)

    def encode(labels: Any) -> _data.Groups | None:
        return _data.encode_groups(labels, None, most)

    held, groups = _disk.hold(path, labels, str(memory), threads, verbose, False, encode)
    assert groups is not None, "there are labels"
    scaled, scale = _dictionary.scaling(normalize, H, held.feature_names)
    H = _dictionary.of(H, held.feature_names, held.features)
    if isinstance(baseline, str) and baseline == "held-out":
        raise ValueError("baseline='held-out' needs all rows in memory: use 'best' or 'paper'")
    if isinstance(baseline, str) and baseline == "adjusted":
        baseline = "best"  # the losses are those against it in memory too
    yardstick = _baseline.yardstick(baseline, runs, groups, random_state)
    reading: _core.Reading = {
        "normalize": scaled,
        "scale": None if scale is None else scale.tolist(),
        "unobserved": False,
        "threads": threads,
    }
    with listener(verbose, 0) as progress, in_names_of(held.feature_names):
        found = _core.evaluate_on_disk(held, groups, H, yardstick, reading, progress)
    for note in held.notes:
        warn(note)
    return of_sums(groups, len(H), found)
