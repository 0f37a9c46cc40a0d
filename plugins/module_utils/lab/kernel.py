# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A simulated kernel that runs: its state, what its files show, and what a write to one of them does."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.cmdline import kernel_arguments, parse_cmdline
from ..core.cpuset import CpuSet
from . import cpu_files, device_files, kernel_files, memory_files
from .boot import Boot, boot, primary_threads
from .hugepages import Request, allocate, sizes_of
from .node import SimulatedNode
from .sysctl_defaults import argument_writes, sysctl_files
from .writes import accepted

_SWITCH = re.compile(r"/sys/devices/system/cpu/cpu(\d+)/online\Z")
_AFFINITY = re.compile(r"/proc/irq/(\d+)/smp_affinity(_list)?\Z")
_NODE_PAGES = re.compile(r"/sys/devices/system/node/node(\d+)/hugepages/hugepages-(\d+)kB/nr_hugepages\Z")
_ALL_PAGES = re.compile(r"/sys/kernel/mm/hugepages/hugepages-(\d+)kB/nr_hugepages(?:_mempolicy)?\Z")
_DEFAULT_PAGES = ("/proc/sys/vm/nr_hugepages", "/proc/sys/vm/nr_hugepages_mempolicy")
_DEFAULT_AFFINITY = "/proc/irq/default_smp_affinity"
_SMT = "/sys/devices/system/cpu/smt/control"
# Setting one of a pair to anything but 0 clears the other. Source: kernel mm/page-writeback.c.
_EXCLUSIVE = {
    f"/proc/sys/vm/dirty_{one}": f"/proc/sys/vm/dirty_{other}"
    for one, other in (
        ("ratio", "bytes"),
        ("bytes", "ratio"),
        ("background_ratio", "background_bytes"),
        ("background_bytes", "background_ratio"),
    )
}


