"""The machine as a map: one block a NUMA node, cores as columns, threads as rows. Text and SVG are drawn from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Protocol

from tunectl.core.cpuset import CpuSet
from tunectl.core.topology import CoreType, Topology

Legend = Mapping[str, tuple[str, str]]

# Letter, name and order of each role; a letter of its own makes the colour a comfort, not a carrier.
ROLES: Legend = {
    "reserved": ("R", "reserved"),
    "isolated": ("i", "isolated"),
    "shared": ("S", "shared"),
    "ovs_dpdk": ("D", "OVS-DPDK"),
    "offlined": ("x", "offlined"),
    "unassigned": ("·", "not assigned"),
}

_SMALLEST_CACHE_GROUP = 3
_GROUP_SIZES = (8, 10, 6, 7, 9)


class Roles(Protocol):
    """Knows the role of every CPU; a partition does."""

    def role_of(self, cpu: int) -> str:
        """Return the role, a key of the legend."""
        ...


@dataclass(frozen=True)
class Cell:
    """One CPU, its role, and the letter and name of the role in the legend."""

    cpu: int
    role: str
    letter: str
    name: str


@dataclass(frozen=True)
class Column:
    """One core: its online threads, ascending. `split` when threads that both run have different roles."""

    cells: tuple[Cell, ...]
    core_type: CoreType

    @property
    def split(self) -> bool:
        """Whether the threads of the core have different roles; an offlined thread disturbs nobody."""
        return len({cell.role for cell in self.cells} - {"offlined"}) > 1


@dataclass(frozen=True)
class Block:
    """The cores of one NUMA node on one socket, in groups that read as one (cache, core type, or plain counting).

    Scale: `memory_kib` kibibytes; None on a second block of the same node.
    """

    socket: int | None
    node: int
    memory_kib: int | None
    groups: tuple[tuple[Column, ...], ...] = ()

    @property
    def columns(self) -> Iterator[Column]:
        """All cores, in order."""
        return (column for group in self.groups for column in group)

    @property
    def threads(self) -> int:
        """The number of rows."""
        return max((len(column.cells) for column in self.columns), default=0)


@dataclass(frozen=True)
class CpuMap:
    """The whole machine. `offline` are CPUs that are not online now, whose place nobody knows.

    `legend` is role -> letter and name, in the order in which roles are listed.
    """

    blocks: tuple[Block, ...]
    offline: CpuSet
    legend: Legend = field(default_factory=lambda: ROLES)

    @property
    def columns(self) -> Iterator[Column]:
        """All cores of all blocks."""
        return (column for block in self.blocks for column in block.columns)

    @property
    def split_cores(self) -> int:
        """How many cores have threads of different roles."""
        return sum(column.split for column in self.columns)

    def counts(self) -> dict[str, int]:
        """Return the number of CPUs of each role that occurs, in the order of the legend."""
        roles = [cell.role for column in self.columns for cell in column.cells]
        return {role: roles.count(role) for role in self.legend if role in roles}


def map_cpus(topology: Topology, partition: Roles, legend: Legend | None = None) -> CpuMap:
    """Return the map of a machine under a partition, or another division of its CPUs with its own legend.

    Shape: every online CPU is in exactly one cell.
    """
    drawing = _Drawing(topology, partition, legend or ROLES)
    places = sorted({(cpu.socket, cpu.numa) for cpu in topology.cpus})
    several = len(topology.sockets) > 1
    blocks = [_block(drawing, socket, node, named=several) for socket, node in places]
    with_cpus = {node for _, node in places}
    blocks += [Block(None, node.id, node.memory_kib) for node in topology.numa_nodes if node.id not in with_cpus]
    return CpuMap(tuple(_memory_once(blocks)), topology.offline, drawing.legend)


@dataclass(frozen=True)
class _Drawing:
    """What every block of one map is drawn from."""

    topology: Topology
    roles: Roles
    legend: Legend

    def cell(self, cpu: int) -> Cell:
        role = self.roles.role_of(cpu)
        return Cell(cpu, role, *self.legend[role])


def _memory_once(blocks: Sequence[Block]) -> Iterator[Block]:
    seen: set[int] = set()
    for block in blocks:
        yield Block(block.socket, block.node, None if block.node in seen else block.memory_kib, block.groups)
        seen.add(block.node)


def _block(drawing: _Drawing, socket: int, node: int, *, named: bool) -> Block:
    topology = drawing.topology
    cores = [
        core
        for core in topology.cores
        if (topology.by_id[core.first].socket, topology.by_id[core.first].numa) == (socket, node)
    ]
    groups = [
        tuple(_column(drawing, core) for core in group)
        for segment in _segments(topology, cores)
        for group in _chunks(segment)
    ]
    return Block(socket if named else None, node, topology.numa_node(node).memory_kib, tuple(groups))


def _column(drawing: _Drawing, core: CpuSet) -> Column:
    cells = tuple(drawing.cell(cpu) for cpu in core)
    return Column(cells, drawing.topology.by_id[core.first].type)


def _segments(topology: Topology, cores: Sequence[CpuSet]) -> list[list[CpuSet]]:
    """Return runs of cores of one type and, where caches are worth showing, of one last-level cache."""
    by_id = topology.by_id
    caches = {by_id[core.first].l3 for core in cores}
    show_caches = len(caches) > 1 and len(cores) >= _SMALLEST_CACHE_GROUP * len(caches)

    def key(core: CpuSet) -> tuple[str, int]:
        cpu = by_id[core.first]
        return cpu.type.value, cpu.l3.first if show_caches and cpu.l3 else -1

    return [list(run) for _, run in groupby(cores, key)]


def _chunks(cores: Sequence[CpuSet]) -> list[Sequence[CpuSet]]:
    size = next((size for size in _GROUP_SIZES if len(cores) % size == 0), _GROUP_SIZES[0])
    return [cores[start : start + size] for start in range(0, len(cores), size)]
