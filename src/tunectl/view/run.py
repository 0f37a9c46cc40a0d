"""Runs for people and programs: the closing summary of apply and rollback, and the history."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from tunectl.app.apply import ApplyResult
from tunectl.app.rollback import RollbackResult
from tunectl.core.desired import Impact
from tunectl.core.errors import Problem
from tunectl.core.findings import Finding, Verdict, count_verdicts
from tunectl.core.jsonform import to_json
from tunectl.core.plan import PoolPlan
from tunectl.runs import NodeRun, Run
from tunectl.view.screen import Screen

SIMULATED = "simulated: reboots and kubelets are simulated here, no machine was touched"

_SIGNS = {
    "changed": "✓",
    "unchanged": "=",
    "failed": "✗",
    "undone": "✗",
    "refused": "✗",
    "unreachable": "?",
    "not started": "·",
}
_ROLES = {
    "changed": "good",
    "failed": "bad",
    "undone": "attention",
    "refused": "attention",
    "unreachable": "attention",
}


def changes_text(plan: PoolPlan) -> str:
    """Return the price of a plan as the start of a sentence: how many nodes, and what it does to them."""
    reboots = sum(1 for node in plan.changed if node.impact is Impact.REBOOT)
    count = len(plan.changed)
    what = f"This changes {count} {_plural('node', count)}"
    if reboots:
        what += (
            f" and reboots {reboots} of them" if reboots < count else f" and reboots {'it' if count == 1 else 'them'}"
        )
    return what + (" (simulated)" if any(node.simulated for node in plan.nodes) else "")


def apply_items(result: ApplyResult) -> list[dict[str, Any]]:
    """Return one object a node: what was done, and how its checks came out."""
    runs = {node.node: node for node in result.run.nodes} if result.run else {}
    items = []
    for node in result.plan.nodes:
        findings = [finding for finding in result.findings if finding.subject == node.node]
        item = _node_item(runs[node.node]) if node.node in runs else {"node": node.node, "state": "unchanged"}
        counts = {verdict.value: count for verdict, count in count_verdicts(findings).items()}
        bad = [to_json(finding) for finding in findings if finding.verdict in (Verdict.FAIL, Verdict.UNKNOWN)]
        items.append({**item, "simulated": node.simulated, "checks": counts, "findings": bad})
    return items


def node_items(run: Run) -> list[dict[str, Any]]:
    """Return one object a node of a run."""
    return [_node_item(node) for node in run.nodes]


def run_item(run: Run) -> dict[str, Any]:
    """Return a run without its nodes."""
    return {
        "run": run.id,
        "verb": run.verb,
        "tier": run.tier,
        "pool": run.pool,
        "plan": run.plan,
        "state": run.state,
        "exitCode": run.exit_code,
        "startedAt": run.started_at,
        "endedAt": run.ended_at,
        "of": run.of or None,
    }


def apply_text(result: ApplyResult, screen: Screen) -> str:
    """Return the closing summary of an apply, what failed first."""
    simulated = any(node.simulated for node in result.plan.nodes)
    lines: list[str] = []
    for node, problems in result.problems.items():
        lines += _problems(node, problems, screen)
    lines += _failing(result.findings, screen)
    if result.findings:
        lines.append(_checks(result.findings, screen))
    if result.run is None:
        lines.append(
            f"nothing to do: {len(result.plan.nodes)} {_plural('node', len(result.plan.nodes))} of pool "
            f"{result.plan.pool} already {'runs' if len(result.plan.nodes) == 1 else 'run'} tier {result.plan.tier}"
        )
    else:
        lines.append(_closing(result.run, result.state))
        undo = f"        Undo: tunectl rollback {result.run.id}" if _changed(result.run) else ""
        lines.append(f"Next: tunectl verify --tier {result.plan.tier}{undo}")
    if simulated:
        lines.append(screen.paint(SIMULATED, "dim"))
    return screen.text("\n".join(lines)) + "\n"


def rollback_text(result: RollbackResult, screen: Screen) -> str:
    """Return the closing summary of a rollback."""
    lines: list[str] = []
    for node, problems in result.problems.items():
        lines += _problems(node, problems, screen)
    names = [node.node for node in result.run.nodes if node.state in ("changed", "unchanged")]
    lines.append(_closing(result.run, result.state))
    if names:
        lines.append(f"{', '.join(names)}: as before run {result.of.id}")
    if any(snapshot.simulated for snapshot in result.snapshots):
        lines.append(screen.paint(SIMULATED, "dim"))
    return screen.text("\n".join(lines)) + "\n"


def history_text(runs: Sequence[Run], screen: Screen, *, detailed: bool = False) -> str:
    """Return the runs, newest last; with `detailed` also the nodes of each."""
    if not runs:
        return "no runs in this folder yet\n"
    header = f"{'RUN':>5}  {'VERB':<9} {'TIER':<20} {'STATE':<10} {'NODES':>5}  {'STARTED':<21} NOTE"
    lines = [screen.paint(header, "dim")]
    for run in runs:
        note = f"took back run {run.of}" if run.of else f"plan {run.plan[:8]}"
        state = f"{run.state:<10} {len(run.nodes):>5}  {run.started_at:<21}"
        lines.append(f"{run.id:>5}  {run.verb:<9} {run.tier:<20} {state} {note}")
        if detailed:
            lines += [
                f"         {_SIGNS.get(node.state, '·')} {node.node:<24} {node.state:<11} "
                f"generation {node.before} > {node.after}   {node.changes} changes"
                + ("   simulated" if node.simulated else "")
                for node in run.nodes
            ]
    return screen.text("\n".join(lines)) + "\n"


def _node_item(node: NodeRun) -> dict[str, Any]:
    return {
        "node": node.node,
        "state": node.state,
        "generation": node.after,
        "before": node.before,
        "changes": node.changes,
    }


def _problems(node: str, problems: Sequence[Problem], screen: Screen) -> list[str]:
    lines = []
    for problem in problems:
        lines.append(screen.paint("✗", "bad") + f" {node}: {problem.what} [{problem.code}]")
        where = problem.where if problem.where != node else ""
        parts = (("at ", where), ("why", problem.why), ("fix", problem.fix))
        lines += [f"    {label}  {text}" for label, text in parts if text]
    return lines


def _failing(findings: Sequence[Finding], screen: Screen) -> list[str]:
    lines = []
    for finding in findings:
        if finding.verdict is Verdict.FAIL:
            lines.append(screen.paint("✗ FAIL", "bad") + f"  {finding.subject}  {finding.id}: {finding.message}")
            lines += [f"        fix  {finding.remedy}"] if finding.remedy else []
    return lines


def _checks(findings: Sequence[Finding], screen: Screen) -> str:
    counts = count_verdicts(findings)
    parts = [
        screen.paint(f"✓ {counts[Verdict.PASS]} pass", "good"),
        screen.paint(f"✗ {counts[Verdict.FAIL]} fail", "bad" if counts[Verdict.FAIL] else "dim"),
        f"? {counts[Verdict.UNKNOWN]} unknown",
        f"- {counts[Verdict.NOT_APPLICABLE]} not applicable",
    ]
    return "verified   " + "   ".join(parts)


def _closing(run: Run, state: str) -> str:
    counts = {name: sum(1 for node in run.nodes if node.state == name) for name in _SIGNS}
    bad = counts["failed"] + counts["unreachable"]
    undone = f", {counts['undone']} undone" if counts["undone"] else ""
    refused = f", {counts['refused']} refused" if counts["refused"] else ""
    waiting = f", {counts['not started']} not started" if counts["not started"] else ""
    changed = f"{counts['changed']} {_plural('node', counts['changed'])} changed"
    kept = "   rollback point kept" if _changed(run) else ""
    return f"run {run.id} {state}   {changed}, {bad} failed{undone}{refused}{waiting}, {_took(run)}{kept}"


def _changed(run: Run) -> bool:
    """Whether the run left something that a rollback would take back."""
    return any(node.state == "changed" or node.after > node.before for node in run.nodes)


def _took(run: Run) -> str:
    try:
        begin, end = (datetime.fromisoformat(text) for text in (run.started_at, run.ended_at))
    except ValueError:
        return "unfinished"
    seconds = int((end - begin).total_seconds())
    return f"{seconds // 60}m{seconds % 60:02d}s" if seconds >= 60 else f"{seconds}s"  # noqa: PLR2004  a minute


def _plural(word: str, count: int) -> str:
    return word if count == 1 else word + "s"
