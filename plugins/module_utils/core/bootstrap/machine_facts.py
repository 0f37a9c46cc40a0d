# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a snapshot for a bootstrap holds beside files: programs, names, clocks, room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..snapshot import Snapshot
from .places import LISTENING_FILES
from .version import Version, version_in

FACTS = "bootstrap"


@dataclass(frozen=True)
class Program:
    """A program of a machine. Shape: `path` is empty where there is none; `said` is what it answered."""

    path: str = ""
    said: str = ""
    version: Version | None = None


def facts(snapshot: Snapshot) -> Mapping[str, Any]:
    """Return the facts of a bootstrap, empty for a snapshot that was taken without them."""
    found = snapshot.facts.get(FACTS)
    return found if isinstance(found, Mapping) else {}


def exists(snapshot: Snapshot, path: str) -> bool:
    """Return whether a path was there, readable or not: credentials are looked for and never read."""
    return path in facts(snapshot).get("present", ()) or path in snapshot.files


def program(snapshot: Snapshot, name: str) -> Program:
    """Return what was found of a program."""
    found = facts(snapshot).get("programs", {}).get(name) or {}
    said = str(found.get("said", ""))
    return Program(str(found.get("path", "")), said, version_in(said))


def listening(snapshot: Snapshot) -> frozenset[int] | None:
    """Return the TCP ports that something listens on, None when nobody could look.

    Source: kernel networking/proc_net_tcp; state 0A is LISTEN.
    """
    texts = [snapshot.files[path] for path in LISTENING_FILES if path in snapshot.files]
    if not texts:
        return None
    rows = [line.split() for text in texts for line in text.splitlines()]
    return frozenset(
        int(row[1].rpartition(":")[2], 16)
        for row in rows
        if len(row) > 3 and row[3] == "0A"  # noqa: PLR2004
    )


def clock_offset(snapshot: Snapshot) -> tuple[float, float] | None:
    """Return between which bounds the machine's clock is ahead of the controller's, in seconds; None if unknown."""
    epoch, asked = facts(snapshot).get("epoch"), facts(snapshot).get("asked_between")
    if not isinstance(epoch, (int, float)) or not isinstance(asked, Sequence) or len(asked) != 2:  # noqa: PLR2004
        return None
    return float(epoch) - float(asked[1]), float(epoch) - float(asked[0])
