"""Audits of rows that are not in memory: on disk, or on a cluster."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from fairer_nmf import _data
from fairer_nmf._audited import Audit, Gone
from fairer_nmf._remarks import warn_of_errors_above_one


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
