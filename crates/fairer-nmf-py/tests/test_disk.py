"""Rows that stay on disk, and checkpoints: the model is that of the rows in memory."""

import json
import os
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from conftest import low_rank
from scipy import sparse

from fairer_nmf import FairerNMF, audit
from fairer_nmf.datasets import make_synthetic_1

#: A fixed number of iterations from one start.
FIXED = {
    "n_components": 3, "init": "random", "n_init": 1, "tol": 0, "max_iter": 20, "baseline": "zero",
    "random_state": 3,
}  # fmt: skip

pytestmark = pytest.mark.filterwarnings("ignore:not converged", "ignore:.*was converted once")


def far(a, b):
    return max(
        np.abs(a.components_ - b.components_).max(),
        np.abs(a.history_ - b.history_).max(),
        np.abs(a.group_errors_ - b.group_errors_).max(),
    )


@pytest.fixture(scope="module")
def data():
    return make_synthetic_1(random_state=1)


def saved(tmp_path, X, form):
    """Write the rows in one of the forms, and give the path."""
    if form == "npy":
        np.save(tmp_path / "X.npy", X)
        return tmp_path / "X.npy"
    folder = tmp_path / form
    folder.mkdir()
    if form == "shards":
        for number, part in enumerate(np.array_split(X, 3)):
            np.save(folder / f"{number}.npy", part)
    elif form == "csr":
        rows = sparse.csr_array(X)
        for name in ("data", "indices", "indptr"):
            np.save(folder / f"{name}.npy", getattr(rows, name))
    elif form == "packed":
        sparse.save_npz(folder / "X.npz", sparse.csr_array(X))
        return folder / "X.npz"
    return folder


@pytest.mark.parametrize("form", ["npy", "shards", "csr", "packed"])
@pytest.mark.parametrize("normalize", [None, "features"])
def test_rows_on_disk_are_those_in_memory(tmp_path, data, form, normalize):
    X, groups = data
    options = FIXED | {"normalize": normalize}
    own = FairerNMF(**options).fit(X, sensitive_features=groups)
    model = FairerNMF(**options, memory="40kB" if form != "packed" else "60kB")
    W = model.fit_transform(saved(tmp_path, X, form), sensitive_features=groups)
    assert far(own, model) < 1e-10
    assert list(model.groups_) == list(own.groups_)
    assert model.n_features_in_ == X.shape[1] and model.reads_ > FIXED["max_iter"]
    assert np.abs(W - FairerNMF(**options).fit_transform(X, sensitive_features=groups)).max() < 1e-9


def test_single_precision_and_no_groups(tmp_path, data):
    X = data[0].astype(np.float32)
    path = saved(tmp_path, X, "npy")
    options = FIXED | {"method": "standard", "memory": 100_000}
    model = FairerNMF(**options)
    W = model.fit_transform(path)
    own = FairerNMF(**FIXED | {"method": "standard"}).fit(X)
    assert W.dtype == np.float32 and np.abs(own.components_ - model.components_).max() < 1e-4


def test_a_table_is_converted_once_and_found_again(tmp_path, data):
    pd = pytest.importorskip("pandas")
    X, groups = data
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    own = FairerNMF(**FIXED).fit(frame, sensitive_features=groups)
    path = tmp_path / "rows.csv"
    frame.assign(kind=groups).to_csv(path, index=False)
    model = FairerNMF(**FIXED, memory="200kB")
    with pytest.warns(UserWarning, match=r"rows\.csv was converted once into .*rows\.csv\.shards-"):
        model.fit(path, sensitive_features="kind")
    assert far(own, model) < 1e-10
    assert list(model.feature_names_in_) == list(frame.columns)
    assert list(model.groups_) == list(own.groups_)
    made = {entry: entry.stat().st_mtime_ns for entry in tmp_path.rglob("*.npy")}
    again = FairerNMF(**FIXED, memory="200kB").fit(path, sensitive_features=["kind"])
    assert far(model, again) == 0
    assert made == {entry: entry.stat().st_mtime_ns for entry in tmp_path.rglob("*.npy")}
    # The model takes frames, as any other does.
    assert model.transform(frame).shape == (len(frame), 3)


