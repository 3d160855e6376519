"""From the estimator's parameters to the library's settings and back, and what a fit warns of."""

from __future__ import annotations

import json
import os
from typing import Any, TypedDict

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from fairer_nmf import _baseline, _choices, _core, _data
from fairer_nmf._groups import SEPARATOR
from fairer_nmf._parameters import Parameters
from fairer_nmf._warn import warn

#: What `n_components` says where the rank is to be chosen.
AUTO = "auto"


def _rank(given: Any) -> int:
    """The rank; 1 stands for one that is chosen later."""
    if isinstance(given, str):
        if given != AUTO:
            raise ValueError(f"n_components is '{given}': expected a number or 'auto'")
        return 1
    return _data.count("n_components", given)


def settings(
    told: Parameters, groups: _data.Groups | None, feature_names: Any = None
) -> _core.Settings:
    """Give the settings of a fit; wrong parameters are refused here or by the library."""
    errors = _baseline.given("baseline", told.baseline, groups)
    weights = _baseline.given("start_weights", told.start_weights, groups)
    limit = told.time_limit
    preset = told.baseline if isinstance(told.baseline, str) else None
    discover = None if told.discover is None else str(told.discover)
    if groups is not None and discover is not None:
        raise ValueError("discover finds the groups itself: leave sensitive_features or discover out")
    alone = groups is None and discover is None
    own = _choices.settings(told)
    if alone and preset in ("adjusted", "best", "held-out", "paper"):
        preset = "zero"
    return {
        "rank": _rank(told.n_components),
        "method": str(told.method),
        "fairness": _data.number("fairness", told.fairness),
        "ties": str(told.ties),
        "discover": discover,
        "discover_groups": _data.count("discover_groups", told.discover_groups),
        "worst_share": own["worst_share"],
        "alpha_w": own["alpha_w"],
        "alpha_h": own["alpha_h"],
        "l1_ratio": own["l1_ratio"],
        "unobserved": own["unobserved"],
        "update": str(told.update),
        "init": str(told.init),
        "baseline": preset,
        "baseline_runs": _data.count("baseline_runs", told.baseline_runs),
        "baseline_errors": errors,
        "n_init": _data.count("n_init", told.n_init),
        "tolerance": _data.number("tol", told.tol),
        "max_iterations": _data.count("max_iter", told.max_iter),
        "time_limit": None if limit is None else _data.number("time_limit", limit),
        "start_weights": str(told.start_weights) if weights is None else None,
        "given_weights": weights,
        "normalize": _data.scaled(told.normalize),
        "polish": True,
        "bound": not alone and bool(told.bound),
        "allow_small_groups": bool(told.allow_small_groups),
        "seed": _data.seed(told.random_state),
        "threads": _data.threads(told.n_jobs),
        "feature_names": None if feature_names is None else list(map(str, feature_names)),
        **_checkpoint(told),
    }


class _Checkpoint(TypedDict):
    checkpoint: str | None
    every: float
    resume: bool


def refuse_what_needs_memory(told: Parameters) -> None:
    """Refuse the choices that rows on disk or on a cluster do not go with."""
    needs = "needs all rows in memory"
    if told.init in ("nndsvd", "nndsvda"):
        raise ValueError(f"init={told.init!r} {needs}: use 'auto' or 'random'")
    if isinstance(told.n_components, str):
        raise ValueError(f"n_components='auto' {needs}: give a number")
    given = {
        "worst_share": told.worst_share is not None,
        "discover": told.discover is not None,
        "alpha_W": told.alpha_W != 0,
        "alpha_H": told.alpha_H not in ("same", 0),
        "missing": told.missing != "error",
    }
    for name in (name for name, is_given in given.items() if is_given):
        raise ValueError(f"{name}={getattr(told, name)!r} {needs}: leave it out, or fit there")
    if told.groups != "combined":
        raise ValueError(f"groups={told.groups!r} {needs}: combinations are the groups here")


def best_for_adjusted(settings: _core.Settings) -> None:
    """Take the baseline that rows on disk or on a cluster have in place of the adjusted one, and say so."""
    if settings["baseline"] == "adjusted":
        warn(
            "baseline='adjusted' needs all rows in memory: this fit takes 'best', whose criterion is the "
            "loss (say baseline='best' to agree)"
        )
        settings["baseline"] = "best"


def _checkpoint(told: Parameters) -> _Checkpoint:
    path = told.checkpoint
    if path is not None and told.random_state is None:
        raise ValueError("a checkpoint goes on with its seed only: give random_state as a number")
    if path is None and told.resume:
        raise ValueError("resume=True goes on from a checkpoint: give the file as checkpoint=")
    return {
        "checkpoint": None if path is None else os.fspath(path),
        "every": _data.number("every", told.every),
        "resume": bool(told.resume),
    }


def warn_of_lasting_zeros(settings: _core.Settings) -> None:
    """Warn that multiplicative updates keep the zeros of a start, as scikit-learn does."""
    if settings["init"] == "nndsvd" and "mu" in (settings["method"], settings["update"]):
        warn(
            "multiplicative updates cannot leave the zeros of init='nndsvd': "
            "use 'nndsvda', which has none, or another method"
        )


