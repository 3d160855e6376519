"""Collections of Dask, their types, names and labels are taken as memory takes theirs."""

import numpy as np
import pytest
from scipy import sparse

import fairer_nmf

da = pytest.importorskip("dask.array")
import dask.dataframe as dd  # noqa: E402
import pandas as pd  # noqa: E402
from dask import delayed  # noqa: E402
from test_dask import FIXED, far, fitted, rows_and_groups  # noqa: E402

import fairer_nmf.dask as cluster  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:not converged", "ignore:Sending large graph")


def test_blocks_may_be_sparse(client):
    X, groups = rows_and_groups()
    X[X < np.median(X)] = 0.0
    X = X.astype(np.float32)
    own = fitted(fairer_nmf.FairerNMF, sparse.csr_matrix(X), groups, **FIXED)
    rows = da.from_array(X, chunks=(80, -1)).map_blocks(sparse.csr_matrix)
    model = fitted(cluster.FairerNMF, rows, da.from_array(groups, chunks=80), **FIXED)
    # f32 sums, whose order differs.
    assert far(own, model) < 1e-4
    assert model.transform(rows).compute().dtype == np.float32


def test_frames_and_folders_of_parquet(client, tmp_path):
    X, groups = rows_and_groups()
    own = fitted(fairer_nmf.FairerNMF, X, groups, **FIXED)
    frame = pd.DataFrame(X, columns=[f"word{j}" for j in range(10)])
    frame["who"] = groups
    frames = dd.from_pandas(frame, npartitions=3)
    features = frames.drop(columns="who")
    by_series = fitted(cluster.FairerNMF, features, frames["who"], **FIXED)
    frames.to_parquet(tmp_path / "rows")
    by_name = fitted(cluster.FairerNMF, tmp_path / "rows", "who", **FIXED)
    for model in (by_series, by_name):
        assert far(own, model) < 1e-10
        assert model.feature_names_in_.tolist() == [f"word{j}" for j in range(10)]
        W = model.transform(tmp_path / "rows").compute()
        assert np.allclose(W, model._model.transform(X, 1))
    W = cluster.FairerNMF(random_state=3, **FIXED).fit_transform(tmp_path / "rows", sensitive_features="who")
    assert np.allclose(W.compute(), by_name._model.transform(X, 1))
    path = tmp_path / "model"
    by_name.save(path)
    assert far(fairer_nmf.FairerNMF.load(path), own) < 1e-10


def test_labels_are_named_and_ordered_as_in_memory(client):
    X, _ = rows_and_groups()
    rows = da.from_array(X, chunks=(80, -1))
    rng = np.random.default_rng(0)
    ages = pd.Categorical(
        rng.choice(["young", "old"], 240), categories=["young", "old"], ordered=True
    )
    labels = pd.DataFrame({"age": ages, "site": rng.integers(0, 2, 240)})
    for given in (labels, labels["age"], labels["site"]):
        own = fitted(fairer_nmf.FairerNMF, X, given, **FIXED)
        model = fitted(cluster.FairerNMF, rows, given, **FIXED)
        assert [*map(str, model.groups_)] == [*map(str, own.groups_)]
        assert far(own, model) < 1e-10


@pytest.mark.parametrize("chunks", [(80, 2), (80, 1), (50, 1)])
def test_columns_of_labels_form_intersections_as_in_memory(client, chunks):
    X, groups = rows_and_groups()
    labels = np.column_stack([groups, np.where(np.arange(240) % 2, "p", "q")])
    own = fitted(fairer_nmf.FairerNMF, X, labels, **FIXED)
    rows = da.from_array(X, chunks=(80, -1))
    model = fitted(cluster.FairerNMF, rows, da.from_array(labels, chunks=chunks), **FIXED)
    assert model.groups_.tolist() == own.groups_.tolist()
    assert far(own, model) < 1e-10


@pytest.mark.parametrize("kind", ["Int64", "Float64", "Float32", "double[pyarrow]", "int64[pyarrow]"])
def test_frames_may_have_types_with_missing_values(client, tmp_path, kind):
    pytest.importorskip("pyarrow")
    X, groups = rows_and_groups()
    frame = pd.DataFrame(np.round(X * 100), columns=list("abcdefghij")).astype(kind)
    frame["j"] = frame["j"].astype(float)
    own = fitted(fairer_nmf.FairerNMF, frame, groups, **FIXED)
    expected = own.transform(frame)
    whole = frame.assign(who=groups)
    frames = dd.from_pandas(whole, npartitions=3)
    frames.to_parquet(tmp_path / "rows")
    for given in (frames, tmp_path / "rows"):
        model = cluster.FairerNMF(random_state=3, **FIXED)
        W = model.fit_transform(given, sensitive_features="who").compute()
        assert np.allclose(model.components_, own.components_, rtol=1e-9)
        assert W.dtype == expected.dtype and np.allclose(W, expected, rtol=1e-9, atol=1e-9)
    whole.loc[133, "e"] = pd.NA
    told = r"partition 1 \(rows 80 to 159 of the data\): .*row 53, column 4 \('e'\) is NaN"
    with pytest.raises(ValueError, match=told):
        fitted(cluster.FairerNMF, dd.from_pandas(whole, npartitions=3), "who", **FIXED)


