# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A run directory on the controller: who takes part, what was read, what is planned."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .core.errors import InputError, Problem, RefusedError, problem
from .core.findings import Finding
from .core.snapshot import Snapshot


def members(run_dir: Path) -> dict[str, Mapping[str, Any]]:
    """Return the hosts of `members.json` in their order; raises `InputError` (TUN-1505) when it is not there."""
    path = run_dir / "members.json"
    try:
        return dict(json.loads(path.read_text(encoding="utf-8"))["hosts"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError((_unreadable(path, error, "run the playbook tunectl.node.snapshot first"),)) from error


def snapshots(run_dir: Path, names: Iterable[str]) -> list[Snapshot]:
    """Return the snapshots of the hosts, in order; raises `InputError` (TUN-1505) naming each one that is missing."""
    found: list[Snapshot] = []
    problems: list[Problem] = []
    for name in names:
        path = run_dir / "snapshots" / f"{name}.json"
        try:
            found.append(Snapshot.from_json(json.loads(path.read_text(encoding="utf-8"))))
        except (OSError, ValueError, KeyError, TypeError) as error:
            problems.append(_unreadable(path, error, f"see why {name} could not be read, or leave it out"))
    if problems:
        raise InputError(tuple(problems))
    return found


def _unreadable(path: Path, error: Exception, fix: str) -> Problem:
    why = getattr(error, "strerror", None) or str(error)
    return problem("TUN-1505", "what was read from the nodes is not complete", where=str(path), why=why, fix=fix)


def refuse(code: str, findings: Iterable[Finding], what: str, state: str) -> None:
    """Raise `RefusedError` with one problem for each finding, its id in front of its message; nothing if none."""
    problems = tuple(
        problem(
            code,
            f"{finding.id}: {finding.message or what}",
            where=finding.subject,
            why=_why(finding),
            fix=finding.remedy,
        )
        for finding in findings
    )
    if problems:
        raise RefusedError(problems, state)


def _why(finding: Finding) -> str:
    parts = [f"wanted {finding.expected}, found {finding.actual}" if finding.expected or finding.actual else ""]
    return "; ".join(part for part in [*parts, finding.why] if part)
