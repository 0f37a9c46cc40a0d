# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The findings of a preflight: their reason and standard remedy come from the catalogue."""

from __future__ import annotations

from ..check_catalogue import CHECKS
from ..findings import Evidence, Finding, Severity, Verdict


def statement(  # noqa: PLR0913  the parts of a finding
    check: str,
    verdict: Verdict,
    node: str,
    message: str,
    *,
    expected: str = "",
    actual: str = "",
    remedy: str = "",
    evidence: tuple[Evidence, ...] = (),
    severity: Severity = Severity.CRITICAL,
) -> Finding:
    """Return a finding whose reason and standard remedy come from the catalogue."""
    document = CHECKS[check]
    is_open = verdict in (Verdict.FAIL, Verdict.UNKNOWN)
    return Finding(
        check,
        verdict,
        severity,
        node,
        message,
        expected,
        actual,
        document.why,
        (remedy or document.remedy) if is_open else "",
        evidence,
    )
