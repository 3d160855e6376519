"""Data that many tests share."""

import signal

import numpy as np
import pytest

# A job that a shell starts in the background ignores Ctrl-C; tests of Ctrl-C would go on for days.
signal.signal(signal.SIGINT, signal.default_int_handler)


def low_rank(rows, columns, rank, seed=0, noise=0.1):
    """Give non-negative data near a rank."""
    rng = np.random.default_rng(seed)
    X = rng.random((rows, rank)) @ rng.random((rank, columns))
    return X + noise * rng.random((rows, columns))


@pytest.fixture
def data():
    """X (120×15) and three unequal groups."""
    X = low_rank(120, 15, 6)
    X[:20, :5] *= 3.0
    return X, np.repeat(["small", "middle", "large"], [20, 40, 60])


@pytest.fixture(scope="session")
def client():
    """Two Dask workers, processes of one thread each."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
