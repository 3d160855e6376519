"""What a dictionary, from any library, costs each group."""

from __future__ import annotations

import os
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from sklearn.utils import check_array

from fairer_nmf import _baseline, _choices, _core, _data, _dictionary, _elsewhere
from fairer_nmf._align import aligned, index_of
from fairer_nmf._audited import Audit
from fairer_nmf._messages import in_names_of
from fairer_nmf._page import Subject
from fairer_nmf._progress import listener
from fairer_nmf._remarks import warn_of_errors_above_one, warn_of_small_groups
from fairer_nmf._types import Grouping, Missing, Normalize

if TYPE_CHECKING:
    from fairer_nmf._types import Baseline


def audit(
    X: Any,
    H: Any,
    *,
    sensitive_features: Any,
    control_features: Any = None,
    groups: Grouping = "combined",
    sample_weight: Any = None,
    W: Any = None,
    baseline: Baseline = "adjusted",
    baseline_runs: int = 5,
    allow_small_groups: bool = False,
    merge_small: int = 0,
    normalize: Normalize | Literal["auto"] = "auto",
    draws: int = 0,
    level: float = 0.95,
    matters: float = 0.05,
    missing: Missing | Literal["auto"] = "auto",
    max_groups: int = _data.MOST_GROUPS,
    n_jobs: int | None = None,
    random_state: Any = 0,
    verbose: int = 0,
    memory: str | int | None = None,
) -> Audit:
    """Measure what a dictionary costs each group.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Non-negative data.
    H : array-like of shape (n_components, n_features), or a fitted model
        The dictionary, in the original features, of this or any other library; or a model that
        has one: `components_` (NMF, LDA), `cluster_centers_` (KMeans), `get_topics()` (gensim).
    sensitive_features : array-like or frame
        One label per row; a frame of several columns forms intersections. Where X and the
        labels (or W) are of pandas, rows are matched by their index.
    control_features : array-like or frame, optional
        Labels within which groups are compared: every combination with the sensitive features is
        a group, and `overall`, :meth:`Audit.difference` and their like have a row per control.
    groups : {"combined", "each", "each-and-combined", "members"}, default="combined"
        What several sensitive features mean, as for :class:`FairerNMF`.
    sample_weight : array-like of shape (n_samples,), optional
        How many rows of the population each row stands for, as for :meth:`FairerNMF.fit`. Intervals
        and tests take them as survey weights; `by_group` has Kish's effective number of rows.
    W : array-like of shape (n_samples, n_components), optional
        The coordinates; the best for the dictionary if absent.
    baseline : {"adjusted", "best", "held-out", "paper", "zero"}, array-like or mapping, default="adjusted"
        As for :class:`FairerNMF`: the losses are those against "best"; the Fairer-NMF that a report
        sets beside the dictionary allows for chance.
    baseline_runs : int, default=5
        Runs per group behind the baseline.
    allow_small_groups : bool, default=False
        Let groups with no more rows than topics be the worst, though their baseline is zero by
        construction.
    merge_small : int, default=0
        Put groups with fewer rows together as "Other".
    normalize : {"auto", "features"} or None, default="auto"
        "features" measures errors with every feature scaled to unit norm over all rows, None
        without scaling. "auto" does as the fit did where `H` is a :class:`FairerNMF`, by the factors of
        the fit, and otherwise scales nothing.
    draws : int, default=0
        Bootstrap draws behind intervals of every group's error under a dictionary that is taken as
        given; 0 leaves them out of `by_group`. For a dictionary that was fitted to these rows they
        are too low. Intervals of the loss, and of errors on rows not seen, are those of
        :meth:`Audit.report`: the baseline, too, was fitted to these rows (docs/calibration.md).
    level : float, default=0.95
        Level of the intervals and of the verdict.
    matters : float, default=0.05
        The difference between a group's loss and the others' that would matter: the verdict rules it
        out, or says that the rows are too few to.
    missing : {"auto", "error", "unobserved"}, default="auto"
        With "unobserved" NaN and masked entries of X are cells that nobody has seen: errors, norms and
        all that follows are of the other cells. "auto" does as the fit did where `H` is a
        :class:`FairerNMF`, and refuses them elsewhere.
    max_groups : int, default=100
        The most groups that are taken, so that a column of numbers is not taken for labels.
    n_jobs : int, optional
        Threads; None and -1 are all.
    random_state : int, RandomState, Generator or None, default=0
        The seed of the baseline and of the draws.
    verbose : int, default=0
        1 shows progress.
    memory : str or int, optional
        Where X is the path of rows that stay on disk, as for :class:`FairerNMF`: what the audit may take
        in memory. It has `by_group` and what follows from it; no page, no verdict, no draws.

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
    >>> result = audit(X, standard, sensitive_features=groups)
    >>> result.by_group["rows"].to_dict()
    {'High rank': 500, 'Low rank': 500}
    >>> result.worst_group
    'High rank'
    """
    import pandas as pd

    if isinstance(X, (str, PathLike)):
        given = {"control_features": control_features, "sample_weight": sample_weight, "W": W}
        given |= {"draws": draws or None, "merge_small": merge_small or None}
        given |= {"groups": None if groups == "combined" else groups}
        given |= {"missing": None if _choices.missing_of(missing, H) == "error" else missing}
        about = (normalize, baseline, baseline_runs, max_groups, n_jobs, random_state, verbose)
        found = _elsewhere.on_disk(os.fspath(X), H, sensitive_features, memory, given, about)
        found._allow_small_groups = bool(allow_small_groups)
        return found
    if memory is not None:
        raise ValueError("memory is for rows that stay on disk: give X as their path")
    X = _dictionary.in_features_of(H, X)
    feature_names, index = getattr(X, "columns", None), index_of(X)
    cells = _choices.missing_of(missing, H)
    gaps = _choices.is_unobserved(cells)
    X = _data.named(_choices.unmasked(cells, X))
    X = _data.native(check_array(X, **_data.VALIDATION))
    scaled, scale = _dictionary.scaling(normalize, H, feature_names)
    factors = None if scale is None else scale.tolist()
    model = _dictionary.model_of(H)
    H = _dictionary.of(H, feature_names, X.shape[1])
    W = _data.factor(aligned(index, W, "W"), "W")
    encoded = _data.encode_groups(
        sensitive_features, index, _data.count("max_groups", max_groups), control_features, groups
    )
    if encoded is None:
        raise TypeError("an audit compares groups: give sensitive_features")
    encoded = _data.merged(encoded, _data.count("merge_small", merge_small, least=0))
    _data.weighted(encoded, sample_weight, index, X.shape[0])
    names = encoded.names
    settings: _core.ReportSettings = {
        "title": encoded.title(),
        "normalize": scaled,
        "scale": factors,
        "unobserved": gaps,
        "baselines": [],
        "baseline_runs": _data.count("baseline_runs", baseline_runs),
        "baseline_run_errors": [],
        "feature_names": None if feature_names is None else [str(name) for name in feature_names],
        "draws": 0,
        "permutations": 0,
        "folds": 0,
        "compare": False,
        "level": _data.number("level", level),
        "matters": _data.number("matters", matters),
        "min_group_size": 0,
        "refit": 0,
        "fitted_by": None,
        "baseline": baseline if isinstance(baseline, str) else None,
        "allow_small_groups": bool(allow_small_groups),
        "chance_draws": 40,
        "chance_time": 60.0,
        "seed": _data.seed(random_state),
        "threads": _data.threads(n_jobs),
    }
    yardstick = _baseline.yardstick(baseline, baseline_runs, encoded, settings["seed"])
    reading: _core.Reading = {
        "normalize": scaled,
        "scale": factors,
        "unobserved": gaps,
        "threads": settings["threads"],
    }
    with listener(verbose, 0) as progress, in_names_of(feature_names):
        _, errors, runs = _core.estimate_baselines(X, encoded, len(H), yardstick, reading, progress)
    warn_of_small_groups(encoded, len(H))
    settings["baselines"] = errors
    settings["baseline_run_errors"] = runs
    # Where rows are in several groups or in none, one more group has each row once.
    shared = encoded.members is not None
    every, offsets = (encoded.with_all(), [*errors, 0.0]) if shared else (encoded, errors)
    norms, relative_errors, losses, representation = _core.evaluate(
        X, every, (H, W), {"errors": offsets, "relative": False}, reading
    )
    whole = None
    if shared:
        whole = (int(every.counts()["rows"][-1]), norms[-1], relative_errors[-1])
        norms, relative_errors, losses = norms[:-1], relative_errors[:-1], losses[:-1]
    warn_of_errors_above_one(names, relative_errors)
    table = pd.DataFrame(
        {
            **encoded.counts(),
            "norm": norms,
            "baseline_error": errors,
            "relative_error": relative_errors,
            "loss": losses,
        },
        index=encoded.to_index(),
    )
    draws = _data.count("draws", draws, least=0)
    if draws:
        drawn: _core.Draws = {
            "baselines": errors,
            "draws": draws,
            "level": _data.number("level", level),
            "seed": settings["seed"],
        }
        with listener(verbose, draws) as progress:
            table[["relative_error_low", "relative_error_high"]] = _core.intervals(
                X, encoded, (H, W), drawn, reading, progress
            )
    result = Audit(table, representation, Subject(X, encoded, (H, W, model), settings))
    result._allow_small_groups = bool(allow_small_groups)
    result._verbose = verbose
    result._controls = encoded.controls
    result._whole = whole
    return result
