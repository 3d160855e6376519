"""Fits on a real cluster of processes are those in memory."""

import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import low_rank
from scipy import sparse

import fairer_nmf

da = pytest.importorskip("dask.array")
import dask.dataframe as dd  # noqa: E402
import distributed  # noqa: E402
import pandas as pd  # noqa: E402
from distributed.comm import tcp  # noqa: E402

import fairer_nmf.dask as cluster  # noqa: E402
from fairer_nmf import _cluster, _core  # noqa: E402

#: One start and as many iterations: the same numbers up to the rounding of sums.
FIXED = {"n_components": 3, "max_iter": 18, "tol": 0, "n_init": 1, "baseline": "zero", "bound": False}
pytestmark = pytest.mark.filterwarnings("ignore:not converged", "ignore:Sending large graph")


def rows_and_groups(rows=240, columns=10, seed=0):
    X = low_rank(rows, columns, 5, seed)
    X[: rows // 5, :4] *= 2.0
    # No partition has all groups; the first has one.
    return X, np.repeat(["x", "y", "z"], [rows // 5, rows // 5, rows - 2 * (rows // 5)])


def fitted(kind, X, groups, **parameters):
    model = kind(random_state=3, **parameters)
    return model.fit(X, sensitive_features=groups)


def far(a, b):
    return max(
        np.abs(a.components_ - b.components_).max(),
        np.abs(a.history_ - b.history_).max(),
        np.abs(a.group_norms_ - b.group_norms_).max(),
    )


@pytest.mark.parametrize("method", ["am", "mu", "standard"])
def test_a_fixed_number_of_iterations_is_that_of_memory(client, method):
    X, groups = rows_and_groups()
    for normalize in (None, "features"):
        options = FIXED | {"method": method, "normalize": normalize}
        own = fitted(fairer_nmf.FairerNMF, X, groups, **options)
        for chunks in [(240,), (1, 100, 139)]:
            rows = da.from_array(X, chunks=(chunks, (4, 6)))
            labels = da.from_array(groups, chunks=(chunks,))
            model = fitted(cluster.FairerNMF, rows, labels, **options)
            assert far(own, model) < 1e-10
            assert model.groups_.tolist() == ["x", "y", "z"]


@pytest.mark.parametrize(("workers", "threads"), [(1, 1), (3, 1), (1, 2)])
def test_any_number_of_workers_makes_the_same_iterations(workers, threads):
    X, groups = rows_and_groups()
    own = fitted(fairer_nmf.FairerNMF, X, groups, **FIXED)
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=threads, processes=True, dashboard_address=None
        ) as others,
        distributed.Client(others, set_as_default=False) as client,
    ):
        model = cluster.FairerNMF(random_state=3, **FIXED)
        model.client = client
        model.fit(da.from_array(X, chunks=(50, -1)), sensitive_features=da.from_array(groups, chunks=50))
        assert far(own, model) < 1e-10


def test_many_partitions_are_added_by_workers(client):
    X, groups = rows_and_groups()
    own = fitted(fairer_nmf.FairerNMF, X, groups, **FIXED)
    rows, labels = da.from_array(X, chunks=(12, -1)), da.from_array(groups, chunks=12)
    for shares in (100, 1):  # one share a partition: three levels; several partitions a share
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cluster.partitions, "SHARES_PER_THREAD", shares)
            assert far(own, fitted(cluster.FairerNMF, rows, labels, **FIXED)) < 1e-10


