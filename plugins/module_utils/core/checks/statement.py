# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Findings of the checks that look at a whole node: their reason and standard remedy come from the catalogue."""

from __future__ import annotations

from dataclasses import dataclass

from ..check_catalogue import CHECKS
from ..findings import Evidence, Finding, Origin, Severity, Verdict
from ..observed import ObservedState


@dataclass(frozen=True)
class Statement:
    """What one check says about one node."""

    message: str
    expected: str = ""
    actual: str = ""
    remedy: str = ""
    evidence: tuple[Evidence, ...] = ()
    asked_in: Origin = Origin()
    severity: Severity = Severity.CRITICAL


def finding(check: str, verdict: Verdict, observed: ObservedState, said: Statement) -> Finding:
    """Return the finding of a check. Only what is not right has a remedy."""
    document = CHECKS[check]
    is_open = verdict in (Verdict.FAIL, Verdict.UNKNOWN)
    return Finding(
        id=check,
        verdict=verdict,
        severity=said.severity,
        subject=observed.node,
        message=said.message,
        expected=said.expected,
        actual=said.actual,
        why=document.why,
        remedy=(said.remedy or document.remedy) if is_open else "",
        evidence=said.evidence,
        asked_in=said.asked_in,
    )


def verdict_of(good: bool) -> Verdict:  # noqa: FBT001  a truth value is what it turns into a verdict
    """Return pass or fail."""
    return Verdict.PASS if good else Verdict.FAIL
