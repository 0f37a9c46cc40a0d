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

from ..core.errors import InputError
from ..core.kubelet.admission import StartError
from ..core.kubelet.checkpoint import (
    CPU_CHECKPOINT_FILE,
    MEMORY_CHECKPOINT_FILE,
    read_cpu_checkpoint,
    read_memory_checkpoint,
)
from ..core.kubelet.machine import KubeletMachine, machine_of
from ..core.kubelet.node import KubeletNode
from ..core.kubelet.settings import ManagerSettings, check_reserved_online, read_settings
from ..core.quantity import threshold_bytes
from ..core.topology import Topology
from .kernel import RunningKernel
from .kubelet_config import ConfigurationError, kubelet_arguments, load_configuration

STATE = "/run/tunectl/kubelet-state"
CPU_STATE, MEMORY_STATE = CPU_CHECKPOINT_FILE, MEMORY_CHECKPOINT_FILE
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
    except (ConfigurationError, ValueError, TypeError, InputError) as error:
        return _failed(str(error))
    state = KubeletState("running")
    process = {f"{_PROCESS}/comm": "kubelet\n", f"{_PROCESS}/cmdline": "\0".join(arguments) + "\0"}
    return state, {**written, **process, STATE: state.text()}


def _failed(reason: str) -> tuple[KubeletState, dict[str, str | None]]:
    state = KubeletState("failed", reason)
    return state, {STATE: state.text(), f"{_PROCESS}/comm": None, f"{_PROCESS}/cmdline": None}


def _start(root: Path, kernel: RunningKernel, config: Mapping[str, Any]) -> dict[str, str]:
    topology = _running_topology(kernel)
    machine = machine_of(topology)
    # Which options there are depends on the release.
    settings = read_settings(config, kernel.node.profile.kubelet_version)
    check_reserved_online(settings, machine)
    _check_reservation(topology, settings)
    _check_swap(root, config)
    node = _restored(root, machine, settings)
    _set_tunables(kernel, config)
    cpu, memory = node.checkpoints()
    return {CPU_STATE: cpu.text(), MEMORY_STATE: memory.text()}


def _running_topology(kernel: RunningKernel) -> Topology:
    """Return the machine with its online CPUs and the hugepages it has now: what the kubelet discovers."""
    topology, online = kernel.node.topology, kernel.online
    return replace(
        topology,
        cpus=tuple(
            replace(cpu, siblings=cpu.siblings & online, l3=cpu.l3 & online)
            for cpu in topology.cpus
            if cpu.id in online
        ),
        numa_nodes=tuple(
            replace(
                node,
                cpus=node.cpus & online,
                hugepages=tuple(
                    replace(pool, total=kernel.pages.get((node.id, pool.size_kib), 0)) for pool in node.hugepages
                ),
            )
            for node in topology.numa_nodes
        ),
    )


def _check_reservation(topology: Topology, settings: ManagerSettings) -> None:
    capacity = topology.memory_kib * _KIB
    eviction = threshold_bytes(settings.eviction_memory, capacity) if settings.eviction_memory else 0
    reserved = settings.memory_reservation + eviction
    if reserved > capacity:
        message = f"{reserved} bytes are reserved, {capacity} exist"
        raise StartError("node-allocatable", "reservation-above-capacity", message)


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


def _checkpoint(root: Path, path: str) -> str | None:
    place = root / path.lstrip("/")
    return place.read_text(encoding="utf-8", errors="replace") if place.exists() else None


def _restored(root: Path, machine: KubeletMachine, settings: ManagerSettings) -> KubeletNode:
    """Return the node as the checkpoints say, restarted with the settings; raises `StartError`."""
    cpu, memory = _checkpoint(root, CPU_CHECKPOINT_FILE), _checkpoint(root, MEMORY_CHECKPOINT_FILE)
    return KubeletNode.resume(
        machine,
        settings,
        None if cpu is None else read_cpu_checkpoint(cpu, policy=settings.cpu_policy),
        None if memory is None else read_memory_checkpoint(memory, policy=settings.memory_policy),
    )