def test_numbers_of_columns_are_no_names_as_in_memory(client):
    X, groups = rows_and_groups()
    frame = pd.DataFrame(X)
    own = fitted(fairer_nmf.FairerNMF, frame, groups, **FIXED)
    rows = dd.from_dask_array(da.from_array(X, chunks=(80, -1)))
    labels = dd.from_pandas(pd.Series(groups), npartitions=3)
    named = dd.from_pandas(frame.assign(who=groups), npartitions=3)
    for given, sensitive in [(rows, labels), (named, "who")]:
        model = cluster.FairerNMF(random_state=3, **FIXED)
        W = model.fit_transform(given, sensitive_features=sensitive).compute()
        assert far(own, model) < 1e-10
        assert np.allclose(W, own.transform(frame), atol=1e-9)
        assert np.allclose(model.transform(rows).compute(), W)
        assert not hasattr(own, "feature_names_in_") and not hasattr(model, "feature_names_in_")
    mixed = frame.rename(columns={0: "a"})
    for kind, given in [
        (fairer_nmf.FairerNMF, mixed),
        (cluster.FairerNMF, dd.from_pandas(mixed, npartitions=3)),
    ]:
        with pytest.raises(TypeError, match="Feature names are only supported if all"):
            fitted(kind, given, None, **FIXED, method="standard")


def test_labels_may_have_partitions_of_unknown_sizes(client):
    X, groups = rows_and_groups()
    both = pd.DataFrame({"who": groups, "site": np.arange(240) % 2})
    rows, frames = da.from_array(X, chunks=(80, -1)), dd.from_pandas(both, npartitions=3)
    for given, labels in [(frames["who"], groups), (frames, both.to_numpy())]:
        own = fitted(fairer_nmf.FairerNMF, X, labels, **FIXED)
        model = fitted(cluster.FairerNMF, rows, given.to_dask_array(), **FIXED)
        assert model.groups_.tolist() == own.groups_.tolist()
        assert far(own, model) < 1e-10


def test_labels_of_other_partitions_are_told_with_the_partition(client):
    X, groups = rows_and_groups()
    series = dd.from_pandas(pd.Series(groups), npartitions=3)
    labels, none = series.to_dask_array(), series[series == "nobody"].to_dask_array()
    for given, chunks, told in [
        (labels, (80, 70, 90), "partition [12] has 80 group labels for [79]0 rows"),
        (labels, (80, 160, 0), "partition [12] has 80 group labels for (160|0) rows"),
        (labels, (80, 80, 0), "partition 2 has 80 group labels for 0 rows"),
        (none, (80, 80, 80), "partition [012] has 0 group labels for 80 rows"),
        (labels, (120, 120), "3 partitions and X has 2"),
    ]:
        rows = da.from_array(X[: sum(chunks)], chunks=(chunks, -1))
        with pytest.raises(ValueError, match=told):
            fitted(cluster.FairerNMF, rows, given, **FIXED)


def test_columns_of_labels_are_named_in_a_list_or_a_tuple(client):
    X, groups = rows_and_groups()
    labels = pd.DataFrame({"who": groups, "b": np.arange(240) % 2})
    own = fitted(fairer_nmf.FairerNMF, X, labels, **FIXED)
    frame = pd.DataFrame(X, columns=[f"word{j}" for j in range(10)]).join(labels)
    frames = dd.from_pandas(frame, npartitions=3)
    for names in (["who", "b"], ("who", "b")):
        model = cluster.FairerNMF(random_state=3, **FIXED)
        W = model.fit_transform(frames, sensitive_features=names).compute()
        assert model.groups_.tolist() == own.groups_.tolist()
        assert far(own, model) < 1e-10
        assert np.allclose(W, own.transform(X), atol=1e-9)
    with pytest.raises(ValueError, match="names 'c', which X has no column of"):
        fitted(cluster.FairerNMF, frames, ("who", "c"), **FIXED)


@pytest.mark.parametrize("other", [1.0, True])
def test_equal_labels_of_two_types_are_refused_as_in_memory(client, other):
    X, _ = rows_and_groups()
    labels = np.empty(240, dtype=object)
    labels[:] = [1] * 80 + [other] * 80 + [2] * 80
    rows = da.from_array(X, chunks=(80, -1))
    for columns in (labels, np.column_stack([np.tile(["p", "q"], 120), labels]).astype(object)):
        for kind, given, place in [
            (fairer_nmf.FairerNMF, X, "row 8[01]"),
            (cluster.FairerNMF, rows, "partition 1"),
        ]:
            told = rf"labels 1 and {other} \({place}\) of a sensitive feature are equal but of two types"
            with pytest.raises(ValueError, match=told):
                fitted(kind, given, columns, **FIXED)

