# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which machines are built alike, what a machine counts, and what unlike machines in one pool mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .check_catalogue import CHECKS
from .cpuset import CpuSet
from .findings import Finding, Severity, Verdict
from .topology import Topology, cores_by_numa

_NAMES_SHOWN = 4


@dataclass(frozen=True)
class Comparison:
    """Whether two machines can share one CPU split, and what differs, in words.

    Shape: `equal` is about architecture, NUMA nodes, cores and thread numbers; `differences` say what breaks it.
    `warn_core_ids`: equal, but kernel core ids differ. `remarks`: sockets, caches, memory, model, offline CPUs; they
    never make machines unequal.
    """

    equal: bool
    warn_core_ids: bool
    differences: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Inventory:
    """What a machine counts; `threads` are its online logical CPUs."""

    sockets: int
    cores: int
    threads: int
    numa_nodes: int


@dataclass(frozen=True)
class _Build:
    """What two machines must have in common, and beside it the core ids that may differ."""

    arch: str
    cores: tuple[tuple[int, tuple[CpuSet, ...]], ...]
    core_ids: tuple[int, ...]

    @property
    def shape(self) -> tuple[object, ...]:
        """The part that decides whether machines are equal."""
        return (self.arch, self.cores)


def same_hardware(one: Topology, other: Topology) -> Comparison:
    """Return whether one CPU split fits both machines.

    Shape: symmetric; a machine equals itself without differences or remarks.
    Source: the OpenShift profile creator compares architecture, NUMA node ids, cores per node and thread numbers,
    and only warns about core ids.
    """
    ours, theirs = _build(one), _build(other)
    equal = ours.shape == theirs.shape
    return Comparison(
        equal=equal,
        warn_core_ids=equal and ours.core_ids != theirs.core_ids,
        differences=() if equal else tuple(_differences(one, other)),
        remarks=tuple(_remarks(one, other)),
    )


def inventory(topology: Topology) -> Inventory:
    """Return how many sockets, cores, online threads and NUMA nodes the machine has, memory-only nodes included."""
    return Inventory(
        sockets=len(topology.sockets),
        cores=len(topology.cores),
        threads=len(topology.online),
        numa_nodes=len(topology.numa_nodes),
    )


def pool_findings(
    topologies: Mapping[str, Topology], *, pool: str = "", one_profile: bool = False
) -> tuple[Finding, ...]:
    """Return what is to be said about unlike machines in one pool.

    Shape: nothing when all nodes are built alike. Nodes are compared with the build that most of them have (on a tie
    that of the first name); each other build is one finding that names its nodes and what differs. `one_profile`:
    one CPU list has to serve all nodes, as a PerformanceProfile does, which makes unequal machines critical; otherwise
    each build gets a split of its own and it is a warning. Nodes that differ in core ids alone are one info finding.
    Source: the OpenShift profile creator's comparison; `same_hardware`.
    """
    builds = _nodes_by_build(topologies)
    if not builds:
        return ()
    usual = max(builds, key=lambda shape: len(builds[shape]))
    reference = builds[usual][0]
    severity = Severity.CRITICAL if one_profile else Severity.WARNING
    unequal = tuple(
        _unequal(pool, nodes, builds[usual], same_hardware(topologies[reference], topologies[nodes[0]]), severity)
        for shape, nodes in builds.items()
        if shape != usual
    )
    return (*unequal, *_core_ids(pool, topologies, builds[usual]))


def _nodes_by_build(topologies: Mapping[str, Topology]) -> dict[tuple[object, ...], list[str]]:
    # Large pools share one topology value per kind of machine.
    shapes = {
        id(topology): _build(topology).shape for topology in {id(one): one for one in topologies.values()}.values()
    }
    nodes: dict[tuple[object, ...], list[str]] = {}
    for name in sorted(topologies):
        nodes.setdefault(shapes[id(topologies[name])], []).append(name)
    return nodes


