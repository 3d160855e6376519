"""Groups: from labels of every kind to names and numbers, and back to the labels."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairer_nmf._align import aligned

#: What joins the labels of several sensitive features into the name of an intersection.
SEPARATOR = " | "
#: The most groups that are taken without being asked for.
MOST_GROUPS = 100


class _Pair(NamedTuple):
    names: list[str]
    codes: NDArray[np.int64]


class Groups(_Pair):
    """Names of the groups in their order, and for every row the number of its group.

    To the Rust side it is the pair of these. `labels` are what the user calls the groups: for
    each a tuple with its label in every one of the `features`, of which the first `controls` are
    control features.
    """

    labels: list[tuple[Any, ...]]
    features: list[Hashable]
    controls: int
    #: The order of every feature's labels, where they have one of their own.
    orders: list[list[Any] | None]
    #: The weight of every row, where rows have weights.
    weights: NDArray[np.float64] | None = None
    #: Which rows are in which groups, and the family of every group, where groups overlap.
    members: NDArray[np.bool_] | None = None
    families: list[str | None]

    def keys(self) -> list[Any]:
        """Give the label of every group; of several features their tuple."""
        return self.labels if len(self.features) > 1 else [label for (label,) in self.labels]

    def to_index(self) -> Any:
        """Give the groups as the index of a table: labels with their types, features as names."""
        import pandas as pd

        if len(self.features) > 1:
            return pd.MultiIndex.from_tuples(self.labels, names=self.features)
        return pd.Index(self.keys(), name=self.features[0])

    def title(self) -> str:
        """Give the heading of a page about these groups: by what they were made, where that has a name."""
        names = [str(name) for name in self.features]
        unnamed = [name == "group" or name.startswith("sensitive_feature_") for name in names]
        return "Audit" if any(unnamed) or not names else f"Audit by {' and '.join(names)}"

    def counts(self) -> dict[str, NDArray[Any]]:
        """Give the rows of every group and, where they have weights, Kish's effective number."""
        rows = len(self.codes if self.members is None else self.members)
        weights = np.ones(rows) if self.weights is None else self.weights
        counts: dict[str, NDArray[Any]] = {"rows": self._sums((weights > 0) * 1.0).astype(np.int64)}
        if self.weights is not None:
            counts["effective_rows"] = self._sums(weights) ** 2 / self._sums(weights**2)
        return counts

    def _sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """Give the sum over the rows of every group."""
        if self.members is not None:
            return np.asarray(values @ self.members)
        return np.bincount(self.codes, values, len(self.names))

    def with_all(self) -> Groups:
        """Give groups that overlap with one more, of all rows that are in some of them."""
        assert self.members is not None, "groups that do not overlap add up"
        whole = Groups([*self.names, "all rows in groups"], self.codes)
        whole.members = np.column_stack([self.members, self.members.any(axis=1)])
        whole.families = [*self.families, None]
        whole.weights = self.weights
        return whole

    def to_array(self) -> NDArray[Any]:
        """Give the label of every group as an array of their type."""
        keys = self.keys()
        if len({type(key) for key in keys}) == 1 and not isinstance(keys[0], tuple):
            return np.array(keys)
        array = np.empty(len(keys), dtype=object)
        array[:] = keys
        return array


class _Feature(NamedTuple):
    """The labels of one feature in their order, their names, and each row's number."""

    labels: list[Any]
    names: list[str]
    codes: NDArray[np.int64]
    #: Where they have one of their own, with labels that do not occur.
    order: list[Any] | None


