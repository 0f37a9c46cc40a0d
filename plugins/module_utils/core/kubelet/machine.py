# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The machine as the kubelet sees it: its own names for cores, its own averages, its own cache groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ..cpuset import CpuSet
from ..topology import Topology


@dataclass(frozen=True)
class CpuPlace:
    """Where the kubelet puts an online CPU.

    Shape: `core` is the lowest online CPU of the core, `group` the last-level-cache group that the kubelet calls
    uncore. Source: Kubernetes 1.36, CPU manager topology discovery.
    """

    cpu: int
    core: int
    socket: int
    node: int
    group: int


@dataclass(frozen=True)
class MemoryNode:
    """Memory of one NUMA node. Scale: bytes; `hugepages` is page size in bytes -> count."""

    id: int
    memory: int
    hugepages: Mapping[int, int] = field(default_factory=dict)
    distances: tuple[int, ...] = ()


@dataclass(frozen=True)
class KubeletMachine:
    """CPUs and NUMA nodes as the kubelet discovered them at its start.

    Shape: `places` ascending by CPU, online CPUs only; `nodes` in sysfs order, memory-only nodes included.
    """

    places: tuple[CpuPlace, ...]
    nodes: tuple[MemoryNode, ...]

    @cached_property
    def cpus(self) -> CpuSet:
        """All CPUs the kubelet knows."""
        return CpuSet(place.cpu for place in self.places)

    @cached_property
    def by_cpu(self) -> dict[int, CpuPlace]:
        """Places by CPU."""
        return {place.cpu: place for place in self.places}

    @cached_property
    def node_cpus(self) -> dict[int, CpuSet]:
        """CPUs by NUMA node that has any, ascending by id."""
        return self._by(lambda place: place.node)

    @cached_property
    def socket_cpus(self) -> dict[int, CpuSet]:
        """CPUs by socket, ascending by id."""
        return self._by(lambda place: place.socket)

    @cached_property
    def core_cpus(self) -> dict[int, CpuSet]:
        """CPUs by core, ascending by id."""
        return self._by(lambda place: place.core)

    @cached_property
    def group_cpus(self) -> dict[int, CpuSet]:
        """CPUs by last-level-cache group, ascending by id."""
        return self._by(lambda place: place.group)

    @cached_property
    def cpus_per_core(self) -> int:
        """Integer average of CPUs a core, as the kubelet computes it; 0 on a machine without cores."""
        return _average(len(self.cpus), len(self.core_cpus))

    @cached_property
    def cpus_per_socket(self) -> int:
        """Integer average of CPUs a socket."""
        return _average(len(self.cpus), len(self.socket_cpus))

    @cached_property
    def cpus_per_group(self) -> int:
        """Integer average of CPUs a last-level-cache group."""
        return _average(len(self.cpus), len(self.group_cpus))

    def whole_cores(self, cpus: CpuSet) -> CpuSet:
        """Return `cpus` completed to the cores they belong to."""
        result = cpus
        for cpu in cpus:
            if cpu in self.by_cpu:
                result |= self.core_cpus[self.by_cpu[cpu].core]
        return result

    def _by(self, key: Callable[[CpuPlace], int]) -> dict[int, CpuSet]:
        found: dict[int, list[int]] = {}
        for place in self.places:
            found.setdefault(key(place), []).append(place.cpu)
        return {name: CpuSet(found[name]) for name in sorted(found)}


@dataclass(frozen=True)
class RawCpu:
    """An online CPU as sysfs shows it; `cache` is the id of the last-level cache, None without cache information."""

    cpu: int
    core_id: int
    socket: int
    node: int
    cache: int | None


def discover(cpus: Iterable[RawCpu], nodes: Sequence[MemoryNode]) -> KubeletMachine:
    """Return the machine that the kubelet makes of sysfs.

    A cache shared by as many CPUs as its NUMA node has (cores times threads) counts as the node's cache and gives
    no group; such CPUs fall back to a group named by their socket. Source: cAdvisor and CPU manager, Kubernetes 1.36.
    """
    raw = sorted(cpus, key=lambda one: one.cpu)
    cores: dict[tuple[int, int, int], list[int]] = {}
    sharers: dict[int, int] = {}
    for one in raw:
        cores.setdefault((one.node, one.socket, one.core_id), []).append(one.cpu)
        if one.cache is not None:
            sharers[one.cache] = sharers.get(one.cache, 0) + 1
    per_node: dict[int, int] = {}
    for node, _socket, _core in cores:
        per_node[node] = per_node.get(node, 0) + 1
    places = []
    for one in raw:
        threads = cores[(one.node, one.socket, one.core_id)]
        is_node_cache = one.cache is None or sharers[one.cache] == per_node[one.node] * len(threads)
        group = one.socket if is_node_cache or one.cache is None else one.cache
        places.append(CpuPlace(one.cpu, min(threads), one.socket, one.node, group))
    return KubeletMachine(tuple(places), tuple(nodes))


def machine_of(topology: Topology) -> KubeletMachine:
    """Return the machine that a kubelet sees on hardware of this topology.

    NUMA nodes come in the lexical order of their directory names (node10 before node2), as cAdvisor lists them.
    """
    raw = [
        RawCpu(cpu.id, cpu.core, cpu.socket, cpu.numa, cpu.l3_id if cpu.l3_id >= 0 else _cache_name(cpu.l3))
        for cpu in topology.cpus
    ]
    nodes = [
        MemoryNode(
            node.id,
            node.memory_kib * 1024,
            {pool.size_kib * 1024: pool.total for pool in node.hugepages},
            node.distances,
        )
        for node in sorted(topology.numa_nodes, key=lambda one: str(one.id))
    ]
    return discover(raw, nodes)


def _cache_name(cpus: CpuSet) -> int | None:
    return cpus.first if cpus else None


def _average(total: int, parts: int) -> int:
    return total // parts if parts else 0