def test_whole_fits_are_those_of_memory(client):
    X, groups = rows_and_groups()
    options = {"n_components": 2, "n_init": 2, "baseline": "paper", "baseline_runs": 1}
    own = fitted(fairer_nmf.FairerNMF, X, groups, **options)
    rows, labels = da.from_array(X, chunks=(90, -1)), da.from_array(groups, chunks=90)
    model = fitted(cluster.FairerNMF, rows, labels, **options)
    assert np.allclose(model.baseline_errors_, own.baseline_errors_, rtol=1e-6)
    assert np.allclose(model.group_losses_, own.group_losses_, atol=1e-4)
    assert model.global_bound_ == pytest.approx(own.global_bound_, abs=1e-6)
    assert model.traffic_["rounds"] < model.traffic_["questions"], "runs share rounds"
    W = model.transform(rows)
    assert W.shape == (240, 2)
    assert np.allclose(W.compute(), model._model.transform(X, 1), atol=1e-12)
    assert np.allclose(model.inverse_transform(W).compute(), W.compute() @ model.components_)
    assert model.score(rows, sensitive_features=labels) == pytest.approx(-model.worst_loss_, abs=1e-9)


def test_an_audit_is_that_of_memory(client):
    X, groups = rows_and_groups()
    rows, labels = da.from_array(X, chunks=(90, -1)), da.from_array(groups, chunks=90)
    H = fitted(fairer_nmf.FairerNMF, X, groups, **FIXED)
    options = {"baseline": {"x": 0.1, "y": 0.2, "z": 0.0}, "draws": 1000, "normalize": "features"}
    own = fairer_nmf.audit(X, H, sensitive_features=groups, **options).by_group
    found = cluster.audit(rows, H, sensitive_features=labels, **options)
    table = found.by_group
    assert table.index.tolist() == own.index.tolist() and table.columns.tolist() == own.columns.tolist()
    exact = ["rows", "norm", "relative_error"]
    assert np.allclose(table[exact], own[exact], rtol=1e-10)
    assert np.allclose(table["loss"], own["loss"], atol=1e-10)
    # Intervals are of other draws.
    width = own["relative_error_high"] - own["relative_error_low"]
    for end in ("relative_error_low", "relative_error_high"):
        assert ((table[end] - own[end]).abs() < 0.2 * width).all(), end
    with pytest.raises(ValueError, match="without_data"):
        found.report()
    # Baselines that the cluster estimates are those of memory.
    options = {"baseline": "paper", "baseline_runs": 1}
    own = fairer_nmf.audit(X, H, sensitive_features=groups, **options).by_group
    table = cluster.audit(rows, H, sensitive_features=labels, **options).by_group
    assert np.allclose(table["loss"], own["loss"], atol=1e-6)


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


class OneWorker:
    """A client of one worker with two threads, which has all partitions."""

    def nthreads(self):
        return {"a": 2}

    def who_has(self, made):
        return {part.key: ("a",) for part in made}


def test_shares_of_a_worker_have_as_many_rows(client):
    sizes = [18] * 12 + [2] * 12
    made = [SimpleNamespace(key=number) for number in range(24)]
    shares = cluster.partitions._together(OneWorker(), made, dict(enumerate(sizes)))
    assert [sum(sizes[number] for number in own) for _, own in shares] == [120, 120]
    assert sorted(number for _, own in shares for number in own) == list(range(24))
    assert all(own == sorted(own) for _, own in shares)
    evenly = cluster.partitions.evenly
    assert evenly([3, 5], {3: 1, 5: 100}, 2) == [[5], [3]], "none is empty"
    X, groups = rows_and_groups()
    own = fitted(fairer_nmf.FairerNMF, X, groups, **FIXED)
    rows, labels = da.from_array(X, chunks=(tuple(sizes), -1)), da.from_array(groups, chunks=80)
    assert far(own, fitted(cluster.FairerNMF, rows, labels, **FIXED)) < 1e-10


