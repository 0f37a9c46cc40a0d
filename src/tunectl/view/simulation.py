"""What the kubelet will do with pods, for people at a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tunectl.app.simulate import Simulated
from tunectl.core.cpuset import CpuSet
from tunectl.core.kubelet.restart import Restart
from tunectl.core.kubelet.simulation import Outcome, Placement
from tunectl.planning.manifests import Manifests
from tunectl.view.cpumap_text import map_text
from tunectl.view.quantities import plural
from tunectl.view.screen import Screen
from tunectl.view.simulation_map import simulation_map
from tunectl.view.table import Cell, Column, cpu_list, labelled, table_lines

_MOST_ROWS = 40
_MOST_COPIES = 12
_MOST_LISTED = 12
_LEAST_CPUS = 15


def simulation_text(runs: Sequence[Simulated], manifests: Manifests, screen: Screen, *, fill: bool = False) -> str:
    """Return the outcomes of each run: the picture, a row a container, then why pods are refused."""
    lines: list[str] = []
    for run in runs:
        lines += [*_run_lines(run, screen, fill=fill), ""]
    return _closed(lines, runs, manifests, screen)


def _closed(lines: list[str], runs: Sequence[Simulated], manifests: Manifests, screen: Screen) -> str:
    if manifests.skipped:
        names = ", ".join(name for name, _ in manifests.skipped)
        lines += labelled("skipped", f"{names}: they make no pods", screen, 0)
    unjudged = sorted({name for run in runs for outcome in run.result.outcomes for name in outcome.unjudged})
    if unjudged:
        text = f"{', '.join(unjudged)}: nobody knows here how much of it the node has"
        lines += labelled("unjudged", text, screen, 0)
    lines.append(screen.paint("simulated: no kubelet was asked; the rules are those of Kubernetes 1.36", "dim"))
    return screen.text("\n".join(lines)) + "\n"


def _run_lines(run: Simulated, screen: Screen, *, fill: bool) -> list[str]:
    result = run.result
    lines = [screen.paint(_title(run), "strong")]
    if result.trouble:
        return [*lines, *labelled("trouble", f"the kubelet does not start: {result.trouble}", screen)]
    if result.outcomes:
        lines += map_text(simulation_map(run), screen).splitlines()
        lines += ["", *_rows(result.outcomes, screen, _MOST_COPIES if fill else _MOST_ROWS)]
    for outcome in result.refused:
        if not outcome.same_as:
            lines += ["", *_refusal_lines(outcome, result.refused, screen)]
    return [*lines, *([""] if result.outcomes else []), *_closing(run, screen, fill=fill)]


def _title(run: Simulated) -> str:
    machine = run.result.planned.machine
    size = f"{plural(len(machine.cpus), 'CPU')}, {plural(len(machine.nodes), 'NUMA node')}"
    others = len(run.target.alike) - 1
    alike = f" and {plural(others, 'node')} alike" if others > 0 else ""
    return f"tier {run.tier} on {run.target.name}{alike}: {size}"


def _rows(outcomes: Sequence[Outcome], screen: Screen, most: int) -> list[str]:
    notes: dict[str, int] = {}
    alike = Counter(outcome.same_as for outcome in outcomes)
    rows = [
        row for outcome in outcomes if not outcome.same_as for row in _outcome_rows(outcome, notes, alike[outcome.pod])
    ]
    shown = rows if len(rows) <= most + 1 else rows[:most]
    lines = table_lines(_columns(outcomes), shown, screen)
    if len(shown) < len(rows):
        lines.append(f"     and {len(rows) - len(shown)} more rows (-o json has all)")
    for why, number in notes.items():
        lines += labelled(f"[{number}]", why, screen, 5, 4)
    return lines


def _columns(outcomes: Sequence[Outcome]) -> list[Column]:
    reason = max((len(outcome.reason) for outcome in outcomes), default=0)
    return [
        Column(""),
        Column("POD", elastic=True, least=12),
        Column("CONTAINER", elastic=True, least=9),
        Column("CPUS", elastic=True, least=max(_LEAST_CPUS, reason)),
        Column("NUMA"),
        Column("MEMORY"),
        Column("FREE", right=True),
        Column("SHARED", right=True),
    ]


def _outcome_rows(outcome: Outcome, notes: dict[str, int], alike: int) -> Iterator[list[str | Cell]]:
    """Yield a row a container; of pods that are refused alike the first stands for the others, which are counted."""
    room = [str(outcome.free), str(len(outcome.shared))]
    if not outcome.admitted:
        name = f"{outcome.pod} +{alike}" if alike else outcome.pod
        yield [Cell("✗", "bad"), name, outcome.container or "-", Cell(outcome.reason, "bad"), "-", "-", *room]
    for index, placement in enumerate(outcome.placements):
        head = [Cell("✓", "good"), outcome.pod] if index == 0 else ["", ""]
        yield [
            *head,
            placement.container,
            _cpus(placement, notes),
            _nodes(placement.numa_nodes),
            _nodes(placement.memory_nodes),
            *(room if index == 0 else ("", "")),
        ]


def _cpus(placement: Placement, notes: dict[str, int]) -> str:
    if placement.cpus:
        return f"{placement.cpus} ({len(placement.cpus)})"
    number = notes.setdefault(placement.why_shared, len(notes) + 1)
    return f"shared pool [{number}]"


def _nodes(nodes: Sequence[int]) -> str:
    return ",".join(map(str, nodes)) or "-"


def _refusal_lines(outcome: Outcome, refused: Sequence[Outcome], screen: Screen) -> list[str]:
    where = f"{outcome.pod}/{outcome.container}" if outcome.container else outcome.pod
    alike = [one.pod for one in refused if one.same_as == outcome.pod]
    verb = "are" if alike else "is"
    also = f" and {plural(len(alike), 'pod')} alike" if alike else ""
    lines = [screen.paint("✗", "bad") + f" {where}{also} {verb} refused: {outcome.reason}"]
    lines += labelled("kubelet" if outcome.code != "does-not-fit" else "cluster", outcome.message, screen, 4, 10)
    for index, statement in enumerate(outcome.arithmetic):
        lines += labelled("numbers" if index == 0 else "", statement, screen, 4, 10)
    for index, change in enumerate(outcome.changes):
        lines += labelled("admits it" if index == 0 else "or", change, screen, 4, 10)
    lines += labelled("more", f"tunectl explain {outcome.code}", screen, 4, 10)
    return lines


def _closing(run: Simulated, screen: Screen, *, fill: bool) -> list[str]:
    result = run.result
    lines: list[str] = []
    if result.outcomes:
        admitted = len(result.outcomes) - len(result.refused)
        if fill:
            more = "; the next one is refused" if result.refused else ""
            lines.append(screen.paint(f"{plural(admitted, 'copy', 'copies')} fit{more}", "strong"))
        else:
            lines.append(f"{plural(admitted, 'pod')} admitted, {len(result.refused)} refused")
        lines += _pool_lines(run, screen)
    if result.restart is not None:
        lines += _restart_lines(result.restart, screen)
    return lines


def _pool_lines(run: Simulated, screen: Screen) -> list[str]:
    result = run.result
    pool = _counted(result.shared)
    if not result.planned.settings.is_static:
        return labelled("shared", f"all containers run on {pool}", screen, 2)
    reserved = len(result.reserved & result.shared)
    among = f", {reserved} of them reserved" if reserved else ""
    return [
        *labelled("free", f"{_counted(result.free)} can still be given away", screen, 2),
        *labelled("shared", f"{pool}{among}: where all other containers run", screen, 2),
    ]


def _counted(cpus: CpuSet) -> str:
    return f"{cpu_list(str(cpus))} ({plural(len(cpus), 'CPU')})" if cpus else "no CPU"


def _restart_lines(restart: Restart, screen: Screen) -> list[str]:
    files = "the checkpoints are deleted first" if restart.fresh else "over the checkpoints"
    if restart.unseen:
        return labelled("restart", f"nobody can tell: {restart.unseen}", screen, 0)
    if restart.trouble:
        pods = "no pod" if restart.running == 0 else plural(restart.running, "pod")
        text = f"{files} ({pods}) the kubelet does not start: {restart.trouble}"
        lines = labelled("restart", text, screen, 0)
        way = "tunectl apply drains the node and deletes the checkpoint first; by hand do the same"
        return [*lines, *labelled("way out", way, screen, 0)]
    where = "on the node now" if restart.live else "admitted above"
    pods = f"{plural(restart.running, 'pod')} {where}, {restart.kept} kept"
    if restart.live and not restart.running:
        pods = "no pod on the node holds CPUs or memory of its own"
    lines = labelled("restart", f"{files}, the kubelet starts; {pods}", screen, 0)
    for name, reason in restart.killed[:_MOST_LISTED]:
        lines += labelled("", f"{screen.paint('✗', 'bad')} {name} is killed: {reason}", screen, 0)
    for move in restart.moved[:_MOST_LISTED]:
        text = f"{move.pod}/{move.container} is moved from CPUs {move.before} to {move.after}"
        lines += labelled("", text, screen, 0)
    left = max(len(restart.killed) - _MOST_LISTED, 0) + max(len(restart.moved) - _MOST_LISTED, 0)
    return [*lines, *(labelled("", f"and {left} more (-o json has all)", screen, 0) if left else [])]


def comparison_text(runs: Sequence[Simulated], manifests: Manifests, screen: Screen, *, fill: bool = False) -> str:
    """Return two tiers side by side: a row a pod, what it gets under each."""
    by_node: dict[str, list[Simulated]] = {}
    for run in runs:
        by_node.setdefault(run.target.name, []).append(run)
    lines: list[str] = []
    for node, pair in by_node.items():
        lines.append(screen.paint(f"{node}: {' against '.join(run.tier for run in pair)}", "strong"))
        lines += [*_pairs(pair, screen), ""]
        for run in pair:
            lines.append(screen.paint(run.tier, "strong"))
            if run.result.trouble:
                lines += labelled("trouble", f"the kubelet does not start: {run.result.trouble}", screen)
            lines += _closing(run, screen, fill=fill)
        lines.append("")
    return _closed(lines, runs, manifests, screen)


def _pairs(pair: Sequence[Simulated], screen: Screen) -> list[str]:
    columns = [
        Column("POD", elastic=True, least=12),
        *(Column(run.tier.upper(), elastic=True, least=20) for run in pair),
    ]
    found = [{outcome.pod: outcome for outcome in run.result.outcomes} for run in pair]
    names = list(dict.fromkeys(name for outcomes in found for name in outcomes))
    rows: list[list[str | Cell]] = [[name, *(_short(one.get(name)) for one in found)] for name in names]
    shown = rows if len(rows) <= _MOST_ROWS + 1 else rows[:_MOST_ROWS]
    lines = table_lines(columns, shown, screen)
    more = len(rows) - len(shown)
    return [*lines, f"  and {more} more rows (-o json has all)"] if more else lines


def _short(outcome: Outcome | None) -> Cell:
    if outcome is None:
        return Cell("-", "dim")
    if not outcome.admitted:
        return Cell(f"✗ {outcome.reason}", "bad")
    cpus = [placement.cpus for placement in outcome.placements if placement.cpus]
    nodes = sorted({node for placement in outcome.placements for node in placement.numa_nodes})
    own = "; ".join(f"{one} ({len(one)})" for one in cpus)
    return Cell(f"✓ {own} on node {_nodes(nodes)}" if own else "✓ shared pool")
