# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Tier files: found by name, read with their places, laid on the tiers they extend."""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..core.errors import InputError, Problem, problem
from ..core.findings import Origin
from ..core.tier import Tier
from ..core.tier_forms import did_you_mean, nearest
from ..core.tier_overrides import override_tree
from ..core.tier_schema import decode_tier, header_faults, same_key
from ..core.tier_tree import IDENTITY, Entries, Fault, Leaf, Node, find, merge_maps, without
from .paths import tiers_dir
from .yaml_tree import YamlError, read_tree

_ENDINGS = (".yaml", ".yml")
_LARGEST_FILE = 1 << 20


@dataclass(frozen=True)
class TierSource:
    """A tier file and the files it extends, nearest first; `tree` is all of them merged."""

    files: tuple[Path, ...]
    tree: Node
    faults: tuple[Fault, ...] = ()


def load_tier(name_or_path: str, search: Sequence[str | Path] = (), overrides: Mapping[str, Any] | None = None) -> Tier:
    """Return the tier of that name or in that file, with what it extends merged in.

    Shape: text with a slash or ending in .yaml or .yml is a path; a name is looked up in the directories of `search`,
    in order, then among the built-in tiers. `overrides` are values set over it by dotted path, JSON data.
    Sad paths: `InputError` with every mistake of the file, each with file:line:column (TUN-11xx to TUN-13xx).
    """
    source = read_source(find_tier(name_or_path, search), search)
    faults = (*source.faults, *_name_faults(name_or_path, source))
    tree = source.tree
    if overrides and isinstance(tree, Entries):
        tree = replace(merge_maps(tree, override_tree(overrides), same_key), origin=tree.origin)
    return decode_tier(tree, faults)


def _is_path(name_or_path: str) -> bool:
    return "/" in name_or_path or name_or_path.endswith(_ENDINGS)


def _name_faults(name_or_path: str, source: TierSource) -> list[Fault]:
    """Return a fault when a file found by its name calls itself differently: reports would name another tier."""
    name = find(source.tree, "name")
    if _is_path(name_or_path) or name is None or not isinstance(name.node, Leaf) or name.node.text == name_or_path:
        return []
    what = f"the tier calls itself {name.node.text!r}"
    why = f"its file is named {source.files[0].name}"
    return [Fault(name.node.origin, "name", "TUN-1112", what, why, f"name: {name_or_path}, or rename the file")]


def find_tier(name_or_path: str, search: Sequence[str | Path] = ()) -> Path:
    """Return the file of a tier; raises `TUN-1109` with the nearest name and the list for a name that is unknown."""
    if _is_path(name_or_path):
        return Path(name_or_path)
    known = tier_files(search)
    if name_or_path in known:
        return known[name_or_path]
    hint = did_you_mean(name_or_path, known)
    raise InputError(
        (
            problem(
                "TUN-1109",
                f"there is no tier {name_or_path!r}",
                where=", ".join(str(directory) for directory in _directories(search)),
                why=f"known tiers: {', '.join(sorted(known))}",
                fix=hint or f"tunectl tier new {name_or_path}" if nearest(name_or_path, known) else "tunectl tier list",
            ),
        )
    )


def tier_files(search: Sequence[str | Path] = ()) -> dict[str, Path]:
    """Return the files of all tiers that can be named, by name; directories of `search` win over the built-in ones."""
    found: dict[str, Path] = {}
    for directory in _directories(search):
        for ending in _ENDINGS:
            for path in sorted(directory.glob(f"*{ending}")) if directory.is_dir() else []:
                found.setdefault(path.stem, path)
    return found


def _directories(search: Sequence[str | Path]) -> list[Path]:
    return [*(Path(directory) for directory in search), tiers_dir()]


def read_source(path: Path, search: Sequence[str | Path] = ()) -> TierSource:
    """Return a tier file laid on all that it extends.

    Sad paths: `InputError` for a file that cannot be read or is no YAML (TUN-1101, TUN-1105, TUN-1107), for a tier
    that does not exist (TUN-1109) and for tiers that extend each other in a ring (TUN-1110).
    """
    return _read_chain(path, search, ())


def _read_chain(path: Path, search: Sequence[str | Path], below: tuple[Path, ...]) -> TierSource:
    tree, faults = _read_file(path)
    here = (*below, path)
    base = find(tree, "extends")
    if base is None or not isinstance(tree, Entries) or (isinstance(base.node, Leaf) and base.node.kind == "null"):
        return TierSource((path,), tree, tuple(faults))
    if not isinstance(base.node, Leaf) or base.node.kind != "str":
        fault = Fault(base.node.origin, "extends", "TUN-1103", "extends takes the name or the file of one tier")
        return TierSource((path,), tree, (*faults, fault))
    parent = _base_path(path, base.node, search)
    if any(_same_file(parent, one) for one in here):
        chain = " -> ".join(str(one) for one in (*here, parent))
        raise InputError((_at(base.node.origin, "TUN-1110", "tiers extend each other in a ring", chain),))
    source = _read_chain(parent, search, here)
    merged = merge_maps(without(_entries(source.tree), IDENTITY), tree, same_key)
    above = header_faults(_entries(source.tree)) if isinstance(source.tree, Entries) else []
    return TierSource((path, *source.files), merged, (*faults, *source.faults, *above))


def _entries(tree: Node) -> Entries:
    return tree if isinstance(tree, Entries) else Entries(())


def _base_path(path: Path, base: Leaf, search: Sequence[str | Path]) -> Path:
    """Return the file that `extends` names; a tier never extends itself by name, so its own file is passed over."""
    try:
        found = find_tier(base.text, search)
    except InputError as error:
        first = error.problems[0]
        raise InputError((replace(first, where=str(base.origin), path="extends"),)) from None
    if _is_path(base.text):
        return path.parent / found
    builtin = tiers_dir() / f"{base.text}.yaml"
    return builtin if _same_file(found, path) and builtin.is_file() else found


def _same_file(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


def _read_file(path: Path) -> tuple[Node, list[Fault]]:
    try:
        return read_tree(read_text(path), shown_path(path))
    except YamlError as error:
        raise InputError((error.fault.to_problem(),)) from error


def read_text(path: Path) -> str:
    """Return the text of a file; raises `TUN-1101` naming it when it is missing, no file, too large or not UTF-8."""
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            kind = "a directory" if stat.S_ISDIR(mode) else "not a regular file"
            raise InputError((_unreadable(path, f"it is {kind}", "name a file"),))
        if path.stat().st_size > _LARGEST_FILE:
            raise InputError((_unreadable(path, "it is larger than 1 MiB", "is this really a tier file?"),))
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        why = f"byte {error.start} is not UTF-8"
        raise InputError((_unreadable(path, why, "save it as UTF-8"),)) from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputError((_unreadable(path, why, _near_file(path)),)) from error


def shown_path(path: Path) -> str:
    """Return how a tier file is named in messages and plans: `tiers/NAME.yaml` when built in, else as it was given."""
    builtin = tiers_dir()
    return f"{builtin.name}/{path.name}" if path.parent == builtin else str(path)


def _near_file(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir() if entry.suffix in _ENDINGS]
    except (OSError, ValueError):
        return ""
    name = nearest(path.name, names)
    return f"did you mean {str(path.parent / name)!r}?" if name else ""


def _unreadable(path: Path, why: str, fix: str) -> Problem:
    return problem("TUN-1101", "the tier file cannot be read", where=shown_path(path), why=why, fix=fix)


def _at(origin: Origin, code: str, what: str, why: str) -> Problem:
    return Problem(code, what, str(origin), why, "let one of them stand on its own", "extends")
