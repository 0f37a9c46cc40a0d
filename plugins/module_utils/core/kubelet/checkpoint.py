# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The kubelet's checkpoint files: what they say, and the reasons for which a kubelet does not start over them.

Source: Kubernetes 1.36 `pkg/kubelet/cm/{cpu,memory}manager/state`, measured on the kubelet.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from ..cpuset import CpuSet
from .admission import StartError
from .checkpoint_dump import (
    checksum,
    cpu_dump_oldest,
    cpu_dump_with_pods,
    cpu_hash_input,
    memory_dump_with_pods,
    memory_hash_input,
)
from .checkpoint_shape import ShapeError, checked_cpu, checked_memory, checked_oldest
from .go_values import go_cpus
from .memory_policy import Block, MemoryTable, NodeMemory

CPU_CHECKPOINT_FILE = "/var/lib/kubelet/cpu_manager_state"
MEMORY_CHECKPOINT_FILE = "/var/lib/kubelet/memory_manager_state"

Entries = Mapping[str, Mapping[str, CpuSet]]
Dump = Callable[[Mapping[str, Any]], str]

# Names of a memory table in the file, and ours.
_TABLE = {
    "total": "total",
    "systemReserved": "system_reserved",
    "allocatable": "allocatable",
    "reserved": "reserved",
    "free": "free",
}
_CPU_STAGE, _MEMORY_STAGE = "cpu-manager-start", "memory-manager-start"


@dataclass(frozen=True)
class CpuCheckpoint:
    """cpu_manager_state.

    Shape: `entries` maps pod uid to container to its exclusive CPUs; `pods` are CPUs of pods as a whole, `pod_level`
    says that the gate PodLevelResourceManagers is on: then the checksum is another one.
    """

    policy: str
    default: CpuSet = CpuSet()
    entries: Entries = field(default_factory=dict)
    pods: Mapping[str, CpuSet] = field(default_factory=dict)
    pod_level: bool = False

    def text(self) -> str:
        """Return the file as the kubelet writes it: one line, no newline at its end."""
        data: dict[str, Any] = {"policyName": self.policy, "defaultCpuSet": self.default.format()}
        entries = {
            pod: {name: cpus.format() for name, cpus in sorted(containers.items())}
            for pod, containers in sorted(self.entries.items())
        }
        pods = {pod: {"cpuSet": cpus.format()} for pod, cpus in sorted(self.pods.items())}
        if entries:
            data["entries"] = entries
        if pods and self.pod_level:
            data["podEntries"] = pods
        return _written(data, (cpu_dump_with_pods if self.pod_level else cpu_hash_input)(data))


@dataclass(frozen=True)
class MemoryCheckpoint:
    """memory_manager_state.

    Shape: `entries` maps pod uid to container to its blocks; `pod_level` says that the gate PodLevelResourceManagers
    is on: then the checksum is another one. Scale: bytes.
    """

    policy: str
    state: Mapping[int, NodeMemory] = field(default_factory=dict)
    entries: Mapping[str, Mapping[str, tuple[Block, ...]]] = field(default_factory=dict)
    pod_level: bool = False

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
        return _written(data, (memory_dump_with_pods if self.pod_level else memory_hash_input)(data))


def read_cpu_checkpoint(
    text: str, *, policy: str = "", pod_level: bool = False, running: Mapping[str, str] | None = None
) -> CpuCheckpoint:
    """Return what a cpu_manager_state says.

    Shape: `policy` is the configured one, "" to take any; `pod_level` is the gate PodLevelResourceManagers; `running`
    maps the ids of the runtime's containers to `pod/container`, for the oldest format, which names those ids. A
    checksum of 0 or none at all is not verified.
    Raises `StartError` as the kubelet refuses to start: state-unreadable, state-v1-unknown-container,
    state-policy-differs.
    """
    data, with_pods = _cpu_data(text, pod_level=pod_level, running=running or {})
    found = data.get("policyName", "")
    if policy and found != policy:
        raise _differs(_CPU_STAGE, found, policy)
    try:
        return CpuCheckpoint(
            policy=found,
            default=go_cpus(data.get("defaultCpuSet", "")),
            entries={
                pod: {name: go_cpus(cpus) for name, cpus in (one or {}).items()}
                for pod, one in (data.get("entries") or {}).items()
            },
            pods={pod: go_cpus((one or {}).get("cpuSet", "")) for pod, one in (data.get("podEntries") or {}).items()}
            if with_pods
            else {},
            pod_level=pod_level,
        )
    except ValueError as error:
        raise _unreadable(_CPU_STAGE, str(error)) from error


