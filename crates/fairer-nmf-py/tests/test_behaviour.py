"""How a fit behaves: threads, signals, forks, progress, warnings, speed."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import numpy as np
import pytest
from conftest import low_rank
from sklearn.exceptions import ConvergenceWarning

from fairer_nmf import FairerNMF, _core, _data, audit, estimate_baseline, sweep

# Multiplicative updates creep: they do not stand still to the last bit, as HALS may.
ENDLESS = {
    "method": "standard", "update": "mu", "tol": 0.0, "max_iter": 1_000_000_000, "random_state": 0,
}  # fmt: skip


def interrupt_after(seconds):
    def send():
        time.sleep(seconds)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=send).start()


@pytest.mark.parametrize("verbose", [0, 1])
def test_ctrl_c_interrupts_a_fit(verbose, capfd):
    X = low_rank(300, 30, 8, noise=0.5)
    interrupt_after(0.3)
    # It would not end by itself.
    with pytest.raises(KeyboardInterrupt):
        FairerNMF(8, verbose=verbose, **ENDLESS).fit(X)
    # The next fit is not affected.
    FairerNMF(2, random_state=0).fit(X[:30])


def test_ctrl_c_interrupts_baselines():
    X = low_rank(3000, 100, 20, noise=0.5)
    interrupt_after(0.2)
    # It would go on for hours.
    with pytest.raises(KeyboardInterrupt):
        estimate_baseline(
            X, 20, sensitive_features=np.arange(3000) % 2, baseline="best", baseline_runs=50_000
        )


def test_an_unfitted_estimator_stays_unfitted_when_interrupted():
    model = FairerNMF(8, **ENDLESS)
    interrupt_after(0.2)
    with pytest.raises(KeyboardInterrupt):
        model.fit(low_rank(300, 30, 8, noise=0.5))
    assert not hasattr(model, "components_")


def test_the_gil_is_released():
    X = low_rank(2000, 60, 8, noise=0.5)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.002)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        FairerNMF(8, method="standard", tol=0.0, max_iter=150, random_state=0).fit(X)
    end = time.perf_counter()
    done.set()
    thread.join()
    during = np.array([t for t in ticks if begin <= t <= end])
    assert end - begin > 0.05
    assert len(during) >= 5
    assert np.diff(during).max() < 0.5 * (end - begin)


def test_two_threads_fit_at_once_and_agree():
    X = low_rank(400, 20, 5)
    results = [None] * 4

    def work(i):
        results[i] = FairerNMF(4, random_state=0, n_jobs=2).fit(X).components_

    workers = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    [w.start() for w in workers]
    [w.join(60) for w in workers]
    for H in results:
        np.testing.assert_array_equal(H, results[0])


FORK = """
    import multiprocessing, sys, warnings
    import joblib, numpy as np
    from fairer_nmf import FairerNMF
    X = np.random.default_rng(0).random((80, 10))
    def fit(seed):
        return FairerNMF(3, random_state=seed, n_jobs=2).fit(X).components_
    if __name__ == "__main__":
        warnings.simplefilter("ignore")
        before = fit(0)                      # the parent has its threads now
        if sys.argv[1] == "fork":
            with multiprocessing.get_context("fork").Pool(2) as pool:
                found = pool.map(fit, [0, 1, 2, 0])
        else:
            found = joblib.Parallel(n_jobs=2, backend=sys.argv[1])(
                joblib.delayed(fit)(s) for s in [0, 1, 2, 0])
        assert (found[0] == before).all() and (found[3] == before).all()
        assert (fit(0) == before).all()      # and the parent still works
        print("fine")
