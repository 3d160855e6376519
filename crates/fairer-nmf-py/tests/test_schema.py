"""Every JSON file that is written keeps to the published schema (docs/schema)."""

import copy
import functools
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


@functools.cache
def validator(name):
    Draft202012Validator.check_schema(CONTENTS[name])
    return Draft202012Validator(CONTENTS[name], registry=REGISTRY)


def check(content, name):
    errors = validator(name).iter_errors(content)
    assert [f"{list(e.absolute_path)}: {e.message[:200]}" for e in errors] == []


def refused(content, name):
    return not validator(name).is_valid(content)


def objects(node, at=""):
    """Give what is said of objects, with where it is said."""
    if isinstance(node, dict):
        refers = str(node.get("$ref", "")).endswith("_fields")
        if node.get("type") == "object" or "properties" in node or refers:
            yield at, node
        for key, value in node.items():
            if key != "allOf":  # whoever joins them closes them
                yield from objects(value, f"{at}/{key}")
    elif isinstance(node, list):
        for value in node:
            yield from objects(value, at)


def test_every_schema_names_all_fields():
    """Definitions called ..._fields are open, for others to add to; who refers to one closes it."""
    for name, content in CONTENTS.items():
        for at, node in objects(content, name):
            assert "properties" in node or "$ref" in node, at
            closed = False in (node.get("additionalProperties"), node.get("unevaluatedProperties"))
            assert closed != at.endswith("_fields"), at


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
        ("fit", "outcome", (csv, *by, *rank, "--memory", "1GB", "--quiet")),
        ("fit", "outcome", (csv, *by, *rank, "--method", "mu", "--refit", 3, "--audit", *FEW)),
        ("fit", "outcome", (csv, *by, *rank, "--ties", "leximin", "--audit", "--refit", 2, *FEW)),
        ("fit", "outcome", (csv, *by, *rank, "--baseline", "held-out", "--audit", *FEW)),
        ("fit", "outcome", (csv, *by, *rank, "--method", "standard", "--alpha-w", 0.01, "--audit", *FEW)),
        ("fit", "outcome", (csv, "--drop", "group", *rank, "--worst-share", 0.2, "--quiet")),
        ("fit", "outcome", (csv, "--drop", "group", *rank, "--discover", "errors", "--audit", *FEW)),
        ("topics", "topics", (model, "--quiet")),
        ("inspect", "inspect", (csv, *by, "--rank", 3, "--quiet")),
    ]
    # What goes wrong has a form, too: a table that is not read, and documents that are not UTF-8.
    (tmp_path / "bad.csv").write_text("a,b,c,group\n" + "1,x,,u\n-2,y,,v\n" * 6)
    for number in range(4):
        (tmp_path / "texts" / "uv"[number % 2]).mkdir(parents=True, exist_ok=True)
        file = tmp_path / "texts" / "uv"[number % 2] / str(number)
        file.write_bytes("straße und haus und hof".encode("latin-1"))
    texts = (tmp_path / "texts", "--min-df", 1)
    runs += [("inspect", "inspect", (texts[0], "--quiet")), ("fit", "outcome", (*texts, "--rank", 1))]
    with pytest.raises(AssertionError, match="a fit would be refused"):
        run("inspect", tmp_path / "bad.csv", *by, "--quiet", "--json", tmp_path / "bad.json")
    bad = json.loads((tmp_path / "bad.json").read_text())
    check(bad, "inspect.json")
    assert bad["storage"] == "not-read" and bad["problems"]
    assert {"empty-column", "negative"} <= {flag["code"] for c in bad["columns"] for flag in c["flags"]}
    for at, (command, schema, arguments) in enumerate(runs):
        file = tmp_path / f"{at}.json"
        run(command, *arguments, "--json", file)
        check(json.loads(file.read_text()), f"{schema}.json")


@pytest.mark.parametrize("study", ["neighbours", "unknown-groups"])
def test_studies_write_what_the_schema_says(study, tmp_path):
    run("reproduce", study, "--quick", "--trials", 1, "--out", tmp_path)
    content = json.loads((tmp_path / f"{study}.json").read_text())
    check(content, f"{study}.json")
    assert [of["dataset"] for of in content["sets"]] == ["ortho1", "ortho2", "hd"]
    for broken in ({**content, "schema": 2}, content["sets"], {**content, "sets": [{}]}):
        assert refused(broken, f"{study}.json")


def firsts(content):
    """Leave the first entry of every list: the others are like it."""
    if isinstance(content, dict):
        return {key: firsts(value) for key, value in content.items()}
    return [firsts(content[0])] if isinstance(content, list) and content else content


def parts(content):
    """Give the path of every object."""
    if isinstance(content, dict):
        yield ()
        for key, value in content.items():
            yield from ((key, *path) for path in parts(value))
    elif isinstance(content, list) and content:
        yield from ((0, *path) for path in parts(content[0]))


def at(content, path):
    for key in path:
        content = content[key]
    return content


def test_every_field_of_an_audit_is_in_its_schema(csv, tmp_path):
    seen = set()
    # Neither has all parts: one evens the groups out, the other is what it would be held against.
    for method in ("am", "standard"):
        file = tmp_path / f"{method}.json"
        asked = ("--group-by", "group", "--rank", 3, "--method", method, "--refit", 2, "--audit", *FEW)
        run("fit", csv, *asked, "--json", file)
        content = json.loads(file.read_text())
        check(content, "outcome.json")
        audited = firsts(content["audit"])
        check(audited, "audit.json")
        for path in parts(audited):
            for field in (None, *at(audited, path)):
                broken = copy.deepcopy(audited)
                if field is None:
                    at(broken, path)["extra"] = 1
                else:
                    del at(broken, path)[field]
                assert refused(broken, "audit.json"), (path, field)
        seen |= {part for part, found in audited.items() if found not in (None, [])}
        content["audit"]["extra"] = 1
        assert refused(content, "outcome.json")
    assert seen == set(CONTENTS["audit.json"]["properties"]) - {"unfinished"}


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
        assert refused(broken, "report.json")
    assert np.isfinite(content["who_pays"]["groups"][0]["results"][0]["loss"])