@dataclass
class RunningKernel:
    """The kernel of a simulated node.

    Shape: `knobs` are files that stand for themselves; `online`, `pages` and `placed` are state that several files
    show. `irq_default` is where new interrupts go.
    """

    node: SimulatedNode
    boot: Boot
    online: CpuSet
    pages: dict[tuple[int, int], int]
    smt_control: str
    irq_default: CpuSet
    placed: dict[int, CpuSet] = field(default_factory=dict)
    knobs: dict[str, str] = field(default_factory=dict)

    @classmethod
    def start(cls, node: SimulatedNode, cmdline: str) -> RunningKernel:
        """Return the kernel as it is right after boot."""
        state = boot(cmdline, node.topology, node.profile.boots)
        watched = state.isolation.watchdog(state.present)
        profile = node.profile
        kernel = cls(
            node=node,
            boot=state,
            online=state.online,
            pages=dict(state.pages),
            smt_control=state.smt_control,
            irq_default=state.irq_default & state.present,
            knobs={
                **sysctl_files(node.topology, profile.kernel, profile.kernel_release, watched),
                **kernel_files.memory_knobs(state),
                **kernel_files.scheduler_knobs(state.online, profile.kernel),
                **kernel_files.other_knobs(node, state),
                **device_files.queue_files(node.topology),
            },
        )
        for path, value in argument_writes(kernel_arguments(parse_cmdline(cmdline))):
            kernel.write(path, value)
        return kernel

    @classmethod
    def restore(cls, node: SimulatedNode, saved: Mapping[str, Any]) -> RunningKernel:
        """Return the kernel that `save` described; raises `KeyError` or `ValueError` for anything else."""
        kernel = cls.start(node, saved["cmdline"])
        kernel.online = CpuSet.parse(saved["online"])
        kernel.pages = {_key(text): count for text, count in saved["pages"].items()}
        kernel.smt_control = saved["smt_control"]
        kernel.irq_default = CpuSet.parse(saved["irq_default"])
        kernel.placed = {int(number): CpuSet.parse(text) for number, text in saved["placed"].items()}
        kernel.knobs = dict(saved["knobs"])
        return kernel

    def save(self) -> dict[str, Any]:
        """Return the state as JSON data."""
        return {
            "cmdline": self.boot.cmdline,
            "online": self.online.format(),
            "pages": {f"{node}:{size}": count for (node, size), count in self.pages.items()},
            "smt_control": self.smt_control,
            "irq_default": self.irq_default.format(),
            "placed": {str(number): cpus.format() for number, cpus in self.placed.items()},
            "knobs": self.knobs,
        }

    def files(self) -> dict[str, str]:
        """Return every file of the kernel as it reads now, without the topology and caches of the CPUs."""
        topology, state, online = self.node.topology, self.boot, self.online
        default = state.default_page_kib
        files = dict(self.knobs)
        summary = cpu_files.summary_files(topology, state, online, has_nohz_full=self.node.profile.boots.has_nohz_full)
        files.update(summary)
        files[_SMT] = f"{self.smt_control}\n"
        files.update(cpu_files.switch_files(topology, state, online))
        files.update(cpu_files.node_lists(topology, online))
        files.update(memory_files.hugepage_files(topology, self.pages, default))
        files.update(memory_files.meminfo_files(topology, self.pages, default))
        lines = device_files.interrupts(topology, state, online, self.placed)
        files.update(device_files.interrupt_files(lines, self.irq_default, state.present, online))
        files.update(kernel_files.identity_files(self.node, state, online))
        files.update(kernel_files.cgroup_files(online))
        return files

    def write(self, path: str, value: str) -> bool:
        """Take a value written to a file; return whether the kernel accepts it. A refusal changes nothing."""
        for pattern, take in (
            (_SWITCH, self._switch),
            (_AFFINITY, self._place),
            (_NODE_PAGES, self._set_node_pages),
            (_ALL_PAGES, self._set_pages),
        ):
            match = pattern.match(path)
            if match:
                return take(match, value.strip())
        if path in _DEFAULT_PAGES:
            return self._resize(self.boot.default_page_kib, value.strip())
        if path == _DEFAULT_AFFINITY:
            return self._set_default_affinity(value.strip())
        if path == _SMT:
            return self._set_smt(value.strip())
        return self._set_knob(path, value)

    def _set_knob(self, path: str, value: str) -> bool:
        if path not in self.knobs:
            return False
        text = accepted(path, self.knobs[path], value, self.boot.present.last + 1)
        if text is None:
            return False
        self.knobs[path] = text
        if path in _EXCLUSIVE and text != "0\n":
            self.knobs[_EXCLUSIVE[path]] = "0\n"
        return True

    def _switch(self, match: re.Match[str], text: str) -> bool:
        cpu = CpuSet([int(match.group(1))])
        if text not in ("0", "1") or not cpu <= self.node.topology.online & self.boot.present:
            return False
        if cpu <= CpuSet([self.node.topology.online.first]):
            return False
        if text == "1" and self.smt_control in ("off", "forceoff") and not cpu <= primary_threads(self.node.topology):
            return False
        self.online = self.online | cpu if text == "1" else self.online - cpu
        return True

    def _set_smt(self, text: str) -> bool:
        if self.smt_control not in ("on", "off") or text not in ("on", "off", "forceoff"):
            return False
        self.smt_control = text
        machine = self.node.topology.online & self.boot.present
        first = primary_threads(self.node.topology)
        self.online = self.online | (machine - first) if text == "on" else self.online & first
        return True

    def _place(self, match: re.Match[str], text: str) -> bool:
        number = int(match.group(1))
        lines = {line.number: line for line in device_files.interrupts(self.node.topology, self.boot, self.online)}
        line = lines.get(number)
        if line is None or line.managed or not line.movable:
            return False
        cpus = _cpus(text, is_list=bool(match.group(2)))
        if cpus is None or not cpus <= self.boot.present or not cpus & self.online:
            return False
        self.placed[number] = cpus
        return True

    def _set_default_affinity(self, text: str) -> bool:
        cpus = _cpus(text, is_list=False)
        if cpus is None or not cpus & self.online:
            return False
        self.irq_default = cpus & self.boot.present
        return True

    def _set_node_pages(self, match: re.Match[str], text: str) -> bool:
        node, size = int(match.group(1)), int(match.group(2))
        if not text.isdigit() or (node, size) not in self.pages:
            return False
        others = {key: count for key, count in self.pages.items() if key != (node, size)}
        request = Request(size, by_node={node: int(text)})
        self.pages = allocate(self.node.topology, [request], others)
        return True

    def _set_pages(self, match: re.Match[str], text: str) -> bool:
        return self._resize(int(match.group(1)), text)

    def _resize(self, size: int, text: str) -> bool:
        if not text.isdigit() or size not in sizes_of(self.node.topology):
            return False
        others = {key: count for key, count in self.pages.items() if key[1] != size}
        self.pages = allocate(self.node.topology, [Request(size, total=int(text))], others)
        return True


def _cpus(text: str, *, is_list: bool) -> CpuSet | None:
    try:
        return CpuSet.parse(text) if is_list else CpuSet.parse_mask(text)
    except ValueError:
        return None


def _key(text: str) -> tuple[int, int]:
    node, size = text.split(":")
    return int(node), int(size)
