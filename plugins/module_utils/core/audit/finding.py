# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A finding about a pod: which field of which object it is about, and the edits that mend it."""

from __future__ import annotations

from dataclasses import dataclass

from ..check_catalogue import CHECKS
from ..findings import Finding, Severity, Verdict
from .edits import Edit
from .paths import Path, path_text
from .subject import Subject


@dataclass(frozen=True)
class PodFinding(Finding):
    """A finding about one object.

    Shape: `path` is the field in the object and `setting` its text; `container` is empty for the pod as a whole;
    `edits` mend it and are empty where only its author knows what is meant.
    """

    path: Path = ()
    container: str = ""
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class Says:
    """The words of one finding. A remedy of its own replaces that of the catalogue."""

    message: str
    expected: str = ""
    actual: str = ""
    remedy: str = ""
    container: str = ""
    edits: tuple[Edit, ...] = ()
    verdict: Verdict = Verdict.FAIL


def finding(check: str, severity: Severity, subject: Subject, path: Path, says: Says) -> PodFinding:
    """Return the finding of a check; reason and standard remedy come from the catalogue."""
    document = CHECKS[check]
    return PodFinding(
        id=check,
        verdict=says.verdict,
        severity=severity,
        subject=subject.title,
        message=says.message,
        expected=says.expected,
        actual=says.actual,
        why=document.why,
        remedy=says.remedy or document.remedy,
        asked_in=subject.place(path),
        setting=path_text(path),
        path=path,
        container=says.container,
        edits=says.edits,
    )
