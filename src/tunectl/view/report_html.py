"""A verification as a page."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from tunectl.app.verify import NodeReport, Verification
from tunectl.core.findings import Finding, Verdict, count_verdicts
from tunectl.view import html
from tunectl.view.findings import VERDICTS, by_weight, merged
from tunectl.view.quantities import plural

_OPEN = (Verdict.FAIL, Verdict.UNKNOWN)


def report_html(report: Verification, started_at: str) -> str:
    """Return the page: totals, what is not right with why and fix, then every check of every node."""
    subtitle = f"pool {report.pool}, {plural(len(report.nodes), 'node')}, {started_at}"
    body = [_totals(report), *_open(report), "<h2>Nodes</h2>", *(_node(node) for node in report.nodes)]
    return html.page(f"Verification of tier {report.tier}", subtitle, body, simulated=report.simulated)


def _totals(report: Verification) -> str:
    counts = count_verdicts(report.findings)
    words = {Verdict.PASS: "pass", Verdict.FAIL: "fail", Verdict.UNKNOWN: "unknown", Verdict.NOT_APPLICABLE: "n/a"}
    return html.tiles(
        [(str(count), words[verdict], VERDICTS[verdict][1] if count else "dim") for verdict, count in counts.items()]
    )


def _open(report: Verification) -> Iterator[str]:
    findings = [one for one in report.findings if one.verdict in _OPEN]
    if findings:
        yield "<h2>Not right</h2>"
    for finding, subjects in merged(by_weight(findings)):
        sign, role = VERDICTS[finding.verdict]
        yield f'<div class="card"><h3>{html.mark(sign, role)} {escape(finding.id)}</h3>'
        yield html.definitions(
            [
                ("what", finding.message),
                ("on", ", ".join(subjects)),
                ("wanted", finding.expected),
                ("found", finding.actual),
                *((f"read in {one.file}", one.text) for one in finding.evidence),
                ("asked in", str(finding.asked_in)),
                ("why", finding.why),
                ("fix", finding.remedy),
            ]
        )
        yield "</div>"


def _node(node: NodeReport) -> str:
    bad = node.count(Verdict.FAIL) + node.count(Verdict.UNKNOWN)
    state = html.mark(f"{bad} not right", "bad") if bad else html.mark("all right", "good")
    rows = [_row(finding) for finding in by_weight(node.findings)]
    inner = html.table(["Result", "Check", "Wanted", "Found", "Read in"], rows)
    label = " (simulated)" if node.simulated else ""
    opened = " open" if bad else ""
    return f"<details{opened}><summary>{escape(node.node)}{label}: {state}</summary>{inner}</details>"


def _row(finding: Finding) -> list[str]:
    places = ", ".join(dict.fromkeys(one.file for one in finding.evidence))
    return [
        html.mark(*VERDICTS[finding.verdict]),
        f'<span title="{escape(finding.why)}">{html.mono(finding.id)}</span>',
        html.mono(finding.expected),
        html.mono(finding.actual or finding.message),
        html.mono(places),
    ]