def weighted(groups: Groups | None, sample_weight: Any, index: Any, rows: int) -> Groups | None:
    """Give the groups with the rows' weights; without groups, one group of all rows."""
    if sample_weight is None:
        return groups
    weights = np.asarray(aligned(index, sample_weight, "sample_weight"), dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(rows, float(weights))
    if weights.shape != (rows,):
        raise ValueError(
            f"sample_weight has the shape {weights.shape}: give one weight for each of {rows} rows"
        )
    if groups is None:
        groups = Groups(["all"], np.zeros(rows, dtype=np.int64))
        groups.labels, groups.features, groups.controls = [("all",)], ["group"], 0
    groups.weights = np.ascontiguousarray(weights)
    return groups


def encode_groups(
    sensitive_features: Any,
    index: Any = None,
    most: int = MOST_GROUPS,
    control_features: Any = None,
    how: str = "combined",
) -> Groups | None:
    """Number the groups that labels form; several columns form intersections.

    Labels of pandas are matched with the rows of X by `index`, X's own. Control features come
    first.
    """
    if how not in ("combined", "each", "each-and-combined", "members"):
        raise ValueError(
            f"groups is {how!r}: expected 'combined', 'each', 'each-and-combined' or 'members'"
        )
    if sensitive_features is None:
        return None
    if how != "combined":
        if control_features is not None:
            raise ValueError(f"control_features does not go with groups={how!r}: leave one of them out")
        return _overlapping(_columns(sensitive_features, index, "sensitive_features"), how, most)
    named = _columns(sensitive_features, index, "sensitive_features")
    controls = []
    if control_features is not None:
        controls = _columns(control_features, index, "control_features")
    columns = [_encode(column) for _, column in controls + named]
    lengths = {len(column.codes) for column in columns}
    if len(lengths) > 1:
        raise ValueError(f"features of groups differ in length: {sorted(lengths)}")
    # Which combinations occur, and in which of them every row is.
    rows: list[tuple[int, ...]] = [(i,) for i in range(len(columns[0].labels))]
    codes = columns[0].codes
    for other in columns[1:]:
        present, codes = np.unique(
            codes * len(other.labels) + other.codes, return_inverse=True
        )
        pairs = (divmod(pair, len(other.labels)) for pair in present.tolist())
        rows = [(*rows[first], second) for first, second in pairs]
    if len(rows) > most:
        raise ValueError(
            f"sensitive_features forms {len(rows)} groups of {len(codes)} rows, more than "
            f"max_groups ({most}): cut numbers into a few intervals (pandas.cut) and merge rare "
            "labels, or give a larger max_groups"
        )
    labels = [tuple(c.labels[i] for c, i in zip(columns, row, strict=True)) for row in rows]
    parts = [[c.names[i] for c, i in zip(columns, row, strict=True)] for row in rows]
    names = [row[0] if len(row) == 1 else SEPARATOR.join(map(_part, row)) for row in parts]
    if any(column.order is not None for column in columns):
        # The combinations stand in the order of the features' labels.
        order = list(range(len(names)))
    else:
        order = sorted(range(len(names)), key=lambda i: _key(names[i]))
    groups = Groups(
        [names[i] for i in order], np.argsort(order)[codes].astype(np.int64)
    )
    groups.labels = [labels[i] for i in order]
    groups.features = [
        *_feature_names([name for name, _ in controls], "control_feature", "control"),
        *_feature_names([name for name, _ in named], "sensitive_feature", "group"),
    ]
    groups.controls = len(controls)
    groups.orders = [column.order for column in columns]
    return groups


def _overlapping(named: list[tuple[Hashable, Any]], how: str, most: int) -> Groups:
    """Give groups that may have rows in common: of every column a family, or a column for each."""
    labels: list[tuple[Any, ...]] = []
    names: list[str] = []
    families: list[str | None] = []
    members: list[NDArray[np.bool_]] = []
    titles = _feature_names([name for name, _ in named], "sensitive_feature", "group")
    for title, (_, column) in zip(titles, named, strict=True):
        feature = _encode(column)
        if how != "members":
            labels += [(title, label) for label in feature.labels]
            names += [f"{title}={name}" for name in feature.names]
            families += [str(title)] * len(feature.names)
            members += [feature.codes == code for code in range(len(feature.names))]
            continue
        if not set(feature.labels) <= {0, 1}:
            raise ValueError(
                f"with groups='members' sensitive_features is a table of 0 and 1, and column {title!r} "
                f"has {next(label for label in feature.labels if label not in (0, 1))!r}"
            )
        labels.append((title,))
        names.append(str(title))
        families.append(None)
        members.append(np.asarray(column).astype(bool))
    lengths = {len(column) for column in members}
    if how == "each-and-combined" and len(named) > 1 and len(lengths) == 1:
        # Their combinations are a family too, named as "combined" would name them.
        both = encode_groups(_frame_of(titles, named), most=len(members[0]))
        assert both is not None, "there are labels"
        family = SEPARATOR.join(map(str, titles))
        labels += [(family, name) for name in both.names]
        names += [f"{family}={name}" for name in both.names]
        families += [family] * len(both.names)
        members += [both.codes == code for code in range(len(both.names))]
    if len(lengths) > 1:
        raise ValueError(f"features of groups differ in length: {sorted(lengths)}")
    if len(names) > most:
        raise ValueError(
            f"sensitive_features forms {len(names)} groups, more than max_groups ({most}): cut numbers "
            "into a few intervals (pandas.cut) and merge rare labels, or give a larger max_groups"
        )
    groups = Groups(names, np.zeros(0, dtype=np.int64))
    groups.labels, groups.controls = labels, 0
    groups.features = ["group"] if how == "members" else ["family", "group"]
    groups.members, groups.families = np.ascontiguousarray(np.stack(members, axis=1)), families
    return groups


def _frame_of(titles: list[Hashable], named: list[tuple[Hashable, Any]]) -> Any:
    import pandas as pd

    columns = [np.asarray(column) for _, column in named]
    return pd.DataFrame(dict(zip(titles, columns, strict=True)))


def _feature_names(names: list[Hashable], kind: str, single: str) -> list[Hashable]:
    if names == [None]:
        return [single]
    return [f"{kind}_{i}" if name is None else name for i, name in enumerate(names)]


def _part(label: str) -> str:
    """Give a label as a part of an intersection's name, quoted (as the program does) at a bar."""
    if "|" in label or label.startswith('"'):
        return '"' + label.replace('"', '""') + '"'
    return label


def _key(name: str) -> tuple[int, int, str]:
    """Order groups as the library does: by number, then by name."""
    number = re.fullmatch(r"[+-]?[0-9]{1,18}", name, re.ASCII)
    return (0, int(name), name) if number else (1, 0, name)


def _columns(labels: Any, index: Any, what: str) -> list[tuple[Hashable, Any]]:
    """Give the features that labels hold, with their names where they have any."""
    labels = aligned(index, labels, what)
    if isinstance(labels, Mapping):
        columns = [
            (name, aligned(index, column, f"{what}[{name!r}]")) for name, column in labels.items()
        ]
    elif hasattr(labels, "columns"):  # pandas, polars
        columns = [(name, labels[name]) for name in labels.columns]
    elif isinstance(labels, str) or not hasattr(labels, "__len__"):
        raise TypeError(
            f"{what} must be a list, array, series or frame with one label per row, "
            f"found {type(labels).__name__}"
        )
    elif getattr(labels, "ndim", 1) == 1 and hasattr(labels, "dtype"):
        # A polars Series without a name has an empty one.
        name = getattr(labels, "name", None)
        columns = [(None if name == "" else name, labels)]
    else:
        # A list of equal tuples is a table; a ragged list is not.
        array = labels if isinstance(labels, np.ma.MaskedArray) else _array(labels)
        if array.ndim > 2 or array.ndim == 0:
            raise ValueError(f"{what} has {array.ndim} dimensions, expected 1 or 2")
        columns = [(None, column) for column in ([array] if array.ndim == 1 else list(array.T))]
    if not columns:
        raise ValueError(f"{what} has no columns: give one label per row")
    return columns


def _array(labels: Any) -> NDArray[Any]:
    """Give a list as an array that keeps the types of a mixed one."""
    array = np.asarray(labels)
    if isinstance(labels, (list, tuple)) and array.dtype.kind in "US":
        return np.asarray(labels, dtype=object)
    return array


def _encode(column: Any) -> _Feature:
    values = np.asarray(column)
    if values.ndim != 1:
        raise ValueError(f"a sensitive feature has {values.ndim} dimensions, expected 1")
    if np.ma.is_masked(column):
        raise _no_label(int(np.flatnonzero(np.ma.getmaskarray(column))[0]))
    categories = _ordered_categories(column)
    if values.dtype.kind == "M" and not np.isnat(values).any():
        present, codes = np.unique(values, return_inverse=True)
        labels, names = _timestamps(present), np.datetime_as_string(present, unit="auto").tolist()
    elif values.dtype.kind in "biuU":
        present, codes = np.unique(values, return_inverse=True)
        labels, names = present.tolist(), [str(label) for label in present.tolist()]
    else:
        labels, codes = _objects(values)
        names = [str(label) for label in labels]
    by_name: dict[str, Any] = {}
    for label, name in zip(labels, names, strict=True):
        if name in by_name:
            raise ValueError(
                f"labels {by_name[name]!r} and {label!r} of a sensitive feature have the same name: "
                "give all its labels one type"
            )
        by_name[name] = label
    if categories is None:
        order = sorted(range(len(names)), key=lambda i: _key(names[i]))
    else:
        place = {label: i for i, label in enumerate(categories)}
        order = sorted(range(len(labels)), key=lambda i: place[labels[i]])
    return _Feature(
        [labels[i] for i in order],
        [names[i] for i in order],
        np.argsort(order)[codes],
        categories,
    )


def _objects(values: NDArray[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """Number objects in any mixture, which NumPy cannot sort."""
    numbers: dict[Any, int] = {}
    labels: list[Any] = []
    codes = np.empty(len(values), dtype=np.int64)
    for row, value in enumerate(values.tolist()):
        label = value.item() if isinstance(value, np.generic) else value
        if _missing(label):
            raise _no_label(row)
        code = numbers.setdefault(label, len(numbers))
        if code == len(labels):
            labels.append(label)
        elif type(labels[code]) is not type(label):
            raise of_two_types(labels[code], label, f"row {row}")
        codes[row] = code
    return labels, codes


def _ordered_categories(column: Any) -> list[Any] | None:
    kind = getattr(column, "dtype", None)
    if getattr(kind, "ordered", False) or type(kind).__name__ == "Enum":  # pandas; polars
        return list(kind.categories)  # type: ignore[union-attr]
    return None


def _timestamps(present: NDArray[Any]) -> list[Any]:
    import pandas as pd

    return list(pd.DatetimeIndex(present))


def _missing(label: Any) -> bool:
    nan = isinstance(label, float) and label != label
    return label is None or nan or type(label).__name__ in ("NAType", "NaTType")


def of_two_types(label: Any, other: Any, where: str) -> ValueError:
    """Give the refusal of a label that equals another and is of a different type."""
    return ValueError(
        f"labels {label!r} and {other!r} ({where}) of a sensitive feature are equal "
        "but of two types: give all its labels one type"
    )


def _no_label(row: int) -> ValueError:
    return ValueError(f"row {row} has no group label: leave the row out or name its group")
