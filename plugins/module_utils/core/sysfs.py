# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The topology that a node's sysfs and procfs tell."""

from __future__ import annotations

from dataclasses import replace

from .cpuset import MAX_CPU_ID, CpuSet
from .machine import infer_core_types, sibling_fault
from .snapshot import Snapshot
from .sysfs_cpuinfo import architecture, vendor_and_model
from .sysfs_devices import read_devices
from .sysfs_numa import default_hugepage_kib, read_numa_nodes
from .topology import CoreType, Cpu, Topology
from .tree import Tree

CPU_DIRECTORY = "/sys/devices/system/cpu"

_SIBLINGS = ("thread_siblings_list", "core_cpus_list", "thread_siblings", "core_cpus")
_PERFORMANCE_CPUS = "/sys/devices/cpu_core/cpus"
_EFFICIENCY_CPUS = ("/sys/devices/cpu_atom/cpus", "/sys/devices/cpu_lowpower/cpus")
# Capacities closer than this are one kind of core: the margin of `capacity_greater` in kernel/sched/fair.c.
_CAPACITY_MARGIN = (1024, 1078)
# The kernel's "no cluster" where the processor does not tell one: -1, and that cut to 16 bits.
_NO_CLUSTER = (-1, 0xFFFF)
# More caches than any architecture has per CPU.
_CACHE_INDEXES = 10


def read_topology(snapshot: Snapshot) -> Topology:
    """Return the machine that a snapshot shows.

    Sad paths: `InputError` TUN-1701 or TUN-1702 naming the file that is malformed, missing, or contradicts another.
    Source: kernel `admin-guide/cputopology`, `ABI/stable/sysfs-devices-system-cpu` and `-node`.
    """
    tree = Tree(snapshot)
    online, offline = _online_offline(tree)
    nodes, home = read_numa_nodes(tree, online)
    cpus = tuple(_read_cpu(tree, cpu, online, home[cpu]) for cpu in online)
    fault = sibling_fault(cpus)
    if fault:
        raise tree.fault(_sibling_file(tree, fault[0]), f"the siblings of CPU {fault[0]} {fault[1]}")
    arch = architecture(snapshot)
    vendor, model = vendor_and_model(snapshot)
    return Topology(
        arch=arch,
        cpus=_with_core_types(tree, cpus, offline, arch, vendor),
        numa_nodes=nodes,
        offline=offline,
        vendor=vendor,
        model=model,
        devices=read_devices(tree),
        default_hugepage_kib=default_hugepage_kib(tree),
    )


def _online_offline(tree: Tree) -> tuple[CpuSet, CpuSet]:
    """Return the online CPUs, and the present ones that are offline."""
    listed = CpuSet(cpu for cpu, _path in tree.numbered(CPU_DIRECTORY, "cpu") if cpu <= MAX_CPU_ID)
    present_file, online_file, offline_file = (f"{CPU_DIRECTORY}/{name}" for name in ("present", "online", "offline"))
    present = tree.cpus(present_file) if tree.has(present_file) else listed
    if tree.has(online_file):
        online, source = tree.cpus(online_file), online_file
        present = present or online
    else:
        # The list of offline CPUs also names those that could be plugged in.
        online, source = present - _offline(tree, offline_file, present), offline_file
    if not present:
        raise tree.missing(online_file)
    if not online:
        raise tree.fault(source, "it leaves no CPU online")
    if not online <= present:
        raise tree.fault(online_file, f"it lists CPU {online - present}, which {present_file} does not")
    return online, present - online


def _offline(tree: Tree, path: str, present: CpuSet) -> CpuSet:
    offline = tree.cpus(path) if tree.has(path) else CpuSet()
    singly = CpuSet(cpu for cpu in present if tree.number(f"{CPU_DIRECTORY}/cpu{cpu}/online", 1) == 0)
    return offline | singly


