"""Warnings that point at the user's line."""

from __future__ import annotations

import sys
import warnings

#: Whose code lies between the user and us: the estimator's own, pipelines and searches.
BETWEEN = {"fairer_nmf", "joblib", "sklearn"}


def warn(sentence: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line, going out from here, that is not ours or scikit-learn's."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _package(frame.f_globals) in BETWEEN:
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence, category, stacklevel=level)


def _package(names: dict[str, object]) -> str:
    return str(names.get("__name__", "")).partition(".")[0]
