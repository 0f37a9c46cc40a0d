"""Described machines for pictures and checks, built from a few numbers."""

from dataclasses import dataclass
from typing import Any

from tunectl.core.cpuset import CpuSet
from tunectl.core.machine import topology_from_facts
from tunectl.core.topology import Topology


@dataclass(frozen=True)
class Shape:
    """A regular machine. `interleaved`: NUMA nodes take turns in the numbering. `l3` cores share a cache."""

    sockets: int = 1
    nodes: int = 1
    cores: int = 4
    threads: int = 1
    interleaved: bool = False
    adjacent: bool = False
    l3: int = 0
    memory_gib: int = 64


def machine(shape: Shape, offline: str = "") -> Topology:
    """Return the machine of a shape: `nodes` and `cores` count per socket and per node."""
    total_nodes = shape.sockets * shape.nodes
    total_cores = total_nodes * shape.cores
    gone = CpuSet.parse(offline)
    cpus: list[dict[str, Any]] = []
    for core in range(total_cores):
        node = core % total_nodes if shape.interleaved else core // shape.cores
        threads = [
            core * shape.threads + thread if shape.adjacent else core + thread * total_cores
            for thread in range(shape.threads)
        ]
        for cpu in threads:
            facts = {"cpu": cpu, "socket": node // shape.nodes, "core": core, "numa": node}
            cache = _cache(shape, core, total_cores) - gone
            cpus.append(
                {"cpu": cpu, "online": False}
                if cpu in gone
                else facts | {"thread_siblings": CpuSet(threads).format(), "l3": cache.format()}
            )
    nodes = [{"id": node, "mem_total_kb": shape.memory_gib * 2**20} for node in range(total_nodes)]
    return topology_from_facts({"arch": "x86_64", "cpus": cpus, "numa_nodes": nodes})


def _cache(shape: Shape, core: int, total_cores: int) -> CpuSet:
    if not shape.l3:
        return CpuSet()
    first = core // shape.l3 * shape.l3
    return CpuSet(
        one + thread * total_cores for one in range(first, first + shape.l3) for thread in range(shape.threads)
    )


def hybrid(performance: int = 6, efficiency: int = 8) -> Topology:
    """Return a machine of performance cores with two threads and efficiency cores with one."""
    cpus: list[dict[str, Any]] = []
    for core in range(performance):
        siblings = f"{2 * core}-{2 * core + 1}"
        cpus += [
            {"cpu": cpu, "socket": 0, "core": core, "numa": 0, "thread_siblings": siblings, "core_type": "P"}
            for cpu in (2 * core, 2 * core + 1)
        ]
    for core in range(efficiency):
        cpu = 2 * performance + core
        cpus.append({"cpu": cpu, "socket": 0, "core": cpu, "numa": 0, "thread_siblings": str(cpu), "core_type": "E"})
    return topology_from_facts({"arch": "x86_64", "cpus": cpus, "numa_nodes": [{"id": 0, "mem_total_kb": 2**26}]})
