# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The kubelet's checkpoint files: their JSON, and the checksum that the kubelet computes over a dump of its structs.

Source: Kubernetes `pkg/kubelet/cm/{cpu,memory}manager/state`, `pkg/util/hash` (FNV-1a 32 over the printed value).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from ..core.cpuset import CpuSet
from ..core.kubelet.memory_policy import Block, MemoryTable, NodeMemory

Entries = dict[str, dict[str, CpuSet]]

# Names of a memory table in the file, and ours.
_TABLE = {
    "total": "total",
    "systemReserved": "system_reserved",
    "allocatable": "allocatable",
    "reserved": "reserved",
    "free": "free",
}
_OFFSET, _PRIME = 0x811C9DC5, 0x01000193


class CheckpointError(Exception):
    """A checkpoint cannot be used; the message is what the kubelet would log, in short."""


@dataclass(frozen=True)
class CpuCheckpoint:
    """cpu_manager_state. Shape: `entries` maps pod uid to container to its exclusive CPUs."""

    policy: str
    default: CpuSet = CpuSet()
    entries: Mapping[str, Mapping[str, CpuSet]] = field(default_factory=dict)

    def text(self) -> str:
        """Return the file as the kubelet writes it: one line, no newline at its end."""
        data: dict[str, Any] = {"policyName": self.policy, "defaultCpuSet": self.default.format()}
        if self.entries:
            data["entries"] = {
                pod: {name: cpus.format() for name, cpus in sorted(containers.items())}
                for pod, containers in sorted(self.entries.items())
            }
        return _written(data, cpu_hash_input(data))


@dataclass(frozen=True)
class MemoryCheckpoint:
    """memory_manager_state. Shape: `entries` maps pod uid to container to its blocks. Scale: bytes."""

    policy: str
    state: Mapping[int, NodeMemory] = field(default_factory=dict)
    entries: Mapping[str, Mapping[str, tuple[Block, ...]]] = field(default_factory=dict)

    def text(self) -> str:
        """Return the file as the kubelet writes it: one line, no newline at its end."""
        # Go sorts the keys of a map in JSON as texts, and in the dump as numbers.
        nodes = sorted(self.state.items(), key=lambda item: str(item[0]))
        data: dict[str, Any] = {
            "policyName": self.policy,
            "machineState": {str(node): _node_data(memory) for node, memory in nodes},
        }
        if self.entries:
            data["entries"] = {
                pod: {name: [_block_data(block) for block in blocks] for name, blocks in sorted(containers.items())}
                for pod, containers in sorted(self.entries.items())
            }
        return _written(data, memory_hash_input(data))


def read_cpu_checkpoint(text: str) -> CpuCheckpoint:
    """Return what a cpu_manager_state says; raises `CheckpointError` where the kubelet would not start on it.

    Shape: a checksum of 0 or none at all is not verified. The oldest format (CPUs by container id) and the one with
    `podEntries` are refused: a simulated node runs no container, and has no gate for the latter.
    """
    data = _parsed(text)
    entries = data.get("entries") or {}
    if "podEntries" in data or not all(isinstance(one, dict) for one in entries.values()):
        raise CheckpointError("could not restore state from checkpoint: unknown format")
    _verify(data, cpu_hash_input(data))
    try:
        return CpuCheckpoint(
            policy=data["policyName"],
            default=CpuSet.parse(data["defaultCpuSet"]),
            entries={pod: {name: CpuSet.parse(cpus) for name, cpus in one.items()} for pod, one in entries.items()},
        )
    except (KeyError, ValueError, AttributeError) as error:
        raise CheckpointError(f"could not restore state from checkpoint: {error}") from error


def read_memory_checkpoint(text: str) -> MemoryCheckpoint:
    """Return what a memory_manager_state says; raises `CheckpointError` where the kubelet would not start on it."""
    data = _parsed(text)
    try:
        _verify(data, memory_hash_input(data))
        return MemoryCheckpoint(
            policy=data["policyName"],
            state={int(node): _node_memory(one) for node, one in data["machineState"].items()},
            entries={
                pod: {name: tuple(map(_block, blocks)) for name, blocks in containers.items()}
                for pod, containers in (data.get("entries") or {}).items()
            },
        )
    except (KeyError, ValueError, AttributeError, TypeError) as error:
        raise CheckpointError(f"could not restore state from checkpoint: {error}") from error


