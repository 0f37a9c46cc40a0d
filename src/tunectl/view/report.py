"""A verification for people and programs: failures first, then totals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tunectl.app.verify import NodeReport, Verification
from tunectl.core.findings import Finding, Verdict, count_verdicts
from tunectl.core.jsonform import to_json
from tunectl.view.envelope import Result
from tunectl.view.findings import VERDICTS, by_weight, explanation, merged, totals_line
from tunectl.view.junit import findings_junit
from tunectl.view.quantities import duration_text, plural
from tunectl.view.screen import Screen
from tunectl.view.table import Cell, Column, Row, table_lines

_OPEN = (Verdict.FAIL, Verdict.UNKNOWN)


def report_text(report: Verification, screen: Screen, duration_s: float, *, verbose: bool = False) -> str:
    """Return the report: one table of what is not right (all checks with `verbose`), why and fix, totals."""
    shown = report.findings if verbose else [one for one in report.findings if one.verdict in _OPEN]
    rows = merged(by_weight(shown))
    lines = [_headline(report, screen, duration_s), ""]
    lines += _table(report, rows, screen)
    for finding, subjects in rows:
        if finding.verdict in _OPEN:
            title = f"{finding.id} on {_subjects(subjects, 4)}"
            lines += ["", "  " + screen.paint(title, "strong"), *explanation(finding, subjects, screen)]
    lines += ["", *_node_lines(report, screen)] if not verbose else []
    return "\n".join([*lines, "", _totals(report, screen)]) + "\n"


def _headline(report: Verification, screen: Screen, duration_s: float) -> str:
    checks = {len(node.findings) for node in report.nodes}
    each = (
        f"{checks.pop()} checks" if len(checks) == 1 else f"{min(checks, default=0)} to {max(checks, default=0)} checks"
    )
    each += " each" if len(report.nodes) > 1 else ""
    text = f"tier {report.tier}, {plural(len(report.nodes), 'node')}, {each}, {duration_text(duration_s)}"
    label = "simulated" if report.simulated else ""
    gap = max(3, screen.width - len(text) - len(label)) if label else 0
    return screen.paint(text, "strong") + " " * gap + screen.paint(label, "attention")


def _subjects(subjects: Sequence[str], most: int) -> str:
    return ", ".join(subjects) if len(subjects) <= most else f"{len(subjects)} nodes"


def _table(report: Verification, rows: Sequence[tuple[Finding, tuple[str, ...]]], screen: Screen) -> list[str]:
    if not rows:
        return []
    columns = [
        Column("RESULT"),
        Column("CHECK", elastic=True),
        Column("NODE", elastic=True),
        Column("WANTED", elastic=True),
        Column("FOUND", elastic=True),
        Column("ASKED IN", elastic=True),
    ]
    return table_lines(columns, [_row(report, *row) for row in rows], screen)


def _row(report: Verification, finding: Finding, subjects: tuple[str, ...]) -> Row:
    text, role = VERDICTS[finding.verdict]
    if finding.verdict is Verdict.FAIL and not report.counts_against(finding):
        text, role = "✗ known", "dim"
    asked = finding.asked_in
    place = f"{asked.file.rsplit('/', 1)[-1]}:{asked.line}" if asked.line else asked.file
    return [
        Cell(text, role),
        finding.id,
        _subjects(subjects, 1),
        finding.expected,
        finding.actual or finding.message,
        place,
    ]


def _node_lines(report: Verification, screen: Screen) -> list[str]:
    width = max((len(node.node) for node in report.nodes), default=0)
    return [_node_line(node, width, screen) for node in report.nodes]


def _node_line(node: NodeReport, width: int, screen: Screen) -> str:
    good, total = node.count(Verdict.PASS), len(node.findings) - node.count(Verdict.NOT_APPLICABLE)
    failed, unknown = node.count(Verdict.FAIL), node.count(Verdict.UNKNOWN)
    sign, role = ("✗", "bad") if failed else ("?", "attention") if unknown else ("✓", "good")
    bar = _bar(good, total, screen)
    rest = [f"{failed} fail"] if failed else []
    rest += [f"{unknown} unknown"] if unknown else []
    return f"  {screen.paint(screen.text(sign), role)} {node.node.ljust(width)}  {bar}  {good}/{total}" + (
        "   " + ", ".join(rest) if rest else ""
    )


def _bar(good: int, total: int, screen: Screen, width: int = 20) -> str:
    # A bar is full only when everything is good: a failure among many must be seen.
    filled = width if good == total else min(width - 1, good * width // total) if total else 0
    return screen.paint(screen.text("━" * filled), "good") + screen.paint(screen.text("─" * (width - filled)), "bad")


def _totals(report: Verification, screen: Screen) -> str:
    return f"  {totals_line(report.findings, screen)}   exit {report.exit_code}"


def report_result(report: Verification) -> Result:
    """Return the machine form: one item a check and node."""
    counts = count_verdicts(report.findings)
    return Result(
        "Report",
        exit_code=report.exit_code,
        summary={
            "tier": report.tier,
            "pool": report.pool,
            "nodes": len(report.nodes),
            "pass": counts[Verdict.PASS],
            "fail": counts[Verdict.FAIL],
            "unknown": counts[Verdict.UNKNOWN],
            "notApplicable": counts[Verdict.NOT_APPLICABLE],
            "known": sum(one.verdict is Verdict.FAIL and not report.counts_against(one) for one in report.findings),
        },
        items=[_item(one, node) for node in report.nodes for one in node.findings],
        simulated=report.simulated,
    )


def _item(finding: Finding, node: NodeReport) -> dict[str, Any]:
    return {
        "check": finding.id,
        "verdict": finding.verdict.value,
        "level": finding.severity.value,
        "node": node.node,
        "simulated": node.simulated,
        "message": finding.message,
        "wanted": finding.expected,
        "found": finding.actual,
        "setting": finding.setting,
        "evidence": [to_json(evidence) for evidence in finding.evidence],
        "askedIn": to_json(finding.asked_in),
        "why": finding.why,
        "fix": finding.remedy,
    }


def report_junit(report: Verification) -> str:
    """Return the JUnit form: suite = node, case = check."""
    title = f"tunectl verify {report.tier}" + (" (simulated)" if report.simulated else "")
    return findings_junit(title, [(node.node, node.findings) for node in report.nodes])
