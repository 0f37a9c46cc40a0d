# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Statements of checks: verdict, evidence, remedy. One value for planner, verify and every report format."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """Four verdicts, never fewer; `UNKNOWN` means that nobody could look and never counts as pass."""

    PASS = "pass"  # noqa: S105
    FAIL = "fail"
    UNKNOWN = "unknown"
    NOT_APPLICABLE = "not_applicable"


class Severity(Enum):
    """How bad a failing check is. `CRITICAL` findings of a plan refuse it."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True)
class Origin:
    """Where a value was asked for: file, and line and column counted from 1 (0 = unknown)."""

    file: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """Return `file:line:column`, as much of it as is known."""
        parts = [self.file] + [str(number) for number in (self.line, self.column) if number]
        return ":".join(part for part in parts if part)


@dataclass(frozen=True)
class Evidence:
    """What was read, and where: a file below the node's root and the text that counts."""

    file: str
    text: str


@dataclass(frozen=True)
class Finding:
    """A check's statement about one subject.

    Shape: `id` is stable and dotted (`cpu.siblings.split`); `subject` is a node, pool or tier name;
    `expected` and `actual` are short texts; `setting` is the id of the setting it judges, where there is one.
    """

    id: str
    verdict: Verdict
    severity: Severity
    subject: str
    message: str
    expected: str = ""
    actual: str = ""
    why: str = ""
    remedy: str = ""
    evidence: tuple[Evidence, ...] = ()
    asked_in: Origin = Origin()
    setting: str = ""

    @property
    def blocks(self) -> bool:
        """Whether a plan with this finding must be refused."""
        return self.verdict is Verdict.FAIL and self.severity is Severity.CRITICAL


def count_verdicts(findings: Iterable[Finding]) -> dict[Verdict, int]:
    """Return how many findings have each verdict; every verdict is a key."""
    counts = dict.fromkeys(Verdict, 0)
    for finding in findings:
        counts[finding.verdict] += 1
    return counts
