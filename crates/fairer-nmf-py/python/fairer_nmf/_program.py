"""The command `fairer-nmf`: the program, which is compiled into the package."""

from __future__ import annotations

import sys

from fairer_nmf import _core


def main() -> int:
    """Run the program on what was typed."""
    return _core.program(["fairer-nmf", *sys.argv[1:]])
