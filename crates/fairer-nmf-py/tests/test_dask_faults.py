"""A lost worker costs time and no state."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import fairer_nmf

da = pytest.importorskip("dask.array")
import dask  # noqa: E402
import distributed  # noqa: E402
from test_dask import FIXED, far, fitted, rows_and_groups  # noqa: E402
from test_disk import kill_on_its_way  # noqa: E402

import fairer_nmf.dask as cluster  # noqa: E402
from fairer_nmf import _cluster  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:not converged", "ignore:Sending large graph")


@pytest.fixture(autouse=True)
def workers_may_die_often():
    """Dask ends a nanny whose worker is away just then when an earlier death is 15 seconds ago."""
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}):
        yield


@pytest.fixture
def at_round(monkeypatch):
    """Gives who does something in the middle of rounds: at_round({number: action})."""

    def arrange(actions):
        own = _cluster.Rounds._round

        def round_with(self, batch):
            action = actions.get(self.rounds)
            if action is not None:
                action()
            own(self, batch)

        monkeypatch.setattr(_cluster.Rounds, "_round", round_with)

    return arrange


def with_most_data(client):
    """Give the address and the process of a worker."""
    held = {worker: len(keys) for worker, keys in client.has_what().items()}
    worker = max(held, key=held.get)
    return worker, client.run(os.getpid, workers=[worker])[worker]


def kill_one(client):
    """Kill the process of the worker with the most data; its nanny starts another."""
    os.kill(with_most_data(client)[1], signal.SIGKILL)


def collections(X, groups, chunks=80):
    return da.from_array(X, chunks=(chunks, -1)), da.from_array(groups, chunks=chunks)


@pytest.mark.parametrize("when", [7, 30])
def test_a_killed_worker_changes_nothing(client, at_round, when):
    """In the soft beginning (15 iterations), and later."""
    X, groups = rows_and_groups()
    options = FIXED | {"max_iter": 40}
    own = fitted(fairer_nmf.FairerNMF, X, groups, **options)
    client.wait_for_workers(2, timeout=60)
    at_round({when: lambda: kill_one(client)})
    model = fitted(cluster.FairerNMF, *collections(X, groups), **options)
    assert far(own, model) < 1e-8
    assert model.traffic_["sent"] > 0


@pytest.mark.parametrize(("method", "update"), [("mu", "auto"), ("standard", "mu"), ("standard", "hals")])
def test_updates_that_depend_on_their_path_take_it_again(client, at_round, method, update):
    X, groups = rows_and_groups()
    options = FIXED | {"max_iter": 60, "method": method, "update": update}
    own = fitted(fairer_nmf.FairerNMF, X, groups, **options)
    client.wait_for_workers(2, timeout=60)
    at_round({40: lambda: kill_one(client)})
    model = fitted(cluster.FairerNMF, *collections(X, groups), **options)
    assert far(own, model) < 1e-8


#: The paper's baselines are by multiplicative updates.
PAPER = FIXED | {"baseline": "paper", "baseline_runs": 2}


def test_a_killed_worker_changes_no_baseline(client, at_round):
    X, groups = rows_and_groups()
    own = fitted(fairer_nmf.FairerNMF, X, groups, **PAPER)
    client.wait_for_workers(2, timeout=60)
    at_round({50: lambda: kill_one(client)})
    model = fitted(cluster.FairerNMF, *collections(X, groups), **PAPER)
    assert np.allclose(model.baseline_errors_, own.baseline_errors_, rtol=1e-8)
    assert np.allclose(model.group_losses_, own.group_losses_, rtol=0, atol=1e-7)


def test_a_checkpoint_of_a_cluster_changes_no_baseline(client, at_round, tmp_path):
    X, groups = rows_and_groups()
    own = fitted(fairer_nmf.FairerNMF, X, groups, **PAPER)
    options = PAPER | {"checkpoint": tmp_path / "state", "every": 0.0}

    def stop():
        raise RuntimeError("enough")

    actions = {50: stop}
    at_round(actions)
    with pytest.raises(RuntimeError, match="enough"):
        fitted(cluster.FairerNMF, *collections(X, groups), **options)
    actions.clear()
    left = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for make, data in [(fairer_nmf.FairerNMF, (X, groups)), (cluster.FairerNMF, collections(X, groups))]:
        for path in tmp_path.iterdir():
            path.unlink()
        for path, content in left.items():
            path.write_bytes(content)
        again = fitted(make, *data, **options, resume=True)
        assert np.allclose(again.baseline_errors_, own.baseline_errors_, rtol=1e-8)


def own_cluster(workers=1, **options):
    return distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None, **options
    )


def test_workers_may_be_retired_and_added(at_round):
    X, groups = rows_and_groups()
    options = FIXED | {"max_iter": 40}
    own = fitted(fairer_nmf.FairerNMF, X, groups, **options)
    with own_cluster(2) as workers, distributed.Client(workers, set_as_default=False) as client:
        first = sorted(client.nthreads())

        def add():
            workers.scale(3)
            client.wait_for_workers(2, timeout=60)

        retire = client.retire_workers
        at_round({5: lambda: retire(first[:1]), 12: add, 25: lambda: retire(first[1:])})
        model = cluster.FairerNMF(random_state=3, **options)
        model.client = client
        rows, labels = collections(X, groups)
        model.fit(rows, sensitive_features=labels)
        assert not set(first) & set(client.nthreads()), "those of the beginning are gone"
    assert far(own, model) < 1e-8


def closing(gone):
    """Give what ends a cluster in the background, and waits until its scheduler is gone."""

    def close():
        threading.Thread(target=gone.close, daemon=True).start()
        while gone.scheduler.status != distributed.Status.closed:
            time.sleep(0.001)

    return close


def test_a_lost_scheduler_is_told(at_round):
    X, groups = rows_and_groups()
    with own_cluster() as gone, distributed.Client(gone, set_as_default=False) as client:
        model = cluster.FairerNMF(random_state=0, **FIXED)
        model.client = client
        at_round({9: closing(gone)})
        with pytest.raises(RuntimeError, match="connection to the Dask scheduler at .* was lost"):
            model.fit(collections(X, groups)[0], sensitive_features=collections(X, groups)[1])


def test_a_lost_scheduler_leaves_a_checkpoint(client, at_round, tmp_path):
    """The fit goes on from it in memory, on disk and on another cluster."""
    X, groups = rows_and_groups()
    options = FIXED | {"max_iter": 40, "checkpoint": tmp_path / "state", "every": 0.0}
    with own_cluster() as gone, distributed.Client(gone, set_as_default=False) as lost:
        model = cluster.FairerNMF(random_state=3, **options)
        model.client = lost
        # Beyond the soft beginning, with the questions before the fit.
        at_round({25: closing(gone)})
        with pytest.raises(RuntimeError, match="connection to the Dask scheduler at .* was lost"):
            model.fit(collections(X, groups)[0], sensitive_features=collections(X, groups)[1])
    left = (tmp_path / "state.restart-0").read_bytes()
    assert len(left) < X.nbytes, "no rows"
    own = fitted(fairer_nmf.FairerNMF, X, groups, **FIXED | {"max_iter": 40})
    np.save(tmp_path / "X.npy", X)
    at_round({})
    for make, rows, labels, more in [
        (fairer_nmf.FairerNMF, X, groups, {}),
        (fairer_nmf.FairerNMF, tmp_path / "X.npy", groups, {"memory": "100kB"}),
        (cluster.FairerNMF, *collections(X, groups), {}),
    ]:
        (tmp_path / "state.restart-0").write_bytes(left)
        again = fitted(make, rows, labels, **options | more, resume=True)
        assert far(own, again) < 1e-8
        # What is left of the way is short.
        assert getattr(again, "traffic_", {"rounds": 0})["rounds"] < 35
    with pytest.raises(ValueError, match="the numbers in the data are not those of then"):
        fitted(cluster.FairerNMF, *collections(X + 1.0, groups), **options, resume=True)


def test_a_killed_fit_on_disk_goes_on_on_the_cluster(client, tmp_path):
    X, groups = rows_and_groups(20_000)[0], np.arange(20_000) % 2
    X[::2, :4] *= 2.0
    np.save(tmp_path / "X.npy", X)
    options = FIXED | {"max_iter": 60, "random_state": 3}
    kill_on_its_way(tmp_path / "X.npy", tmp_path / "state", **options, memory="100kB")
    own = fairer_nmf.FairerNMF(**options).fit(X, sensitive_features=groups)
    model = cluster.FairerNMF(**options, checkpoint=tmp_path / "state", resume=True)
    rows, labels = collections(X, groups, 7000)
    model.fit(rows, sensitive_features=labels)
    assert far(own, model) < 1e-8
    assert model.traffic_["rounds"] < 60, "what is left of the way"


@pytest.fixture
def apart(tmp_path):
    """Gives a client of a scheduler and a worker that are processes of their own, and the scheduler's."""
    file = str(tmp_path / "scheduler.json")

    def started(what, *options):
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--scheduler-file", file]
        return subprocess.Popen([*command, "--no-dashboard", *options], stderr=subprocess.DEVNULL)

    scheduler = started("scheduler", "--host", "127.0.0.1", "--port", "0")
    worker = started("worker", "--nthreads", "1", "--no-nanny")
    try:
        with distributed.Client(scheduler_file=file, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=60)
            yield client, scheduler
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()


