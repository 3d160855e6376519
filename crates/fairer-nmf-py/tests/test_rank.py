"""``n_components="auto"``: the choice of the program's ``--rank auto``."""

import json

import numpy as np
import pandas as pd
import pytest
from test_program import run

from fairer_nmf import FairerNMF
from fairer_nmf.datasets import make_synthetic_2


def test_a_known_rank_is_found_and_fitted():
    X, groups = make_synthetic_2(random_state=0)
    model = FairerNMF("auto", method="standard", n_init=1, baseline="zero", random_state=0)
    model.fit(X, sensitive_features=groups)
    assert model.rank_choice_["rank"] == 6
    assert model.components_.shape == (6, 12)
    errors = [point["held_out_error"] for point in model.rank_choice_["points"]]
    # An entry that nothing foretells costs no more than a few times itself.
    assert max(errors) < 3.0


def test_the_program_chooses_the_same(tmp_path):
    X, groups = make_synthetic_2(random_state=1)
    X, groups = X[::5], np.asarray(groups)[::5]
    model = FairerNMF("auto", method="standard", n_init=1, baseline="zero", random_state=3)
    model.fit(X, sensitive_features=groups)
    path, out = tmp_path / "data.csv", tmp_path / "fit.json"
    pd.DataFrame(X).add_prefix("f").assign(group=groups).to_csv(path, index=False)
    run("fit", path, "--group-by", "group", "--rank", "auto", "--method", "standard", "--n-init", 1,
        "--baseline", "zero", "--normalize", "none", "--seed", 3, "--json", out)  # fmt: skip
    assert json.loads(out.read_text())["rank_choice"] == model.rank_choice_


def test_other_words_are_refused():
    with pytest.raises(ValueError, match="expected a number or 'auto'"):
        FairerNMF("many").fit(np.ones((20, 20)))
