"""Fits on a real cluster of processes are those in memory."""

import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import low_rank

import fairer_nmf

da = pytest.importorskip("dask.array")
import distributed  # noqa: E402
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
    # Of some rows too, in the scale of the fit.
    scaled = fitted(fairer_nmf.FairerNMF, X, groups, **FIXED, normalize="features")
    own = fairer_nmf.audit(X[:90], scaled, sensitive_features=groups[:90], baseline="zero").by_group
    table = cluster.audit(rows[:90], scaled, sensitive_features=labels[:90], baseline="zero").by_group
    assert np.allclose(table["relative_error"], own["relative_error"], rtol=1e-10)
    # Baselines that the cluster estimates are those of memory.
    options = {"baseline": "paper", "baseline_runs": 1}
    own = fairer_nmf.audit(X, H, sensitive_features=groups, **options).by_group
    table = cluster.audit(rows, H, sensitive_features=labels, **options).by_group
    assert np.allclose(table["loss"], own["loss"], atol=1e-6)


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


def test_workers_may_be_threads_of_this_process():
    """Who asks never waits for a thread that it stands on itself."""
    X, groups = rows_and_groups()
    with distributed.Client(
        processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None, set_as_default=False
    ) as client:
        model = cluster.FairerNMF(random_state=3, **FIXED)
        model.client = client
        rows, labels = da.from_array(X, chunks=(80, -1)), da.from_array(groups, chunks=80)
        model.fit(rows, sensitive_features=labels)
        assert model.score(rows, sensitive_features=labels) == pytest.approx(-model.worst_loss_, abs=1e-9)
    assert far(fitted(fairer_nmf.FairerNMF, X, groups, **FIXED), model) < 1e-10


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
            # To look is traffic too, the same in every round.
            if 3 <= self.rounds <= 12:
                seen.append(written())
            own_round(self, batch)

        monkeypatch.setattr(_cluster.Rounds, "_round", counted)
        X, groups = rows_and_groups(rows)
        # By turns to every worker: how many answers cross depends on where shares are.
        blocks = client.scatter(np.split(X, 24), hash=False)
        rows_there = da.concatenate([da.from_delayed(b, (rows // 24, 10), float) for b in blocks])
        labels = da.from_array(groups, chunks=rows // 24)
        model = fitted(cluster.FairerNMF, rows_there, labels, **FIXED | {"max_iter": 10})
        # Workers also tell now and then that they are alive, more often the longer it takes: not in most rounds.
        found.append((np.median(np.diff(seen, axis=0), axis=0), model.traffic_))
    (few, traffic), (many, traffic_of_many) = found
    assert traffic_of_many == traffic
    received = traffic["received"] / traffic["rounds"]
    # What we count ourselves is in it, with Dask's own messages around it.
    assert traffic["sent"] / traffic["rounds"] + received < few.sum()
    assert received < few[1], "workers say more to each other than to the driver"
    # A single number of half precision for every further row would be more.
    assert abs(many.sum() - few.sum()) < 2 * (9600 - 480), "twenty times the rows"
    assert many.sum() < X.nbytes / 5


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
