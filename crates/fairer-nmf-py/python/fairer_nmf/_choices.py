"""Choices beyond the paper: the worst share of rows, penalties, unobserved cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from fairer_nmf import _data
from fairer_nmf._parameters import Parameters

# How many groups are found where nothing is said.
FOUND_GROUPS = 2


def settings(told: Parameters) -> dict[str, Any]:
    """Give their part of the settings of a fit."""
    share, alpha_h = told.worst_share, told.alpha_H
    if told.discover is None and told.discover_groups != FOUND_GROUPS:
        raise ValueError("discover_groups says how many groups to find: say how with discover=")
    same = isinstance(alpha_h, str)
    if same and alpha_h != "same":
        raise ValueError(f"alpha_H is {alpha_h!r}: expected a number or 'same'")
    return {
        "worst_share": None if share is None else _data.number("worst_share", share),
        "alpha_w": _data.number("alpha_W", told.alpha_W),
        "alpha_h": None if same else _data.number("alpha_H", alpha_h),
        "l1_ratio": _data.number("l1_ratio", told.l1_ratio),
        "unobserved": is_unobserved(told.missing),
    }


def is_unobserved(missing: str) -> bool:
    """Tell whether NaN and masked entries are taken as unobserved."""
    if missing not in ("error", "unobserved"):
        raise ValueError(f"missing is {missing!r}: expected 'error' or 'unobserved'")
    return missing == "unobserved"


def missing_of(missing: str, H: Any) -> str:
    """Give what "auto" stands for: what the fit did, where a model of ours tells it."""
    if missing != "auto":
        return missing
    return str(H.missing) if getattr(H, "_model", None) is not None else "error"


def unmasked(missing: str, X: Any) -> Any:
    """Give X with NaN for masked entries, where those are taken as unobserved."""
    if is_unobserved(missing) and sparse.issparse(X):
        raise ValueError(
            "missing='unobserved': a sparse matrix has no cells without a value, give a dense one"
        )
    if is_unobserved(missing) and isinstance(X, np.ma.MaskedArray):
        kind = np.float32 if X.dtype == np.float32 else np.float64
        return np.ma.filled(X.astype(kind), np.nan)
    return X


def of_method(method: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Give the name of a method from a file, and the estimator's parameters that belong to it."""
    if method["name"] == "worst-share":
        return "am", {"worst_share": method["share"]}
    if method["name"] == "penalised":
        penalties = dict(method["penalties"])
        if penalties["alpha_H"] is None:
            penalties["alpha_H"] = "same"
        return "standard", penalties
    return method["name"], {}
