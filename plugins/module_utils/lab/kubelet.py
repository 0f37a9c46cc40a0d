# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The simulated kubelet: starts on the node's files as the real one does, or says why it does not start.

It runs no pods. What it checks, and the checkpoints it writes, are the real kubelet's.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from ..core.kubelet.checkpoint import CPU_CHECKPOINT_FILE, MEMORY_CHECKPOINT_FILE
from ..core.kubelet.config_host import KERNEL_DEFAULTS, HostFacts
from ..core.kubelet.config_judge import judge_config
from ..core.kubelet.config_start import Checkpoints, Kubelet
from ..core.kubelet.machine import machine_of
from ..core.topology import Topology
from .kernel import RunningKernel
from .kubelet_config import configuration_sources, kubelet_arguments

STATE = "/run/tunectl/kubelet-state"
CPU_STATE, MEMORY_STATE = CPU_CHECKPOINT_FILE, MEMORY_CHECKPOINT_FILE
_PROCESS = "/proc/1187"


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
    topology = _running_topology(kernel)
    verdict = judge_config(
        configuration_sources(root, arguments),
        machine_of(topology),
        HostFacts(swap_on=_swap_on(root), sysctls=_kernel_parameters(kernel)),
        Kubelet(kernel.node.profile.kubelet_version),
        Checkpoints(_text(root, CPU_STATE), _text(root, MEMORY_STATE)),
    )
    if verdict.node is None:
        return _failed("; ".join(f"{reason.file or verdict.stage}: {reason.what}" for reason in verdict.reasons))
    for name, wanted in KERNEL_DEFAULTS.items():
        kernel.write(_knob(name), wanted)
    cpu, memory = verdict.node.checkpoints()
    written = {CPU_STATE: cpu.text(), MEMORY_STATE: memory.text()}
    state = KubeletState("running")
    process = {f"{_PROCESS}/comm": "kubelet\n", f"{_PROCESS}/cmdline": "\0".join(arguments) + "\0"}
    return state, {**written, **process, STATE: state.text()}


def _failed(reason: str) -> tuple[KubeletState, dict[str, str | None]]:
    state = KubeletState("failed", reason)
    return state, {STATE: state.text(), f"{_PROCESS}/comm": None, f"{_PROCESS}/cmdline": None}


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


def _swap_on(root: Path) -> bool:
    swaps = root / "proc/swaps"
    return len(swaps.read_text(encoding="utf-8").splitlines()) > 1 if swaps.is_file() else False


def _kernel_parameters(kernel: RunningKernel) -> dict[str, str]:
    return {name: kernel.knobs[_knob(name)].strip() for name in KERNEL_DEFAULTS}


def _knob(name: str) -> str:
    return "/proc/sys/" + name.replace(".", "/")


def _text(root: Path, path: str) -> str | None:
    place = root / path.lstrip("/")
    return place.read_text(encoding="utf-8", errors="replace") if place.exists() else None
