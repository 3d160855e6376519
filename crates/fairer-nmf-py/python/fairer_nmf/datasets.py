"""Data sets of the paper that come with the package."""

from __future__ import annotations

import csv
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from fairer_nmf import _core, _data

__all__ = ["load_heart_disease", "make_synthetic_1", "make_synthetic_2"]

_HEART_DISEASE = """Heart Disease (Cleveland), UCI Machine Learning Repository, CC BY 4.0
(https://doi.org/10.24432/C52P4X): Janosi, Steinbrunn, Pfisterer and Detrano, 1988.

297 patients without missing cells of 303, 12 features. Sex is the sensitive feature and the
diagnosis the target; neither is a feature. The paper calls the rows with sex = 1 female; the
data set's own description says 1 = male, and so do we."""


def load_heart_disease(*, as_frame: bool = False) -> Any:
    """Load the Heart Disease table of the paper.

    Parameters
    ----------
    as_frame : bool, default=False
        Give `data`, `target` and `sensitive_features` as pandas objects.

    Returns
    -------
    sklearn.utils.Bunch
        With `data` (297 × 12), `feature_names`, `sensitive_features` ("female" or "male"),
        `target` (1 where heart disease was found) and `DESCR`.

    Examples
    --------
    >>> from fairer_nmf.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> heart.data.shape, heart.feature_names[:3]
    ((297, 12), ['age', 'cp', 'trestbps'])
    """
    rows = list(csv.DictReader(_core.heart_disease_csv().splitlines()))
    rows = [row for row in rows if all(row.values())]
    names = [name for name in rows[0] if name not in ("sex", "disease")]
    data = np.array([[float(row[name]) for name in names] for row in rows])
    target = np.array([int(row["disease"]) for row in rows])
    sex = np.array([row["sex"] for row in rows])
    bunch = Bunch(
        data=data,
        target=target,
        sensitive_features=sex,
        feature_names=names,
        DESCR=_HEART_DISEASE,
    )
    if as_frame:
        import pandas as pd

        bunch.data = pd.DataFrame(data, columns=names)
        bunch.target = pd.Series(target, name="disease")
        bunch.sensitive_features = pd.Series(sex, name="sex")
    return bunch


def make_synthetic_1(
    random_state: Any = None,
) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    """Draw synthetic data set 1 of the paper: two groups in orthogonal subspaces.

    Parameters
    ----------
    random_state : int, RandomState, Generator or None
        The seed.

    Returns
    -------
    X : ndarray of shape (1000, 12)
        500 rows of rank 3 and 500 of rank 6.
    groups : ndarray of shape (1000,)
        "Low rank" or "High rank".

    Examples
    --------
    >>> from fairer_nmf.datasets import make_synthetic_1
    >>> X, groups = make_synthetic_1(random_state=0)
    >>> X.shape, groups[0]
    ((1000, 12), np.str_('Low rank'))
    """
    return _draw(1, random_state)


def make_synthetic_2(
    random_state: Any = None,
) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    """Draw synthetic data set 2 of the paper: two groups alike, one of them with noise.

    Parameters
    ----------
    random_state : int, RandomState, Generator or None
        The seed.

    Returns
    -------
    X : ndarray of shape (1500, 12)
        Three groups of 500 rows; group 2 has noise.
    groups : ndarray of shape (1500,)
        "Group 1", "Group 2" or "Group 3".

    Examples
    --------
    >>> from fairer_nmf.datasets import make_synthetic_2
    >>> X, groups = make_synthetic_2(random_state=0)
    >>> X.shape
    (1500, 12)
    """
    return _draw(2, random_state)


def _draw(number: int, random_state: Any) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    X, labels = _core.synthetic(number, _data.seed(random_state))
    return X, np.array(labels)
