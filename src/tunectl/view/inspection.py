"""A node as it is, for people and programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tunectl.app.inspect import Inspection
from tunectl.core.jsonform import to_json
from tunectl.core.machine import topology_to_facts
from tunectl.core.topology import Topology
from tunectl.view import html
from tunectl.view.cpumap import map_cpus
from tunectl.view.cpumap_svg import map_svg
from tunectl.view.cpumap_text import map_text
from tunectl.view.envelope import Result
from tunectl.view.quantities import memory_text, plural
from tunectl.view.screen import Screen
from tunectl.view.table import labelled


def inspection_text(nodes: Sequence[Inspection], screen: Screen) -> str:
    """Return each node: headline, picture, devices, facts."""
    return "\n\n".join(_node_text(node, screen) for node in nodes) + "\n"


def _node_text(node: Inspection, screen: Screen) -> str:
    title = screen.paint(node.node, "strong") + "   " + "  ".join(_headline(node.topology))
    title += "  " + screen.paint("simulated", "attention") if node.simulated else ""
    lines = [title, *([f"  {node.topology.model}"] if node.topology.model else []), ""]
    lines += map_text(map_cpus(node.topology, node.partition), screen).splitlines()
    lines.append("")
    for label, text in (*_places(node.topology), *node.facts):
        lines += labelled(label, text, screen, 2, 11)
    return "\n".join(lines)


def _headline(topology: Topology) -> list[str]:
    return [
        topology.arch,
        plural(len(topology.online), "CPU"),
        plural(len(topology.sockets), "socket"),
        plural(len(topology.numa_nodes), "NUMA node"),
        memory_text(topology.memory_kib),
    ]


def _places(topology: Topology) -> list[tuple[str, str]]:
    places = []
    if len(topology.numa_nodes) > 1 and all(node.distances for node in topology.numa_nodes):
        rows = [f"node {node.id}: {' '.join(map(str, node.distances))}" for node in topology.numa_nodes]
        places.append(("distances", " · ".join(rows)))
    by_node: dict[int | None, list[str]] = {}
    for device in topology.devices:
        by_node.setdefault(device.numa, []).append(device.name)
    texts = [
        f"{'node ' + str(numa) if numa is not None else 'no node'}: {', '.join(names)}"
        for numa, names in sorted(by_node.items(), key=lambda item: (item[0] is None, item[0] or 0))
    ]
    return [*places, ("devices", " · ".join(texts) or "none found")]


def inspection_result(nodes: Sequence[Inspection]) -> Result:
    """Return the machine form: one item a node."""
    return Result(
        "Inventory",
        summary={"nodes": len(nodes), "cpus": sum(len(node.topology.online) for node in nodes)},
        items=[_item(node) for node in nodes],
        simulated=any(node.simulated for node in nodes),
    )


def _item(node: Inspection) -> dict[str, Any]:
    return {
        "node": node.node,
        "simulated": node.simulated,
        "fingerprint": node.fingerprint,
        "partition": to_json(node.partition),
        "facts": dict(node.facts),
        "machine": topology_to_facts(node.topology, node.node),
    }


def inspection_svg(nodes: Sequence[Inspection]) -> str:
    """Return the pictures, one SVG element below the other."""
    return "\n".join(map_svg(map_cpus(node.topology, node.partition), _label(node)) for node in nodes) + "\n"


def _label(node: Inspection) -> str:
    return f"CPUs of {node.node}" + (" (simulated)" if node.simulated else "")


def inspection_html(nodes: Sequence[Inspection], started_at: str) -> str:
    """Return a page of all nodes."""
    body: list[str] = []
    for node in nodes:
        body += [f"<h2>{html.mark(node.node, 'strong')}</h2>", f"<p>{', '.join(_headline(node.topology))}</p>"]
        body += [map_svg(map_cpus(node.topology, node.partition), _label(node))]
        body += [html.definitions([*_places(node.topology), *node.facts])]
    return html.page("Nodes", started_at, body, simulated=any(node.simulated for node in nodes))
