"""Rows by name: what pandas objects say of the order of rows is taken at its word."""

from __future__ import annotations

from typing import Any


def index_of(values: Any) -> Any:
    """Give the names that a pandas object has for its rows; None for anything else."""
    index = getattr(values, "index", None)
    return index if hasattr(index, "get_indexer") and hasattr(values, "iloc") else None


def aligned(index: Any, values: Any, name: str) -> Any:
    """Give `values` with its rows in the order of X's `index`, where both have names for them.

    Equal indexes in another order are brought into X's; other indexes are refused, since they may
    name other rows. Without names on both sides, rows are taken in their order.
    """
    own = index_of(values)
    if index is None or own is None or len(own) != len(index) or own.equals(index):
        return values
    cure = (
        f"Give {name} the index of X, by which rows are matched, or values without one, in the "
        f"order of X's rows: {name}.to_numpy()"
    )
    for whose, names in (("X", index), (name, own)):
        if not names.is_unique:
            twice = names[names.duplicated()][0]
            raise ValueError(
                f"the index of {name} differs from that of X, and rows cannot be matched: "
                f"{twice!r} occurs more than once in that of {whose}. {cure}"
            )
    places = own.get_indexer(index)
    absent = (places < 0).nonzero()[0]
    if len(absent):
        raise ValueError(
            f"the index of {name} is not that of X: it has no {index[absent[0]]!r}, the name of "
            f"row {absent[0]} of X. {cure}"
        )
    return values.iloc[places]