def test_partitions_of_one_worker_are_spread_and_use_its_threads_alone(client, monkeypatch):
    """A round waits for the slowest: nobody is idle, and no worker works with threads that it has not."""
    X, groups = rows_and_groups()
    own = fitted(fairer_nmf.FairerNMF, X, groups, **FIXED)
    plain, asked = client.map, []

    def seen(function, *args, **options):
        if function is _cluster.answer:
            asked.append((options["workers"][0], len(args[0]), options["threads"]))
        return plain(function, *args, **options)

    monkeypatch.setattr(client, "map", seen)
    first, second = sorted(client.nthreads())
    for chunks, everybody in [(30, True), (240, False)]:
        blocks = client.scatter(np.split(X, range(chunks, 240, chunks)), workers=[first], hash=False)
        rows = da.concatenate([da.from_delayed(b, (chunks, 10), float) for b in blocks])
        asked.clear()
        model = fitted(cluster.FairerNMF, rows, da.from_array(groups, chunks=chunks), **FIXED)
        assert far(own, model) < 1e-10
        # One share for every thread; one partition cannot be spread.
        assert set(asked) == {(worker, 1, 1) for worker in (first, second)[: 1 + everybody]}


def test_workers_have_rows_in_proportion_to_their_threads():
    balanced = cluster.partitions.balanced
    rows = dict.fromkeys(range(16), 100)
    evenly = {n: "ab"[n % 2] for n in rows}
    assert balanced(evenly, rows, {"a": 1, "b": 1}) == evenly, "what is even stays"
    nearly = rows | {0: 140}
    assert balanced(evenly, nearly, {"a": 1, "b": 1}) == evenly, "moving would gain less than a tenth"
    for threads in ({"a": 1, "b": 1, "c": 2}, {"a": 3, "b": 1}):
        for place in ("a", "b", "gone", ""):
            found = balanced(dict.fromkeys(rows, place), rows, threads)
            waits = [list(found.values()).count(worker) / own for worker, own in threads.items()]
            assert len(found) == 16
            assert max(waits) <= 1.1 * 16 / sum(threads.values())
    assert balanced({0: "a"}, {0: 7}, {"a": 1, "b": 1}) == {0: "a"}
    assert balanced({0: "a"}, {0: 7}, {}) == {0: "a"}, "nobody there yet"


def while_it_runs(work):
    """Give who was first where another thread waits for `work` to begin: it, or the end of `work`."""
    # Nobody is made to let go of the interpreter; a thread goes on when the other gives it up itself.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        order, begun = [], threading.Event()

        def other():
            begun.wait()
            order.append("other")

        thread = threading.Thread(target=other)
        thread.start()
        begun.set()
        work()
        order.append("end")
        thread.join()
        return order
    finally:
        sys.setswitchinterval(interval)


def pass_of_a_worker(question):
    """Look at a pass of a share, and at work that keeps the interpreter for as long."""
    share = _core.Share(np.random.default_rng(0).random((20_000, 50)), np.zeros(20_000, np.int64), 1, 0)
    numbers = range(3_000_000)
    return while_it_runs(lambda: share.answer([question], 1)), while_it_runs(lambda: sum(numbers))


def test_a_worker_lets_go_of_the_interpreter_while_it_passes_over_rows(client, monkeypatch):
    """Others wait for a pass of one worker: its answers to Dask, its other tasks."""
    questions = []
    plain = _cluster.Rounds.ask

    def kept(self, question, whole):
        questions.append(whole())
        return plain(self, question, whole)

    monkeypatch.setattr(_cluster.Rounds, "ask", kept)
    X, _ = rows_and_groups(columns=50)
    fitted(cluster.FairerNMF, da.from_array(X, chunks=(80, -1)), None, **FIXED | {"method": "standard"})
    release, keep = client.submit(pass_of_a_worker, questions[-3]).result()
    assert release == ["other", "end"]
    assert keep == ["end", "other"], "the check can fail"


def test_the_dashboard_has_a_line_for_every_round(client):
    X, groups = rows_and_groups()
    model = fitted(cluster.FairerNMF, da.from_array(X, chunks=(80, -1)), groups, **FIXED)
    # Dask keeps the names of lines; those of other fits are the same.
    lines = client.run_on_scheduler(lambda dask_scheduler: set(dask_scheduler.task_prefixes))
    rounds = model.traffic_["rounds"]
    assert rounds >= FIXED["max_iter"]
    assert {f"fairer_nmf_round_{number}" for number in range(rounds)} <= lines


