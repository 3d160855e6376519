"""Dictionaries of every kind: arrays, frames, and fitted models of any library."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairer_nmf import _data
from fairer_nmf._types import Normalize

#: Where fitted models keep their dictionaries: NMF and topic models, then clusters.
ATTRIBUTES = ("components_", "cluster_centers_")


def of(H: Any, feature_names: Any, features: int) -> NDArray[np.float64]:
    """Give the dictionary that was handed over, with the features in the order of the data's.

    `H` is a matrix, a frame with a column per feature, or a fitted model.
    """
    if H is None:
        raise TypeError("H is the dictionary: give the components of a model")
    own = None
    for name in ATTRIBUTES:
        if hasattr(H, name):
            own, H = getattr(H, "feature_names_in_", None), getattr(H, name)
            break
    else:
        if hasattr(H, "get_topics"):  # gensim
            H = H.get_topics()
        elif hasattr(H, "get_params"):
            raise TypeError(
                f"{type(H).__name__} has no components_: fit it first, or give its dictionary"
            )
    if own is not None and len(own) == np.shape(H)[1]:
        import pandas as pd

        H = pd.DataFrame(H, columns=own)
    found = _data.factor(_data.in_order_of(feature_names, H), "H")
    assert found is not None, "a dictionary that is there gives a matrix"
    if found.shape[1] != features and found.shape[0] == features:
        raise ValueError(
            f"H is {found.shape[0]} x {found.shape[1]}, and X has {features} features: is H "
            "transposed? Give one row per topic, H.T"
        )
    return found


def scaling(normalize: Normalize | str, H: Any) -> Normalize:
    """Give the scaling that "auto" stands for: that of the fit, where a model tells it."""
    if normalize != "auto":
        return normalize  # type: ignore[return-value]
    return "features" if getattr(H, "_model", None) is not None and H._model.scale is not None else None


def evens_out(H: Any, names: list[str]) -> str | None:
    """Give the method of a fitted model of ours that evens these groups out, else None.

    A model of other groups, or of the worst share of rows, is one from elsewhere to them.
    """
    evens = knows(H, names) and H.worst_share is None and H.method in ("am", "mu")
    return str(H.method) if evens else None


def cut_short(H: Any, names: list[str]) -> bool:
    """Tell whether a stop or a limit on time ended the fit of a model of ours."""
    return knows(H, names) and H._model.status in ("time-limit", "stopped")


def allowances(H: Any, names: list[str]) -> list[float]:
    """Give what the fit of a model of ours allowed these groups, where they are its groups and it did; else nothing."""
    if evens_out(H, names) is None or sorted(names) != sorted(H._model.groups):
        return []
    allowed = dict(zip(H._model.groups, H._model.allowances.tolist(), strict=True))
    return [allowed[name] for name in names] if any(allowed.values()) else []


def found_by(H: Any, names: list[str]) -> str | None:
    """Give how a fitted model of ours has found these groups, so that no test holds for them; else None."""
    return str(H.discover) if knows(H, names) and hasattr(H, "discovered_labels_") else None


def knows(H: Any, names: list[str]) -> bool:
    """Tell whether a dictionary is a fitted model of ours whose groups these are."""
    model = getattr(H, "_model", None)
    return model is not None and set(names) <= set(model.groups)
