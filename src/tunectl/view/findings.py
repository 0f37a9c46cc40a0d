"""Findings for people: each with its sign and word, what it says, why it matters, what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tunectl.core.findings import Finding, Severity, Verdict, count_verdicts
from tunectl.view.screen import Screen
from tunectl.view.table import labelled

VERDICTS = {
    Verdict.PASS: ("✓ pass", "good"),
    Verdict.FAIL: ("✗ FAIL", "bad"),
    Verdict.UNKNOWN: ("? unknown", "attention"),
    Verdict.NOT_APPLICABLE: ("- n/a", "dim"),
}

_SEVERITIES = {
    Severity.CRITICAL: ("✗ critical", "bad"),
    Severity.WARNING: ("! warning", "attention"),
    Severity.INFO: ("· note", "dim"),
}
_ORDER = (Verdict.FAIL, Verdict.UNKNOWN, Verdict.NOT_APPLICABLE, Verdict.PASS)


def by_weight(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings by verdict, failures first, then by severity; equal ones keep their order."""
    severities = list(Severity)
    return sorted(findings, key=lambda one: (_ORDER.index(one.verdict), severities.index(one.severity)))


def merged(findings: Sequence[Finding]) -> list[tuple[Finding, tuple[str, ...]]]:
    """Return findings that say the same of several subjects once, with the subjects."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for one in findings:
        groups.setdefault((one.id, one.verdict, one.message, one.expected, one.actual, one.remedy), []).append(one)
    return [(group[0], tuple(dict.fromkeys(one.subject for one in group))) for group in groups.values()]


def findings_lines(findings: Iterable[Finding], screen: Screen) -> list[str]:
    """Return the findings of a plan: what is not right, the heaviest first; nothing when all is."""
    open_ones = [one for one in findings if one.verdict in (Verdict.FAIL, Verdict.UNKNOWN)]
    lines: list[str] = []
    for finding, subjects in merged(by_weight(open_ones)):
        sign, role = _SEVERITIES[finding.severity] if finding.verdict is Verdict.FAIL else VERDICTS[finding.verdict]
        lines.append(f"{screen.paint(screen.text(sign), role)}   {screen.paint(finding.id, 'strong')}")
        lines += explanation(finding, subjects, screen)
    return lines


def explanation(finding: Finding, subjects: Sequence[str], screen: Screen) -> list[str]:
    """Return what a finding says, why it matters and what to do, each beside its label."""
    parts = [
        ("what", finding.message),
        ("on", ", ".join(subjects)),
        ("why", finding.why),
        ("fix", finding.remedy),
        ("asked in", str(finding.asked_in)),
    ]
    return [line for label, text in parts if text for line in labelled(label, text, screen, 4, 10)]


def totals_line(findings: Iterable[Finding], screen: Screen) -> str:
    """Return the number of findings of each verdict."""
    counts = count_verdicts(findings)
    parts = [
        (f"✓ {counts[Verdict.PASS]} pass", "good"),
        (f"✗ {counts[Verdict.FAIL]} fail", "bad" if counts[Verdict.FAIL] else "dim"),
        (f"? {counts[Verdict.UNKNOWN]} unknown", "attention" if counts[Verdict.UNKNOWN] else "dim"),
        (f"- {counts[Verdict.NOT_APPLICABLE]} not applicable", "dim"),
    ]
    return screen.text("   ".join(screen.paint(text, role) for text, role in parts))
