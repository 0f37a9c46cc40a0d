"""A verification for people and programs: failures first, then totals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tunectl.app.verify import NodeReport, Verification
from tunectl.core.findings import Finding, Verdict, count_verdicts
from tunectl.core.jsonform import to_json
from tunectl.view.envelope import Result
from tunectl.view.findings import VERDICTS, by_weight, explanation, merged, totals_line
from tunectl.view.junit import findings_junit
from tunectl.view.plan import place_text, readable
from tunectl.view.quantities import duration_text, plural
from tunectl.view.screen import Screen
from tunectl.view.table import Cell, Column, labelled, table_lines

_OPEN = (Verdict.FAIL, Verdict.UNKNOWN)
_MOST_EXPLAINED = 5
_MOST_NAMED = 4
_WIDE = 110


def report_text(report: Verification, screen: Screen, duration_s: float, *, verbose: bool = False) -> str:
    """Return the report: one table of what is not right (all checks with `verbose`), why and fix, totals."""
    shown = report.findings if verbose else [one for one in report.findings if one.verdict in _OPEN]
    rows = merged(by_weight(shown))
    lines = [_headline(report, screen, duration_s), ""]
    lines += _table(report, rows, screen)
    lines += _explained([row for row in rows if row[0].verdict in _OPEN], screen, verbose=verbose)
    lines += ["", *_node_lines(report, screen)] if rows else _node_lines(report, screen)
    return "\n".join([*lines, "", _totals(report, screen)]) + "\n"


def _explained(rows: Sequence[tuple[Finding, tuple[str, ...]]], screen: Screen, *, verbose: bool) -> Iterator[str]:
    """Yield why and fix of the heaviest rows; of many, the ways out that the others have in common."""
    few = rows if verbose or len(rows) <= _MOST_EXPLAINED + 1 else rows[:_MOST_EXPLAINED]
    for finding, subjects in few:
        yield ""
        yield "  " + screen.paint(f"{finding.id} on {_subjects(subjects, 4)}", "strong")
        yield from explanation(finding, subjects if len(subjects) > _MOST_NAMED else (), screen)
    rest = rows[len(few) :]
    if not rest:
        return
    yield ""
    yield f"  {len(rest)} more are not right (-v explains them)"
    for remedy in dict.fromkeys(finding.remedy for finding, _ in rest if finding.remedy):
        count = sum(finding.remedy == remedy for finding, _ in rest)
        yield from labelled("fix", f"{plural(count, 'check')}: {remedy}", screen, 4, 10)


def _headline(report: Verification, screen: Screen, duration_s: float) -> str:
    counts = sorted({len(node.findings) for node in report.nodes}) or [0]
    each = plural(counts[0], "check") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} checks"
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
        Column("CHECK", elastic=True, least=34),
        Column("NODE", elastic=True, least=9),
        Column("WANTED", elastic=True, least=10),
        Column("FOUND", elastic=True, least=10),
    ]
    cells = [_row(report, *row) for row in rows]
    if screen.width >= _WIDE:  # elsewhere the explanation has it
        columns.append(Column("ASKED IN", elastic=True, least=12))
        cells = [[*row, place_text(finding.asked_in)] for row, (finding, _) in zip(cells, rows, strict=True)]
    return table_lines(columns, cells, screen)


def _row(report: Verification, finding: Finding, subjects: tuple[str, ...]) -> list[str | Cell]:
    text, role = VERDICTS[finding.verdict]
    if finding.verdict is Verdict.FAIL and not report.counts_against(finding):
        text, role = "✗ known", "dim"
    found = finding.actual or ("" if finding.verdict is Verdict.PASS else finding.message)
    return [Cell(text, role), finding.id, _subjects(subjects, 1), readable(finding.expected), readable(found)]


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
