"""What the kubelet will do with pods, as a page that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from tunectl.app.simulate import Simulated
from tunectl.core.kubelet.restart import Restart
from tunectl.core.kubelet.simulation import Outcome
from tunectl.planning.manifests import Manifests
from tunectl.view.cpumap_svg import map_svg
from tunectl.view.html import definitions, mark, mono, page, table, tiles
from tunectl.view.simulation_map import simulation_map

_TITLES = ("", "Pod", "Container", "CPUs", "NUMA nodes", "Memory nodes")


def simulation_html(runs: Sequence[Simulated], manifests: Manifests) -> str:
    """Return the page: for each run the totals, the picture, a row a container, why pods are refused."""
    body = [part for run in runs for part in _run(run)]
    if manifests.skipped:
        names = ", ".join(name for name, _ in manifests.skipped)
        body.append(f'<p class="dim">Skipped, because they make no pods: {escape(names)}</p>')
    return page("What the kubelet will do", "by the rules of Kubernetes 1.36", body, simulated=True)


def _run(run: Simulated) -> Iterator[str]:
    result = run.result
    yield f"<h2>{escape(run.tier)} on {escape(run.target.name)}</h2>"
    if result.trouble:
        yield f'<p class="bad">The kubelet does not start: {escape(result.trouble)}</p>'
        return
    if result.outcomes:
        refused = len(result.refused)
        yield tiles(
            [
                (str(len(result.outcomes) - refused), "pods admitted", "good"),
                (str(refused), "pods refused", "bad" if refused else "dim"),
                (str(len(result.free)), "CPUs still free", ""),
                (str(len(result.shared)), "CPUs shared", ""),
            ]
        )
        label = f"{run.target.name} with tier {run.tier}"
        yield f'<div class="wide">{map_svg(simulation_map(run), label)}</div>'
        yield table(_TITLES, [row for outcome in result.outcomes for row in _rows(outcome)])
    yield from (_refusal(outcome) for outcome in result.refused if not outcome.same_as)
    if result.restart is not None:
        yield _restart(result.restart)


def _rows(outcome: Outcome) -> Iterator[list[str]]:
    pod = escape(outcome.pod)
    if not outcome.admitted:
        what = mark(outcome.reason, "bad") + (f" as {escape(outcome.same_as)}" if outcome.same_as else "")
        yield [mark("✗ refused", "bad"), pod, escape(outcome.container or "-"), what, "-", "-"]
    for placement in outcome.placements:
        own = f"{placement.cpus} ({len(placement.cpus)})"
        cpus = mono(own) if placement.cpus else f"shared pool: {escape(placement.why_shared)}"
        nodes = [", ".join(map(str, nodes)) or "-" for nodes in (placement.numa_nodes, placement.memory_nodes)]
        yield [mark("✓ admitted", "good"), pod, escape(placement.container), cpus, *nodes]


def _refusal(outcome: Outcome) -> str:
    head = f"<h3>{escape(outcome.pod)}: {escape(outcome.reason)}</h3>"
    parts = [("container", outcome.container), ("message", outcome.message), ("code", outcome.code)]
    numbers = "".join(f"<li>{escape(statement)}</li>" for statement in outcome.arithmetic)
    changes = "".join(f"<li>{mono(change)}</li>" for change in outcome.changes)
    ways = f"<p>Each of these admits it:</p><ul>{changes}</ul>" if changes else ""
    return f'<div class="card">{head}{definitions(parts)}<ul>{numbers}</ul>{ways}</div>'


def _restart(restart: Restart) -> str:
    if restart.unseen:
        return f'<p class="attention">Nobody can tell what a restart does: {escape(restart.unseen)}</p>'
    if restart.trouble:
        return f'<p class="bad">After a restart the kubelet does not start: {escape(restart.trouble)}</p>'
    head = f"<h3>After a restart of the kubelet {restart.kept} of {restart.running} pods run on</h3>"
    killed = "".join(f"<li>{mark('✗ ' + name, 'bad')}: {escape(reason)}</li>" for name, reason in restart.killed)
    moved = "".join(
        f"<li>{escape(f'{one.pod}/{one.container}')}: {mono(f'{one.before}')} becomes {mono(f'{one.after}')}</li>"
        for one in restart.moved
    )
    return f"{head}<ul>{killed}{moved}</ul>"