@pytest.mark.parametrize("packed", ["snappy", "zstd", None])
def test_a_folder_of_parquet_is_the_frame_in_memory(tmp_path, data, packed):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    X, groups = data
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    own = FairerNMF(**FIXED).fit(frame, sensitive_features=groups)
    folder = tmp_path / "rows"
    folder.mkdir()
    whole = frame.assign(kind=pd.Categorical(groups))
    for number, at in enumerate(np.array_split(np.arange(len(X)), 3)):
        # Rows with numbers of their own: pandas writes an index, which is no feature.
        part = whole.iloc[at]
        part.to_parquet(folder / f"{number}.parquet", compression=packed, row_group_size=100)
    whole.to_parquet(tmp_path / "one.parquet", compression=packed)
    for path in (folder, tmp_path / "one.parquet"):
        model = FairerNMF(**FIXED, memory="200kB").fit(path, sensitive_features="kind")
        assert far(own, model) < 1e-10
        assert list(model.feature_names_in_) == list(frame.columns)
        assert list(model.groups_) == [str(group) for group in own.groups_]
    # The labels themselves, beside a table without them.
    frame.to_parquet(tmp_path / "plain.parquet", compression=packed)
    model = FairerNMF(**FIXED, memory="200kB")
    assert far(own, model.fit(tmp_path / "plain.parquet", sensitive_features=groups)) < 1e-10


def test_shards_are_in_the_order_of_their_numbers(tmp_path, data):
    X, groups = data
    for number, part in enumerate(np.array_split(X, 12)):
        np.save(tmp_path / f"part{number}.npy", part)
    own = FairerNMF(**FIXED).fit(X, sensitive_features=groups)
    # Labels that somebody made by name would be of other rows.
    with pytest.warns(UserWarning, match="order of their numbers, part2.npy before part10.npy"):
        model = FairerNMF(**FIXED, memory="200kB").fit(tmp_path, sensitive_features=groups)
    assert far(own, model) < 1e-10


def test_the_order_of_files_is_not_said_where_a_column_has_the_labels(tmp_path, data):
    pd = pytest.importorskip("pandas")
    X, groups = data
    for number in (2, 10):
        pd.DataFrame(X).rename(columns=str).assign(who=groups).to_parquet(tmp_path / f"part.{number}.parquet")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        FairerNMF(**FIXED, memory="200kB").fit(tmp_path, sensitive_features="who")
    assert not any("part.10" in str(warning.message) for warning in said)


@pytest.mark.parametrize("name", [None, "id"])
def test_a_folder_that_dask_wrote_is_its_frame(tmp_path, data, name):
    pd = pytest.importorskip("pandas")
    frames = pytest.importorskip("dask.dataframe")
    partitions = pytest.importorskip("fairer_nmf._partitions")
    X, groups = data
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame.index = pd.Index(np.arange(len(X)) + 5, name=name)
    folder = tmp_path / "rows"
    frames.from_pandas(frame, npartitions=12).to_parquet(folder)
    assert (folder / "part.10.parquet").exists()
    own = FairerNMF(**FIXED).fit(frame, sensitive_features=groups)
    model = FairerNMF(**FIXED, memory="200kB")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(folder, sensitive_features=groups)
    # Neither the order of the files nor the index, which has a column of its own there.
    assert far(own, model) < 1e-10
    assert list(model.feature_names_in_) == list(frame.columns)
    assert any("`id` is the index" in str(warning.message) for warning in said) == (name == "id")
    assert any("part.2.parquet before part.10.parquet" in str(warning.message) for warning in said)
    # A cluster has the same rows in the same order.
    cluster = partitions.blocks_of(folder)
    assert cluster.feature_names == list(frame.columns)
    parts = [part.compute()[cluster.columns] for part in cluster.rows]
    assert np.array_equal(np.concatenate(parts), X)


def test_the_index_of_a_frame_may_be_its_groups(tmp_path, data):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    X, groups = data
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])], index=pd.Index(groups, name="who"))
    frame.to_parquet(tmp_path / "X.parquet")
    own = FairerNMF(**FIXED).fit(frame, sensitive_features=groups)
    model = FairerNMF(**FIXED, memory="200kB").fit(tmp_path / "X.parquet", sensitive_features="who")
    assert far(own, model) < 1e-10
    assert list(model.feature_names_in_) == list(frame.columns)


def test_a_list_is_labels_unless_it_names_columns(tmp_path, data):
    pd = pytest.importorskip("pandas")
    X, groups = data
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    labels = ["x1" if group == groups[0] else "x2" for group in groups]
    own = FairerNMF(**FIXED).fit(frame, sensitive_features=labels)
    frame.to_csv(tmp_path / "plain.csv", index=False)
    model = FairerNMF(**FIXED, memory="200kB")
    # Labels that are called like columns, too.
    assert far(own, model.fit(tmp_path / "plain.csv", sensitive_features=labels)) < 1e-10
    assert model.n_features_in_ == X.shape[1] and list(model.groups_) == ["x1", "x2"]
    frame.assign(a=labels, b=groups).to_csv(tmp_path / "both.csv", index=False)
    by_two = model.fit(tmp_path / "both.csv", sensitive_features=["a", "b"])
    assert by_two.n_features_in_ == X.shape[1]
    for wrong, words in [
        (["a", "bee"], "names 'bee', which is no column of .*both.csv"),
        (labels[1:], "has 999 entries, .*plain.csv has 1000 rows: give one label per row"),
        (["kind"], "has 1 entries, .*plain.csv has 1000 rows: .*names of its columns"),
    ]:
        path = tmp_path / ("both.csv" if "bee" in wrong else "plain.csv")
        with pytest.raises(ValueError, match=words):
            model.fit(path, sensitive_features=wrong)


