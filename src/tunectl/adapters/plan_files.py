"""Saved plans: one file each, found again by id, by the start of an id, or by path."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tunectl.core.errors import InputError, problem
from tunectl.core.plan import PoolPlan
from tunectl.core.plan_json import pool_plan_from_json, pool_plan_to_json

_LARGEST_FILE = 256 << 20


@dataclass(frozen=True)
class SavedPlan:
    """Where a plan was saved, and the SHA-256 of what it says."""

    path: Path
    sha256: str


def plans_folder(folder: Path) -> Path:
    """Return where the plans of a folder are kept."""
    return folder / ".tunectl" / "plans"


def save_plan(plan: PoolPlan, path: Path) -> SavedPlan:
    """Write a plan as a whole and return where.

    Sad paths: `InputError` TUN-1040 when it cannot be written.
    """
    document = pool_plan_to_json(plan)
    text = json.dumps(document, indent=1) + "\n"
    beside = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True) if beside.parent.is_dir() else None
        raise InputError(
            (
                problem(
                    "TUN-1040",
                    "the plan cannot be saved",
                    where=str(path),
                    why=error.strerror or str(error),
                    fix="name a place that can be written: --out FILE",
                ),
            )
        ) from error
    return SavedPlan(path, str(document["sha256"]))


def load_plan(reference: str, folder: Path) -> PoolPlan:
    """Return the plan that a path, an id or the start of an id names.

    Sad paths: `InputError` TUN-1041 when there is none or several, TUN-1042 when it is no JSON, those of
    `pool_plan_from_json`.
    """
    path = _find(reference, folder)
    return pool_plan_from_json(_read(path), str(path))


def saved_ids(folder: Path) -> list[str]:
    """Return the ids of the plans saved in a folder, the newest first."""
    try:
        files = list(plans_folder(folder).glob("*.json"))
        return [path.stem for path in sorted(files, key=lambda path: -path.stat().st_mtime)]
    except OSError:
        return []


def _find(reference: str, folder: Path) -> Path:
    if "/" in reference or reference.endswith(".json") or Path(reference).is_file():
        return Path(reference)
    known = saved_ids(folder)
    found = [one for one in known if one == reference] or [one for one in known if one.startswith(reference)]
    if len(found) == 1:
        return plans_folder(folder) / f"{found[0]}.json"
    shown = ", ".join(found[:6] or known[:6])
    raise InputError(
        (
            problem(
                "TUN-1041",
                f"{reference!r} names {len(found)} plans" if found else f"there is no plan {reference!r}",
                where=str(plans_folder(folder)),
                why=f"it has {shown}" if shown else "no plan was saved in this folder",
                fix="name one of them" if shown else "tunectl plan --tier TIER saves one",
            ),
        )
    )


def _read(path: Path) -> Any:
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise _unreadable(path, "it is larger than 256 MiB")
        return json.loads(path.read_bytes())
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    except (ValueError, RecursionError) as error:
        raise _unreadable(path, f"it is not JSON: {error}") from error


def _unreadable(path: Path, why: str) -> InputError:
    fix = "make it again with tunectl plan"
    return InputError((problem("TUN-1042", "the plan cannot be read", where=str(path), why=why, fix=fix),))
