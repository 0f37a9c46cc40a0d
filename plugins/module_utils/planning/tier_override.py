# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Values set over a tier from outside its file, typed and judged like those in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..core.errors import InputError, problem
from ..core.findings import Origin
from ..core.tier import Tier
from ..core.tier_fields import TIER
from ..core.tier_forms import Choices, Cpus, Form, Json, Record, Table
from ..core.tier_schema import decode_tier, same_key
from ..core.tier_tree import IDENTITY, Entries, Entry, Leaf, Node, merge
from .tier_file import find_tier, load_tier, read_source
from .yaml_tree import YamlError, read_tree


def load_tier_with(name_or_path: str, overrides: Mapping[str, str], search: Sequence[str | Path] = ()) -> Tier:
    """Return a tier with values laid over it: dotted field path -> text, typed as in a tier file.

    Shape: null gives a field its default; `cpu.reserved: 0-3`, `sysctl.vm.swappiness: 10`, `kubelet.eviction_hard.memory.available: 2Gi`; a list or
    map in YAML's short form replaces the whole. Places of such values read `--set PATH`.
    Sad paths: those of `load_tier`; `InputError` TUN-1005 for a path or a value that cannot be read.
    """
    tier = load_tier(name_or_path, search)
    if not overrides:
        return tier
    source = read_source(find_tier(name_or_path, search), search)
    tree = source.tree
    for path, text in overrides.items():
        tree = merge(tree, override_tree(path, text), same_key)
    return decode_tier(tree, source.faults)


def override_tree(path: str, text: str) -> Node:
    """Return the tree that holds one value at its path. Sad paths: `InputError` TUN-1005."""
    origin = Origin(f"--set {path}")
    node = _value(path, text, origin)
    for key in reversed(_keys(path)):
        node = Entries((Entry(key, node, origin),), origin)
    return node


def _value(path: str, text: str, origin: Origin) -> Node:
    if not text.strip():
        return Leaf(text, "str", origin)
    if text in ("null", "~"):  # a document of its own would be an empty file
        return Leaf(text, "null", origin)
    try:
        node, faults = read_tree(text, origin.file)
    except YamlError as error:
        raise _unreadable(path, text, error.fault.what) from error
    if faults:
        raise _unreadable(path, text, faults[0].what)
    return _placed(node, origin)


def _placed(node: Node, origin: Origin) -> Node:
    """Return the tree with one place for all: line and column within an argument tell nobody anything."""
    if isinstance(node, Leaf):
        return Leaf(node.text, node.kind, origin)
    if isinstance(node, Entries):
        return Entries(tuple(Entry(entry.key, _placed(entry.node, origin), origin) for entry in node.entries), origin)
    return type(node)(tuple(_placed(item, origin) for item in node.items), origin)


def _keys(path: str) -> list[str]:
    """Return the keys that a dotted path goes through: maps with free keys take the rest as one key."""
    keys: list[str] = []
    form: Form | None = TIER
    rest = path.split(".")
    if rest[0] in IDENTITY:
        raise _unreadable(path, rest[0], "it says which tier the file is, and is written in the file only")
    while rest:
        if isinstance(form, Cpus):
            form = form.intent
        if isinstance(form, (Table, Choices)):
            return [*keys, ".".join(rest)]
        key = rest.pop(0)
        keys.append(key)
        form = form.fields.get(key) if isinstance(form, Record) else form if isinstance(form, Json) else None
    return keys


def _unreadable(path: str, text: str, why: str) -> InputError:
    return InputError(
        (
            problem(
                "TUN-1005",
                "a value set over the tier cannot be read",
                where=f"--set {path}={text}",
                why=why,
                fix="write PATH=VALUE with the path as in a tier file, like --set cpu.reserved=0-3",
            ),
        )
    )
