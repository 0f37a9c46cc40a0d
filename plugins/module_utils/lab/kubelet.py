# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The simulated kubelet: starts on the node's files as the real one does, or says why it does not start.

It runs no pods. What it checks, and the checkpoints it writes, are the real kubelet's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..core.cpuset import CpuSet
from ..core.errors import InputError
from ..core.kubelet.admission import StartError
from ..core.kubelet.cpu_policy import CpuPolicy
from ..core.kubelet.machine import KubeletMachine, machine_of
from ..core.kubelet.node import KubeletNode
from ..core.kubelet.settings import (
    ManagerSettings,
    check_reserved_online,
    check_topology_manager,
    cpu_manager_setup,
    read_settings,
)
from ..core.quantity import parse_bytes
from ..core.topology import Topology
from .checkpoint import (
    CheckpointError,
    CpuCheckpoint,
    MemoryTable,
    check_memory_checkpoint,
    memory_checkpoint,
    read_cpu_checkpoint,
)
from .kernel import RunningKernel
from .kubelet_config import ConfigurationError, kubelet_arguments, load_configuration, memory_reserved

STATE = "/run/tunectl/kubelet-state"
CPU_STATE = "/var/lib/kubelet/cpu_manager_state"
MEMORY_STATE = "/var/lib/kubelet/memory_manager_state"
_PROCESS = "/proc/1187"
_KIB = 1024
# What the kubelet sets when it starts. Source: kubelet container manager, setupKernelTunables.
_TUNABLES = {
    "/proc/sys/vm/overcommit_memory": "1",
    "/proc/sys/vm/panic_on_oom": "0",
    "/proc/sys/kernel/panic": "10",
    "/proc/sys/kernel/panic_on_oops": "1",
    "/proc/sys/kernel/keys/root_maxkeys": "1000000",
    "/proc/sys/kernel/keys/root_maxbytes": "25000000",
}


@dataclass(frozen=True)
class KubeletState:
    """How the simulated kubelet is: `running`, or `failed` with the reason."""

    state: str
    reason: str = ""

    def text(self) -> str:
        """Return the status file."""
        reason = f"simulated kubelet: {self.state}" + (f": {self.reason}" if self.reason else "")
        return json.dumps({"simulated": True, "state": self.state, "reason": reason}) + "\n"


def start_kubelet(root: Path, kernel: RunningKernel) -> tuple[KubeletState, dict[str, str | None]]:
    """Return how the kubelet came up and the files that it leaves; None is a file that must not be there.

    Shape: kernel parameters that the kubelet sets go to `kernel`. Files of a failed start: the checkpoints as they are.
    """
    arguments = kubelet_arguments(root)
    try:
        written = _start(root, kernel, load_configuration(root, arguments))
    except StartError as error:
        return _failed(f"{error.stage}: {error.message}")
    except (ConfigurationError, CheckpointError, ValueError, TypeError, InputError) as error:
        return _failed(str(error))
    state = KubeletState("running")
    process = {f"{_PROCESS}/comm": "kubelet\n", f"{_PROCESS}/cmdline": "\0".join(arguments) + "\0"}
    return state, {**written, **process, STATE: state.text()}


def _failed(reason: str) -> tuple[KubeletState, dict[str, str | None]]:
    state = KubeletState("failed", reason)
    return state, {STATE: state.text(), f"{_PROCESS}/comm": None, f"{_PROCESS}/cmdline": None}


def _start(root: Path, kernel: RunningKernel, config: Mapping[str, Any]) -> dict[str, str]:
    topology = _online_topology(kernel)
    machine = machine_of(topology)
    settings = read_settings(config)
    check_reserved_online(settings, machine)
    _check_reservation(topology, config)
    _check_swap(root, config)
    check_topology_manager(settings, machine)
    cpu = _cpu_state(root, machine, settings, kernel.node.profile.kubelet_version)
    memory = _memory_state(root, kernel, config, settings)
    _set_tunables(kernel, config)
    return {CPU_STATE: cpu, MEMORY_STATE: memory}


def _online_topology(kernel: RunningKernel) -> Topology:
    """Return the machine as its online CPUs are: what the kubelet discovers."""
    topology, online = kernel.node.topology, kernel.online
    return replace(
        topology,
        cpus=tuple(
            replace(cpu, siblings=cpu.siblings & online, l3=cpu.l3 & online)
            for cpu in topology.cpus
            if cpu.id in online
        ),
        numa_nodes=tuple(replace(node, cpus=node.cpus & online) for node in topology.numa_nodes),
    )


def _check_reservation(topology: Topology, config: Mapping[str, Any]) -> None:
    reserved, capacity = memory_reserved(config), topology.memory_kib * _KIB
    if reserved > capacity:
        raise StartError(
            "node-allocatable", "reservation-above-capacity", f"{reserved} bytes are reserved, {capacity} exist"
        )