def test_a_negative_entry_is_told_with_its_partition_and_row(client):
    X, groups = rows_and_groups()
    X[133, 4] = -1.0
    rows, labels = da.from_array(X, chunks=(100, -1)), da.from_array(groups, chunks=100)
    told = r"partition 1 \(rows 100 to 199 of the data\): .*row 33, column 4 is -1"
    with pytest.raises(ValueError, match=told):
        fitted(cluster.FairerNMF, rows, labels, **FIXED)
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcdefghij")), npartitions=2)
    with pytest.raises(ValueError, match="row 13, column 4 .*'e'"):
        fitted(cluster.FairerNMF, frame, None, **FIXED, method="standard")


def test_what_cannot_be_fitted_is_refused_in_words(client):
    X, groups = rows_and_groups()
    rows, labels = da.from_array(X, chunks=(100, -1)), da.from_array(groups, chunks=100)
    model = cluster.FairerNMF(random_state=0, **FIXED)
    with pytest.raises(TypeError, match="Dask array or frame"):
        model.fit(X, sensitive_features=groups)
    with pytest.raises(ValueError, match="one label per row"):
        model.fit(rows, sensitive_features=labels[:200])
    with pytest.raises(ValueError, match="all rows in memory"):
        model.fit(rows, sensitive_features=labels, H=X[:3])
    with pytest.raises(ValueError, match="all rows in memory"):
        model.fit(rows, sensitive_features=labels, sample_weight=np.ones(240))
    refused = ({"init": "nndsvd"}, {"n_components": "auto"}, {"groups": "each"})
    for option in refused:
        with pytest.raises(ValueError, match="all rows in memory"):
            cluster.FairerNMF(**(FIXED | option)).fit(rows, sensitive_features=labels)
    with pytest.raises(ValueError, match="'z' are zero"):
        model.fit(da.from_array(X * (groups != "z")[:, None], chunks=(100, -1)), sensitive_features=labels)
    frame = dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0], "b": ["u", "v"]}), npartitions=1)
    with pytest.raises(ValueError, match="columns b are not numbers"):
        model.fit(frame)
    with pytest.raises(ValueError, match="'c', which X has no column of"):
        model.fit(frame, sensitive_features="c")
    with pytest.raises(ValueError, match="no columns that are features"):
        model.fit(frame, sensitive_features=["a", "b"])


def test_a_score_is_of_the_columns_of_the_fit(client, tmp_path):
    X, groups = rows_and_groups()
    frame = pd.DataFrame(X, columns=[f"word{j}" for j in range(10)])
    model = fitted(cluster.FairerNMF, dd.from_pandas(frame.assign(who=groups), npartitions=3), "who", **FIXED)
    own = fitted(fairer_nmf.FairerNMF, frame, groups, **FIXED).score(frame, sensitive_features=groups)
    other = frame[frame.columns[::-1]].assign(more=1.0, who=groups)
    for given in (frame.assign(who=groups), other):
        frames = dd.from_pandas(given, npartitions=2)
        assert model.score(frames, sensitive_features="who") == pytest.approx(own, abs=1e-10)
        assert model.score(frames, sensitive_features=["who"]) == pytest.approx(own, abs=1e-10)
        beside = frames.drop(columns="who")
        assert model.score(beside, sensitive_features=frames["who"]) == pytest.approx(own, abs=1e-10)
    renamed = dd.from_pandas(frame.rename(columns={"word3": "w"}).assign(who=groups), npartitions=2)
    with pytest.raises(ValueError, match="X has no column 'word3'"):
        model.score(renamed, sensitive_features="who")


@pytest.mark.parametrize("orders", [("bac", "abc"), ("ab", "bc")])
def test_ordered_categories_may_differ_between_partitions(client, orders):
    X, _ = rows_and_groups()
    rng = np.random.default_rng(0)
    words = [rng.choice([*order], 120) for order in orders]
    parts = [
        pd.Series(pd.Categorical(own, categories=[*order], ordered=True), index=range(at, at + 120))
        for own, order, at in zip(words, orders, (0, 120), strict=True)
    ]
    labels = dd.from_delayed([delayed(part) for part in parts], meta=parts[0], verify_meta=False)
    own = fitted(fairer_nmf.FairerNMF, X, np.concatenate(words), **FIXED)
    model = fitted(cluster.FairerNMF, da.from_array(X, chunks=(120, -1)), labels, **FIXED)
    assert [*map(str, model.groups_)] == [*map(str, own.groups_)]
    assert far(own, model) < 1e-10


def test_two_columns_of_one_name_are_refused(client):
    frame = pd.DataFrame(np.ones((9, 3)), columns=["a", "b", "a"])
    with pytest.raises(ValueError, match="more than one column called 'a'"):
        fitted(cluster.FairerNMF, dd.from_pandas(frame, npartitions=2), None, **FIXED)