def test_small_groups_stay_outside_the_maximum(tmp_path, data):
    X, groups = data
    labels = np.array(groups, dtype=object)
    labels[:2] = "few"
    path = saved(tmp_path, X, "npy")
    for allowed in (False, True):
        options = FIXED | {"allow_small_groups": allowed}
        with pytest.warns(UserWarning, match="zero by construction" if allowed else "outside the maximum"):
            own = FairerNMF(**options).fit(X, sensitive_features=labels)
        with pytest.warns(UserWarning, match="zero by construction" if allowed else "outside the maximum"):
            model = FairerNMF(**options, memory="40kB").fit(path, sensitive_features=labels)
        assert model._model.outside == own._model.outside
        assert any(model._model.outside) is not allowed
        assert far(own, model) < 1e-10 and abs(own.worst_loss_ - model.worst_loss_) < 1e-10


def test_what_needs_all_rows_is_refused(tmp_path, data):
    X, groups = data
    path = saved(tmp_path, X, "npy")
    for options, words in [
        ({}, "memory='2GB'"),
        ({"memory": "much"}, "memory is 'much': expected an amount"),
        ({"memory": "100"}, "memory: a row of .* has 96 bytes: give at least 1536"),
        ({"memory": "1MB", "init": "nndsvd"}, "init='nndsvd' needs all rows in memory"),
        ({"memory": "1MB", "n_components": "auto"}, "needs all rows in memory: give a number"),
        ({"memory": "1MB", "groups": "each"}, "groups='each' needs all rows"),
        ({"memory": "1MB", "resume": True}, "checkpoint="),
    ]:
        with pytest.raises(ValueError, match=words):
            FairerNMF(**FIXED | options).fit(path, sensitive_features=groups)
    with pytest.raises(ValueError, match="999 group labels for 1000 rows"):
        FairerNMF(**FIXED, memory="1MB").fit(path, sensitive_features=groups[1:])
    with pytest.raises(ValueError, match="memory is for rows that stay on disk"):
        FairerNMF(**FIXED, memory="1MB").fit(X, sensitive_features=groups)
    with pytest.raises(ValueError, match="does not exist"):
        FairerNMF(**FIXED, memory="1MB").fit(tmp_path / "no.npy", sensitive_features=groups)
    wrong = X.copy()
    wrong[3, 1] = -1
    np.save(path, wrong)
    with pytest.raises(ValueError, match="Negative values"):
        FairerNMF(**FIXED, memory="1MB").fit(path, sensitive_features=groups)


@pytest.mark.parametrize("form", ["npy", "shards", "csr", "csv"])
def test_an_audit_of_rows_on_disk_is_that_in_memory(tmp_path, data, form):
    X, groups = data
    model = FairerNMF(**FIXED | {"normalize": "features"}).fit(X, sensitive_features=groups)
    labels = groups
    if form == "csv":
        pd = pytest.importorskip("pandas")
        path, labels = tmp_path / "rows.csv", "kind"
        pd.DataFrame(X).rename(columns=lambda j: f"x{j}").assign(kind=groups).to_csv(path, index=False)
    else:
        path = saved(tmp_path, X, form)
    for H in (model, X[:3]):
        for baseline in ("zero", "paper", {group: 1.0 for group in model.groups_}):
            own = audit(X, H, sensitive_features=groups, baseline=baseline, baseline_runs=2)
            found = audit(
                path, H, sensitive_features=labels, baseline=baseline, baseline_runs=2, memory="200kB"
            )
            assert list(found.by_group.index) == list(own.by_group.index)
            assert list(found.by_group.columns) == list(own.by_group.columns)
            assert np.abs(found.by_group.to_numpy() - own.by_group.to_numpy()).max() < 1e-6
            assert found.worst_group == own.worst_group
            assert abs(found.overall_error - own.overall_error) < 1e-10
            assert abs(found.difference()["loss"] - own.difference()["loss"]) < 1e-6
    assert found.verdict["code"] == "not-tested"
    with pytest.raises(ValueError, match="without_data|audit the data again"):
        found.report()


def test_new_rows_on_disk_are_measured_in_the_scale_of_the_fit(tmp_path, data):
    pd = pytest.importorskip("pandas")
    X, groups = data
    frame = pd.DataFrame(X * np.linspace(1, 9, X.shape[1])).rename(columns=lambda j: f"x{j}")
    old = np.arange(len(X)) % 2 == 0
    model = FairerNMF(**FIXED | {"normalize": "features"}).fit(frame[old], sensitive_features=groups[old])
    path, turned = tmp_path / "rows.csv", frame.loc[~old, frame.columns[::-1]]
    turned.assign(kind=groups[~old]).to_csv(path, index=False)
    own = audit(frame[~old], model, sensitive_features=groups[~old], baseline="zero").by_group
    found = audit(path, model, sensitive_features="kind", baseline="zero", memory="200kB").by_group
    assert np.abs(found.to_numpy() - own.to_numpy()).max() < 1e-6