def test_a_killed_scheduler_is_told_and_leaves_a_checkpoint(apart, at_round, tmp_path):
    client, scheduler = apart
    X, groups = rows_and_groups()
    options = FIXED | {"max_iter": 40, "checkpoint": tmp_path / "state", "every": 0.0}
    model = cluster.FairerNMF(random_state=3, **options)
    model.client = client
    at_round({25: scheduler.kill})
    rows, labels = collections(X, groups)
    with pytest.raises(RuntimeError, match="connection to the Dask scheduler at .* was lost"):
        model.fit(rows, sensitive_features=labels)
    assert (tmp_path / "state.restart-0").exists(), "where the run stood"
    own = fitted(fairer_nmf.FairerNMF, X, groups, **FIXED | {"max_iter": 40})
    again = fitted(fairer_nmf.FairerNMF, X, groups, **options, resume=True)
    assert far(own, again) < 1e-8


def test_a_scheduler_that_is_gone_when_it_is_asked_is_told(apart, monkeypatch):
    """Before Dask has noticed: the partitions are not what was lost."""
    client, scheduler = apart
    X, groups = rows_and_groups()
    who_has = client.who_has

    def killed_then_asked(futures):
        scheduler.kill()
        return who_has(futures)

    monkeypatch.setattr(client, "who_has", killed_then_asked)
    model = cluster.FairerNMF(random_state=3, **FIXED)
    model.client = client
    rows, labels = collections(X, groups)
    with pytest.raises(RuntimeError, match="connection to the Dask scheduler at .* was lost"):
        model.fit(rows, sensitive_features=labels)