def read_memory_checkpoint(text: str, *, policy: str = "", pod_level: bool = False) -> MemoryCheckpoint:
    """Return what a memory_manager_state says; `policy` is the configured one, "" to take any.

    Shape: `pod_level` is the gate PodLevelResourceManagers; memory of pods as a whole is not read, and the checksum
    of a file with such memory is not verified.
    Raises `StartError` as the kubelet refuses to start: state-unreadable, state-corrupt, state-policy-differs.
    """
    try:
        data = checked_memory(_parsed(text))
    except (ShapeError, ValueError, RecursionError) as error:
        raise _unreadable(_MEMORY_STAGE, str(error)) from error
    dumps = (memory_dump_with_pods, memory_hash_input) if pod_level else (memory_hash_input,)
    unverified = pod_level and data.get("podEntries")
    if not unverified and all(_is_corrupt(data, dump) for dump in dumps):
        raise StartError(
            _MEMORY_STAGE, "state-corrupt", "could not restore state from checkpoint: checkpoint is corrupted"
        )
    found = data.get("policyName", "")
    if policy and found != policy:
        raise _differs(_MEMORY_STAGE, found, policy)
    return MemoryCheckpoint(
        policy=found,
        state={int(node): _node_memory(one) for node, one in (data.get("machineState") or {}).items()},
        entries={
            pod: {name: tuple(map(_block, blocks or ())) for name, blocks in (containers or {}).items()}
            for pod, containers in (data.get("entries") or {}).items()
        },
        pod_level=pod_level,
    )


def _cpu_data(text: str, *, pod_level: bool, running: Mapping[str, str]) -> tuple[Mapping[str, Any], bool]:
    """Return the data in the form of the usual format, and whether entries of pods count.

    The formats are tried from the newest to the oldest; what is reported is the failure of the oldest.
    """
    try:
        parsed = _parsed(text)
    except (ShapeError, ValueError, RecursionError) as error:
        raise _unreadable(_CPU_STAGE, str(error)) from error
    for with_pods in (True, False) if pod_level else (False,):
        data = _usual(parsed, with_pods=with_pods)
        if data is not None:
            return data, with_pods
    try:
        oldest = checked_oldest(parsed)
    except ShapeError as error:
        raise _unreadable(_CPU_STAGE, str(error)) from error
    if _is_corrupt(oldest, cpu_dump_oldest):
        raise _unreadable(_CPU_STAGE, "checkpoint is corrupted")
    return _migrated(oldest, running), False


def _usual(parsed: Mapping[str, Any], *, with_pods: bool) -> Mapping[str, Any] | None:
    try:
        data = checked_cpu(parsed, with_pods=with_pods)
        corrupt = _is_corrupt(data, cpu_dump_with_pods if with_pods else cpu_hash_input)
    except (ShapeError, ValueError):
        return None
    return None if corrupt else data


def _migrated(oldest: Mapping[str, Any], running: Mapping[str, str]) -> Mapping[str, Any]:
    entries: dict[str, dict[str, str]] = {}
    for identity, cpus in (oldest.get("entries") or {}).items():
        if identity not in running:
            message = f"the checkpoint names container {identity}, which the runtime does not know"
            raise StartError(_CPU_STAGE, "state-v1-unknown-container", message)
        pod, _slash, container = running[identity].partition("/")
        entries.setdefault(pod, {})[container] = cpus
    return {**oldest, "entries": entries}


def _is_corrupt(data: Mapping[str, Any], dump: Dump) -> bool:
    stored = data.get("checksum") or 0
    return bool(stored) and stored != checksum(dump(data))


def _parsed(text: str) -> dict[str, Any]:
    """Return the JSON object; raises `ValueError`, `ShapeError`. As in Go, null is an empty object."""

    def refuse(constant: str) -> None:
        raise ShapeError(f"{constant} is no JSON")

    data = json.loads(text, parse_constant=refuse)
    if data is not None and not isinstance(data, dict):
        raise ShapeError("not an object")
    return cast("dict[str, Any]", data or {})


def _written(data: Mapping[str, Any], dump: str) -> str:
    return json.dumps({**data, "checksum": checksum(dump)}, separators=(",", ":"))


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
        kind: MemoryTable(**{attribute: table.get(name, 0) for name, attribute in _TABLE.items()})
        for kind, table in (data.get("memoryMap") or {}).items()
    }
    return NodeMemory(tuple(data.get("cells") or ()), data.get("numberOfAssignments", 0), tables)


def _block_data(block: Block) -> dict[str, Any]:
    return {"numaAffinity": list(block.nodes), "type": block.kind, "size": block.size}


def _block(data: Mapping[str, Any]) -> Block:
    return Block(data.get("type", ""), tuple(data.get("numaAffinity") or ()), data.get("size", 0))


def _unreadable(stage: str, why: str) -> StartError:
    return StartError(stage, "state-unreadable", f"could not restore state from checkpoint: {why}")


def _differs(stage: str, found: str, wanted: str) -> StartError:
    message = f"the checkpoint was written by policy {found or 'none at all'}, configured is {wanted}"
    return StartError(stage, "state-policy-differs", message)