def baseline_shares(model: _core.Model, groups: _data.Groups | None) -> list[float]:
    """Give what the fit held groups against, as shares of their norms, for a score on other data.

    That is their baselines and what they were allowed on top, as a share of the norm; of groups
    outside the maximum more than any error.
    """
    if groups is None:
        raise ValueError(
            "the model was fitted with groups, so that its score is minus the largest of their "
            "losses: give sensitive_features. cross_val_score and searches pass them on after "
            "sklearn.set_config(enable_metadata_routing=True), as "
            "cross_val_score(..., params={'sensitive_features': groups}) and "
            "search.fit(X, sensitive_features=groups)"
        )
    shares = (model.offsets / model.norms).tolist()
    known = dict(zip(model.groups, shares, strict=True))
    unseen = [name for name in groups.names if name not in known]
    if unseen:
        raise ValueError(
            f"group {unseen[0]!r} was not in the fit: its baseline is unknown. In cross-validation "
            "every fold needs every group: cv=list(StratifiedKFold(5).split(X, groups))"
        )
    return [known[name] for name in groups.names]


def warn_of_no_groups(method: str, y: Any) -> None:
    """Warn that a method that is fair to groups has none; `y` may have been meant as them."""
    if y is None:
        cure = "Give sensitive_features, or method='standard' if plain NMF is meant"
    else:
        cure = "y is ignored: groups are given as sensitive_features=, by name"
    warn(f"method {method!r} has no groups to be fair to: the fit is plain NMF. {cure}")


#: Codes of the library's warnings that are notes here: they tell what a fit has done as it should.
NOTES = ("groups-like-chance",)


def notes(model: _core.Model) -> list[tuple[str, str]]:
    """Give what a fit notes, each a code and a sentence."""
    return [(kind, sentence) for kind, sentence in model.warnings if kind in NOTES]


def pass_on_warnings(model: _core.Model, groups: _data.Groups | None) -> None:
    """Warn of what the library found; of many small groups once."""
    rank = len(model.components)
    small = [
        f"{name!r} ({rows})"
        for name, rows, outside in zip(model.groups, model.rows, model.outside, strict=True)
        if rows <= rank and not outside
    ]
    for kind, sentence in model.warnings:
        if kind in NOTES:
            continue  # no warning: `notes_` has it
        if kind == "not-converged":
            warn(sentence, ConvergenceWarning)
        elif groups is not None and not (kind == "rank-above-group" and len(small) > 1):
            warn(sentence)
    if groups is not None and len(small) > 1:
        warn(
            f"{len(small)} groups have no more rows than topics ({rank}): {_data.some(small)}. "
            "Their baselines are zero by construction, so their losses are their whole errors"
        )


#: Parameters of a machine, a place or a run, which a file does not carry to others.
NOT_KEPT = ("n_jobs", "verbose", "memory", "checkpoint", "every", "resume")


def parameters_to_keep(parameters: dict[str, Any]) -> str:
    """Give an estimator's parameters for its file, as JSON: those that are words, numbers or None.

    The others (arrays per group, generators of random numbers) are in the model as what they were in
    the fit.
    """
    given = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in parameters.items()
    }
    plain = (str, int, float, type(None))
    if given.get("random_state") is None:
        del given["random_state"]
    return json.dumps(
        {n: v for n, v in given.items() if isinstance(v, plain) and n not in NOT_KEPT}
    )


def constructor_arguments(model: _core.Model, names: list[str]) -> dict[str, Any]:
    """Give the estimator's parameters behind a model from a file, of those that it has."""
    found = {**_told_by(model), **json.loads(model.kept or "{}")}
    return {name: value for name, value in found.items() if name in names}


def _told_by(model: _core.Model) -> dict[str, Any]:
    """Give the parameters that a model tells, whoever wrote it."""
    kept = json.loads(model.parameters)
    method, baseline = kept["method"], kept["baseline"]
    if method["name"] == "weighted" and method["update"] == "mu":
        method = {"name": "mu"}
    name, own = _choices.of_method(method)
    if model.found_by is not None:
        own["discover"], own["discover_groups"] = model.found_by
    arguments: dict[str, Any] = {
        **own,
        "n_components": kept["rank"],
        "method": name,
        "fairness": method.get("fairness", 1.0),
        "ties": method.get("ties", "any"),
        "groups": _grouping(model),
        "missing": "error" if model.observed is None else "unobserved",
        "update": method.get("update", "auto"),
        "init": kept["init"],
        "n_init": kept["n_init"],
        "tol": kept["stopping"]["tolerance"],
        "max_iter": kept["stopping"]["max_iterations"],
        "allow_small_groups": kept.get("allow_small_groups", True),
        "bound": kept["bound"] or model.groups == ["all"],
        "normalize": None if model.scale is None else "features",
        "random_state": kept["seed"],
    }
    weights = kept["start_weights"]
    if weights["from"] == "given":
        arguments["start_weights"] = dict(zip(model.groups, weights["weights"], strict=True))
    else:
        arguments["start_weights"] = weights["from"]
    limit = kept["stopping"]["time_limit"]
    if limit is not None:
        arguments["time_limit"] = limit["secs"] + limit["nanos"] / 1e9
    if baseline["kind"] == "given":
        arguments["baseline"] = dict(zip(model.groups, baseline["errors"]))
    elif baseline["kind"] == "estimate":
        arguments["baseline"] = "best" if baseline["summary"] == "lowest" else "paper"
        arguments["baseline_runs"] = baseline["runs"]
    elif baseline["kind"] == "adjusted":
        arguments["baseline"] = "adjusted"
        arguments["baseline_runs"] = baseline["estimate"]["runs"]
    elif baseline["kind"] == "held-out":
        arguments["baseline"] = "held-out"
        arguments["baseline_runs"] = baseline["runs"]
    else:
        arguments["baseline"] = "zero"
    return arguments


def _grouping(model: _core.Model) -> str:
    families = [family for family in dict.fromkeys(model.families) if family]
    if families:
        last = families[-1]
        return "each-and-combined" if last == SEPARATOR.join(families[:-1]) else "each"
    return "members" if model.overlaps else "combined"
