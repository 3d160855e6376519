"""Python and the program have the same options: the table in docs/python.md names all of both."""

import inspect
import pathlib
import re
import subprocess

import pytest
from test_program import PROGRAM

import fairer_nmf
from fairer_nmf import Audit, FairerNMF, Sweep

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/python.md").read_text()

#: Whose parameters the table names; methods that take the options of another are not repeated.
CALLABLES = [
    FairerNMF, FairerNMF.fit, FairerNMF.save, fairer_nmf.audit, fairer_nmf.sweep, fairer_nmf.compare,
    fairer_nmf.estimate_baseline, Sweep.smallest_rank, Audit.report,
]  # fmt: skip


def rows():
    """(names in Python, flags of the program, remark) of every line of the table."""
    table = PAGE.split("## Options of Python and of the program")[1].split("\n## ")[0]
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and cells[0] not in ("Python", "---"):
            python, program, remark = cells
            yield re.findall(r"`([A-Za-z_0-9]+)`", python), re.findall(r"`(--[a-z0-9-]+)`", program), remark


def test_the_table_has_every_parameter_of_python():
    named = {name for python, _, _ in rows() for name in python}
    there = set()
    for item in CALLABLES:
        there |= {
            name
            for name, parameter in inspect.signature(item).parameters.items()
            if parameter.kind is not parameter.VAR_KEYWORD
        }
    there -= {"self", "X", "y"}
    assert named == there, f"not in the table: {there - named}; in the table only: {named - there}"


def test_the_table_has_every_option_of_the_program():
    assert PROGRAM, "build the program first: cargo build --release -p fairer-nmf-cli"
    there = set()
    for command in ("fit", "audit", "sweep", "compare"):
        text = subprocess.run([PROGRAM, command, "--help"], capture_output=True, text=True, check=True)
        options = text.stdout.split("Examples:")[0]
        there |= set(re.findall(r"^ +(?:-[a-z], )?(--[a-z][a-z0-9-]*)", options, re.MULTILINE))
    there -= {"--help"}
    named = {flag for _, program, _ in rows() for flag in program}
    assert named == there, f"not in the table: {there - named}; in the table only: {named - there}"


def test_names_are_the_same_or_the_table_says_why():
    for python, program, remark in rows():
        same = {name.replace("_", "-") for name in python} == {flag[2:] for flag in program}
        assert same or remark, (python, program)


def test_names_are_said_once():
    flags = [flag for _, program, _ in rows() for flag in program]
    assert len(flags) == len(set(flags))


def test_the_examples_of_the_page_run(capsys):
    pytest.importorskip("fairlearn")
    names = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) >= 3
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    assert "female" in capsys.readouterr().out
