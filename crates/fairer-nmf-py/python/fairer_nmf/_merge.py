"""Small groups put together as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from fairer_nmf._groups import Groups

#: The name of groups that were put together.
OTHER = "Other"

_Given = TypeVar("_Given", Groups, "Groups | None")


def merged(groups: _Given, least: int) -> _Given:
    """Put groups with fewer than `least` rows together, where there is more than one to put."""
    if groups is None or least == 0:
        return groups
    _refuse(groups)
    rows = np.bincount(groups.codes, minlength=len(groups.names))
    small = [bool(n < least) for n in rows]
    if sum(small) < 2 and not (any(small) and OTHER in groups.names):
        return groups
    return together(groups, small)


def together(groups: Groups, small: Sequence[bool]) -> Groups:
    """Put the groups that are marked together, with a group of that name where there is one."""
    _refuse(groups)
    joins = [is_small or name == OTHER for is_small, name in zip(small, groups.names, strict=True)]
    if not any(joins):
        return groups
    stay = [i for i, joined in enumerate(joins) if not joined]
    # Where the program has it: groups stand by their names.
    place = sum(groups.names[i] < OTHER for i in stay) if _by_name(groups.names) else len(stay)
    number = {old: new + (new >= place) for new, old in enumerate(stay)}
    codes = np.array([number.get(i, place) for i in range(len(groups.names))], dtype=np.int64)
    names = [groups.names[i] for i in stay]
    labels = [groups.labels[i] for i in stay]
    found = Groups([*names[:place], OTHER, *names[place:]], codes[groups.codes])
    other = (OTHER,) * len(groups.features)
    found.labels = [*labels[:place], other, *labels[place:]]
    found.features, found.controls = groups.features, groups.controls
    found.weights = groups.weights
    return found


def _by_name(names: Sequence[str]) -> bool:
    return not any(name.lstrip("+-").isdigit() for name in names) and list(names) == sorted(names)


def _refuse(groups: Groups) -> None:
    if groups.controls or groups.members is not None:
        what = "control_features" if groups.controls else "groups that overlap"
        raise ValueError(f"merge_small does not go with {what}: merge the labels first")
