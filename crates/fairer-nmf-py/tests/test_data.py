"""What comes in: matrices without a copy, labels of every kind."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import low_rank
from scipy import sparse

from fairer_nmf import FairerNMF, _core, _data
from sklearn.utils import check_array


def prepared(X):
    return _data.native(check_array(X, **_data.VALIDATION))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_arrays_are_read_where_they_are(dtype, order):
    X = np.array(low_rank(30, 7, 3), dtype=dtype, order=order)
    for view in (X, X[2:20:3], X[:, 1::2], X.T):
        assert _core._data_pointer(prepared(view)) == view.ctypes.data


def test_reversed_arrays_are_read_where_they_are():
    X = low_rank(30, 7, 3)
    assert _core._data_pointer(prepared(X[::-1])) in (X.ctypes.data, X[::-1].ctypes.data)
    a = FairerNMF(2, random_state=0, method="standard").fit(X[::-1]).transform(X[::-1])
    b = FairerNMF(2, random_state=0, method="standard").fit(X[::-1].copy()).transform(X[::-1])
    np.testing.assert_allclose(a, b, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("starts", [np.int32, np.int64])
@pytest.mark.parametrize("indices", [np.int32, np.int64])
def test_csr_is_read_where_it_is_in_every_width(dtype, starts, indices):
    S = sparse.random_array((40, 9), density=0.4, format="csr", rng=0, dtype=dtype)
    # Assigned afterwards: SciPy's constructor would make the widths agree.
    S.indptr, S.indices = S.indptr.astype(starts), S.indices.astype(indices)
    X = _data.native(S)
    assert X is S
    assert _core._data_pointer(X) == S.data.ctypes.data
    W = FairerNMF(2, random_state=0, tol=1e-3).fit_transform(S)
    assert W.dtype == dtype and W.shape == (40, 2)


MEASURE = """
import sys
import numpy as np
from scipy import sparse
from fairer_nmf import FairerNMF

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))

X = np.random.default_rng(0).random((40_000, 250))
model = FairerNMF(2, method="standard", max_iter=2, tol=1.0, random_state=0)
model.fit(X[:2_000])
if sys.argv[1] == "f":
    X = np.asfortranarray(X)
if sys.argv[1] == "csr":
    X = sparse.csr_array(X)
with open("/proc/self/clear_refs", "w") as file:  # the peak begins anew
    file.write("5")
before = peak()
model.fit(X)
print((peak() - before) / (40_000 * 250 * 8))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak from /proc")
@pytest.mark.parametrize("container", ["c", "f", "csr"])
def test_a_fit_holds_no_second_matrix(container):
    run = [sys.executable, "-W", "ignore", "-c", MEASURE, container]
    grown = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    assert float(grown) < 0.3


@pytest.mark.parametrize(
    "convert",
    [
        sparse.csr_matrix,
        sparse.csc_array,
        sparse.coo_array,
        sparse.lil_array,
        np.asfortranarray,
        lambda X: X.astype(np.float64).tolist(),
        pd.DataFrame,
        lambda X: pl.DataFrame(X, schema=[f"c{i}" for i in range(X.shape[1])]),
    ],
    ids=["csr", "csc", "coo", "lil", "fortran", "list", "pandas", "polars"],
)
def test_every_container_gives_the_same_fit(convert, data):
    X, groups = data
    X = np.where(X < np.quantile(X, 0.3), 0.0, X)
    reference = FairerNMF(3, random_state=0).fit(X, sensitive_features=groups)
    X2 = convert(X)
    if isinstance(X2, pd.DataFrame):
        X2.columns = [f"c{i}" for i in X2.columns]
    model = FairerNMF(3, random_state=0).fit(X2, sensitive_features=groups)
    np.testing.assert_allclose(model.components_, reference.components_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.group_losses_, reference.group_losses_, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float16, np.int8, np.int64, np.uint16, bool, ">f8"])
def test_other_numbers_become_double(dtype):
    X = np.random.default_rng(0).integers(0, 2, (30, 6)).astype(dtype)
    X[0, 0] = 1
    W = FairerNMF(2, random_state=0).fit_transform(X)
    assert W.dtype == np.float64


def test_single_precision_stays_single_and_agrees(data):
    X, groups = data
    double = FairerNMF(3, random_state=0).fit(X, sensitive_features=groups)
    single = FairerNMF(3, random_state=0)
    assert single.fit_transform(X.astype(np.float32), sensitive_features=groups).dtype == np.float32
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    assert single.worst_loss_ == pytest.approx(double.worst_loss_, abs=2e-3)


