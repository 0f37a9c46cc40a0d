# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The one way to a tier: by name or file, with its places, checked as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..core.tier import Tier
from ..core.tier_overrides import override_tree
from ..core.tier_schema import decode_tier, same_key
from ..core.tier_tree import Entries, Fault, Leaf, find, merge_maps
from .tier_chain import TierSource, read_source
from .tier_lookup import find_tier, is_path, tier_files

__all__ = ["load_tier", "tier_files"]


def load_tier(name_or_path: str, search: Sequence[str | Path] = (), overrides: Mapping[str, Any] | None = None) -> Tier:
    """Return the tier of that name or in that file, with what it extends merged in.

    Shape: text with a slash or ending in .yaml or .yml is a path; a name is looked up in the directories of `search`,
    in order, then among the built-in tiers. `overrides` are values set over it by dotted path, JSON data.
    Sad paths: `InputError` with every mistake of the file, each with file:line:column (TUN-11xx to TUN-14xx).
    """
    source = read_source(find_tier(name_or_path, search), search)
    tree = source.tree
    if overrides and isinstance(tree, Entries):
        tree = replace(merge_maps(tree, override_tree(overrides), same_key), origin=tree.origin)
    return decode_tier(tree, (*source.faults, *_name_faults(name_or_path, source)))


def _name_faults(name_or_path: str, source: TierSource) -> list[Fault]:
    """Return a fault when a file found by its name calls itself differently: reports would name another tier."""
    name = find(source.tree, "name")
    if is_path(name_or_path) or name is None or not isinstance(name.node, Leaf) or name.node.text == name_or_path:
        return []
    what = f"the tier calls itself {name.node.text!r}"
    why = f"its file is named {source.files[0].name}"
    return [Fault(name.node.origin, "name", "TUN-1112", what, why, f"name: {name_or_path}, or rename the file")]
