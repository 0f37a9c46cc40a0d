# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Values set over a tier, by dotted path, as a tree that is laid on the tier's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .findings import Origin
from .tier_fields import TIER
from .tier_forms import Choices, Cpus, Form, Json, Record, Table
from .tier_tree import Entries, Entry, Items, Leaf, Node, Path, merge_maps

_WORDS = {True: "true", False: "false"}


def override_tree(overrides: Mapping[str, Any]) -> Entries:
    """Return the tree of values by dotted path (`cpu.reserved`, `sysctl.vm.swappiness`), each JSON data.

    Shape: the origin of a value is `--set PATH`; a path that leads nowhere stays in the tree, for the decoder to
    refuse with the nearest name; None stands for the default.
    """
    tree = Entries(())
    for path, value in overrides.items():
        first, *others = split_path(path)
        origin = Origin(f"--set {path}")
        node = to_node(value, origin)
        for key in reversed(others):
            node = Entries((Entry(key, node, origin),), origin)
        tree = merge_maps(tree, Entries((Entry(first, node, origin),), origin), lambda _path, key: key)
    return tree


def split_path(path: str) -> Path:
    """Return the keys that a dotted path goes through; keys of free maps may hold dots themselves."""
    key, rest, form = _step(TIER, path)
    keys = [key]
    while rest:
        key, rest, form = _step(form, rest)
        keys.append(key)
    return tuple(keys)


def _step(form: Form | None, path: str) -> tuple[str, str, Form | None]:
    """Return the first key of a path below a form, what is left of the path, and the form of the key's value."""
    if isinstance(form, Cpus):
        form = form.intent
    if isinstance(form, Choices) or (isinstance(form, Table) and not isinstance(form.value, Table)):
        return path, "", None
    key, _, rest = path.partition(".")
    if isinstance(form, Record):
        return key, rest, form.fields.get(key)
    return key, rest, form.value if isinstance(form, Table) else form if isinstance(form, Json) else None


def to_node(value: Any, origin: Origin) -> Node:
    """Return JSON data as a tree whose values all have one origin."""
    if isinstance(value, Mapping):
        return Entries(tuple(Entry(str(key), to_node(item, origin), origin) for key, item in value.items()), origin)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return Items(tuple(to_node(item, origin) for item in value), origin)
    if value is None:
        return Leaf("null", "null", origin)
    if isinstance(value, bool):
        return Leaf(_WORDS[value], "bool", origin)
    kind = next((name for of, name in ((int, "int"), (float, "float")) if isinstance(value, of)), "str")
    return Leaf(str(value), kind, origin)