def _read_cpu(tree: Tree, cpu: int, online: CpuSet, numa: int) -> Cpu:
    directory = f"{CPU_DIRECTORY}/cpu{cpu}"
    topology = f"{directory}/topology"
    cache = _last_level_cache(tree, f"{directory}/cache")
    cluster = tree.number(f"{topology}/cluster_id", -1)
    return Cpu(
        id=cpu,
        # Firmware that tells no socket or die shows -1: then there is one.
        socket=max(0, tree.number(f"{topology}/physical_package_id")),
        core=tree.number(f"{topology}/core_id"),
        siblings=tree.cpus(_sibling_file(tree, cpu)) & online,
        numa=numa,
        die=max(0, tree.number(f"{topology}/die_id", 0)),
        cluster=-1 if cluster in _NO_CLUSTER else cluster,
        l3=_sharers(tree, cache, cpu) & online,
        l3_id=max(-1, tree.number(f"{cache}/id", -1)) if cache else -1,
    )


def _sibling_file(tree: Tree, cpu: int) -> str:
    paths = [f"{CPU_DIRECTORY}/cpu{cpu}/topology/{name}" for name in _SIBLINGS]
    return next((path for path in paths if tree.has(path)), paths[0])


def _last_level_cache(tree: Tree, directory: str) -> str:
    """Return the directory of the cache of the highest level, "" when sysfs shows no cache."""
    best, last = -1, ""
    for index in range(_CACHE_INDEXES):
        path = f"{directory}/index{index}"
        if tree.has(f"{path}/level") and tree.number(f"{path}/level") > best:
            best, last = tree.number(f"{path}/level"), path
    return last


def _sharers(tree: Tree, cache: str, cpu: int) -> CpuSet:
    if not cache:
        return CpuSet()
    shared = tree.cpus(f"{cache}/shared_cpu_list")
    if cpu not in shared:
        raise tree.fault(f"{cache}/shared_cpu_list", f"CPU {cpu} is not among the CPUs {shared} that share its cache")
    return shared


def _with_core_types(tree: Tree, cpus: tuple[Cpu, ...], offline: CpuSet, arch: str, vendor: str) -> tuple[Cpu, ...]:
    performance = tree.cpus(_PERFORMANCE_CPUS) if tree.has(_PERFORMANCE_CPUS) else CpuSet()
    efficiency = CpuSet()
    for path in _EFFICIENCY_CPUS:
        efficiency |= tree.cpus(path) if tree.has(path) else CpuSet()
    if performance and efficiency:
        if performance & efficiency:
            raise tree.fault(_PERFORMANCE_CPUS, f"CPU {performance & efficiency} is said to be of two kinds")
        return tuple(replace(cpu, type=_kind(cpu.id, performance, efficiency)) for cpu in cpus)
    if arch.startswith(("aarch64", "arm", "riscv")):
        return _by_capacity(tree, cpus)
    return cpus if performance or efficiency else infer_core_types(cpus, len(offline), vendor)


def _kind(cpu: int, performance: CpuSet, efficiency: CpuSet) -> CoreType:
    if cpu in performance:
        return CoreType.PERFORMANCE
    return CoreType.EFFICIENCY if cpu in efficiency else CoreType.UNIFORM


def _by_capacity(tree: Tree, cpus: tuple[Cpu, ...]) -> tuple[Cpu, ...]:
    """Return the CPUs with a kind where their capacities differ by more than the scheduler's margin.

    Source: kernel `ABI/testing/sysfs-devices-system-cpu`, cpu_capacity.
    """
    capacity = {cpu.id: tree.count(f"{CPU_DIRECTORY}/cpu{cpu.id}/cpu_capacity", 0) for cpu in cpus}
    largest = max(capacity.values())
    scale, margin = _CAPACITY_MARGIN
    small = {cpu for cpu, value in capacity.items() if largest * scale > value * margin}
    if not small or not all(capacity.values()):
        return cpus
    return tuple(replace(cpu, type=CoreType.EFFICIENCY if cpu.id in small else CoreType.PERFORMANCE) for cpu in cpus)
