"""The methods of others on the same rows, groups and rank, under one audit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sklearn.utils import check_array

from fairer_nmf import _core, _data, _meaning
from fairer_nmf._align import index_of
from fairer_nmf._estimator import FairerNMF
from fairer_nmf._messages import in_names_of
from fairer_nmf._progress import listener
from fairer_nmf._remarks import warn_of_rise

if TYPE_CHECKING:
    import pandas as pd


def compare(
    X: Any,
    n_components: int,
    *,
    sensitive_features: Any,
    methods: Sequence[str] = (),
    baseline: Any = "best",
    random_state: Any = 0,
    verbose: int = 0,
    **parameters: Any,
) -> pd.DataFrame:
    """Set the methods of others beside Fairer-NMF, as the program's ``compare`` does.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Non-negative data.
    n_components : int
        Number of topics.
    sensitive_features : array-like or frame
        One label per row; a frame of several columns forms intersections.
    methods : sequence of str, default=()
        Some of "standard", "am", "reweighted-rows", "reweighted-norms", "glrm-power",
        "glrm-exponential", "glrm-disparity", "robust", "fair-pca", "fair-pca-loss",
        "shared-budget" and "separate"; all where none are named.
    baseline : {"paper", "best", "held-out", "zero"}, array-like or mapping, default="best"
        The baselines that all are measured against, as for :class:`FairerNMF`; not "adjusted":
        the excess loss stands beside every loss.
    random_state : int, RandomState, Generator or None, default=0
        An integer is the program's ``--seed``.
    verbose : int, default=0
        1 shows progress.
    **parameters
        `baseline_runs`, `n_init`, `tol`, `max_iter`, `normalize`, `max_groups`, `merge_small` and
        `n_jobs` of :class:`FairerNMF`.

    Returns
    -------
    pandas.DataFrame
        One row per method and group, with the numbers of ``compare --json``: `method`, `title`, the
        group, `rows`, `relative_baseline`, `chance_mean` (what random groups of the size pay on average),
        `chance_low` and `chance_high` (nine of ten of them), `relative_error`, `loss`, `excess_loss`, and of
        the method `total_error`, `worst_loss`, `worst_excess`, `parameters`, `seconds` and `remark`.
        ``attrs`` has `rank`, `global_bound` and `chance_draws`. Methods that lose clearly more of all
        data than standard NMF are warned of, with the group that they were bent for.

    Examples
    --------
    >>> from fairer_nmf import compare
    >>> from fairer_nmf.datasets import make_synthetic_1
    >>> X, groups = make_synthetic_1(random_state=0)
    >>> found = compare(X, 4, sensitive_features=groups, methods=["standard", "am"], n_init=1)
    >>> worst = found.groupby("method")["loss"].max()
    >>> bool(worst["am"] <= worst["standard"])
    True
    """
    import pandas as pd

    known = {"baseline_runs", "n_init", "tol", "max_iter", "normalize", "max_groups", "merge_small", "n_jobs"}
    other = sorted(set(parameters) - known)
    if other:
        raise TypeError(f"{other[0]} does not go with compare: its methods share {', '.join(sorted(known))}")
    if isinstance(baseline, str) and baseline == "adjusted":
        raise ValueError("baseline='adjusted': compare has the excess loss beside every loss; take 'best'")
    if isinstance(methods, str):
        raise TypeError(f"methods is {methods!r}: give a list of names")
    index = index_of(X)
    names = getattr(X, "columns", None)
    X = _data.native(check_array(_data.named(X), **_data.VALIDATION))
    estimator = FairerNMF(n_components, baseline=baseline, random_state=random_state, **parameters)
    groups = estimator._groups(sensitive_features, index)
    if groups is None:
        raise TypeError("compare compares groups: give sensitive_features")
    settings = _meaning.settings(estimator, groups)
    with listener(verbose, settings["max_iterations"]) as progress, in_names_of(names):
        found = json.loads(_core.compare(X, groups, list(methods), settings, progress))
    warn_of_rise(found["warnings"])
    chance = {key: found[key] for key in ("chance_mean", "chance_low", "chance_high")}
    tables = []
    for method in found["methods"]:
        table = pd.DataFrame(
            {
                "method": method["method"],
                "title": method["title"],
                "rows": found["rows"],
                "relative_baseline": found["relative_baselines"],
                **chance,
                "relative_error": method["relative_errors"],
                "loss": method["losses"],
                "excess_loss": method["excess_losses"],
                **{
                    key: method[key]
                    for key in ("total_error", "worst_loss", "worst_excess", "parameters", "seconds", "remark")
                },
            },
            index=groups.to_index(),
        ).reset_index()
        tables.append(table)
    records = pd.concat(tables, ignore_index=True)
    first = ["method", "title"]
    records = records[first + [column for column in records if column not in first]]
    of_all = ("rank", "global_bound", "chance_draws")
    records.attrs.update({key: found[key] for key in of_all})
    return records
