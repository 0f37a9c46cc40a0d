# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The machine as the planned boot leaves it: offlined CPUs gone, planned hugepages there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .cpuset import CpuSet
from .desire_context import DesireContext
from .hugepage_plan import hugepage_pools
from .topology import HugepagePool, NumaNode, Topology


def topology_after(context: DesireContext) -> Topology:
    """Return the topology that a kubelet finds after the tier was applied and the node booted.

    Shape: offlined CPUs and, without SMT, all but the first thread of a core have left; siblings and cache groups
    hold online CPUs only; hugepages are those of `hugepage_pools`.
    """
    left = without_cpus(context.topology, _leaving(context))
    pools = hugepage_pools(context)
    nodes = tuple(replace(node, hugepages=_pools(node, pools.get(node.id, {}))) for node in left.numa_nodes)
    return replace(left, numa_nodes=nodes)


def without_cpus(topology: Topology, gone: CpuSet) -> Topology:
    """Return the topology after CPUs went offline."""
    if not gone:
        return topology
    cpus = tuple(
        replace(cpu, siblings=cpu.siblings - gone, l3=cpu.l3 - gone) for cpu in topology.cpus if cpu.id not in gone
    )
    nodes = tuple(replace(node, cpus=node.cpus - gone) for node in topology.numa_nodes)
    return replace(topology, cpus=cpus, numa_nodes=nodes, offline=topology.offline | (gone & topology.online))


def _leaving(context: DesireContext) -> CpuSet:
    leaving = context.partition.offlined
    if context.tier.cpu.disable_smt:
        for core in context.topology.cores:
            leaving |= core - CpuSet((core.first,))
    return leaving


def _pools(node: NumaNode, counts: Mapping[int, int]) -> tuple[HugepagePool, ...]:
    sizes = sorted({*counts, *(pool.size_kib for pool in node.hugepages)})
    return tuple(HugepagePool(size, counts.get(size, 0), counts.get(size, 0)) for size in sizes)