"""


@pytest.mark.parametrize("backend", ["fork", "loky", "multiprocessing", "threading"])
def test_forking_after_use_does_not_hang(backend, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(FORK))
    done = subprocess.run(
        [sys.executable, script, backend], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.strip() == "fine", done.stderr


def test_a_limit_that_is_too_low_warns():
    X = low_rank(60, 12, 6, noise=0.5)
    with pytest.warns(ConvergenceWarning, match="not converged within 2 iterations"):
        FairerNMF(4, max_iter=2, random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FairerNMF(4, method="standard", random_state=0).fit(X)


def test_a_tiny_group_warns_in_the_librarys_words():
    X = low_rank(60, 12, 6, noise=0.5)
    groups = ["tiny"] * 3 + ["large"] * 57
    with pytest.warns(UserWarning, match=r"'tiny' has no more rows than topics \(4\)"):
        FairerNMF(4, random_state=0).fit(X, sensitive_features=groups)


def test_verbose_shows_a_bar(capfd):
    pytest.importorskip("tqdm")
    X = low_rank(300, 20, 6, noise=0.5)
    FairerNMF(4, verbose=1, random_state=0).fit(X, sensitive_features=np.arange(300) % 3)
    shown = capfd.readouterr()
    assert "worst loss" in shown.err and shown.out == ""


def test_a_transform_of_many_rows_shows_how_far_it_is_and_gives_the_same(capfd):
    pytest.importorskip("tqdm")
    X = low_rank(45_000, 6, 2, noise=0.1)
    model = FairerNMF(2, method="standard", random_state=0, n_init=1).fit(X)
    expected = model.transform(X)
    assert "transform" not in capfd.readouterr().err
    found = model.set_params(verbose=1).transform(X)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    assert "transform, blocks" in capfd.readouterr().err


def test_verbose_shows_lines_without_tqdm(capfd, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    X = low_rank(300, 20, 6, noise=0.5)
    FairerNMF(4, verbose=1, n_init=2, random_state=0).fit(X, sensitive_features=np.arange(300) % 3)
    lines = capfd.readouterr().err.splitlines()
    assert any(line.startswith("fit ") and "worst loss" in line for line in lines)


@pytest.mark.parametrize("bar", [True, False])
def test_audits_and_sweeps_show_progress(bar, capfd, monkeypatch):
    if not bar:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    X = low_rank(300, 20, 6, noise=0.5)
    groups = np.arange(300) % 3
    audit(X, X[:4], sensitive_features=groups, draws=50, verbose=1)
    shown = capfd.readouterr()
    assert "baselines" in shown.err and "audit" in shown.err and shown.out == ""
    sweep(X, [2, 3], sensitive_features=groups, methods=["standard"], trials=1, verbose=1)
    shown = capfd.readouterr()
    assert "sweep" in shown.err and "2" in shown.err and shown.out == ""


@pytest.mark.parametrize("bar", [True, False])
def test_a_report_shows_progress_where_it_is_asked_for(bar, capfd, monkeypatch):
    if not bar:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    # Large enough that every stage is under way when it is looked at, every 20 ms.
    X = low_rank(3000, 60, 6, noise=0.5)
    few = {"draws": 50, "permutations": 50, "folds": 2, "chance_draws": 20}
    groups = np.arange(3000) % 3
    found = audit(X, X[:4], sensitive_features=groups, baseline="zero")
    found.report(**few, verbose=0)
    assert capfd.readouterr() == ("", "")
    found.report(**few, verbose=1)
    shown = capfd.readouterr()
    assert "fit" in shown.err and "audit" in shown.err and shown.out == ""
    # Without being asked, as its audit was.
    asked = audit(X, X[:4], sensitive_features=groups, baseline="zero", verbose=1)
    capfd.readouterr()
    asked.report(**few)
    assert "audit" in capfd.readouterr().err


def test_printing_an_audit_shows_progress_to_who_waits(capfd, monkeypatch):
    from fairer_nmf import _progress

    X = low_rank(300, 20, 6, noise=0.5)
    groups = np.arange(300) % 3

    def printed():
        found = audit(X, X[:4], sensitive_features=groups, baseline="zero")
        capfd.readouterr()
        return repr(found), capfd.readouterr()

    text, shown = printed()
    assert shown == ("", ""), "nobody waits for a file"
    monkeypatch.setattr(_progress, "somebody_waits", lambda: True)
    monkeypatch.setattr(_progress, "PATIENCE", 1000.0)
    assert printed() == (text, ("", "")), "it did not take that long"
    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
    again, shown = printed()
    assert again == text and "audit" in shown.err and shown.out == ""
    found = audit(X, X[:4], sensitive_features=groups, baseline="zero")
    assert text.splitlines()[0] in found._repr_html_() and "audit" in capfd.readouterr().err


def test_silence_is_the_default(capfd):
    FairerNMF(4, random_state=0).fit(low_rank(300, 20, 6), sensitive_features=np.arange(300) % 3)
    assert capfd.readouterr() == ("", "")


def test_an_error_while_showing_progress_comes_through(monkeypatch):
    from fairer_nmf import _progress

    def fail(*arguments):
        raise RuntimeError("screen on fire")

    monkeypatch.setattr(_progress.Progress, "__call__", fail)
    with pytest.raises(RuntimeError, match="screen on fire"):
        FairerNMF(8, verbose=1, **ENDLESS).fit(low_rank(300, 30, 8, noise=0.5))


def test_the_python_layer_costs_little_beside_the_smallest_fit():
    """Whole fits of small data against the Rust call in them; lowest times, so load matters less."""
    X = low_rank(20, 5, 2)
    groups = np.repeat(["a", "b"], 10)
    model = FairerNMF(
        2, baseline="zero", max_iter=1, tol=1.0, n_init=1, init="random", random_state=0
    )
    encoded = _data.encode_groups(groups)
    settings = model._settings(encoded)
    whole, inside = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(200):
            begin = time.perf_counter()
            model.fit(X, sensitive_features=groups)
            middle = time.perf_counter()
            _core.fit(X, encoded, settings)
            whole.append(middle - begin)
            inside.append(time.perf_counter() - middle)
    # As a ratio, since machines differ: the layer costs about as much as the smallest of fits.
    assert np.quantile(whole, 0.1) < 5.0 * np.quantile(inside, 0.1)
