# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A tier file laid on the tiers that it extends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import InputError
from ..core.findings import Origin
from ..core.tier_schema import header_faults, same_key
from ..core.tier_tree import IDENTITY, Entries, Fault, Leaf, Node, find, merge_maps, without
from .paths import tiers_dir
from .tier_lookup import find_tier, is_path, read_text, shown_path
from .yaml_tree import YamlError, read_tree


@dataclass(frozen=True)
class TierSource:
    """A tier file and the files it extends, nearest first; `tree` is all of them merged."""

    files: tuple[Path, ...]
    tree: Node
    faults: tuple[Fault, ...] = ()


def read_source(path: Path, search: Sequence[str | Path] = ()) -> TierSource:
    """Return a tier file laid on all that it extends.

    Shape: what is wrong with `extends` or above (TUN-1109 no such tier, TUN-1110 a ring, TUN-1101 no file) is among
    the faults, so that the file's own mistakes are told together with it.
    Sad paths: `InputError` when the file itself cannot be read or is no YAML (TUN-1101, TUN-1105, TUN-1107).
    """
    try:
        return _read_chain(path, search, ())
    except YamlError as error:
        raise InputError((error.fault.to_problem(),), state="Nothing was contacted.") from error


def _read_chain(path: Path, search: Sequence[str | Path], below: tuple[Path, ...]) -> TierSource:
    tree, faults = read_tree(read_text(path), shown_path(path))
    base = find(tree, "extends")
    alone = TierSource((path,), tree, tuple(faults))
    if base is None or not isinstance(tree, Entries) or (isinstance(base.node, Leaf) and base.node.kind == "null"):
        return alone
    if not isinstance(base.node, Leaf) or base.node.kind != "str":
        what = "extends takes the name or the file of one tier"
        return _with_fault(alone, Fault(base.node.origin, "extends", "TUN-1103", what))
    try:
        parent = _base_path(path, base.node.text, search)
        ring = [one for one in (*below, path) if one.resolve() == parent.resolve()]
        if ring:
            chain = " -> ".join(shown_path(one) for one in (*below, path, parent))
            what, fix = "tiers extend each other in a ring", "let one of them stand on its own"
            return _with_fault(alone, Fault(base.node.origin, "extends", "TUN-1110", what, chain, fix))
        source = _read_chain(parent, search, (*below, path))
    except YamlError as error:
        return _with_fault(alone, error.fault)
    except (InputError, OSError, ValueError) as error:
        return _with_fault(alone, _not_found(error, base.node.origin))
    return _laid_on(source, path, tree, tuple(faults))


def _with_fault(source: TierSource, fault: Fault) -> TierSource:
    return TierSource(source.files, source.tree, (*source.faults, fault))


def _not_found(error: Exception, origin: Origin) -> Fault:
    """Return why a base cannot be found or read, as a mistake of the file that names it."""
    if not isinstance(error, InputError):  # a path with a NUL byte, or a ring of symbolic links
        return Fault(origin, "extends", "TUN-1101", "the tier file cannot be read", str(error))
    first = error.problems[0]
    why = f"{first.where}: {first.why}" if first.code == "TUN-1101" else first.why
    return Fault(origin, "extends", first.code, first.what, why, first.fix)


def _laid_on(source: TierSource, path: Path, tree: Entries, faults: tuple[Fault, ...]) -> TierSource:
    if not isinstance(source.tree, Entries):
        fault = Fault(source.tree.origin, "", "TUN-1103", "a tier is a map of keys and values")
        return TierSource((path, *source.files), tree, (*faults, *source.faults, fault))
    merged = merge_maps(without(source.tree, IDENTITY), tree, same_key)
    return TierSource((path, *source.files), merged, (*faults, *source.faults, *header_faults(source.tree)))


def _base_path(path: Path, base: str, search: Sequence[str | Path]) -> Path:
    """Return the file that `extends` names: relative to the file that says it, or by name.

    A file that has the name of a built-in tier and extends that name means the built-in one, never itself.
    """
    found = find_tier(base, search)
    if is_path(base):
        return path.parent / found
    builtin = tiers_dir() / f"{base}.yaml"
    return builtin if found.resolve() == path.resolve() and builtin.is_file() else found
