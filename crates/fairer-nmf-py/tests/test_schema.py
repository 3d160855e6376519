"""Every JSON file that is written keeps to the published schema (docs/schema)."""

import json
import pathlib

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from test_program import run

from fairer_nmf import audit

SCHEMAS = pathlib.Path(__file__).resolve().parents[3] / "docs/schema"
CONTENTS = {path.name: json.loads(path.read_text()) for path in SCHEMAS.glob("*.json")}
REGISTRY = Registry().with_resources(
    (name, Resource.from_contents(content)) for name, content in CONTENTS.items()
)
FEW = ("--draws", 20, "--permutations", 20, "--folds", 2, "--quiet")


def check(content, name):
    Draft202012Validator.check_schema(CONTENTS[name])
    validator = Draft202012Validator(CONTENTS[name], registry=REGISTRY)
    errors = [f"{list(e.absolute_path)}: {e.message[:200]}" for e in validator.iter_errors(content)]
    assert errors == []


@pytest.fixture
def csv(data, tmp_path):
    import pandas as pd

    X, groups = data
    path = tmp_path / "data.csv"
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    frame.assign(group=groups).to_csv(path, index=False)
    return path


def test_the_program_writes_what_the_schema_says(csv, tmp_path):
    by, model = ("--group-by", "group"), tmp_path / "m.safetensors"
    rank = ("--rank", 3)
    runs = [
        ("fit", "outcome", (csv, *by, *rank, "--quiet", "--model", model)),
        ("fit", "outcome", (csv, *by, *rank, "--audit", *FEW)),
        ("fit", "outcome", (csv, *by, *rank, "--method", "standard", "--audit", *FEW)),
        ("fit", "outcome", (csv, *by, *rank, "--audit", "--min-group-size", 30, *FEW)),
        ("audit", "outcome", (csv, *by, "--model", model, *FEW)),
        ("audit", "outcome", (csv, *by, "--model", model, "--no-compare", *FEW)),
        ("demo", "outcome", ("--out", tmp_path, "--quiet")),
        ("sweep", "sweep", (csv, *by, "--ranks", "1,2", "--trials", 2, "--quiet")),
        ("compare", "compare", (csv, *by, *rank, "--n-init", 1, "--quiet")),
        ("fit", "outcome", (csv, *by, *rank, "--fairness", 0.5, "--quiet")),
        ("fit", "outcome", (csv, *by, *rank, "--weights", "f0", "--audit", *FEW)),
        ("fit", "outcome", (csv, "--group-by-each", "group", *rank, "--audit", *FEW)),
        ("topics", "topics", (model, "--quiet")),
        ("inspect", "inspect", (csv, *by, "--rank", 3, "--quiet")),
    ]
    for at, (command, schema, arguments) in enumerate(runs):
        file = tmp_path / f"{at}.json"
        run(command, *arguments, "--json", file)
        check(json.loads(file.read_text()), f"{schema}.json")


def test_python_writes_what_the_schema_says(data):
    X, groups = data
    found = audit(X, H=X[:4], sensitive_features=groups, baseline_runs=2)
    for more in ({}, {"compare": False}, {"min_group_size": 30}):
        report = found.report(draws=20, permutations=20, folds=2, **more)
        check(report.to_dict(), "report.json")


def test_the_schema_refuses_what_nobody_wrote(data):
    """A schema that lets everything pass says nothing."""
    X, groups = data
    content = audit(X, H=X[:4], sensitive_features=groups).report(
        draws=20, permutations=0, folds=0, compare=False
    ).to_dict()  # fmt: skip
    wrong = [
        {**content, "schema": 2},
        {**content, "extra": 1},
        {key: value for key, value in content.items() if key != "who_pays"},
        {**content, "models": [{**content["models"][0], "role": "other"}]},
    ]
    group = content["who_pays"]["groups"][0]
    group = {**group, "results": [{**group["results"][0], "lo": 0.0}]}
    wrong.append({**content, "who_pays": {**content["who_pays"], "groups": [group]}})
    for broken in wrong:
        with pytest.raises(AssertionError):
            check(broken, "report.json")
    assert np.isfinite(content["who_pays"]["groups"][0]["results"][0]["loss"])