def test_unaligned_and_field_views_are_copied_not_misread():
    table = np.zeros(20, dtype=[("flag", "u1"), ("x", "<f8", (5,))])
    table["x"] = low_rank(20, 5, 2)
    view = table["x"]
    assert not view.flags.aligned
    W = FairerNMF(2, random_state=0).fit_transform(view)
    np.testing.assert_array_equal(W, FairerNMF(2, random_state=0).fit_transform(view.copy()))


def test_duplicate_entries_are_summed_and_the_argument_is_untouched():
    S = sparse.csr_array(
        (np.ones(5), np.array([0, 0, 1, 2, 1]), np.array([0, 2, 3, 5])), shape=(3, 3)
    )
    W = FairerNMF(2, random_state=0).fit_transform(S)
    np.testing.assert_allclose(W, FairerNMF(2, random_state=0).fit_transform(S.toarray()), atol=1e-6)
    assert S.nnz == 5


LABELS = ["b", "a", "b", "c", "a", "b"]


@pytest.mark.parametrize(
    "labels",
    [
        LABELS,
        tuple(LABELS),
        np.array(LABELS),
        np.array(LABELS, dtype=object),
        pd.Series(LABELS),
        pd.Series(LABELS, dtype="string"),
        pd.Series(LABELS, dtype="category"),
        pd.Categorical(LABELS, categories=["unused", "c", "b", "a"]),
        pd.DataFrame({"g": LABELS}),
        pl.Series(LABELS),
        pl.Series(LABELS, dtype=pl.Categorical),
        pl.DataFrame({"g": LABELS}),
        {"g": LABELS},
        np.array(LABELS)[:, None],
    ],
    ids=lambda labels: type(labels).__module__.split(".")[0] + "." + type(labels).__name__,
)
def test_labels_of_every_kind(labels):
    names, codes = _data.encode_groups(labels)
    assert names == ["a", "b", "c"]
    assert codes.tolist() == [1, 0, 1, 2, 0, 1]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict])
def test_several_columns_form_the_intersections_that_occur(frame):
    labels = frame({"sex": ["f", "m", "f", "f"], "age": [2, 10, 10, 2]})
    names, codes = _data.encode_groups(labels)
    assert names == ["f | 10", "f | 2", "m | 10"]
    assert codes.tolist() == [1, 2, 0, 1]


def test_numbers_sort_as_numbers():
    assert _data.encode_groups([10, 9, 2])[0] == ["2", "9", "10"]
    assert _data.encode_groups(["10", "9", "x"])[0] == ["9", "10", "x"]
    assert _data.encode_groups([True, False])[0] == ["False", "True"]


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_a_missing_label_is_named(missing):
    with pytest.raises(ValueError, match="row 1 has no group label"):
        _data.encode_groups(pd.Series(["a", missing], dtype=object))


def test_feature_names_are_kept():
    names = ["age", "dose", "weight"]
    for frame in (pd.DataFrame(low_rank(9, 3, 2), columns=names), pl.DataFrame(low_rank(9, 3, 2), schema=names)):
        model = FairerNMF(2, random_state=0).fit(frame)
        assert model.feature_names_in_.tolist() == names
        with pytest.raises(ValueError, match="feature names should match"):
            model.transform(frame[names[::-1]])


def test_dates_are_named_as_dates():
    dates = pd.Series(pd.to_datetime(["2021-03-01", "2020-01-01", "2021-03-01"]))
    assert _data.encode_groups(dates).names == ["2020-01-01", "2021-03-01"]
    with pytest.raises(ValueError, match="row 1 has no group label"):
        _data.encode_groups(dates.where(dates.index != 1))


def test_intersections_stay_apart():
    frame = pd.DataFrame({"g": ["x | y", "x", '"q"'], "h": ["z", "y | z", "z"]})
    groups = _data.encode_groups(frame)
    assert sorted(groups.names) == ['"""q""" | z', '"x | y" | z', 'x | "y | z"']
    assert len(set(groups.codes.tolist())) == 3


def test_a_lazy_frame_is_refused():
    with pytest.raises(TypeError, match=r"X is a LazyFrame.*X.collect\(\)"):
        FairerNMF(2).fit(pl.DataFrame({"a": [1.0, 2.0], "b": [2.0, 1.0]}).lazy())
