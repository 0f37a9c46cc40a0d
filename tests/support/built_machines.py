"""Machines of a regular build for tests that need to know every number of them."""

from collections.abc import Sequence
from dataclasses import replace

from tunectl.core.cpuset import CpuSet, union
from tunectl.core.topology import CoreType, Cpu, Device, NumaNode, Topology


def build_machine(
    cores: int, numa: int = 1, threads: int = 2, *, memory_only: int = 0, devices: Sequence[Device] = ()
) -> Topology:
    """Return a machine of one socket per NUMA node: thread t of core c is CPU t*cores+c, cores evenly over the nodes.

    `memory_only` further NUMA nodes have no CPUs.
    """
    per = cores // numa
    cpus = []
    for core in range(cores):
        siblings = CpuSet(thread * cores + core for thread in range(threads))
        cpus += [Cpu(cpu, core // per, core % per, siblings, numa=core // per) for cpu in siblings]
    cpus.sort(key=lambda cpu: cpu.id)
    nodes = [NumaNode(node, CpuSet(cpu.id for cpu in cpus if cpu.numa == node)) for node in range(numa)]
    nodes += [NumaNode(numa + extra, CpuSet()) for extra in range(memory_only)]
    return Topology("x86_64", tuple(cpus), tuple(nodes), devices=tuple(devices))


def with_cache_groups(machine: Topology, cores: int) -> Topology:
    """Return the machine with a last-level cache for each `cores` neighbouring cores."""
    caches = [union(machine.cores[start : start + cores]) for start in range(0, len(machine.cores), cores)]
    of = {cpu: cache for cache in caches for cpu in cache}
    return replace(machine, cpus=tuple(replace(cpu, l3=of[cpu.id]) for cpu in machine.cpus))


def without_cpus(machine: Topology, offline: CpuSet) -> Topology:
    """Return the machine with these CPUs offline."""
    kept = machine.online - offline
    return replace(
        machine,
        cpus=tuple(
            replace(cpu, siblings=cpu.siblings & kept, l3=cpu.l3 & kept) for cpu in machine.cpus if cpu.id in kept
        ),
        numa_nodes=tuple(replace(node, cpus=node.cpus & kept) for node in machine.numa_nodes),
        offline=machine.offline | offline,
    )


def hybrid_machine(performance: int, efficiency: int) -> Topology:
    """Return a machine of one NUMA node: two-thread performance cores first, then single-threaded efficiency cores."""
    cpus = []
    for core in range(performance):
        siblings = CpuSet((2 * core, 2 * core + 1))
        cpus += [Cpu(cpu, 0, core, siblings, type=CoreType.PERFORMANCE) for cpu in siblings]
    for core in range(efficiency):
        cpu = 2 * performance + core
        cpus.append(Cpu(cpu, 0, performance + core, CpuSet((cpu,)), type=CoreType.EFFICIENCY))
    return Topology("x86_64", tuple(cpus), (NumaNode(0, CpuSet(cpu.id for cpu in cpus)),))


def renumbered(machine: Topology, numbers: Sequence[int]) -> Topology:
    """Return the machine with CPU ids exchanged: the n-th online CPU gets the id `numbers[n]`."""
    new = dict(zip(machine.online, numbers, strict=True))

    def moved(cpus: CpuSet) -> CpuSet:
        return CpuSet(new[cpu] for cpu in cpus)

    cpus = [replace(cpu, id=new[cpu.id], siblings=moved(cpu.siblings), l3=moved(cpu.l3)) for cpu in machine.cpus]
    return replace(
        machine,
        cpus=tuple(sorted(cpus, key=lambda cpu: cpu.id)),
        numa_nodes=tuple(replace(node, cpus=moved(node.cpus)) for node in machine.numa_nodes),
    )