def test_what_an_audit_on_disk_does_not_do_is_refused(tmp_path, data):
    X, groups = data
    path = saved(tmp_path, X, "npy")
    for options, words in [
        ({"memory": None}, "say how much memory the audit may take"),
        ({"draws": 10}, "draws needs all rows in memory"),
        ({"W": X[:, :3]}, "W needs all rows in memory"),
        ({"groups": "each"}, "groups needs all rows in memory"),
        ({"baseline": "held-out"}, "use 'best' or 'paper'"),
    ]:
        options = {"memory": "1MB", "baseline": "zero"} | options
        with pytest.raises(ValueError, match=words):
            audit(path, X[:3], sensitive_features=groups, **options)
    with pytest.raises(ValueError, match="memory is for rows that stay on disk"):
        audit(X, X[:3], sensitive_features=groups, memory="1MB")


#: A fit to two groups, rows by turns, in a process that is killed from outside.
GOING = """
import json, sys
import numpy as np
from fairer_nmf import FairerNMF
path, options = sys.argv[1], json.loads(sys.argv[2])
X = np.load(path)
FairerNMF(**options).fit(path if "memory" in options else X, sensitive_features=np.arange(len(X)) % 2)
print("over")
"""


def kill_on_its_way(path, state, **options):
    """Kill a fit once the state of its first restart was seen to change twenty times."""
    options |= {"checkpoint": str(state), "every": 0.0}
    command = [sys.executable, "-c", GOING, str(path), json.dumps(options)]
    fit = subprocess.Popen(command, stdout=subprocess.PIPE)
    run, times = state.with_name(state.name + ".restart-0"), set()
    while len(times) < 20 and fit.poll() is None:
        if run.exists():
            times.add(run.stat().st_mtime_ns)
        time.sleep(0.001)
    fit.kill()
    assert fit.communicate()[0] == b"", "it was not over"


@pytest.mark.skipif(os.name == "nt", reason="kills of POSIX")
@pytest.mark.parametrize("first", ["memory", "disk"])
def test_a_killed_process_goes_on_to_the_same_model(tmp_path, first):
    X, groups = low_rank(3000, 30, 12, seed=1, noise=0.3), np.arange(3000) % 2
    X[::2, :8] *= 2.0
    path, state = saved(tmp_path, X, "npy"), tmp_path / "state"
    options = FIXED | {"n_components": 6, "n_init": 2, "max_iter": 150, "baseline": "best"}
    held = {"memory": (X, options), "disk": (path, options | {"memory": "400kB"})}
    kill_on_its_way(path, state, **held[first][1])
    left = {file: file.read_bytes() for file in tmp_path.glob("state*")}
    for second, (rows, told) in held.items():
        for file in tmp_path.glob("state*"):
            file.unlink()
        for file, content in left.items():
            file.write_bytes(content)
        whole = FairerNMF(**told).fit(rows, sensitive_features=groups)
        again = FairerNMF(**told, checkpoint=state, resume=True).fit(rows, sensitive_features=groups)
        if first == second:
            assert far(again, whole) == 0, "to the last bit"
        else:
            # Memory and disk add rows up in blocks of other sizes; iterations carry the rounding on.
            assert far(again, whole) < 1e-9


def test_a_checkpoint_of_other_data_or_parameters_is_refused(tmp_path, data):
    X, groups = data
    state = tmp_path / "state"
    options = FIXED | {"checkpoint": state}
    FairerNMF(**options).fit(X, sensitive_features=groups)
    with pytest.raises(ValueError, match="rank was 3 and is 2 now"):
        FairerNMF(**options | {"n_components": 2}, resume=True).fit(X, sensitive_features=groups)
    with pytest.raises(ValueError, match="numbers in the data are not those of then"):
        FairerNMF(**options, resume=True).fit(X + 0.1, sensitive_features=groups)
    again = FairerNMF(**options, resume=True).fit(X, sensitive_features=groups)
    plain = FairerNMF(**FIXED).fit(X, sensitive_features=groups)
    assert (again.components_ == plain.components_).all()
    with pytest.raises(ValueError, match="not kept in checkpoints"):
        FairerNMF(**options).fit(X, sensitive_features=groups, H=plain.components_)
    with pytest.raises(ValueError, match="every is -1.0: expected seconds|every is '-1'"):
        FairerNMF(**options, every=-1.0).fit(X, sensitive_features=groups)