def _check_swap(root: Path, config: Mapping[str, Any]) -> None:
    swaps = root / "proc/swaps"
    on = len(swaps.read_text(encoding="utf-8").splitlines()) > 1 if swaps.is_file() else False
    if on and config.get("failSwapOn", True):
        raise StartError(
            "swap", "swap-on", "running with swap on is not supported, disable swap or set failSwapOn: false"
        )


def _set_tunables(kernel: RunningKernel, config: Mapping[str, Any]) -> None:
    for path, wanted in _TUNABLES.items():
        found = kernel.knobs[path].strip()
        if found != wanted and config.get("protectKernelDefaults"):
            raise StartError(
                "kernel-defaults", "kernel-defaults", f"invalid kernel flag: {path}, expected {wanted}, found {found}"
            )
        kernel.write(path, wanted)


def _cpu_state(root: Path, machine: KubeletMachine, settings: ManagerSettings, version: tuple[int, int]) -> str:
    options, reserved = cpu_manager_setup(settings, machine, version)
    policy = CpuPolicy(machine, options, reserved, CpuSet())
    path = root / CPU_STATE.lstrip("/")
    if not path.exists():
        node = KubeletNode(machine, settings, policy)
        return CpuCheckpoint(settings.cpu_policy, node.initial_shared if settings.is_static else CpuSet()).text()
    found = read_cpu_checkpoint(path.read_text(encoding="utf-8", errors="replace"))
    policy.shared = found.default
    policy.assigned = {pod: dict(containers) for pod, containers in found.entries.items()}
    node = KubeletNode(machine, replace(settings, cpu_policy=found.policy), policy)
    node.restart(settings)
    return CpuCheckpoint(settings.cpu_policy, node.cpu.shared, node.cpu.assigned).text()


def _memory_state(root: Path, kernel: RunningKernel, config: Mapping[str, Any], settings: ManagerSettings) -> str:
    if settings.memory_policy not in ("None", "Static"):
        raise StartError("memory-manager-create", "unknown-memory-policy", f"unknown policy {settings.memory_policy!r}")
    tables = _memory_tables(kernel, config) if settings.memory_policy == "Static" else {}
    path = root / MEMORY_STATE.lstrip("/")
    if not path.exists():
        return memory_checkpoint(settings.memory_policy, tables)
    text = path.read_text(encoding="utf-8", errors="replace")
    check_memory_checkpoint(text, settings.memory_policy, tables)
    return text


def _memory_tables(kernel: RunningKernel, config: Mapping[str, Any]) -> dict[int, dict[str, MemoryTable]]:
    stage = "memory-manager-create"
    topology = kernel.node.topology
    reserved = {
        (int(item["numaNode"]), kind): parse_bytes(str(text))
        for item in config.get("reservedMemory") or ()
        for kind, text in item["limits"].items()
    }
    known = {node.id for node in topology.numa_nodes}
    for node, _kind in reserved:
        if node not in known:
            raise StartError(stage, "reserved-memory-unknown-node", f"reservedMemory names NUMA node {node}")
    wanted = memory_reserved(config)
    if wanted == 0:
        raise StartError(stage, "no-memory-reservation", "the total amount of reserved memory must be above 0")
    for kind in {"memory", *(kind for _node, kind in reserved)}:
        total = sum(amount for (_node, one), amount in reserved.items() if one == kind)
        # Hugepages cannot be reserved elsewhere, so that their other side is always 0.
        other = wanted if kind == "memory" else 0
        if total != other:
            message = f"the total amount {total} of type {kind!r} is not {other}, as determined by Node Allocatable"
            raise StartError(stage, "reserved-memory-sum-mismatch", message)
    return {node.id: _tables_of(kernel, node.id, node.memory_kib, reserved) for node in topology.numa_nodes}


def _tables_of(
    kernel: RunningKernel, node: int, memory_kib: int, reserved: Mapping[tuple[int, str], int]
) -> dict[str, MemoryTable]:
    sizes = {size: count * size * _KIB for (owner, size), count in kernel.pages.items() if owner == node}
    system = reserved.get((node, "memory"), 0)
    # Unsigned arithmetic of 64 bits, as in the kubelet: too much on one node wraps around.
    allocatable = (memory_kib * _KIB - system - sum(sizes.values())) % 2**64
    tables = {"memory": MemoryTable(memory_kib * _KIB, system, allocatable, 0, allocatable)}
    for size, total in sizes.items():
        tables[f"hugepages-{_page_name(size)}"] = MemoryTable(total, 0, total, 0, total)
    return tables


def _page_name(size_kib: int) -> str:
    return (
        f"{size_kib >> 20}Gi" if size_kib >= 1 << 20 else f"{size_kib >> 10}Mi" if size_kib >= _KIB else f"{size_kib}Ki"
    )
