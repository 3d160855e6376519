"""An estimator from a file has the parameters that it was saved with."""

import numpy as np
import pytest
from conftest import low_rank
from sklearn.base import clone

from fairer_nmf import FairerNMF
from fairer_nmf._meaning import NOT_KEPT

#: Parameters that do not come back as they were, and why.
EXCEPTIONS = {
    "n_jobs": "threads of a machine, not of a model",
    "verbose": "what one wants to see today",
    "memory": "what a machine has; the model takes rows from anywhere",
    "checkpoint": "a file of the machine that fitted",
    "every": "belongs to the checkpoint",
    "resume": "belongs to the checkpoint: a new fit must not go on from an old state by itself",
}

ROWS = 60
GROUPS = np.repeat(["a", "b", "c"], 20)
MEMBERS = {"young": np.arange(ROWS) % 2, "old": np.arange(ROWS) % 3 == 0}
GAPS = np.where(np.random.default_rng(0).random((ROWS, 8)) < 0.1, np.nan, 1.0)

#: Together they set every parameter to something that is not its default: parameters, and what is fitted.
FITS = [
    {"n_components": 3, "fairness": 0.5, "baseline": "best", "baseline_runs": 2, "n_init": 2, "max_groups": 7},
    {"n_components": "auto", "tol": 1e-3, "max_iter": 50, "bound": False, "init": "random", "time_limit": 60.0},
    {"ties": "leximin", "baseline": "zero", "allow_small_groups": True, "normalize": "features", "n_init": 1},
    {"method": "mu", "baseline": "paper", "start_weights": "even", "init": "nndsvda"},
    {"method": "standard", "update": "hals", "alpha_W": 0.1, "alpha_H": 0.2, "l1_ratio": 0.5},
    {"start_weights": "bound", "merge_small": 25, "baseline": "held-out", "random_state": np.int64(7)},
    {"groups": "members"},
    {"groups": "each"},
    {"missing": "unobserved", "baseline": "zero"},
    {"missing": "unobserved", "max_iter": 20},
    {"worst_share": 0.2},
    {"discover": "topics", "discover_groups": 3},
    {"n_jobs": 1, "verbose": 1, "checkpoint": "state", "every": 5.0, "resume": False},
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", range(len(FITS)))
def test_every_parameter_comes_back_from_the_file(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parameters = {"random_state": 3, "baseline": "zero"} | FITS[number]
    X = low_rank(ROWS, 8, 3, noise=0.1)
    fits = {"sensitive_features": GROUPS}
    if "discover" in parameters or "worst_share" in parameters:
        fits = {}
    elif parameters.get("groups") == "members":
        fits = {"sensitive_features": MEMBERS}
    elif parameters.get("groups") == "each":
        fits = {"sensitive_features": {"first": GROUPS, "second": MEMBERS["young"]}}
    if parameters.get("missing") and "max_iter" not in parameters:
        X = X * GAPS
    model = FairerNMF(**parameters).fit(X, **fits)
    model.save("m.safetensors")
    loaded = FairerNMF.load("m.safetensors")
    same = {n: v for n, v in model.get_params().items() if n not in EXCEPTIONS}
    found = {n: v for n, v in loaded.get_params().items() if n not in EXCEPTIONS}
    assert found == same
    assert all(loaded.get_params()[name] == FairerNMF().get_params()[name] for name in EXCEPTIONS)
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    if "discover" not in parameters:
        again = clone(loaded).fit(X, **fits)
        np.testing.assert_array_equal(again.components_, model.components_)


def test_the_fits_set_every_parameter_and_the_exceptions_are_those_of_the_code():
    defaults = FairerNMF().get_params()
    changed = {n for fit in FITS for n, v in fit.items() if v != defaults[n]} | {"random_state"}
    # These need rows on disk and an earlier state; the test above holds them to their defaults.
    assert set(defaults) - changed == {"memory", "resume"}
    assert set(EXCEPTIONS) == set(NOT_KEPT)


def test_what_is_no_word_and_no_number_comes_back_as_what_it_was_in_the_fit(tmp_path):
    X = low_rank(ROWS, 8, 3, noise=0.1)
    model = FairerNMF(
        2, baseline=[0.1, 0.2, 0.3], start_weights={"a": 1.0, "b": 2.0, "c": 1.0},
        random_state=np.random.RandomState(5), n_init=1,
    )  # fmt: skip
    model.fit(X, sensitive_features=GROUPS).save(tmp_path / "m")
    loaded = FairerNMF.load(tmp_path / "m")
    assert loaded.baseline == {"a": 0.1, "b": 0.2, "c": 0.3}
    assert loaded.start_weights == {"a": 1.0, "b": 2.0, "c": 1.0}
    again = clone(loaded).fit(X, sensitive_features=GROUPS)
    np.testing.assert_array_equal(again.components_, model.components_)
