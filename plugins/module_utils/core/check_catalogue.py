# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Every check's stable id with what it asks, why it matters and what to do; the reference is made from it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CheckDoc:
    """The documentation of a check: a title that is a statement, why it matters, the remedy and the source."""

    title: str
    why: str
    remedy: str
    source: str = ""


CHECKS: dict[str, CheckDoc] = {
    "cpu.hybrid.mixed": CheckDoc(
        title="Isolated CPUs are of one core type",
        why="A pod with exclusive CPUs may get efficiency cores, and its threads then run at different speeds.",
        remedy="Reserve the efficiency cores, or give them to the shared set.",
        source="kernel admin-guide, /sys/devices/cpu_core and /sys/devices/cpu_atom",
    ),
    "cpu.isolated.empty": CheckDoc(
        title="Some CPUs are left for workloads",
        why="A node without isolated CPUs cannot run a pod with exclusive CPUs; PerformanceProfile refuses it.",
        remedy="Reserve fewer CPUs.",
        source="PerformanceProfile v2 spec.cpu.isolated",
    ),
    "cpu.l3.split": CheckDoc(
        title="Reserved CPUs fill whole last-level-cache groups",
        why="Housekeeping that shares a cache with a workload evicts its data.",
        remedy="Reserve as many CPUs per NUMA node as a cache group has, or keep latency-critical pods off that group.",
        source="kernel sysfs cache/index3/shared_cpu_list; kubelet prefer-align-cpus-by-uncorecache",
    ),
    "cpu.near.unknown": CheckDoc(
        title="The device that CPUs shall be near to has a NUMA node",
        why="Without it the CPUs are taken as if no device was named.",
        remedy="Name a device of this machine by its interface name or PCI address.",
        source="kernel sysfs device numa_node",
    ),
    "cpu.numa.empty": CheckDoc(
        title="Every NUMA node with CPUs has reserved and isolated CPUs",
        why=(
            "Without reserved CPUs a node's interrupts and kernel threads run remotely or on isolated CPUs; "
            "without isolated CPUs its memory serves no pinned pod locally."
        ),
        remedy="Spread the reserved CPUs over the NUMA nodes.",
        source="kubelet topology manager",
    ),
    "cpu.numa.too-many": CheckDoc(
        title="The topology manager takes the machine's number of NUMA nodes",
        why="Above 8 NUMA nodes, memory-only nodes included, the kubelet refuses to start with a topology policy.",
        remedy="Set the option max-allowable-numa-nodes, use policy none, or change the firmware's NUMA setting.",
        source="kubelet topologyManagerPolicyOptions max-allowable-numa-nodes",
    ),
    "cpu.offlined.boot-cpu": CheckDoc(
        title="CPU 0 stays online",
        why="Kernels for x86 cannot take the boot CPU offline, so the node would not become what was planned.",
        remedy="Leave CPU 0 out of the offlined set.",
        source="kernel x86 CPU hotplug: CPU 0 cannot be taken offline",
    ),
    "cpu.offlined.half-core": CheckDoc(
        title="Cores are taken offline as a whole",
        why="A core with one thread offline is a half core: whole-cores policies cannot hand it out properly.",
        remedy="Take whole cores offline, or set disable_smt.",
        source="kubelet static policy option full-pcpus-only",
    ),
    "cpu.partition.absent": CheckDoc(
        title="The sets name CPUs that the machine has",
        why="The kubelet refuses reserved CPUs that do not exist, and the kernel ignores isolated ones.",
        remedy="Correct the lists, or say in cpu.otherwise what is meant on other machines.",
        source="kubelet reservedSystemCPUs",
    ),
    "cpu.partition.gap": CheckDoc(
        title="Every online CPU is in a set",
        why="A CPU in no set is neither kept for the system nor isolated: workloads get it with all its noise.",
        remedy="Add the CPUs to a set, or leave isolated out so that it is the rest.",
        source="PerformanceProfile v2 spec.cpu",
    ),
    "cpu.partition.offline": CheckDoc(
        title="The sets name online CPUs",
        why="The kubelet counts online CPUs only and refuses a set that names others; isolation is not applied.",
        remedy="Bring the CPUs online, or correct the lists.",
        source="kubelet reservedSystemCPUs; kernel /sys/devices/system/cpu/offline",
    ),
    "cpu.partition.otherwise": CheckDoc(
        title="The lists were written for this machine",
        why="The tier's explicit lists name other CPUs than the machine has, so cpu.otherwise was used.",
        remedy="Nothing, where that is meant; else write a tier with lists for this machine.",
        source="tier field cpu.otherwise",
    ),
    "cpu.partition.overlap": CheckDoc(
        title="The sets have no CPU in common",
        why="A CPU cannot be kept for the system and handed out at the same time; PerformanceProfile refuses it.",
        remedy="Take the CPUs out of one of the sets.",
        source="PerformanceProfile v2 admission",
    ),
    "cpu.reserved.cpu0": CheckDoc(
        title="CPU 0 is reserved",
        why="Firmware, timers and interrupts without another target use CPU 0, so work there is disturbed.",
        remedy="Reserve CPU 0, or set reserve_cpu0: false when this is meant.",
        source="kernel timekeeping and interrupt affinity defaults",
    ),
    "cpu.reserved.too-few": CheckDoc(
        title="Enough CPUs are reserved",
        why="The static CPU manager does not start without reserved CPUs, and one CPU starves system services.",
        remedy="Reserve at least one whole core, and as many CPUs as systemReserved and kubeReserved name.",
        source="kubelet static policy; reservedSystemCPUs takes the place of systemReserved and kubeReserved cpu",
    ),
    "cpu.siblings.split": CheckDoc(
        title="The threads of a core have one role",
        why=(
            "Threads of a core share its execution units and caches, so the system's work on one disturbs the other; "
            "whole-cores policies cannot hand such a CPU out."
        ),
        remedy="Give whole cores to each set.",
        source="kernel sysfs topology/thread_siblings_list; kubelet static policy option full-pcpus-only",
    ),
    "pool.hardware.core-ids": CheckDoc(
        title="Kernel core ids are the same on all nodes of a pool",
        why="They have no effect on CPU sets, but tell that the processors are of different kinds or firmware.",
        remedy="Nothing.",
        source="kernel sysfs topology/core_id",
    ),
    "pool.hardware.unequal": CheckDoc(
        title="All nodes of a pool have the same CPUs, cores and NUMA nodes",
        why="One CPU list cannot fit machines that are built differently.",
        remedy="Put unlike machines into pools of their own.",
        source="OpenShift profile creator",
    ),
}
