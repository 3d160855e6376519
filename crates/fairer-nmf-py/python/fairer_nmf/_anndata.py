"""Single cells: fits on AnnData objects."""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any

import numpy as np

from fairer_nmf._estimator import FairerNMF


def fit_anndata(
    adata: Any,
    group_key: str | list[str] | None = None,
    *,
    n_components: int = 10,
    layer: str | None = None,
    use_raw: bool = False,
    key_added: str = "fairer_nmf",
    **parameters: Any,
) -> FairerNMF:
    """Fit an AnnData object and write the factors into it.

    Parameters
    ----------
    adata : anndata.AnnData or path to an .h5ad file
        Cells × genes, non-negative. A file is changed in place.
    group_key : str or list of str, optional
        Column of `adata.obs` with the groups, such as the donor; several form intersections.
    n_components : int, default=10
        Number of topics (gene programmes).
    layer : str, optional
        Layer to factorise instead of `adata.X`.
    use_raw : bool, default=False
        Factorise `adata.raw.X` instead, which may have more genes.
    key_added : str, default="fairer_nmf"
        Name of what is written.
    **parameters
        Parameters of :class:`FairerNMF`.

    Returns
    -------
    FairerNMF
        The fitted estimator. Written are `obsm[key_added]` (cells × topics),
        `varm[key_added]` (genes × topics, in the precision of the data; with `use_raw` that of
        `adata.raw`) and `uns[key_added]` (groups, losses, parameters).

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from fairer_nmf import fit_anndata
    >>> counts = np.random.default_rng(0).poisson(2.0, (60, 20)).astype("float32")
    >>> adata = anndata.AnnData(counts)
    >>> adata.obs["donor"] = ["d1"] * 40 + ["d2"] * 20
    >>> model = fit_anndata(adata, group_key="donor", n_components=3, random_state=0)
    >>> adata.obsm["fairer_nmf"].shape, adata.varm["fairer_nmf"].shape
    ((60, 3), (20, 3))
    """
    if isinstance(adata, (str, PathLike)):
        import anndata

        path = fspath(adata)
        opened = anndata.read_h5ad(path)
        model = fit_anndata(
            opened,
            group_key,
            n_components=n_components,
            layer=layer,
            use_raw=use_raw,
            key_added=key_added,
            **parameters,
        )
        opened.write_h5ad(path)
        return model
    groups = None
    if group_key is not None:
        keys = [group_key] if isinstance(group_key, str) else list(group_key)
        for key in keys:
            if key not in adata.obs:
                raise ValueError(f"adata.obs has no column {key!r}: it has {list(adata.obs)}")
        groups = adata.obs[keys]
    model = FairerNMF(n_components, **parameters)
    X, genes = _matrix(adata, layer, use_raw)
    try:
        W = model.fit_transform(X, sensitive_features=groups)
    except ValueError as error:
        if not str(error).startswith("Negative values"):
            raise
        raise ValueError(
            f"{error}. Data that scanpy has scaled or regressed are negative: use counts, or their "
            "logarithms, of a layer (layer=...) or of adata.raw (use_raw=True)"
        ) from None
    adata.obsm[key_added] = W
    genes.varm[key_added] = model.components_.T.astype(W.dtype)
    adata.uns[key_added] = {
        "group_key": np.array([] if groups is None else keys, dtype=str),
        "groups": np.array(model._model.groups),
        "group_losses": model.group_losses_,
        "group_errors": model.group_errors_,
        "baseline_errors": model.baseline_errors_,
        "worst_loss": model.worst_loss_,
        "n_iter": model.n_iter_,
        "method": model.method,
    }
    return model


def _matrix(adata: Any, layer: str | None, use_raw: bool) -> tuple[Any, Any]:
    """Give cells × genes, and who keeps the tables of these genes."""
    if use_raw and layer is not None:
        raise ValueError(f"use_raw and layer={layer!r} name two matrices: give one of them")
    if use_raw and adata.raw is None:
        raise ValueError("adata.raw is None: it is set by adata.raw = adata, before scaling")
    layers = [name for name in adata.layers if name is not None]  # newer AnnData lists X as None
    if layer is not None and layer not in layers:
        raise ValueError(f"adata has no layer {layer!r}: it has {layers}")
    genes = adata.raw if use_raw else adata
    X = genes.X if layer is None else adata.layers[layer]
    # Sparse data of a file that is opened in backed mode.
    return (X.to_memory() if hasattr(X, "to_memory") else X), genes
