"""The library's refusals in the user's words: columns by their names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def in_names_of(feature_names: Any) -> Iterator[None]:
    """Add the name of the column where the library says its number."""
    try:
        yield
    except ValueError as error:
        place = re.search(r"entry at row [0-9]+, column ([0-9]+)", str(error))
        if place is None or feature_names is None:
            raise
        name = list(feature_names)[int(place[1])]
        sentence = str(error).replace(place[0], f"{place[0]} ({name!r})")
        raise ValueError(sentence) from None
