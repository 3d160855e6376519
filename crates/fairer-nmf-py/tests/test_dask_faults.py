"""A lost worker costs time and no state."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import fairer_nmf

da = pytest.importorskip("dask.array")
import dask  # noqa: E402
import distributed  # noqa: E402
from test_dask import FIXED, far, fitted, rows_and_groups  # noqa: E402

import fairer_nmf.dask as cluster  # noqa: E402
from fairer_nmf import _cluster  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:not converged", "ignore:Sending large graph")


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


def kill_one(client):
    """Kill the process of the worker with the most data; its nanny starts another."""
    held = {worker: len(keys) for worker, keys in client.has_what().items()}
    worker = max(held, key=held.get)
    os.kill(client.run(os.getpid, workers=[worker])[worker], signal.SIGKILL)


def collections(X, groups, chunks=80):
    return da.from_array(X, chunks=(chunks, -1)), da.from_array(groups, chunks=chunks)


@pytest.mark.parametrize("when", [7, 30])
def test_a_killed_worker_changes_nothing(client, at_round, when):
    """In the soft beginning (15 iterations), and later."""
    X, groups = rows_and_groups()
    options = FIXED | {"max_iter": 40}
    own = fitted(fairer_nmf.FairerNMF, X, groups, **options)
    client.wait_for_workers(2)
    at_round({when: lambda: kill_one(client)})
    model = fitted(cluster.FairerNMF, *collections(X, groups), **options)
    assert far(own, model) < 1e-8
    assert model.traffic_["sent"] > 0


@pytest.mark.parametrize("method", ["mu", "standard"])
def test_updates_that_depend_on_their_path_go_on_from_exact_rows(client, at_round, method):
    X, groups = rows_and_groups()
    options = FIXED | {"max_iter": 300, "tol": 1e-4, "method": method}
    own = fitted(fairer_nmf.FairerNMF, X, groups, **options)
    client.wait_for_workers(2)
    at_round({40: lambda: kill_one(client)})
    model = fitted(cluster.FairerNMF, *collections(X, groups), **options)
    assert np.allclose(model.group_errors_, own.group_errors_, atol=5e-3)


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
            client.wait_for_workers(2)

        retire = client.retire_workers
        at_round({5: lambda: retire(first[:1]), 12: add, 25: lambda: retire(first[1:])})
        model = cluster.FairerNMF(random_state=3, **options)
        model.client = client
        rows, labels = collections(X, groups)
        model.fit(rows, sensitive_features=labels)
        assert not set(first) & set(client.nthreads()), "those of the beginning are gone"
    assert far(own, model) < 1e-8


def closing(gone):
    """Give what ends a cluster with its scheduler, in the background, while a fit goes on."""

    def close():
        threading.Thread(target=gone.close, daemon=True).start()
        time.sleep(1.0)

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


def too_large(block):
    """Take more memory than the worker has, for longer than its nanny looks away."""
    hoard = np.ones(100_000_000)
    time.sleep(3.0)
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
