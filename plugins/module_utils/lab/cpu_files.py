# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What sysfs shows of CPUs: topology, caches and the lists of those that are there, online and isolated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..core.cpuset import CpuSet
from ..core.topology import CoreType, Cpu, Topology
from .boot import Boot

CPU = "/sys/devices/system/cpu"
NODE = "/sys/devices/system/node"

_LAST_LEVEL = "index3"
_L3_SIZE = "32768K"


def cpu_files(topology: Topology, online: CpuSet, l3_sizes: Mapping[int, str]) -> dict[str, str]:
    """Return the files of the online CPUs, by absolute path.

    Shape: `topology` shows the machine with all its CPUs; a CPU that is offline has neither topology nor cache, and
    is in no sibling list, as on x86. `l3_sizes` are sizes of the last-level cache by CPU (`28160K`).
    """
    files: dict[str, str] = {}
    texts = _Texts()
    packages = {socket: cpus & online for socket, cpus in topology.sockets.items()}
    for cpu in topology.cpus:
        if cpu.id not in online:
            continue
        here = f"{CPU}/cpu{cpu.id}"
        siblings = texts.of(cpu.siblings & online)
        files.update(_topology_files(f"{here}/topology", cpu, siblings, texts.of(packages[cpu.socket])))
        if cpu.l3:
            # The smaller caches of a core tell nobody anything, and would double the files of a node.
            cache = ("3", "Unified", l3_sizes.get(cpu.id, _L3_SIZE))
            files.update(_cache_files(f"{here}/cache/{_LAST_LEVEL}", cache, texts.of(cpu.l3 & online), cpu.l3_id))
    return files


def switch_files(topology: Topology, boot: Boot, online: CpuSet) -> dict[str, str]:
    """Return the `online` switches; the boot CPU has none, as on x86."""
    boot_cpu = topology.online.first
    return {f"{CPU}/cpu{cpu}/online": f"{int(cpu in online)}\n" for cpu in boot.present if cpu != boot_cpu}


def summary_files(topology: Topology, boot: Boot, online: CpuSet, *, has_nohz_full: bool) -> dict[str, str]:
    """Return the lists above the CPUs."""
    files = {
        "online": online.format(),
        "offline": (boot.present - online).format(),
        "present": boot.present.format(),
        "possible": boot.present.format(),
        "isolated": boot.isolated.format(),
        "kernel_max": "8191",
        "smt/active": str(int(any(len(core & online) > 1 for core in topology.cores))),
        "smt/control": boot.smt_control,
    }
    if has_nohz_full:
        # The kernel prints a mask that was never made as this word.
        files["nohz_full"] = "(null)" if boot.nohz_full is None else boot.nohz_full.format()
    texts = {f"{CPU}/{name}": f"{text}\n" for name, text in files.items()}
    for kind, name in ((CoreType.PERFORMANCE, "cpu_core"), (CoreType.EFFICIENCY, "cpu_atom")):
        members = CpuSet(cpu.id for cpu in topology.cpus if cpu.type is kind)
        if members:
            texts[f"/sys/devices/{name}/cpus"] = f"{members.format()}\n"
    return texts


def node_lists(topology: Topology, online: CpuSet) -> dict[str, str]:
    """Return what each NUMA node says about its CPUs and distances, and the lists above the nodes."""
    nodes = topology.numa_nodes
    files = {
        f"{NODE}/online": _ids([node.id for node in nodes]),
        f"{NODE}/possible": _ids([node.id for node in nodes]),
        f"{NODE}/has_cpu": _ids([node.id for node in nodes if node.cpus & online]),
        f"{NODE}/has_memory": _ids([node.id for node in nodes if node.memory_kib]),
    }
    for node in nodes:
        files[f"{NODE}/node{node.id}/cpulist"] = f"{(node.cpus & online).format()}\n"
        files[f"{NODE}/node{node.id}/cpumap"] = f"{(node.cpus & online).mask(topology.present.last + 1)}\n"
        if node.distances:
            files[f"{NODE}/node{node.id}/distance"] = " ".join(str(one) for one in node.distances) + "\n"
    return files


class _Texts:
    """CPU sets as text, each formatted once: hundreds of files show the same few."""

    def __init__(self) -> None:
        self._known: dict[CpuSet, str] = {}

    def of(self, cpus: CpuSet) -> str:
        if cpus not in self._known:
            self._known[cpus] = f"{cpus.format()}\n"
        return self._known[cpus]


def _topology_files(where: str, cpu: Cpu, siblings: str, package: str) -> dict[str, str]:
    files = {
        f"{where}/physical_package_id": f"{cpu.socket}\n",
        f"{where}/core_id": f"{cpu.core}\n",
        f"{where}/die_id": f"{cpu.die}\n",
        f"{where}/thread_siblings_list": siblings,
        f"{where}/package_cpus_list": package,
    }
    if cpu.cluster >= 0:
        files[f"{where}/cluster_id"] = f"{cpu.cluster}\n"
    return files


def _cache_files(where: str, kind: tuple[str, str, str], sharers: str, cache_id: int) -> dict[str, str]:
    level, contents, size = kind
    files = {
        f"{where}/level": f"{level}\n",
        f"{where}/type": f"{contents}\n",
        f"{where}/size": f"{size}\n",
        f"{where}/shared_cpu_list": sharers,
    }
    if cache_id >= 0:
        files[f"{where}/id"] = f"{cache_id}\n"
    return files


def _ids(numbers: Sequence[int]) -> str:
    return CpuSet(numbers).format() + "\n"