def _build(topology: Topology) -> _Build:
    cores = cores_by_numa(topology)
    return _Build(
        arch=topology.arch,
        cores=tuple((node.id, cores.get(node.id, ())) for node in topology.numa_nodes),
        core_ids=tuple(cpu.core for cpu in topology.cpus),
    )


def _differences(one: Topology, other: Topology) -> Iterator[str]:
    if one.arch != other.arch:
        yield f"architecture {other.arch} instead of {one.arch}"
    if one.online != other.online:
        yield f"CPUs {other.online} instead of {one.online}"
    ours, theirs = ({node.id: node.cpus for node in machine.numa_nodes} for machine in (one, other))
    if list(ours) != list(theirs):
        yield f"NUMA nodes {_ids(theirs)} instead of {_ids(ours)}"
    elif one.online == other.online:
        for node in (node for node in ours if ours[node] != theirs[node]):
            yield f"NUMA node {node} with CPUs {theirs[node]} instead of {ours[node]}"
    if len(one.cores) != len(other.cores):
        yield f"{len(other.cores)} cores instead of {len(one.cores)}"
    elif one.online == other.online and one.cores != other.cores:
        core = next(core for core in one.cores if core not in other.cores)
        yield f"threads {other.by_id[core.first].siblings} on the core of CPU {core.first} instead of {core}"


def _remarks(one: Topology, other: Topology) -> Iterator[str]:
    if len(one.sockets) != len(other.sockets):
        yield f"{len(other.sockets)} sockets instead of {len(one.sockets)}"
    if one.l3_groups != other.l3_groups:
        yield f"{len(other.l3_groups)} last-level caches instead of {len(one.l3_groups)}, or shared by other CPUs"
    if one.memory_kib != other.memory_kib:
        yield f"{other.memory_kib} KiB of memory instead of {one.memory_kib}"
    if one.model != other.model:
        yield f"processor {other.model!r} instead of {one.model!r}"
    if one.offline != other.offline:
        yield f"offline CPUs {other.offline or 'none'} instead of {one.offline or 'none'}"


def _ids(nodes: Mapping[int, CpuSet]) -> str:
    return CpuSet(nodes).format()


def _unequal(pool: str, nodes: list[str], usual: list[str], how: Comparison, severity: Severity) -> Finding:
    differences = "; ".join(how.differences)
    return Finding(
        id="pool.hardware.unequal",
        verdict=Verdict.FAIL,
        severity=severity,
        subject=pool,
        message=f"{_named(nodes)} differ{'s' if len(nodes) == 1 else ''} from {_named(usual)}: {differences}",
        expected=f"{len(nodes) + len(usual)} nodes built alike",
        actual=differences,
        why=CHECKS["pool.hardware.unequal"].why,
        remedy=f"put {_named(nodes)} into a pool of {'its' if len(nodes) == 1 else 'their'} own",
    )


def _core_ids(pool: str, topologies: Mapping[str, Topology], usual: list[str]) -> Iterator[Finding]:
    known = [cpu.core for cpu in topologies[usual[0]].cpus]
    others = [name for name in usual if [cpu.core for cpu in topologies[name].cpus] != known]
    if others:
        yield Finding(
            id="pool.hardware.core-ids",
            verdict=Verdict.FAIL,
            severity=Severity.INFO,
            subject=pool,
            message=f"{_named(others)} ha{'s' if len(others) == 1 else 've'} other kernel core ids than {usual[0]}",
            expected=f"the core ids of {usual[0]}",
            actual=f"{len(others)} of {len(usual)} nodes differ",
            why=CHECKS["pool.hardware.core-ids"].why,
            remedy=CHECKS["pool.hardware.core-ids"].remedy,
        )


def _named(nodes: list[str]) -> str:
    shown = ", ".join(nodes[:_NAMES_SHOWN])
    more = len(nodes) - _NAMES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown
