"""The helper for single cells, with the real package."""

import numpy as np
import pytest
from scipy import sparse

from fairer_nmf import FairerNMF, fit_anndata

anndata = pytest.importorskip("anndata")


@pytest.fixture
def cells():
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.gamma(1.0, 2.0, (90, 30))).astype(np.float32)
    adata = anndata.AnnData(sparse.csr_matrix(counts))
    adata.obs["donor"] = np.repeat(["d1", "d2", "d3"], 30)
    adata.obs["donor"] = adata.obs["donor"].astype("category")
    adata.obs["batch"] = np.arange(90) % 2
    adata.layers["double"] = sparse.csc_matrix(counts * 2.0)
    return adata


def test_factors_are_written(cells):
    model = fit_anndata(cells, group_key="donor", n_components=4, random_state=0)
    direct = FairerNMF(4, random_state=0)
    W = direct.fit_transform(cells.X, sensitive_features=cells.obs["donor"])
    np.testing.assert_array_equal(cells.obsm["fairer_nmf"], W)
    np.testing.assert_array_equal(cells.varm["fairer_nmf"], direct.components_.T.astype(np.float32))
    assert cells.uns["fairer_nmf"]["groups"].tolist() == ["d1", "d2", "d3"]
    assert cells.uns["fairer_nmf"]["worst_loss"] == model.worst_loss_


def test_layers_intersections_and_no_groups(cells):
    model = fit_anndata(
        cells, group_key=["donor", "batch"], layer="double", key_added="x", n_components=2
    )
    assert model.groups_[0] == ("d1", 0) and cells.obsm["x"].shape == (90, 2)
    assert fit_anndata(cells, n_components=2).groups_.tolist() == ["all"]
    with pytest.raises(ValueError, match="adata.obs has no column 'patient'"):
        fit_anndata(cells, group_key="patient")
    with pytest.raises(ValueError, match=r"adata has no layer 'half': it has \['double'\]"):
        fit_anndata(cells, layer="half")


def test_files_are_changed_in_place(cells, tmp_path):
    path = tmp_path / "cells.h5ad"
    cells.write_h5ad(path)
    model = fit_anndata(path, group_key="donor", n_components=3, random_state=0)
    again = anndata.read_h5ad(path)
    assert again.obsm["fairer_nmf"].shape == (90, 3)
    np.testing.assert_array_equal(again.varm["fairer_nmf"], model.components_.T.astype(np.float32))
    assert list(again.uns["fairer_nmf"]["groups"]) == ["d1", "d2", "d3"]


def test_a_file_in_backed_mode(cells, tmp_path):
    path = tmp_path / "cells.h5ad"
    cells.write_h5ad(path)
    backed = anndata.read_h5ad(path, backed="r")
    model = fit_anndata(backed, group_key="donor", n_components=3, random_state=0)
    direct = fit_anndata(cells, group_key="donor", n_components=3, random_state=0)
    np.testing.assert_array_equal(model.components_, direct.components_)


def test_raw_counts_instead_of_scaled_data(cells):
    cells.raw = cells
    scaled = cells[:, :20].copy()
    scaled.X = scaled.X.toarray() - 1.0
    with pytest.raises(ValueError, match=r"Negative values.*layer=\.\.\..*use_raw=True"):
        fit_anndata(scaled, group_key="donor", n_components=3)
    model = fit_anndata(scaled, group_key="donor", n_components=3, use_raw=True, random_state=0)
    direct = FairerNMF(3, random_state=0).fit(cells.X, sensitive_features=cells.obs["donor"])
    np.testing.assert_array_equal(model.components_, direct.components_)
    assert scaled.obsm["fairer_nmf"].shape == (90, 3)
    assert scaled.raw.varm["fairer_nmf"].shape == (30, 3) and "fairer_nmf" not in scaled.varm
    with pytest.raises(ValueError, match="use_raw and layer='double'"):
        fit_anndata(scaled, use_raw=True, layer="double")
    del cells.raw
    with pytest.raises(ValueError, match="adata.raw is None"):
        fit_anndata(cells, use_raw=True)


def test_tables_of_genes_have_the_precision_of_the_data(cells):
    fit_anndata(cells, group_key="donor", n_components=3, random_state=0)
    assert cells.varm["fairer_nmf"].dtype == cells.obsm["fairer_nmf"].dtype == np.float32
    cells.X = cells.X.astype(np.float64)
    fit_anndata(cells, group_key="donor", n_components=3, random_state=0)
    assert cells.varm["fairer_nmf"].dtype == np.float64
