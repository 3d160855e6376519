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

from fairer_nmf import datasets
from fairer_nmf._anndata import fit_anndata
from fairer_nmf._audit import Audit, audit
from fairer_nmf._baseline import BaselineEstimate, estimate_baseline
from fairer_nmf._core import __version__
from fairer_nmf._estimator import FairerNMF

__all__ = [
    "Audit",
    "BaselineEstimate",
    "FairerNMF",
    "__version__",
    "audit",
    "datasets",
    "estimate_baseline",
    "fit_anndata",
]