def cpu_hash_input(data: Mapping[str, Any]) -> str:
    """Return the dump of the CPU manager's struct that the checksum is taken of."""
    entries = _map({pod: _map(containers) for pod, containers in (data.get("entries") or {}).items()})
    return (
        f"(*state.CPUManagerCheckpoint){{PolicyName:(string){data.get('policyName', '')} "
        f"DefaultCPUSet:(string){data.get('defaultCpuSet', '')} "
        f"Entries:(map[string]map[string]string){entries} Checksum:(checksum.Checksum)0}}"
    )


def memory_hash_input(data: Mapping[str, Any]) -> str:
    """Return the dump of the memory manager's struct that the checksum is taken of."""
    state = _map({node: _node_dump(one) for node, one in (data.get("machineState") or {}).items()}, by=int)
    entries = _map(
        {
            pod: _map({name: _list([_block_dump(block) for block in blocks]) for name, blocks in containers.items()})
            for pod, containers in (data.get("entries") or {}).items()
        }
    )
    return (
        f"(*state.MemoryManagerCheckpoint){{PolicyName:(string){data.get('policyName', '')} "
        f"MachineState:(state.NUMANodeMap){state} Entries:(state.ContainerMemoryAssignments){entries} "
        "Checksum:(checksum.Checksum)0}"
    )


def checksum(dump: str) -> int:
    """Return FNV-1a, 32 bits, of the text."""
    value = _OFFSET
    for byte in dump.encode("utf-8"):
        value = ((value ^ byte) * _PRIME) & 0xFFFFFFFF
    return value


def _node_data(memory: NodeMemory) -> dict[str, Any]:
    return {
        "numberOfAssignments": memory.assignments,
        "memoryMap": {
            kind: {name: getattr(table, attribute) for name, attribute in _TABLE.items()}
            for kind, table in sorted(memory.tables.items())
        },
        "cells": list(memory.cells),
    }


def _node_memory(data: Mapping[str, Any]) -> NodeMemory:
    tables = {
        kind: MemoryTable(**{attribute: table[name] for name, attribute in _TABLE.items()})
        for kind, table in data["memoryMap"].items()
    }
    return NodeMemory(tuple(data["cells"]), data["numberOfAssignments"], tables)


def _block_data(block: Block) -> dict[str, Any]:
    return {"numaAffinity": list(block.nodes), "type": block.kind, "size": block.size}


def _block(data: Mapping[str, Any]) -> Block:
    return Block(data["type"], tuple(data["numaAffinity"]), data["size"])


def _written(data: Mapping[str, Any], dump: str) -> str:
    return json.dumps({**data, "checksum": checksum(dump)}, separators=(",", ":"))


def _parsed(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise CheckpointError(f"could not restore state from checkpoint: {error}") from error
    if not isinstance(data, dict):
        raise CheckpointError("could not restore state from checkpoint: not an object")
    return cast("dict[str, Any]", data)


def _verify(data: Mapping[str, Any], dump: str) -> None:
    stored = data.get("checksum") or 0
    if stored and stored != checksum(dump):
        raise CheckpointError("could not restore state from checkpoint: checkpoint is corrupted")


def _node_dump(node: Mapping[str, Any]) -> str:
    tables = _map({kind: _table_dump(table) for kind, table in node["memoryMap"].items()})
    return (
        f"<*>{{NumberOfAssignments:(int){node['numberOfAssignments']} "
        f"MemoryMap:(map[v1.ResourceName]*state.MemoryTable){tables} Cells:([]int){_list(node['cells'])}}}"
    )


def _table_dump(table: Mapping[str, int]) -> str:
    return (
        f"<*>{{TotalMemSize:(uint64){table['total']} SystemReserved:(uint64){table['systemReserved']} "
        f"Allocatable:(uint64){table['allocatable']} Reserved:(uint64){table['reserved']} "
        f"Free:(uint64){table['free']}}}"
    )


def _block_dump(block: Mapping[str, Any]) -> str:
    return (
        f"{{NUMAAffinity:([]int){_list(block['numaAffinity'])} Type:(v1.ResourceName){block['type']} "
        f"Size:(uint64){block['size']}}}"
    )


def _map(items: Mapping[str, str], by: type[int | str] = str) -> str:
    return "map[" + " ".join(f"{key}:{items[key]}" for key in sorted(items, key=by)) + "]"


def _list(items: Sequence[object]) -> str:
    return "[" + " ".join(str(item) for item in items) + "]"
