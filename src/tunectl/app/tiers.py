"""Tiers as files: list, show, check, compare, begin a new one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tunectl.core.errors import InputError, problem
from tunectl.core.tier import TIER_API_VERSION, Tier
from tunectl.core.tier_data import tier_data, tier_values
from tunectl.core.tier_forms import Refusal
from tunectl.core.tier_names import TIER_NAME
from tunectl.planning.paths import tiers_dir
from tunectl.planning.tier_chain import read_source
from tunectl.planning.tier_file import load_tier
from tunectl.planning.tier_lookup import find_tier, is_path, read_text, shown_path, tier_files
from tunectl.planning.tier_text import scalar, tier_text

# Names and texts differ between any two tiers; a comparison is about what they do.
_IDENTITY = ("name", "summary")

_STARTER_FRESH = """\
# Say here what the nodes of this tier are for. Every key is optional; `tunectl schema tier` lists them all.
apiVersion: {version}
kind: Tier
name: {name}
summary: {summary}

cpu:
  # How many CPUs the system keeps for itself; the rest is for workloads. A list such as "0-3,64-67" works too.
  reserved:
    count: 10%
    spread: numa

kubelet:
  # Guaranteed pods that ask for whole CPUs own them.
  cpu_manager_policy: static
  # none, best-effort, restricted or single-numa-node: how strictly a pod keeps to one NUMA node.
  topology_manager_policy: best-effort

# sysctl:
#   vm.swappiness: 10
"""

_STARTER_EXTENDING = """\
# Say here what is different from {base}, and why. Everything else is as there;
# `tunectl tier show {base}` prints it, and null gives a key its default back.
apiVersion: {version}
kind: Tier
name: {name}
summary: {summary}
extends: {extends}

# Its own pool: a node belongs to one pool, and two tiers on one pool would undo each other.
pool: {name}
"""

_STARTER_OBJECTS = """
# Its own objects: with the same names or labels the two tiers would fight over one of them.
openshift:
"""


@dataclass(frozen=True)
class TierEntry:
    """One tier in a list; `problems` counts the mistakes of a file that cannot be loaded."""

    name: str
    summary: str
    pool: str
    file: str
    extends: tuple[str, ...] = ()
    builtin: bool = False
    problems: int = 0


@dataclass(frozen=True)
class TierDifference:
    """One value that differs; None means that the tier does not set it."""

    path: str
    before: Any
    after: Any


def search_dirs(inventory: Path | None = None, folder: Path | None = None) -> tuple[Path, ...]:
    """Return where users keep tiers: `tiers/` beside the inventory, then `tiers/` of the folder."""
    here = folder or Path()
    beside = [] if inventory is None else [(inventory if inventory.is_dir() else inventory.parent) / "tiers"]
    return tuple(dict.fromkeys([*beside, here / "tiers"]))


def list_tiers(search: Sequence[Path]) -> list[TierEntry]:
    """Return every tier that can be named, by name; files with mistakes are listed with their number."""
    return [_entry(name, path, search) for name, path in sorted(tier_files(search).items())]


def _entry(name: str, path: Path, search: Sequence[Path]) -> TierEntry:
    builtin = path.parent == tiers_dir()
    try:
        chain = read_source(path, search).files
        tier = load_tier(name, search)
    except InputError as error:
        return TierEntry(name, "", "", shown_path(path), builtin=builtin, problems=len(error.problems))
    extends = tuple(one.stem for one in chain[1:])
    return TierEntry(name, tier.summary, tier.pool_name, shown_path(path), extends, builtin)


def raw_text(name_or_path: str, search: Sequence[Path]) -> str:
    """Return the text of a tier's file as it is, comments included."""
    return read_text(find_tier(name_or_path, search))


def effective_text(tier: Tier) -> str:
    """Return the text of a tier with all that it extends merged in, each value with its place."""
    return tier_text(tier)


def tier_document(tier: Tier) -> dict[str, Any]:
    """Return the tier as JSON data, with the place of every value."""
    origins = {path: str(origin) for path, origin in tier.origins.items() if origin.file}
    return {**tier_data(tier), "origins": origins}


def compare_tiers(before: Tier, after: Tier) -> list[TierDifference]:
    """Return the values that differ, by dotted path, in the order of the fields."""
    old, new = tier_values(before), tier_values(after)
    paths = [path for path in dict.fromkeys([*old, *new]) if path not in _IDENTITY]
    found = [TierDifference(path, old.get(path), new.get(path)) for path in paths]
    return [one for one in found if one.before != one.after]


def new_tier(name: str, extends: str, directory: Path, search: Sequence[Path]) -> Path:
    """Write a starter file for a tier and return its path.

    Shape: the file is `NAME.yaml` in `directory`, which is made; it loads as it is.
    Sad paths: `InputError` TUN-1212 for a name that cannot be one, TUN-1113 when the file is there already or cannot
    be written, and those of `load_tier` for a tier to extend that is not right itself.
    """
    try:
        TIER_NAME.parse(name)
    except Refusal as refusal:
        raise InputError((problem("TUN-1212", refusal.what, where="NAME", why=refusal.why),)) from None
    base = load_tier(extends, search) if extends else None
    written_as = extends
    if base is not None and is_path(extends):  # the file will look for it from where it lies itself
        written_as = os.path.join(os.path.relpath(Path(extends).parent, directory), Path(extends).name)  # noqa: PTH118  Path drops the leading ./
    path = directory / f"{name}.yaml"
    _write_new(path, _starter(name, written_as, base))
    return path


def _write_new(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as handle:
            handle.write(text)
    except FileExistsError:
        why, fix = "the file is there already", f"choose another name, or edit {path}"
    except OSError as error:
        why, fix = error.strerror or str(error), "name a directory that can be written: --dir DIR"
    else:
        return
    raise InputError((problem("TUN-1113", "the tier file was not written", where=str(path), why=why, fix=fix),))


def _starter(name: str, extends: str, base: Tier | None) -> str:
    if base is None:
        return _STARTER_FRESH.format(version=TIER_API_VERSION, name=scalar(name), summary=scalar(f"What {name} is for"))
    head = _STARTER_EXTENDING.format(
        version=TIER_API_VERSION,
        name=scalar(name),
        base=base.name,
        extends=scalar(extends),
        summary=scalar(f"Like {base.name}, but different"),
    )
    objects = _own_objects(name, base)
    return head + (_STARTER_OBJECTS + objects if objects else "")


def _own_objects(name: str, base: Tier) -> str:
    """Return the lines below `openshift` that keep a tier's objects apart from those of the tier it extends."""
    lines = [f"  name: {scalar(name)}"] if base.openshift.name else []
    if base.openshift.pool_labels:
        lines.append("  pool_labels:")
        lines += [f"    {scalar(key)}: {scalar(name)}" for key in base.openshift.pool_labels]
    if base.openshift.node_selector:
        selector = {f"node-role.kubernetes.io/{name}": '""', **dict.fromkeys(base.openshift.node_selector, "null")}
        lines.append("  node_selector:")
        lines += [f"    {scalar(key)}: {value}" for key, value in selector.items()]
    return "".join(line + "\n" for line in lines)
