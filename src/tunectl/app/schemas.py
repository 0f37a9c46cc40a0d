"""The published JSON schemas, by name."""

from __future__ import annotations

from pathlib import Path

from tunectl.core.errors import InputError, problem
from tunectl.core.tier_forms import did_you_mean
from tunectl.planning.paths import schemas_dir

_VERSION = "v1alpha1"


def _folder() -> Path:
    return schemas_dir() / _VERSION


def schema_names() -> list[str]:
    """Return the names of the schemas of the current version."""
    return sorted(path.stem for path in _folder().glob("*.json"))


def schema_text(name: str) -> str:
    """Return the text of a schema; raises `InputError` TUN-1006 with the nearest name for one that is unknown."""
    known = schema_names()
    if name in known:
        return (_folder() / f"{name}.json").read_text(encoding="utf-8")
    raise InputError(
        (
            problem(
                "TUN-1006",
                f"there is no schema {name!r}",
                where="NAME",
                why=f"one of: {', '.join(known)}",
                fix=did_you_mean(name, known) or "tunectl schema",
            ),
        )
    )
