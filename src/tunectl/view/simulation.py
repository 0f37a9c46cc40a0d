"""What the kubelet will do with pods: for people, for programs, as a page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape as _escape
from typing import Any

from tunectl.app.simulate import Simulated
from tunectl.core.cpuset import CpuSet
from tunectl.core.jsonform import to_json
from tunectl.core.kubelet.simulation import Outcome, Placement
from tunectl.planning.manifests import Manifests
from tunectl.view.cpumap import Legend, map_cpus
from tunectl.view.cpumap_svg import map_svg
from tunectl.view.cpumap_text import map_text
from tunectl.view.envelope import Result
from tunectl.view.html import page, table
from tunectl.view.quantities import plural
from tunectl.view.screen import Screen
from tunectl.view.table import Cell, Column, labelled, table_lines

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_COLOURS = 6
_MOST_NAMED = 12
_MOST_ROWS = 40


class _PodRoles:
    """Colours CPUs by the pod that has them to itself."""

    def __init__(self, run: Simulated) -> None:
        self._owner: dict[int, str] = {}
        self.legend: dict[str, tuple[str, str]] = {}
        number = 0
        for outcome in run.result.outcomes:
            cpus = [cpu for placement in outcome.placements for cpu in placement.cpus]
            if not cpus:
                continue
            role = f"pod{number % _COLOURS}" if number < _COLOURS else f"pod{number % _COLOURS}.{number}"
            self.legend[role] = (_LETTERS[number % len(_LETTERS)], outcome.pod)
            self._owner.update(dict.fromkeys(cpus, role))
            number += 1
        self._reserved = run.result.reserved
        self._offlined = run.target.partition.offlined

    def role_of(self, cpu: int) -> str:
        """Return the role of a CPU."""
        if cpu in self._owner:
            return self._owner[cpu]
        if cpu in self._reserved:
            return "reserved"
        return "offlined" if cpu in self._offlined else "shared"


def _legend(roles: _PodRoles) -> Legend:
    named = list(roles.legend.items())
    shown = dict(named)
    if len(named) > _MOST_NAMED:
        shown = {
            role: (letter, "") if index >= _MOST_NAMED else (letter, name)
            for index, (role, (letter, name)) in enumerate(named)
        }
    return {
        "reserved": ("R", "reserved"),
        **shown,
        "shared": ("·", "shared pool"),
        "offlined": ("x", "offlined"),
    }


def simulation_result(runs: Sequence[Simulated], manifests: Manifests) -> Result:
    """Return the document: one item a tier and machine."""
    refused = sum(len(run.result.refused) for run in runs)
    trouble = any(run.result.trouble for run in runs)
    killed = sum(len(run.result.killed or ()) for run in runs)
    return Result(
        "Simulation",
        exit_code=3 if refused or trouble or killed else 0,
        summary={
            "pods": sum(len(run.result.outcomes) for run in runs),
            "admitted": sum(len(run.result.outcomes) for run in runs) - refused,
            "refused": refused,
            "killedAtRestart": killed,
            "skippedObjects": [name for name, _ in manifests.skipped],
        },
        items=[_item(run) for run in runs],
        simulated=True,
    )


def _item(run: Simulated) -> dict[str, Any]:
    result = run.result
    return {
        "tier": run.tier,
        "node": run.target.name,
        "cpus": len(result.planned.machine.cpus),
        "numaNodes": len(result.planned.machine.nodes),
        "kubelet": dict(run.target.kubelet),
        "reserved": str(result.reserved),
        "sharedPool": str(result.shared),
        "trouble": result.trouble or None,
        "killedAtRestart": None
        if result.killed is None
        else [{"pod": name, "reason": reason} for name, reason in result.killed],
        "outcomes": [to_json(outcome) for outcome in result.outcomes],
    }


def simulation_text(runs: Sequence[Simulated], manifests: Manifests, screen: Screen) -> str:
    """Return the outcomes of each run: the picture, a row a container, then why pods are refused."""
    lines: list[str] = []
    for run in runs:
        lines += [*_run_lines(run, screen), ""]
    if manifests.skipped:
        lines.append(f"skipped, because they make no pods: {', '.join(name for name, _ in manifests.skipped)}")
    lines.append(screen.paint("simulated: no kubelet was asked; the rules are those of Kubernetes 1.36", "dim"))
    return screen.text("\n".join(lines)) + "\n"


def _run_lines(run: Simulated, screen: Screen) -> list[str]:
    result = run.result
    machine = result.planned.machine
    head = f"tier {run.tier} on {run.target.name}: {len(machine.cpus)} CPUs, {plural(len(machine.nodes), 'NUMA node')}"
    lines = [screen.paint(head, "strong")]
    if result.trouble:
        return [*lines, *labelled("trouble", f"the kubelet does not start: {result.trouble}", screen)]
    roles = _PodRoles(run)
    lines += map_text(map_cpus(run.target.topology, roles, _legend(roles)), screen).splitlines()
    lines += ["", *_rows(result.outcomes, screen)]
    for outcome in result.refused:
        lines += ["", *_refusal_lines(outcome, screen)]
    lines += ["", *_closing(run, screen)]
    return lines


def _rows(outcomes: Sequence[Outcome], screen: Screen) -> list[str]:
    columns = [
        Column(""),
        Column("POD", elastic=True, least=12),
        Column("CONTAINER", elastic=True, least=9),
        Column("CPUS", elastic=True, least=14),
        Column("NUMA"),
        Column("MEMORY"),
        Column("SHARED", right=True),
    ]
    rows: list[list[str | Cell]] = []
    for outcome in outcomes:
        if not outcome.admitted:
            rows.append(
                [
                    Cell("✗", "bad"),
                    outcome.pod,
                    outcome.container or "-",
                    outcome.reason,
                    "-",
                    "-",
                    _count(outcome.shared),
                ]
            )
        rows += [_row(outcome, placement, first=index == 0) for index, placement in enumerate(outcome.placements)]
    shown = rows if len(rows) <= _MOST_ROWS else rows[:_MOST_ROWS]
    lines = table_lines(columns, shown, screen)
    return lines if len(rows) <= _MOST_ROWS else [*lines, f"  and {len(rows) - _MOST_ROWS} more (-o json has all)"]


def _row(outcome: Outcome, placement: Placement, *, first: bool) -> list[str | Cell]:
    cpus = f"{placement.cpus} ({len(placement.cpus)})" if placement.cpus else f"shared: {placement.why_shared}"
    return [
        Cell("✓", "good") if first else "",
        outcome.pod if first else "",
        placement.container,
        cpus,
        _nodes(placement.numa_nodes),
        _nodes(placement.memory_nodes),
        _count(outcome.shared) if first else "",
    ]


def _nodes(nodes: Sequence[int]) -> str:
    return ",".join(map(str, nodes)) or "-"


def _count(cpus: CpuSet) -> str:
    return str(len(cpus))


def _refusal_lines(outcome: Outcome, screen: Screen) -> list[str]:
    where = f"{outcome.pod}/{outcome.container}" if outcome.container else outcome.pod
    lines = [screen.paint("✗", "bad") + f" {where} is refused: {outcome.reason}"]
    lines += labelled("kubelet", outcome.message, screen, 4)
    for index, statement in enumerate(outcome.arithmetic):
        lines += labelled("numbers" if index == 0 else "", statement, screen, 4)
    for index, change in enumerate(outcome.changes):
        lines += labelled("admits it" if index == 0 else "or", change, screen, 4, 10)
    return lines


def _closing(run: Simulated, screen: Screen) -> list[str]:
    result = run.result
    admitted = len(result.outcomes) - len(result.refused)
    left = f"{result.shared or 'empty'} ({plural(len(result.shared), 'CPU')})"
    lines = [f"{plural(admitted, 'pod')} admitted, {len(result.refused)} refused; shared pool left: {left}"]
    if result.killed:
        lines.append(
            screen.paint(f"✗ a restart of the kubelet would kill {plural(len(result.killed), 'running pod')}:", "bad")
        )
        lines += [f"    {name}: {reason}" for name, reason in result.killed]
    elif result.killed is not None:
        lines.append("a restart of the kubelet re-admits every running pod")
    return lines


def comparison_text(runs: Sequence[Simulated], manifests: Manifests, screen: Screen) -> str:
    """Return two tiers side by side: a row a pod, what it gets under each."""
    by_node: dict[str, list[Simulated]] = {}
    for run in runs:
        by_node.setdefault(run.target.name, []).append(run)
    lines: list[str] = []
    for node, pair in by_node.items():
        lines.append(screen.paint(f"{node}: {' against '.join(run.tier for run in pair)}", "strong"))
        columns = [
            Column("POD", elastic=True, least=12),
            *(Column(run.tier.upper(), elastic=True, least=20) for run in pair),
        ]
        names = list(dict.fromkeys(outcome.pod for run in pair for outcome in run.result.outcomes))
        found = [{outcome.pod: outcome for outcome in run.result.outcomes} for run in pair]
        rows = [[name, *(_short(one.get(name)) for one in found)] for name in names]
        lines += [*table_lines(columns, rows, screen), ""]
        for run in pair:
            lines += [f"{run.tier}: {_closing(run, screen)[0]}"]
        lines.append("")
    del manifests
    lines.append(screen.paint("simulated: no kubelet was asked; the rules are those of Kubernetes 1.36", "dim"))
    return screen.text("\n".join(lines)) + "\n"


def _short(outcome: Outcome | None) -> str:
    if outcome is None:
        return "the kubelet does not start"
    if not outcome.admitted:
        return f"✗ {outcome.reason}"
    cpus = [placement.cpus for placement in outcome.placements if placement.cpus]
    return "; ".join(str(one) for one in cpus) or "shared pool"


def simulation_html(runs: Sequence[Simulated], manifests: Manifests) -> str:
    """Return the outcomes as a page that needs nothing else."""
    body: list[str] = []
    for run in runs:
        roles = _PodRoles(run)
        body.append(f"<h2>{_escape(run.tier)} on {_escape(run.target.name)}</h2>")
        if run.result.trouble:
            body.append(f'<p class="bad">The kubelet does not start: {_escape(run.result.trouble)}</p>')
            continue
        body.append(f'<div class="wide">{map_svg(map_cpus(run.target.topology, roles, _legend(roles)))}</div>')
        body.append(table(("Pod", "Container", "CPUs", "NUMA nodes", "Memory nodes"), _html_rows(run)))
        body += [_html_refusal(outcome) for outcome in run.result.refused]
    del manifests
    return page("What the kubelet will do", "simulated with the rules of Kubernetes 1.36", body, simulated=True)


def _html_rows(run: Simulated) -> list[list[str]]:
    rows = []
    for outcome in run.result.outcomes:
        if not outcome.admitted:
            reason = f'<span class="bad">{_escape(outcome.reason)}</span>'
            rows.append([_escape(outcome.pod), _escape(outcome.container or "-"), reason, "-", "-"])
        for placement in outcome.placements:
            cpus = str(placement.cpus) or f"shared: {placement.why_shared}"
            numbers = [_nodes(placement.numa_nodes), _nodes(placement.memory_nodes)]
            rows.append([_escape(outcome.pod), _escape(placement.container), _escape(cpus), *numbers])
    return rows


def _html_refusal(outcome: Outcome) -> str:
    parts = [f"<h3>{_escape(outcome.pod)}: {_escape(outcome.reason)}</h3>", f"<p>{_escape(outcome.message)}</p>"]
    items = [*outcome.arithmetic, *(f"admits it: {change}" for change in outcome.changes)]
    return f'<div class="card">{"".join(parts)}<ul>{"".join(f"<li>{_escape(item)}</li>" for item in items)}</ul></div>'