def test_a_scheduler_that_is_gone_before_the_first_round_is_told(apart):
    client, scheduler = apart
    held = [client.submit(int)]
    scheduler.kill()
    with (
        _cluster.Rounds(client, held) as rounds,
        pytest.raises(RuntimeError, match="connection to the Dask scheduler at .* was lost"),
    ):
        rounds.ask(b"", lambda: b"")


def too_large(block):
    """Take more memory than the worker has; it ends when its nanny ends the worker."""
    hoard = np.ones(100_000_000)
    time.sleep(60.0)
    return block + 0.0 * hoard[0]


def test_a_worker_out_of_memory_is_told():
    X, groups = rows_and_groups()
    settings = {"distributed.scheduler.allowed-failures": 0}
    with dask.config.set(settings), own_cluster(memory_limit="600MB") as small:
        with distributed.Client(small, set_as_default=False) as client:
            model = cluster.FairerNMF(random_state=0, **FIXED)
            model.client = client
            rows = da.from_array(X, chunks=(240, -1)).map_blocks(too_large, dtype=X.dtype)
            with pytest.raises(RuntimeError, match="ran out of memory"):
                model.fit(rows, sensitive_features=da.from_array(groups, chunks=240))


def test_a_worker_that_runs_out_of_memory_in_a_round_changes_nothing(at_round):
    X, groups = rows_and_groups()
    options = FIXED | {"max_iter": 40}
    own = fitted(fairer_nmf.FairerNMF, X, groups, **options)
    full = []
    with own_cluster(2, memory_limit="600MB") as small:
        with distributed.Client(small, set_as_default=False) as client:

            def fill():
                # The worker has one thread: what the round asks it waits behind. No other may do it.
                worker, process = with_most_data(client)
                full.extend([worker, process, client.submit(too_large, 0.0, workers=[worker])])

            at_round({25: fill})
            model = cluster.FairerNMF(random_state=3, **options)
            model.client = client
            rows, labels = collections(X, groups)
            model.fit(rows, sensitive_features=labels)
            worker, process, hoarding = full
            assert hoarding.status == "pending", "it has not ended by itself"
            client.wait_for_workers(2, timeout=60)
            assert worker not in client.nthreads()
            assert process not in client.run(os.getpid).values(), "its nanny has started another"
    assert far(own, model) < 1e-8
