"""What the files of our crates take from each other, by their `use` statements.

    python3 crates/fairer-nmf-py/tests/rust_files.py [CHECKOUT]

prints of every crate of a checkout its files, its imports from file to file, and its circles: files that take from
each other, at once or by way of others.
"""

import pathlib
import re
import sys


def leaves(tree):
    """The paths of a tree of `use`: `a::{b, c::d}` has `a::b` and `a::c::d`."""
    head, brace, rest = tree.partition("{")
    if not brace:
        return [tree.split(" as ")[0].strip()]
    parts, depth = [""], 0
    for letter in rest[: rest.rindex("}")]:
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [head.strip() + leaf for part in parts if part.strip() for leaf in leaves(part.strip())]


class RustCrate:
    """Files of a crate by their modules, and what each takes from the others."""

    def __init__(self, source):
        self.files = {}
        for path in source.rglob("*.rs"):
            *rooms, name = path.relative_to(source).with_suffix("").parts
            if "tests" not in (*rooms, name):
                own = tuple(rooms) if name in ("mod", "lib", "main") else (*rooms, name)
                self.files[own] = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
        self.uses = {own: [*self.used(own)] for own in self.files}

    def used(self, own):
        inside = {path[-1] for path in self.files if path and path[:-1] == own}
        statement = r"^(pub(?:\([a-z]+\))? )?use ([\w:{},*\s]+);"
        for public, tree in re.findall(statement, self.files[own], re.MULTILINE):
            for leaf in leaves(re.sub(r"\s+", " ", tree)):
                first, *path = leaf.split("::")
                at = () if first == "crate" else own
                if first in inside:
                    path = [first, *path]
                elif first not in ("crate", "self", "super"):
                    continue
                while first == "super":
                    at = at[:-1]
                    first = path.pop(0) if path[:1] == ["super"] else ""
                yield bool(public), (*at, *path)

    def home(self, path):
        """The file that defines what a path names: a room's face may only hand it on."""
        own = next(path[:n] for n in range(len(path), -1, -1) if path[:n] in self.files)
        wanted = path[len(own) : len(own) + 1]
        for public, other in self.uses[own]:
            if wanted and public and other[-1:] == wanted and other != path:
                return self.home(other)
        return own

    def graph(self):
        """What files take from others, but for rooms from what is in them."""
        taken = {own: {self.home(path) for _, path in uses} for own, uses in self.uses.items()}
        return {
            own: {other for other in others if other[: len(own)] != own}
            for own, others in taken.items()
        }


def circles(graph):
    """Sets of files each of which reaches all the others of its set, the largest first."""

    def reached(start):
        seen, left = set(), [start]
        while left:
            for other in graph[left.pop()] - seen:
                seen.add(other)
                left.append(other)
        return seen

    reach = {own: reached(own) for own in graph}
    sets = {frozenset(o for o in reach[own] if own in reach[o]) for own in graph}
    return sorted((found for found in sets if len(found) > 1), key=len, reverse=True)


def main(checkout):
    for crate in sorted(pathlib.Path(checkout, "crates").glob("*/src")):
        graph = RustCrate(crate).graph()
        imports = sum(map(len, graph.values()))
        found = [len(circle) for circle in circles(graph)]
        print(f"{crate.parent.name}: {len(graph)} files, {imports} imports, circles {found}")


if __name__ == "__main__":
    main(*sys.argv[1:] or ["."])
