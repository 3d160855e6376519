"""The order of the package's own files: imports run downwards, and a parameter has one type."""

import ast
import inspect
import pathlib
import re
from graphlib import TopologicalSorter

import pytest

import fairer_nmf
from fairer_nmf import FairerNMF
from fairer_nmf._parameters import Parameters
from rust_files import RustCrate

FILES = {path.stem: path for path in pathlib.Path(fairer_nmf.__file__).parent.glob("*.py")}


def imports_of(path):
    """The files of the package that a file imports, for types too and wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "fairer_nmf":
            # A name that is no file comes from the package's face, which knows all; the Rust side is below.
            names = {item.name for item in node.names} - {"_core"}
            yield from (name if name in FILES else "__init__" for name in names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            package, _, name = node.module.partition(".")
            if package == "fairer_nmf":
                yield name


def test_no_files_import_each_other_in_a_circle():
    graph = {name: set(imports_of(path)) & set(FILES) for name, path in FILES.items()}
    assert "_fitted" in graph["_estimator"]
    TopologicalSorter(graph).prepare()  # a CycleError names the files


def test_the_files_below_know_the_estimators_parameters_by_the_same_types():
    taken = inspect.signature(FairerNMF).parameters
    assert list(Parameters.__annotations__.items()) == [(n, p.annotation) for n, p in taken.items()]


CRATES = pathlib.Path(__file__).parents[2]


@pytest.mark.parametrize("name", sorted(path.parent.name for path in CRATES.glob("*/src")))
def test_no_rust_files_take_from_each_other_in_a_circle(name):
    graph = RustCrate(CRATES / name / "src").graph()
    assert len(graph) > 1 and any(graph.values()), "they are understood"
    TopologicalSorter(graph).prepare()


def rooms_in_order(crate):
    """The table of CONTRIBUTING that lists the rooms of a crate from the top: the line of each."""
    text = (CRATES.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.split(f"(`crates/{crate}/src`), from the top")[1].split("\n\n")[1]
    lines = [re.findall("`([a-z]+)`", row.split("|")[1]) for row in table.splitlines()[2:]]
    return {room: line for line, rooms in enumerate(lines) for room in rooms}


@pytest.mark.parametrize("name", ["fairer-nmf", "fairer-nmf-cli"])
def test_a_room_uses_those_of_its_line_and_below_it_only(name):
    line, graph = rooms_in_order(name), RustCrate(CRATES / name / "src").graph()
    assert {own[0] for own in graph if own} - {"main"} == set(line), "all are in the table"
    uses = [(own, other) for own, others in graph.items() for other in others if own and other]
    assert len(uses) > 50, "they are understood"
    assert [("/".join(own), "/".join(o)) for own, o in uses if line[o[0]] < line[own[0]]] == []


def test_every_code_is_listed():
    """Notes, warnings and problems have a code, and docs/codes.md has them all and no others."""
    found = set()
    for path in CRATES.glob("*/src/**/*.rs"):
        source = path.read_text(encoding="utf-8")
        source = re.split(r"#\[cfg\(test\)\]\s*mod \w+ \{", source)[0]
        makers = r"(?:Note::new|Remark::new|Report::absent|\bremark|Self::absent)"
        found |= set(re.findall(makers + r'\(\s*"([a-z0-9-]+)"', source))
        if path.name == "note.rs":
            found |= set(re.findall(r'const [A-Z_]+: &\'static str = "([a-z0-9-]+)"', source))
        if path.name in ("error.rs", "warning.rs"):
            found |= set(re.findall(r'=> "([a-z0-9-]+)",', source))
    assert {"much-unexplained", "not-found", "one-group", "one-feature", "negative"} <= found
    text = (CRATES.parent / "docs/codes.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    listed = set(re.findall("`([a-z0-9-]+)`", " ".join(rows) + text.rsplit("##", 1)[1]))
    assert listed - {"flags", "inspect"} == found