def count_writes():
    """Count the bytes that this process writes to others from now on."""
    plain = tcp.TCP.write

    async def counted(self, *args, **kwargs):
        written = await plain(self, *args, **kwargs)
        tcp.TCP.written += written
        return written

    tcp.TCP.plain, tcp.TCP.write, tcp.TCP.written = plain, counted, 0


def writes():
    return tcp.TCP.written


def count_no_more():
    # The count stays: somebody may be in the middle of writing.
    tcp.TCP.write = tcp.TCP.plain


@pytest.fixture
def written(client):
    """Gives the bytes that driver and scheduler (this process) and the workers have written."""
    count_writes()
    client.run(count_writes)
    yield lambda: np.array([writes(), sum(client.run(writes).values())])
    client.run(count_no_more)
    count_no_more()


@pytest.mark.parametrize("large", [_cluster.LARGE, 0], ids=["asked-by-tasks", "asked-by-workers"])
def test_bytes_of_a_round_do_not_depend_on_the_number_of_rows(client, written, monkeypatch, large):
    """Whether questions go with the tasks, or as large ones do from worker to worker."""
    monkeypatch.setattr(_cluster, "LARGE", large)
    # 24 shares: workers send answers to each other and add them up.
    monkeypatch.setattr(cluster.partitions, "SHARES_PER_THREAD", 12)
    own_round = _cluster.Rounds._round
    found = []
    for rows in (480, 9600):
        seen = []

        def counted(self, batch, seen=seen):
            # To look is traffic too: once at the beginning, and at the end.
            if self.rounds in (3, 12):
                seen.append(written())
            own_round(self, batch)

        monkeypatch.setattr(_cluster.Rounds, "_round", counted)
        X, groups = rows_and_groups(rows)
        # By turns to every worker: how many answers cross depends on where shares are.
        blocks = client.scatter(np.split(X, 24), hash=False)
        rows_there = da.concatenate([da.from_delayed(b, (rows // 24, 10), float) for b in blocks])
        labels = da.from_array(groups, chunks=rows // 24)
        model = fitted(cluster.FairerNMF, rows_there, labels, **FIXED | {"max_iter": 10})
        found.append(((seen[1] - seen[0]) / 9, model.traffic_))
    (few, traffic), (many, traffic_of_many) = found
    assert traffic_of_many == traffic
    received = traffic["received"] / traffic["rounds"]
    # What we count ourselves is in it, with Dask's own messages around it.
    assert traffic["sent"] / traffic["rounds"] + received < few.sum()
    assert received < few[1], "workers say more to each other than to the driver"
    assert many.sum() == pytest.approx(few.sum(), rel=0.1), "twenty times the rows"
    assert many.sum() < X.nbytes / 5


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


def test_progress_is_told(client, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    X, groups = rows_and_groups()
    rows, labels = da.from_array(X, chunks=(120, -1)), da.from_array(groups, chunks=120)
    fitted(cluster.FairerNMF, rows, labels, **FIXED, verbose=1)
    assert "worst loss" in capsys.readouterr().err


def test_progress_is_a_bar_where_tqdm_is_installed(client, capfd):
    pytest.importorskip("tqdm")
    X, groups = rows_and_groups()
    rows, labels = da.from_array(X, chunks=(120, -1)), da.from_array(groups, chunks=120)
    fitted(cluster.FairerNMF, rows, labels, **FIXED, verbose=1)
    shown = capfd.readouterr()
    assert "18/18" in shown.err and "worst loss" in shown.err and shown.out == ""


def test_without_dask_the_import_says_what_to_install():
    program = "import sys; sys.modules['distributed'] = None; import fairer_nmf.dask"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install 'fairer-nmf[dask]'" in run.stderr


def test_without_a_cluster_there_is_a_sentence():
    program = (
        "import dask.array as da, fairer_nmf.dask as c; c.FairerNMF(2).fit(da.ones((9, 3), chunks=3))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "there is no Dask cluster" in run.stderr
