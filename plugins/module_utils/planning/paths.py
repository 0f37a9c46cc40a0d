# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Where the collection's own data lies: in a checkout, in an installed collection, inside the wheel."""

from __future__ import annotations

from pathlib import Path

from ..core.errors import FailedError, problem

_IN_WHEEL = Path("_collections", "ansible_collections", "tunectl", "node")
# One of them is at the root of every collection: the first in a checkout, the second once it is installed.
_MARKS = ("galaxy.yml", "MANIFEST.json")


def collection_root(start: Path | None = None) -> Path:
    """Return the root directory of the collection `tunectl.node` that this file belongs to.

    Shape: `start` is the file to start from, this one by default.
    Sad paths: `TUN-9001` when there is none, which means a broken installation.
    """
    here = (start or Path(__file__)).resolve()
    candidates = [parent / _IN_WHEEL for parent in here.parents[:2]] + list(here.parents[:4])
    for candidate in candidates:
        if (candidate / "tiers").is_dir() and any((candidate / mark).is_file() for mark in _MARKS):
            return candidate
    raise FailedError(
        (
            problem(
                "TUN-9001",
                "the collection tunectl.node is not complete",
                where=str(here.parent),
                why="no directory above it has galaxy.yml or MANIFEST.json beside tiers/",
                fix="install tunectl again",
            ),
        )
    )


def tiers_dir() -> Path:
    """Return the directory of the built-in tiers."""
    return collection_root() / "tiers"


def schemas_dir() -> Path:
    """Return the directory of the published JSON schemas, one folder for each version."""
    return collection_root() / "schemas"


def templates_dir() -> Path:
    """Return the directory of the templates."""
    return collection_root() / "templates"


def machines_dir() -> Path:
    """Return the directory of the described machines."""
    return collection_root() / "machines"
