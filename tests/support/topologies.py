"""Machines for tests: a strategy for any valid topology."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from tunectl.core.cpuset import CpuSet
from tunectl.core.topology import CoreType, Cpu, Device, HugepagePool, NumaNode, Topology

_NAMES = st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=8)


@st.composite
def topologies(draw: Any) -> Topology:
    """Draw a machine: 1-2 sockets, 1-2 NUMA nodes each, 1-4 cores each, 1-3 threads, ids shuffled, some offline."""
    sockets, nodes, cores, threads = (draw(st.integers(1, top)) for top in (2, 2, 4, 3))
    places = [
        (socket, socket * nodes + node, core)
        for socket in range(sockets)
        for node in range(nodes)
        for core in range(cores)
    ]
    count = len(places) * threads
    base = draw(st.sampled_from([0, 1020]))
    ids = draw(st.permutations(range(base, base + count)))
    # At least one CPU stays online.
    offline = CpuSet(draw(st.lists(st.sampled_from(ids[1:]), unique=True, max_size=3))) if count > 1 else CpuSet()
    cpus: list[Cpu] = []
    for index, (socket, node, core) in enumerate(places):
        siblings = CpuSet(ids[index * threads : (index + 1) * threads]) - offline
        cpus += [Cpu(id=cpu, socket=socket, core=core, siblings=siblings, numa=node) for cpu in siblings]
    cpus = [replace(cpu, type=draw(st.sampled_from(CoreType))) for cpu in sorted(cpus, key=lambda cpu: cpu.id)]
    cpus = [
        replace(cpu, l3=CpuSet(one.id for one in cpus if one.socket == cpu.socket), l3_id=cpu.socket - 1)
        for cpu in cpus
    ]
    total = sockets * nodes + draw(st.integers(0, 1))
    return Topology(
        arch=draw(st.sampled_from(["x86_64", "aarch64"])),
        cpus=tuple(cpus),
        numa_nodes=tuple(_numa_node(draw, node, total, cpus) for node in range(total)),
        offline=offline,
        vendor=draw(st.sampled_from(["GenuineIntel", "AuthenticAMD", ""])),
        model=draw(_NAMES),
        devices=tuple(_device(draw, total, cpus) for _ in range(draw(st.integers(0, 2)))),
        default_hugepage_kib=draw(st.sampled_from([2048, 1048576])),
    )


def _numa_node(draw: Any, node: int, total: int, cpus: list[Cpu]) -> NumaNode:
    return NumaNode(
        id=node,
        cpus=CpuSet(cpu.id for cpu in cpus if cpu.numa == node),
        memory_kib=draw(st.integers(0, 2**30)),
        distances=tuple(10 if node == other else 21 for other in range(total)),
        hugepages=tuple(
            HugepagePool(size_kib=size, total=draw(st.integers(0, 9)), free=draw(st.integers(0, 9)))
            for size in (2048, 1048576)
        ),
    )


def _device(draw: Any, total: int, cpus: list[Cpu]) -> Device:
    numa = draw(st.one_of(st.none(), st.integers(0, total - 1)))
    return Device(
        name=draw(_NAMES),
        kind=draw(st.sampled_from(["net", "nvme", "gpu"])),
        address="0000:3b:00.0",
        numa=numa,
        local_cpus=CpuSet(cpu.id for cpu in cpus if numa in (None, cpu.numa)),
    )
