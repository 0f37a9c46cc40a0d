# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The texts that the kubelet takes the checksums of its checkpoints of: its structs, printed.

Source: Kubernetes 1.36 `pkg/kubelet/cm/{cpu,memory}manager/state`, `pkg/util/hash` (FNV-1a 32 of the printed value).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .go_values import go_cpus

_OFFSET, _PRIME = 0x811C9DC5, 0x01000193

Data = Mapping[str, Any]


def checksum(dump: str) -> int:
    """Return FNV-1a, 32 bits, of the text."""
    value = _OFFSET
    for byte in dump.encode("utf-8", "replace"):
        value = ((value ^ byte) * _PRIME) & 0xFFFFFFFF
    return value


def cpu_dump_oldest(data: Data) -> str:
    """Return the dump of the oldest format: CPUs by container id."""
    return _cpu_dump(data, f"Entries:(map[string]string){_map(data.get('entries') or {})}")


def cpu_hash_input(data: Data) -> str:
    """Return the dump of the usual format: CPUs by pod and container."""
    return _cpu_dump(data, _entries(data))


def cpu_dump_with_pods(data: Data) -> str:
    """Return the dump of the format that a kubelet with PodLevelResourceManagers writes.

    Raises `ValueError` for CPUs of a pod that are no list.
    """
    pods = {pod: _pod_dump(entry or {}) for pod, entry in (data.get("podEntries") or {}).items()}
    return _cpu_dump(data, f"{_entries(data)} PodEntries:(state.PodCPUAssignments){_map(pods)}")


def memory_hash_input(data: Data) -> str:
    """Return the dump of the memory manager's checkpoint."""
    return _memory_dump(data, "")


def memory_dump_with_pods(data: Data) -> str:
    """Return the dump that a kubelet with PodLevelResourceManagers takes, of a checkpoint without memory of pods."""
    return _memory_dump(data, "PodEntries:(state.PodMemoryAssignments)map[] ")


def _cpu_dump(data: Data, entries: str) -> str:
    return (
        f"(*state.CPUManagerCheckpoint){{PolicyName:(string){data.get('policyName', '')} "
        f"DefaultCPUSet:(string){data.get('defaultCpuSet', '')} {entries} Checksum:(checksum.Checksum)0}}"
    )


def _entries(data: Data) -> str:
    entries = {pod: _map(containers or {}) for pod, containers in (data.get("entries") or {}).items()}
    return f"Entries:(map[string]map[string]string){_map(entries)}"


def _pod_dump(entry: Data) -> str:
    elements = _map({str(cpu): "{}" for cpu in go_cpus(entry.get("cpuSet", ""))}, by=int)
    return f"{{CPUSet:(cpuset.CPUSet){{elems:(map[int]struct {{}}){elements}}}}}"


def _memory_dump(data: Data, pods: str) -> str:
    state = _map({node: _node_dump(one) for node, one in (data.get("machineState") or {}).items()}, by=int)
    entries = {
        pod: _map({name: _list(_block_dump(block) for block in blocks or ()) for name, blocks in (own or {}).items()})
        for pod, own in (data.get("entries") or {}).items()
    }
    return (
        f"(*state.MemoryManagerCheckpoint){{PolicyName:(string){data.get('policyName', '')} "
        f"MachineState:(state.NUMANodeMap){state} Entries:(state.ContainerMemoryAssignments){_map(entries)} "
        f"{pods}Checksum:(checksum.Checksum)0}}"
    )


def _node_dump(node: Data) -> str:
    tables = _map({kind: _table_dump(table) for kind, table in (node.get("memoryMap") or {}).items()})
    return (
        f"<*>{{NumberOfAssignments:(int){node.get('numberOfAssignments', 0)} "
        f"MemoryMap:(map[v1.ResourceName]*state.MemoryTable){tables} Cells:([]int){_list(node.get('cells') or ())}}}"
    )


def _table_dump(table: Data) -> str:
    return (
        f"<*>{{TotalMemSize:(uint64){table.get('total', 0)} SystemReserved:(uint64){table.get('systemReserved', 0)} "
        f"Allocatable:(uint64){table.get('allocatable', 0)} Reserved:(uint64){table.get('reserved', 0)} "
        f"Free:(uint64){table.get('free', 0)}}}"
    )


def _block_dump(block: Data) -> str:
    return (
        f"{{NUMAAffinity:([]int){_list(block.get('numaAffinity') or ())} Type:(v1.ResourceName){block.get('type', '')} "
        f"Size:(uint64){block.get('size', 0)}}}"
    )


def _map(items: Mapping[str, str], by: Callable[[str], Any] = str) -> str:
    return "map[" + " ".join(f"{key}:{items[key]}" for key in sorted(items, key=by)) + "]"


def _list(items: Any) -> str:
    parts: Sequence[str] = [str(item) for item in items]
    return "[" + " ".join(parts) + "]"
