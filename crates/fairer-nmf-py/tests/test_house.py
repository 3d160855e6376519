"""The order of the package's own files: imports run downwards, and a parameter has one type."""

import ast
import inspect
import pathlib
from graphlib import TopologicalSorter

import fairer_nmf
from fairer_nmf import FairerNMF
from fairer_nmf._parameters import Parameters

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
