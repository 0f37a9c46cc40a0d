# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A tier file as a tree: every value with the place where it was written, before anything is understood."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Union

from .errors import Problem
from .findings import Origin

Path = tuple[str, ...]

# Keys that say what a file is; inheritance does not hand them on.
IDENTITY = ("apiVersion", "kind", "name", "extends")


@dataclass(frozen=True)
class Leaf:
    """One scalar: its text as written, and what YAML takes it for: str, int, float, bool or null."""

    text: str
    kind: str
    origin: Origin = Origin()


@dataclass(frozen=True)
class Items:
    """A list."""

    items: tuple[Node, ...]
    origin: Origin = Origin()


@dataclass(frozen=True)
class Entry:
    """One key of a map with its value; `origin` is the place of the key."""

    key: str
    node: Node
    origin: Origin = Origin()


@dataclass(frozen=True)
class Entries:
    """A map; keys are unique."""

    entries: tuple[Entry, ...]
    origin: Origin = Origin()


Node = Union[Leaf, Items, Entries]


@dataclass(frozen=True)
class Fault:
    """One mistake of a tier file: where, in which field, what is wrong, what is allowed, what to write."""

    origin: Origin
    path: str
    code: str
    what: str
    why: str = ""
    fix: str = ""

    def to_problem(self) -> Problem:
        """Return the fault as a problem whose place is `file:line:column`."""
        return Problem(self.code, self.what, str(self.origin), self.why, self.fix, self.path)


def in_file_order(faults: list[Fault]) -> list[Fault]:
    """Return the faults as a reader of the file meets them."""
    return sorted(faults, key=lambda fault: (fault.origin.file, fault.origin.line, fault.origin.column))


def merge(base: Node, over: Node, same_key: Callable[[Path, str], str], path: Path = ()) -> Node:
    """Return `base` with the values of `over` laid on it.

    Shape: maps are merged key by key, the base's order first; everything else is replaced, also by a null, which
    stands for the default. `same_key(path, key)` returns the normal form by which keys of the map at `path` match.
    """
    if isinstance(base, Entries) and isinstance(over, Entries):
        return merge_maps(base, over, same_key, path)
    return over


def merge_maps(base: Entries, over: Entries, same_key: Callable[[Path, str], str], path: Path = ()) -> Entries:
    """Return `merge` of two maps, which is a map."""
    mine = {same_key(path, entry.key): entry for entry in over.entries}
    merged: list[Entry] = []
    for entry in base.entries:
        winner = mine.pop(same_key(path, entry.key), None)
        if winner is None:
            merged.append(entry)
        else:
            node = merge(entry.node, winner.node, same_key, (*path, entry.key))
            merged.append(replace(winner, node=node))
    return Entries((*merged, *mine.values()), over.origin)


def without(tree: Entries, keys: tuple[str, ...]) -> Entries:
    """Return the map without some keys."""
    return replace(tree, entries=tuple(entry for entry in tree.entries if entry.key not in keys))


def find(tree: Node, key: str) -> Entry | None:
    """Return the entry of a map, None when the node is no map or has no such key."""
    return next((entry for entry in entries_of(tree) if entry.key == key), None)


def entries_of(node: Node) -> Iterator[Entry]:
    """Yield the entries of a map, nothing for other nodes."""
    if isinstance(node, Entries):
        yield from node.entries
