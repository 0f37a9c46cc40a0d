# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""JSON data in a tier file: what each type looks like, and the values that every YAML reader agrees on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .tier_grammar import DURATION
from .tier_tree import Entries, Items, Leaf


@dataclass(frozen=True)
class JsonType:
    """What a typed JSON value looks like in a tree."""

    noun: str
    shape: type[Leaf | Items | Entries]
    kinds: tuple[str, ...]
    schema: Mapping[str, Any]


JSON_TYPES = {
    "bool": JsonType("true or false", Leaf, ("bool",), {"type": "boolean"}),
    "int": JsonType("a whole number", Leaf, ("int",), {"type": "integer"}),
    "duration": JsonType("a duration such as 10s", Leaf, ("str",), DURATION.schema),
    "text": JsonType("text", Leaf, ("str",), {"type": "string"}),
    "list": JsonType("a list", Items, (), {"type": "array"}),
    "map": JsonType("a map", Entries, (), {"type": "object"}),
}


def json_value(leaf: Leaf) -> Any:
    """Return the JSON value of a leaf; raises `ValueError` where YAML readers disagree about it."""
    if leaf.kind == "null":
        return None
    if leaf.kind == "bool":
        return {"true": True, "false": False}[leaf.text.lower()] if leaf.text.lower() in ("true", "false") else _odd()
    if leaf.kind == "int":
        return int(leaf.text) if str(int(leaf.text)) == leaf.text else _odd()
    if leaf.kind == "float":
        number = float(leaf.text)
        return number if math.isfinite(number) and "_" not in leaf.text else _odd()
    return leaf.text


def _odd() -> Any:
    raise ValueError
