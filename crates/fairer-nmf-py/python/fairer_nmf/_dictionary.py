"""Dictionaries of every kind: arrays, frames, and fitted models of any library."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairer_nmf import _core, _data
from fairer_nmf._types import Normalize

#: Where fitted models keep their dictionaries: NMF and topic models, then clusters.
ATTRIBUTES = ("components_", "cluster_centers_")


def of(H: Any, feature_names: Any, features: int) -> NDArray[np.float64]:
    """Give the dictionary that was handed over, with the features in the order of the data's.

    `H` is a matrix, a frame with a column per feature, or a fitted model.
    """
    if H is None:
        raise TypeError("H is the dictionary: give the components of a model")
    for name in ATTRIBUTES:
        if hasattr(H, name):
            H = _named(getattr(H, name), H)
            break
    else:
        if hasattr(H, "get_topics"):  # gensim
            H = H.get_topics()
        elif hasattr(H, "get_params"):
            raise TypeError(
                f"{type(H).__name__} has no components_: fit it first, or give its dictionary"
            )
    found = _data.factor(_data.in_order_of(feature_names, H), "H")
    assert found is not None, "a dictionary that is there gives a matrix"
    if found.shape[1] != features and found.shape[0] == features:
        raise ValueError(
            f"H is {found.shape[0]} x {found.shape[1]}, and X has {features} features: is H "
            "transposed? Give one row per topic, H.T"
        )
    return found


def model_of(H: Any) -> _core.Model | None:
    """Give the model behind a fitted estimator of ours, else None."""
    model = getattr(H, "_model", None)
    return model if isinstance(model, _core.Model) else None


def in_features_of(H: Any, X: Any) -> Any:
    """Give X with its features in the order of a model of ours, where both name them."""
    own, names = getattr(H, "feature_names_in_", None), getattr(X, "columns", None)
    if model_of(H) is None or own is None or names is None:
        return X
    own, names = list(own), list(names)
    permuted = own != names and len(set(own)) == len(own) and sorted(own) == sorted(map(str, names))
    return X[own] if permuted else X


def scaling(
    normalize: Normalize | str, H: Any, feature_names: Any
) -> tuple[bool, NDArray[np.float64] | None]:
    """Tell whether features are scaled, and by which factors; "auto" stands for those of the fit, where a model tells them."""
    if normalize != "auto":
        return _data.scaled(normalize), None
    model = model_of(H)
    if model is None or model.scale is None:
        return False, None
    factors = _data.in_order_of(feature_names, _named(model.scale[None], H))
    return True, np.asarray(factors, dtype=np.float64)[0]


def _named(rows: Any, H: Any) -> Any:
    """Give rows of numbers with the names that the features of a model have, where it knows them."""
    own = getattr(H, "feature_names_in_", None)
    if own is None or len(own) != np.shape(rows)[1]:
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=own)
