"""Small machines, nodes and tiers for tests of desired states and plans."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tunectl.core.cpuset import CpuSet
from tunectl.core.desire_context import DesireContext
from tunectl.core.desired import Partition, Platform
from tunectl.core.environment import NodeEnvironment
from tunectl.core.tier import CpuRequest, CpuSpec, Tier
from tunectl.core.topology import Cpu, HugepagePool, NumaNode, Topology

GIB_KIB = 1024 * 1024

NODE = NodeEnvironment(
    kernel_release="6.8.0-45-generic",
    kernel=(6, 8),
    arch="x86_64",
    debugfs=True,
    boot_loader="grub",
    cgroup_version=2,
    kubelet_version=(1, 33),
    kubelet_config_dir="/etc/kubernetes/kubelet.conf.d",
    has_kubelet=True,
    pmu_name="icelake",
)


def machine(numa: int = 2, cpus_per_node: int = 8, memory_gib: int = 64, **fields: Any) -> Topology:
    """Return a machine without SMT: one socket and so much memory per NUMA node."""
    cpus = tuple(
        Cpu(id=cpu, socket=cpu // cpus_per_node, core=cpu, siblings=CpuSet((cpu,)), numa=cpu // cpus_per_node)
        for cpu in range(numa * cpus_per_node)
    )
    nodes = tuple(
        NumaNode(
            id=node,
            cpus=CpuSet.span(node * cpus_per_node, (node + 1) * cpus_per_node - 1),
            memory_kib=memory_gib * GIB_KIB,
            distances=tuple(10 if node == other else 21 for other in range(numa)),
        )
        for node in range(numa)
    )
    return Topology(**{"arch": "x86_64", "cpus": cpus, "numa_nodes": nodes, "vendor": "GenuineIntel", **fields})


def with_hugepages(topology: Topology, node: int, size_kib: int, total: int) -> Topology:
    """Return the machine with a pool of hugepages on one NUMA node."""
    nodes = tuple(
        replace(one, hugepages=(HugepagePool(size_kib, total, total),)) if one.id == node else one
        for one in topology.numa_nodes
    )
    return replace(topology, numa_nodes=nodes)


def profile_tier(**fields: Any) -> Tier:
    """Return a tier whose CPUs are partitioned: 0-1 and 8-9 reserved on `machine()`."""
    cpu = CpuSpec(reserved=CpuSet.parse("0-1,8-9"), isolated=CpuSet.parse("2-7,10-15"))
    return Tier(**{"name": "t", "cpu": cpu, **fields})


def context(
    tier: Tier | None = None,
    topology: Topology | None = None,
    environment: NodeEnvironment = NODE,
    platform: Platform = Platform.KUBEADM,
    partition: Partition | None = None,
) -> DesireContext:
    """Return the context of a desired state; the partition is the tier's lists."""
    tier = tier or profile_tier()
    if partition is None:
        cpu = tier.cpu
        partition = Partition(
            reserved=_cpus(cpu.reserved),
            isolated=_cpus(cpu.isolated),
            shared=_cpus(cpu.shared),
            offlined=_cpus(cpu.offlined),
            ovs_dpdk=_cpus(cpu.ovs_dpdk),
        )
    return DesireContext(tier, topology or machine(), environment, platform, partition)


def _cpus(asked: CpuRequest) -> CpuSet:
    return asked if isinstance(asked, CpuSet) else CpuSet()
