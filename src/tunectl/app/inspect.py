"""Look at nodes: their hardware, how their CPUs are used now, what their kubelet and kernel run with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tunectl.core.cmdline import values
from tunectl.core.cpuset import CpuSet
from tunectl.core.desired import Partition
from tunectl.core.environment import environment
from tunectl.core.fingerprint import hardware_fingerprint
from tunectl.core.kernel_value import chosen
from tunectl.core.observed import ObservedState, observe
from tunectl.core.snapshot import Snapshot
from tunectl.core.sysfs import read_topology
from tunectl.core.topology import Topology
from tunectl.planning.documents import snapshot_documents

_THP = "/sys/kernel/mm/transparent_hugepage/enabled"
_KERNEL_SETS = ("/sys/devices/system/cpu/isolated", "/sys/devices/system/cpu/nohz_full")


@dataclass(frozen=True)
class Inspection:
    """One node as it is.

    Shape: `partition` is what kubelet and kernel do with the CPUs now: reserved by the kubelet, isolated by the
    kernel. `facts` are labels with texts, in the order in which they are shown; a fact nobody could read says so.
    """

    node: str
    fingerprint: str
    topology: Topology
    partition: Partition
    facts: tuple[tuple[str, str], ...]
    simulated: bool = False


def inspect_node(snapshot: Snapshot) -> Inspection:
    """Return what a snapshot shows of its node.

    Sad paths: `InputError` of `read_topology` for a snapshot without a readable machine.
    """
    observed = observe(snapshot, snapshot_documents(snapshot))
    topology = read_topology(snapshot)
    facts = (*_system(observed), *_kubelet(observed), *_kernel(observed), *_hugepages(topology), *_tuners(observed))
    return Inspection(
        snapshot.node,
        hardware_fingerprint(snapshot),
        topology,
        _partition(observed, topology),
        facts,
        snapshot.simulated,
    )


def _partition(observed: ObservedState, topology: Topology) -> Partition:
    reserved = _cpus(str(observed.kubelet.config.get("reservedSystemCPUs", ""))) & topology.online
    isolated = CpuSet()
    for path in _KERNEL_SETS:
        isolated |= _cpus(observed.snapshot.text(path) or "")
    return Partition(reserved=reserved, isolated=(isolated - reserved) & topology.online)


def _cpus(text: str) -> CpuSet:
    try:
        return CpuSet.parse(text)
    except ValueError:  # the kernel writes (null) where there is no such set
        return CpuSet()


def _system(observed: ObservedState) -> Iterator[tuple[str, str]]:
    software = environment(observed)
    system = " ".join(part for part in (software.distribution, software.distribution_version) if part)
    loader = "" if software.boot_loader == "unknown" else f"boot loader {software.boot_loader}"
    cgroup = f"cgroup v{software.cgroup_version}" if software.cgroup_version else ""
    parts = [system, f"Linux {software.kernel_release}" if software.kernel_release else "", cgroup, loader]
    yield "system", " · ".join(part for part in parts if part) or "unknown"


def _kubelet(observed: ObservedState) -> Iterator[tuple[str, str]]:
    state = observed.kubelet
    if not state.present or state.trouble:
        yield "kubelet", state.trouble or "none"
        return
    config = state.config
    parts = [
        f"{name} {config.get(field, 'unset')}"
        for name, field in (
            ("cpuManager", "cpuManagerPolicy"),
            ("topologyManager", "topologyManagerPolicy"),
            ("memoryManager", "memoryManagerPolicy"),
        )
    ]
    yield "kubelet", " · ".join([*parts, f"reserved CPUs {config.get('reservedSystemCPUs') or 'none'}"])
    yield "drop-ins", state.config_dir or "the kubelet reads no directory of drop-ins"


def _kernel(observed: ObservedState) -> Iterator[tuple[str, str]]:
    if observed.cmdline is None:
        yield "kernel", f"the command line could not be read: {observed.snapshot.why_missing('/proc/cmdline')}"
        return
    parts = []
    for name in ("isolcpus", "nohz_full", "rcu_nocbs"):
        found = values(observed.cmdline, name)
        parts += [f"{name} {found[-1]}"] if found else []
    thp = observed.snapshot.text(_THP)
    parts += [f"transparent hugepages {chosen(thp)}"] if thp is not None else []
    if observed.swaps is not None:
        parts.append("swap on" if observed.swaps else "swap off")
    yield (
        "kernel",
        " · ".join(parts if parts[:1] and parts[0].startswith(("iso", "nohz", "rcu")) else ["no isolation", *parts]),
    )


def _hugepages(topology: Topology) -> Iterator[tuple[str, str]]:
    texts = [
        f"node {node.id}: {pool.total} x {_size(pool.size_kib)}"
        for node in topology.numa_nodes
        for pool in node.hugepages
        if pool.total
    ]
    yield "hugepages", " · ".join(texts) or "none"


def _size(kib: int) -> str:
    return f"{kib // 1048576}G" if kib % 1048576 == 0 else f"{kib // 1024}M" if kib % 1024 == 0 else f"{kib}k"


def _tuners(observed: ObservedState) -> Iterator[tuple[str, str]]:
    profile = observed.snapshot.text("/etc/tuned/active_profile")
    names = [f"{name} ({profile})" if name == "tuned" and profile else name for name in observed.tuners]
    yield "tuners", ", ".join(names) or "none running"
