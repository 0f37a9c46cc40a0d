# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the hardware is: CPUs, cores, caches, NUMA nodes and devices, and their invariants."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from .cpuset import CpuSet, union


class CoreType(Enum):
    """The kind of a core on a hybrid machine; `UNIFORM` where all cores are of one kind."""

    UNIFORM = "uniform"
    PERFORMANCE = "performance"
    EFFICIENCY = "efficiency"


@dataclass(frozen=True)
class Cpu:
    """One online logical CPU.

    Scale: kernel logical ids. `core` is the kernel core id, unique only within `socket` (and die);
    `core_key` is unique on the machine. `siblings` are the online threads of the core, this CPU included.
    `l3` holds the CPUs that share the last-level cache; empty where sysfs shows no cache,
    `l3_id` its sysfs id, -1 when unknown.
    """

    id: int
    socket: int
    core: int
    siblings: CpuSet
    numa: int = 0
    die: int = 0
    cluster: int = -1
    l3: CpuSet = CpuSet()
    l3_id: int = -1
    type: CoreType = CoreType.UNIFORM

    @property
    def core_key(self) -> tuple[int, int]:
        """Return (socket, lowest sibling): one key per physical core, whatever the firmware calls it."""
        return (self.socket, self.siblings.first)


@dataclass(frozen=True)
class HugepagePool:
    """Hugepages of one size on one NUMA node. Scale: `size_kib` kibibytes per page, counts in pages."""

    size_kib: int
    total: int = 0
    free: int = 0
    surplus: int = 0


@dataclass(frozen=True)
class NumaNode:
    """One NUMA node; `cpus` are its online CPUs (empty on a memory-only node). `distances` follow node order."""

    id: int
    cpus: CpuSet
    memory_kib: int = 0
    distances: tuple[int, ...] = ()
    hugepages: tuple[HugepagePool, ...] = ()


@dataclass(frozen=True)
class Device:
    """A device with a place.

    `name` is what users know (eth0, nvme0n1, or the PCI address); `numa` is None when the firmware does not say (-1).
    """

    name: str
    kind: str
    address: str = ""
    numa: int | None = None
    local_cpus: CpuSet = CpuSet()


@dataclass(frozen=True)
class Topology:
    """A machine.

    Shape: `cpus` ascending by id, online only; `numa_nodes` ascending by id, memory-only nodes included;
    every CPU's `numa` names an existing node; `siblings` of a CPU are online CPUs of the same socket.
    Scale: `memory_kib` kibibytes, hugepage sizes kibibytes.
    """

    arch: str
    cpus: tuple[Cpu, ...]
    numa_nodes: tuple[NumaNode, ...]
    offline: CpuSet = CpuSet()
    vendor: str = ""
    model: str = ""
    devices: tuple[Device, ...] = ()
    default_hugepage_kib: int = 2048

    @cached_property
    def online(self) -> CpuSet:
        """The online CPUs."""
        return CpuSet(cpu.id for cpu in self.cpus)

    @cached_property
    def present(self) -> CpuSet:
        """Online and offline CPUs."""
        return self.online | self.offline

    @cached_property
    def by_id(self) -> dict[int, Cpu]:
        """Online CPUs by id."""
        return {cpu.id: cpu for cpu in self.cpus}

    @cached_property
    def cores(self) -> tuple[CpuSet, ...]:
        """Thread sets of the physical cores, ascending by lowest thread."""
        return tuple(sorted({cpu.siblings for cpu in self.cpus}, key=lambda threads: threads.first))

    @cached_property
    def sockets(self) -> dict[int, CpuSet]:
        """Online CPUs by socket id, ascending."""
        return {
            socket: CpuSet(cpu.id for cpu in self.cpus if cpu.socket == socket)
            for socket in sorted({cpu.socket for cpu in self.cpus})
        }

    @cached_property
    def l3_groups(self) -> tuple[CpuSet, ...]:
        """Last-level-cache groups, ascending by lowest CPU; empty where the machine does not say."""
        return tuple(sorted({cpu.l3 for cpu in self.cpus if cpu.l3}, key=lambda cpus: cpus.first))

    @cached_property
    def threads_per_core(self) -> int:
        """The largest number of online threads on one core; 1 without SMT."""
        return max((len(core) for core in self.cores), default=1)

    @property
    def smt(self) -> bool:
        """Whether some core has more than one online thread."""
        return self.threads_per_core > 1

    @cached_property
    def memory_kib(self) -> int:
        """Memory of all NUMA nodes."""
        return sum(node.memory_kib for node in self.numa_nodes)

    def numa_node(self, node_id: int) -> NumaNode:
        """Return the node; raises `KeyError` when the machine has none of that id."""
        for node in self.numa_nodes:
            if node.id == node_id:
                return node
        raise KeyError(node_id)

    def siblings_of(self, cpus: CpuSet) -> CpuSet:
        """Return `cpus` completed to whole cores (online threads only)."""
        return union(self.by_id[cpu].siblings for cpu in cpus & self.online)

    def split_cores(self, *sets: CpuSet) -> tuple[CpuSet, ...]:
        """Return the cores whose threads are not all inside one of `sets`, or all outside of every set."""
        return tuple(core for core in self.cores if any(not core.isdisjoint(one) and not core <= one for one in sets))

    def cores_in(self, cpus: CpuSet) -> tuple[CpuSet, ...]:
        """Return the cores that lie completely inside `cpus`."""
        return tuple(core for core in self.cores if core <= cpus)

    def spread(self, cpus: CpuSet) -> dict[int, CpuSet]:
        """Return `cpus` by NUMA node id, nodes without any of them included."""
        return {node.id: cpus & node.cpus for node in self.numa_nodes}


def cores_by_numa(topology: Topology) -> dict[int, tuple[CpuSet, ...]]:
    """Return the cores of each NUMA node that has CPUs, cores ascending by lowest thread."""
    return {
        node.id: tuple(core for core in topology.cores if core.first in node.cpus)
        for node in topology.numa_nodes
        if node.cpus
    }


def total_threads(cores: Iterable[CpuSet]) -> int:
    """Return the number of logical CPUs on `cores`."""
    return sum(len(core) for core in cores)
