# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a kubelet starts with and should not: machines and settings on which it does damage later.

Source: Kubernetes 1.36 resource managers, measured on the kubelet; kubernetes/kubernetes issue 140495 for uneven cores.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..cpuset import CpuSet, union
from ..quantity import format_bytes
from .config_decode import Path
from .hints import TopologyPolicy
from .machine import KubeletMachine
from .settings import ManagerSettings

UNEVEN, WRAP, SPARSE, POD_LEVEL = "uneven-cores", "memory-wrap", "sparse-nodes", "pod-level-managers"
_MOST_NAMED = 8


@dataclass(frozen=True)
class Hazard:
    """Something that does damage although the kubelet starts. Shape: `code` names it, `path` is the field behind it."""

    code: str
    what: str
    why: str
    fix: str
    path: Path = ()


def hazards(settings: ManagerSettings, machine: KubeletMachine) -> Iterator[Hazard]:
    """Yield the hazards of a kubelet's managers on a machine."""
    if settings.is_static:
        yield from _uneven(machine)
    if settings.guarantees_memory:
        yield from _wrap(settings, machine)
    if settings.prefer_closest and settings.topology_policy in (TopologyPolicy.BEST_EFFORT, TopologyPolicy.RESTRICTED):
        yield from _sparse(machine)
    if settings.pod_level_managers:
        yield Hazard(
            POD_LEVEL,
            "the feature gate PodLevelResourceManagers is on",
            "a restart of the kubelet gives a running pod a second set of CPUs, or turns it away",
            "switch PodLevelResourceManagers off",
            ("featureGates", "PodLevelResourceManagers"),
        )


def odd_cores(machine: KubeletMachine) -> CpuSet:
    """Return the CPUs of cores that have another number of online threads than the kubelet takes every core to have."""
    return union(cpus for cpus in machine.core_cpus.values() if len(cpus) != machine.cpus_per_core)


def _uneven(machine: KubeletMachine) -> Iterator[Hazard]:
    odd = odd_cores(machine)
    why = "the static CPU manager counts with the average and hands out CPUs that it gave to another container"
    fix = "offline whole cores only (all threads of a core), or set cpuManagerPolicy: none on this machine"
    if odd:
        counts = sorted({len(cpus) for cpus in machine.core_cpus.values()})
        what = f"cores have {_either(counts)} online threads; CPUs {odd} are on cores of another size than the average"
        yield Hazard(UNEVEN, what, why, fix, ("cpuManagerPolicy",))
        return
    sockets = sorted({len(cpus) for cpus in machine.socket_cpus.values()})
    if len(sockets) > 1:
        fix = "offline as many CPUs on each socket, or set cpuManagerPolicy: none on this machine"
        yield Hazard(UNEVEN, f"sockets have {_either(sockets)} online CPUs", why, fix, ("cpuManagerPolicy",))


def _either(numbers: list[int]) -> str:
    return " or ".join(str(number) for number in numbers[:_MOST_NAMED])


def _wrap(settings: ManagerSettings, machine: KubeletMachine) -> Iterator[Hazard]:
    for node in machine.nodes:
        reserved = sum(limits.get("memory", 0) for name, limits in settings.reserved_memory if name == node.id)
        pages = sum(size * count for size, count in node.hugepages.items())
        if not reserved or reserved + pages <= node.memory:
            continue
        yield Hazard(
            WRAP,
            f"NUMA node {node.id} has {format_bytes(node.memory)}; {format_bytes(reserved)} are reserved and "
            f"{format_bytes(pages)} are hugepages",
            "the kubelet's subtraction wraps around: the node then admits pods of any size",
            "reserve on a NUMA node with room, or allocate fewer hugepages there",
            ("reservedMemory",),
        )


def _sparse(machine: KubeletMachine) -> Iterator[Hazard]:
    nodes = [node.id for node in machine.nodes]
    if sorted(nodes) != list(range(len(nodes))):
        yield Hazard(
            SPARSE,
            f"the NUMA nodes are numbered {', '.join(str(node) for node in sorted(nodes))}",
            "prefer-closest-numa-nodes looks distances up by these numbers: the kubelet crashes when it admits a pod",
            "leave prefer-closest-numa-nodes out on this machine",
            ("topologyManagerPolicyOptions", "prefer-closest-numa-nodes"),
        )
