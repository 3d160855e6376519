"""Labels keep their type, and tables compare as Fairlearn's do."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from fairlearn.metrics import MetricFrame
from sklearn.decomposition import NMF

from fairer_nmf import FairerNMF, _data, audit, estimate_baseline


@pytest.fixture
def audited(data):
    """X, a dictionary, and the squared norm and squared error of every row."""
    X, _ = data
    H = NMF(3, init="nndsvda", random_state=0, max_iter=500).fit(X).components_
    W = audit(X, H, sensitive_features=np.arange(len(X)) % 2, baseline="zero").representation
    return X, H, (X**2).sum(axis=1), ((X - W @ H) ** 2).sum(axis=1)


def metric_frame(norms, errors, **features):
    """Fairlearn's table of the relative error."""
    return MetricFrame(
        metrics={"relative_error": lambda norm, error: np.sqrt(error.sum() / norm.sum())},
        y_true=norms, y_pred=errors, **features,
    )  # fmt: skip


INTEGERS = np.array([3, 10, 3, 2] * 30)
LABELS = {
    "integers": INTEGERS,
    "series": pd.Series(INTEGERS, name="site"),
    "booleans": INTEGERS > 2,
    "strings": np.array(["a", "c", "a", "b"] * 30),
    "categories": pd.Series(["low", "high", "low", "middle"] * 30, name="dose").astype("category"),
    "dates": pd.Series(pd.to_datetime(["2021-03-01", "2020-01-01"] * 60), name="day"),
    "frame": pd.DataFrame({"site": INTEGERS, "sex": ["f", "m"] * 60}),
    "mapping": {"site": INTEGERS, "sex": ["f", "m"] * 60},
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_a_join_with_fairlearn_finds_every_group(labels, audited):
    X, H, norms, errors = audited
    ours = audit(X, H, sensitive_features=labels)
    theirs = metric_frame(norms, errors, sensitive_features=labels)
    joined = theirs.by_group.dropna().join(ours.by_group, rsuffix="_ours")
    assert len(joined) == len(ours.by_group)
    np.testing.assert_allclose(joined["relative_error_ours"], joined["relative_error"])
    if len(theirs.sensitive_levels) > 1 or hasattr(labels, "name"):
        assert ours.by_group.index.names == theirs.by_group.index.names
        assert ours.sensitive_levels == theirs.sensitive_levels
    assert ours.control_levels is theirs.control_levels is None
    assert ours.overall["relative_error"] == pytest.approx(theirs.overall["relative_error"])
    assert ours.overall["relative_error"] == pytest.approx(ours.overall_error)
    for method in ("group_max", "group_min", "difference", "ratio"):
        mine, fairlearns = getattr(ours, method)(), getattr(theirs, method)()
        assert type(mine) is type(fairlearns), method
        assert mine["relative_error"] == pytest.approx(fairlearns["relative_error"]), method
    for method in ("difference", "ratio"):
        mine = getattr(ours, method)(method="to_overall")
        fairlearns = getattr(theirs, method)(method="to_overall")
        assert mine["relative_error"] == pytest.approx(fairlearns["relative_error"]), method


def test_control_features_are_fairlearns(audited):
    X, H, norms, errors = audited
    features = {
        "sensitive_features": pd.DataFrame({"sex": ["f", "m"] * 60}),
        "control_features": pd.DataFrame({"site": INTEGERS % 2}),
    }
    ours = audit(X, H, **features)
    theirs = metric_frame(norms, errors, **features)
    assert ours.by_group.index.names == theirs.by_group.index.names == ["site", "sex"]
    assert ours.control_levels == theirs.control_levels == ["site"]
    assert ours.sensitive_levels == theirs.sensitive_levels == ["sex"]
    column = ["relative_error"]
    found = theirs.by_group.dropna()
    pd.testing.assert_frame_equal(ours.by_group[column], found[column], check_dtype=False)
    pd.testing.assert_frame_equal(ours.overall[column], theirs.overall[column], check_dtype=False)
    for name, arguments in [
        ("group_max", {}), ("group_min", {}), ("difference", {}), ("ratio", {}),
        ("difference", {"method": "to_overall"}), ("ratio", {"method": "to_overall"}),
    ]:  # fmt: skip
        mine, fairlearns = (getattr(a, name)(**arguments)[column] for a in (ours, theirs))
        pd.testing.assert_frame_equal(mine, fairlearns.astype(float), check_dtype=False)


def test_overall_is_all_rows_together(audited):
    X, H, norms, errors = audited
    table = audit(X, H, sensitive_features=INTEGERS)
    E = np.linalg.norm(table.by_group["baseline_error"])
    assert table.overall["rows"] == len(X)
    assert table.overall["norm"] == pytest.approx(np.linalg.norm(X))
    expected = (np.sqrt(errors.sum()) - E) / np.linalg.norm(X)
    assert table.overall["loss"] == pytest.approx(expected)
    with pytest.raises(ValueError, match="method is 'x': expected 'between_groups'"):
        table.difference(method="x")


def test_labels_come_back_with_their_types(data):
    X, _ = data
    model = FairerNMF(2, baseline="zero", random_state=0).fit(X, sensitive_features=INTEGERS)
    assert model.groups_.tolist() == [2, 3, 10] and model.groups_.dtype.kind == "i"
    assert model.score(X, sensitive_features=INTEGERS) == pytest.approx(-model.worst_loss_)
    pair = FairerNMF(2, baseline="zero", random_state=0)
    pair.fit(X, sensitive_features={"site": INTEGERS, "sex": ["f", "m"] * 60})
    assert set(pair.groups_) == {(3, "f"), (10, "m"), (2, "m")}
    E = estimate_baseline(X, 2, sensitive_features=INTEGERS, random_state=0)
    assert list(E) == [2, 3, 10] and E[10] == E.to_frame().loc[10, "baseline_error"]
    for baseline in (E, dict(E), pd.Series(dict(E)), {str(g): e for g, e in E.items()}):
        table = audit(X, X[:2], sensitive_features=INTEGERS, baseline=baseline).by_group
        np.testing.assert_allclose(table["baseline_error"], E.errors, rtol=1e-14)
    frame = LABELS["frame"]
    E = estimate_baseline(X, 2, sensitive_features=frame, random_state=0)
    table = audit(X, X[:2], sensitive_features=frame, baseline=E).by_group
    np.testing.assert_allclose(table["baseline_error"], E.errors, rtol=1e-14)
    assert E[(10, "m")] == E.to_frame().loc[(10, "m"), "baseline_error"]
    again = pickle.loads(pickle.dumps(audit(X, X[:2], sensitive_features=frame, baseline=E)))
    pd.testing.assert_frame_equal(again.by_group, table)
    assert again._subject.groups.labels == [tuple(label) for label in table.index]


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(["low", "high", "middle", "low"], dtype=pd.CategoricalDtype(["none", "low", "middle", "high"], ordered=True)),
        pd.Categorical(["low", "high", "middle", "low"], ["none", "low", "middle", "high"], ordered=True),
        pl.Series(["low", "high", "middle", "low"], dtype=pl.Enum(["none", "low", "middle", "high"])),
    ],
    ids=["series", "categorical", "polars"],
)  # fmt: skip
def test_ordered_categories_keep_their_order(labels):
    groups = _data.encode_groups(labels)
    assert groups.names == groups.keys() == ["low", "middle", "high"]
    assert groups.codes.tolist() == [0, 2, 1, 0]
    both = _data.encode_groups({"dose": labels, "sex": ["m", "f", "f", "f"]})
    assert both.labels == [("low", "f"), ("low", "m"), ("middle", "f"), ("high", "f")]
    assert both.codes.tolist() == [1, 3, 2, 0]


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ([1, "1"], "labels 1 and '1' of a sensitive feature have the same name"),
        (np.array([1, "1"], dtype=object), "labels 1 and '1'"),
        (np.array([1, True], dtype=object), r"labels 1 and True \(row 1\).*equal but of two types"),
        (pd.Series([1.0, 1], dtype=object), r"labels 1.0 and 1 \(row 1\)"),
    ],
)
def test_labels_that_look_alike_are_refused(labels, sentence):
    with pytest.raises(ValueError, match=sentence):
        _data.encode_groups(labels)
    # One type in NumPy's clothes and in Python's is one type.
    mixed = np.array([1, np.int32(1), np.int64(2)], dtype=object)
    assert _data.encode_groups(mixed).keys() == [1, 2]


def test_names_of_features():
    sex = ["f", "m", "f"]
    assert _data.encode_groups(sex).to_index().name == "group"
    assert _data.encode_groups(pd.Series(sex, name="sex")).to_index().name == "sex"
    assert _data.encode_groups(pl.Series("sex", sex)).to_index().name == "sex"
    assert _data.encode_groups(pl.Series(sex)).to_index().name == "group"
    bare = _data.encode_groups(np.array([sex, sex]).T).to_index()
    assert list(bare.names) == ["sensitive_feature_0", "sensitive_feature_1"]


def test_an_audit_can_be_handed_on_without_the_data(data):
    X, groups = data
    whole = audit(X, X[:2], sensitive_features=groups, baseline="zero")
    assert X[50].tobytes() in pickle.dumps(whole)
    bare = pickle.loads(pickle.dumps(whole.without_data()))
    content = pickle.dumps(bare)
    assert X[50].tobytes() not in content and len(content) < 5000
    pd.testing.assert_frame_equal(bare.by_group, whole.by_group)
    assert repr(bare) == repr(whole) and bare.difference().equals(whole.difference())
    with pytest.raises(ValueError, match=r"made without_data\(\)"):
        bare.report()
    assert len(whole.representation) == len(X)
