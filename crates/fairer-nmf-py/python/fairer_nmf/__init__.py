"""Group-fair non-negative matrix factorisation.

Standard NMF (X ≈ WH) minimises the average error, so small or complex groups are often
represented badly. :class:`FairerNMF` minimises what the worst-off group pays for sharing one
dictionary, and :func:`audit` measures what any dictionary costs each group.

Examples
--------
>>> from fairer_nmf import FairerNMF
>>> from fairer_nmf.datasets import load_heart_disease
>>> heart = load_heart_disease()
>>> model = FairerNMF(n_components=3, normalize="features", random_state=0)
>>> W = model.fit_transform(heart.data, sensitive_features=heart.sensitive_features)
>>> W.shape, model.groups_.tolist()
((297, 3), ['female', 'male'])
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from fairer_nmf._core import __version__

if TYPE_CHECKING:
    from fairer_nmf import datasets
    from fairer_nmf._anndata import fit_anndata
    from fairer_nmf._audit import audit
    from fairer_nmf._audited import Audit
    from fairer_nmf._baseline import BaselineEstimate, estimate_baseline
    from fairer_nmf._compare import compare
    from fairer_nmf._estimator import FairerNMF
    from fairer_nmf._page import Report
    from fairer_nmf._sweep import Sweep, sweep

__all__ = [
    "Audit",
    "BaselineEstimate",
    "FairerNMF",
    "Report",
    "Sweep",
    "__version__",
    "audit",
    "compare",
    "datasets",
    "estimate_baseline",
    "fit_anndata",
    "sweep",
]

# Where names live. They are imported when they are asked for, so that the program, which is a part
# of this package, does not wait for scikit-learn.
_HOMES = {
    "Audit": "_audited",
    "BaselineEstimate": "_baseline",
    "FairerNMF": "_estimator",
    "Report": "_page",
    "Sweep": "_sweep",
    "audit": "_audit",
    "compare": "_compare",
    "estimate_baseline": "_baseline",
    "fit_anndata": "_anndata",
    "sweep": "_sweep",
}


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return importlib.import_module("fairer_nmf.datasets")
    if name not in _HOMES:
        raise AttributeError(f"module 'fairer_nmf' has no attribute {name!r}")
    item = getattr(importlib.import_module(f"fairer_nmf.{_HOMES[name]}"), name)
    globals()[name] = item
    return item


def __dir__() -> list[str]:
    return sorted(__all__)
