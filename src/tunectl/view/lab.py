"""Labs as text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tunectl.app.lab import Lab, LabNode, LabUp
from tunectl.view.quantities import duration_text, memory_text, plural
from tunectl.view.screen import Screen
from tunectl.view.table import Column, table_lines

_NUMBERED = re.compile(r"(.*?)(\d+)\Z")
_COLUMNS = (
    Column("POOL"),
    Column("NODES", elastic=True),
    Column("MACHINE", elastic=True),
    Column("CPUS", right=True),
    Column("MEMORY", right=True),
    Column("SYSTEM"),
)
_MACHINES = (Column("NODE"), Column("STATE"), Column("SSH"))


def lab_up_text(done: LabUp, screen: Screen, *, seconds: float, is_default: bool) -> str:
    """Return what `lab up` did. Scale: seconds."""
    lab = done.lab
    took = duration_text(seconds)
    how = f"is ready in {took}" if done.created else "is up already"
    if done.started:
        how = f"is up again in {took} ({', '.join(done.started)} was off)"
    machines = len({node.machine for node in lab.nodes})
    head = f"lab {lab.name!r} {how}: {nodes_text(lab)}, {plural(machines, 'kind')} of machine"
    note = " (the default for this folder)" if is_default else ""
    lines = [head, *pool_lines(lab.nodes, screen), f"  inventory   {shown_path(lab.inventory)}{note}"]
    return screen.text("\n".join(lines) + "\n")


def nodes_text(lab: Lab) -> str:
    """Return how many nodes of which kind a lab has."""
    return plural(len(lab.nodes), "simulated node" if lab.is_simulated else "virtual machine")


def labs_text(labs: Sequence[Lab], screen: Screen) -> str:
    """Return the labs of a folder, each with its pools; virtual machines with their state and port."""
    if not labs:
        return screen.text("This folder has no lab.\n")
    lines: list[str] = []
    for lab in labs:
        lines += [f"lab {lab.name!r}: {nodes_text(lab)}   {shown_path(lab.inventory)}"]
        lines += pool_lines(lab.nodes, screen)
        if not lab.is_simulated:
            lines += table_lines(_MACHINES, [_machine_row(node) for node in lab.nodes], screen)
    return screen.text("\n".join(lines) + "\n")


def _machine_row(node: LabNode) -> tuple[str, str, str]:
    return node.name, "running" if node.is_running else "off", f"127.0.0.1:{node.ssh_port}"


def machines_text(machines: Sequence[Mapping[str, Any]], screen: Screen) -> str:
    """Return the machines that labs can be built of, with where their facts come from."""
    rows = [(str(one["name"]), str(one["summary"])) for one in machines]
    return "\n".join(table_lines((Column("MACHINE"), Column("WHAT", elastic=True)), rows, screen)) + "\n"


def pool_lines(nodes: Sequence[LabNode], screen: Screen) -> list[str]:
    """Return a table with one row for the equal nodes of a pool."""
    kinds = list(dict.fromkeys(_kind(node) for node in nodes))
    rows = []
    for kind in kinds:
        alike = [node for node in nodes if _kind(node) == kind]
        one = alike[0]
        rows.append(
            (
                one.pool,
                names_text([node.name for node in alike]),
                one.machine,
                str(one.cpus),
                memory_text(one.memory_kib),
                one.profile,
            )
        )
    return table_lines(_COLUMNS, rows, screen)


def names_text(names: Sequence[str]) -> str:
    """Return names; those that count up from one stem as a range: `lab-1..20`."""
    found = [_NUMBERED.match(name) for name in names]
    stems = {match.group(1) for match in found if match}
    numbers = [int(match.group(2)) for match in found if match]
    first = numbers[0] if numbers else 0
    if len(names) > 1 and len(stems) == 1 and numbers == list(range(first, first + len(names))):
        return f"{names[0]}..{numbers[-1]}"
    return ", ".join(names)


def shown_path(path: Path) -> str:
    """Return the path as seen from the current folder, where it is below it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _kind(node: LabNode) -> tuple[str, str, str]:
    return node.pool, node.machine, node.profile
