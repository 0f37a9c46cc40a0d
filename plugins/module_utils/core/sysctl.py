# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Kernel parameters: normal forms, and where each kernel keeps those that moved.

Existence on the node decides; the version table speaks where nobody could look, and explains.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Union

from .environment import NodeEnvironment
from .findings import Finding, Severity, Verdict

DEBUGFS_SCHED = "/sys/kernel/debug/sched"
SYSCTL_DOCUMENT = "kernel admin-guide/sysctl"

Version = tuple[int, int]
_UNKNOWN: Version = (0, 0)


@dataclass(frozen=True)
class SysctlSetting:
    """The parameter is a sysctl on this kernel."""

    name: str
    value: str


@dataclass(frozen=True)
class RuntimeSetting:
    """The parameter is a file of debugfs on this kernel; `note` says what is different from the sysctl, if anything."""

    name: str
    path: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Moved:
    """A scheduler parameter that left the sysctls for debugfs in 5.13.

    Shape: `knobs` are (first version, name below /sys/kernel/debug/sched, note), ascending; an empty name ends the
    parameter's life, with the reason as note.
    """

    knobs: tuple[tuple[Version, str, str], ...]

    def knob_in(self, kernel: Version) -> tuple[str, str]:
        """Return (name, note) for a kernel, `("", "")` before the parameter moved."""
        found = ("", "")
        for since, name, note in self.knobs:
            if kernel >= since:
                found = (name, note)
        return found


@dataclass(frozen=True)
class Lifetime:
    """In which kernels a sysctl exists: from `since`, up to and without `until`; `instead` and `needs` explain."""

    since: Version = _UNKNOWN
    until: Version | None = None
    instead: str = ""
    needs: str = ""


_EEVDF = "the scheduler was replaced in 6.6 (EEVDF)"
_BASE_SLICE = (
    "since 6.6 it is base_slice_ns: how long a task may run before it competes again, "
    "no longer the least time before it can be preempted"
)
_MOVED_IN: Version = (5, 13)

# Source: kernel/sched/debug.c of 5.13 and 6.6; the sysctls needed CONFIG_SCHED_DEBUG as the files do until 6.15.
MOVED: dict[str, Moved] = {
    "kernel.sched_min_granularity_ns": Moved(
        ((_MOVED_IN, "min_granularity_ns", ""), ((6, 6), "base_slice_ns", _BASE_SLICE))
    ),
    "kernel.sched_base_slice_ns": Moved((((6, 6), "base_slice_ns", ""),)),
    "kernel.sched_latency_ns": Moved(
        ((_MOVED_IN, "latency_ns", ""), ((6, 6), "", f"{_EEVDF}; there is no target latency any more"))
    ),
    "kernel.sched_wakeup_granularity_ns": Moved(
        ((_MOVED_IN, "wakeup_granularity_ns", ""), ((6, 6), "", f"{_EEVDF}; wake-ups are decided by deadline"))
    ),
    "kernel.sched_migration_cost_ns": Moved(((_MOVED_IN, "migration_cost_ns", ""),)),
    "kernel.sched_nr_migrate": Moved(((_MOVED_IN, "nr_migrate", ""),)),
    "kernel.sched_tunable_scaling": Moved(((_MOVED_IN, "tunable_scaling", ""),)),
    "kernel.numa_balancing_scan_delay_ms": Moved(((_MOVED_IN, "numa_balancing/scan_delay_ms", ""),)),
    "kernel.numa_balancing_scan_period_min_ms": Moved(((_MOVED_IN, "numa_balancing/scan_period_min_ms", ""),)),
    "kernel.numa_balancing_scan_period_max_ms": Moved(((_MOVED_IN, "numa_balancing/scan_period_max_ms", ""),)),
    "kernel.numa_balancing_scan_size_mb": Moved(((_MOVED_IN, "numa_balancing/scan_size_mb", ""),)),
}

LIFETIMES: dict[str, Lifetime] = {
    "vm.compaction_proactiveness": Lifetime(since=(5, 9), needs="CONFIG_COMPACTION"),
    "vm.compact_unevictable_allowed": Lifetime(since=(4, 1), needs="CONFIG_COMPACTION"),
    "vm.watermark_scale_factor": Lifetime(since=(4, 6)),
    "vm.watermark_boost_factor": Lifetime(since=(5, 0)),
    "vm.zone_reclaim_mode": Lifetime(needs="CONFIG_NUMA"),
    "vm.numa_stat": Lifetime(since=(4, 15), needs="CONFIG_NUMA"),
    "vm.percpu_pagelist_high_fraction": Lifetime(since=(5, 14)),
    "vm.percpu_pagelist_fraction": Lifetime(until=(5, 14), instead="vm.percpu_pagelist_high_fraction"),
    "kernel.numa_balancing": Lifetime(needs="CONFIG_NUMA_BALANCING"),
    "kernel.numa_balancing_promote_rate_limit_MBps": Lifetime(since=(6, 1), needs="CONFIG_NUMA_BALANCING"),
    "kernel.sched_rt_runtime_us": Lifetime(),
    "kernel.sched_child_runs_first": Lifetime(until=(6, 7)),
    "net.core.rps_default_mask": Lifetime(since=(6, 3), needs="CONFIG_RPS"),
    "net.ipv4.tcp_tw_recycle": Lifetime(until=(4, 12)),
}

# Why one sets them, for the parameters that tuning is mostly about.
REASONS = {
    "vm.zone_reclaim_mode": "0 takes memory of another NUMA node before reclaiming pages of the local one.",
    "vm.compaction_proactiveness": "It decides how much the kernel compacts memory ahead of need, in the background.",
    "vm.watermark_scale_factor": "It decides how early background reclaim starts, so that tasks need not reclaim.",
    "vm.watermark_boost_factor": "It decides how far reclaim goes beyond need after memory was found fragmented.",
    "vm.min_free_kbytes": "This much memory stays free for allocations that cannot wait.",
    "vm.swappiness": "It weighs swapping against dropping file pages.",
    "vm.stat_interval": "Counters of the CPUs are added up this often (seconds); each time interrupts them.",
    "vm.dirty_ratio": "Above this share of dirty pages, writing tasks must write back themselves.",
    "vm.dirty_background_ratio": "Above this share of dirty pages, write-back starts in the background.",
    "vm.overcommit_memory": "It decides whether the kernel promises more memory than there is.",
    "vm.max_map_count": "So many mappings may a process have.",
    "vm.nr_hugepages": "So many hugepages of the default size are set aside.",
    "kernel.numa_balancing": "0 stops the kernel from unmapping pages to learn which NUMA node uses them.",
    "kernel.nmi_watchdog": "0 stops the hard-lockup detector, which interrupts all CPUs.",
    "kernel.hung_task_timeout_secs": "A task may be stuck this long before the kernel reports it.",
    "kernel.timer_migration": "It decides whether timers of idle CPUs move to busy ones.",
    "kernel.sched_rt_runtime_us": "Real-time tasks may use this much of each period; -1 takes the limit away.",
    "kernel.sched_min_granularity_ns": "A task runs at least this long before another one preempts it.",
    "kernel.sched_base_slice_ns": "A task runs this long before it competes for the CPU again.",
    "kernel.sched_wakeup_granularity_ns": "A task that wakes up preempts only if it is behind by this much.",
    "kernel.sched_migration_cost_ns": "A task that ran this recently counts as cache-hot and is not moved.",
    "kernel.sched_latency_ns": "All runnable tasks of a CPU run once in this time.",
    "net.core.busy_poll": "Sockets are polled this long (microseconds) instead of waiting for an interrupt.",
    "net.core.busy_read": "Blocking reads poll the device this long (microseconds) first.",
    "net.core.rps_default_mask": "Received packets of virtual devices are handled on these CPUs.",
    "net.core.somaxconn": "So many connections may wait to be accepted.",
}

# A parameter below such a name exists only while the module is loaded.
MODULE_OF = {"net.netfilter.nf_conntrack": "nf_conntrack", "net.bridge.bridge-nf": "br_netfilter"}

Translated = Union[SysctlSetting, RuntimeSetting, Finding]


def canonical_name(name: str) -> str:
    """Return the dotted name of a parameter; the slashed spelling of sysctl.d is accepted.

    Shape: as in sysctl.d(5), the first separator tells which one separates; in the dotted form a `/` inside a
    component stands for the dot of a device name (`net.ipv4.conf.eth0/100.rp_filter`).
    """
    first = re.search(r"[./]", name)
    if first is None or first.group() == ".":
        return name
    return name.translate(str.maketrans("./", "/."))


def sysctl_path(name: str) -> str:
    """Return the file below /proc/sys of a dotted name."""
    return "/proc/sys/" + name.translate(str.maketrans("./", "/."))


def canonical_value(value: str) -> str:
    """Return a value as it compares: runs of blanks and tabs are one blank, none outside."""
    return " ".join(value.split())


def translate_sysctl(name: str, value: str, environment: NodeEnvironment, subject: str = "") -> Translated:
    """Return how a kernel expresses a parameter: sysctl, debugfs file, or the finding that says why it cannot.

    Shape: `name` dotted, `value` normal form. Where the node's sysctls are known, they decide; else the version does;
    with neither known the sysctl is taken as asked for.
    Source: kernel `admin-guide/sysctl`, `kernel/sched/debug.c`; findings `sysctl.absent`, `sysctl.unreachable`.
    """
    if _exists(name, environment):
        return SysctlSetting(name, value)
    moved = MOVED.get(name)
    if moved is None:
        return _absent(name, value, environment, subject, _why_absent(name, environment))
    knob, note = _knob_of(moved, environment)
    if not knob:
        reason = note or "this kernel was built without CONFIG_SCHED_DEBUG, which carries it before 5.13"
        return _absent(name, value, environment, subject, reason)
    blocked = _why_blocked(knob, environment)
    if blocked:
        return _unreachable(name, value, knob, subject, blocked)
    return RuntimeSetting(name, f"{DEBUGFS_SCHED}/{knob}", value, note)


def _exists(name: str, environment: NodeEnvironment) -> bool:
    if environment.sysctls is not None:
        return name in environment.sysctls
    kernel = environment.kernel
    if name in MOVED:
        first = MOVED[name].knobs[0][0]
        # A parameter that was born as a debugfs file was never a sysctl.
        return kernel < _MOVED_IN and first == _MOVED_IN
    lifetime = LIFETIMES.get(name)
    if kernel == _UNKNOWN or lifetime is None:
        return True
    return lifetime.since <= kernel and (lifetime.until is None or kernel < lifetime.until)


def _knob_of(moved: Moved, environment: NodeEnvironment) -> tuple[str, str]:
    knobs = environment.debugfs_knobs
    if knobs is not None:
        # Distributions backport schedulers: the newest file that is there is the right one, whatever the version.
        for _since, name, note in reversed(moved.knobs):
            if name and name in knobs:
                return name, note
    return moved.knob_in(environment.kernel)


def _why_blocked(knob: str, environment: NodeEnvironment) -> str:
    if environment.lockdown not in ("", "none"):
        return f"kernel lockdown is in {environment.lockdown} mode and forbids writing to debugfs"
    if environment.debugfs is False:
        return f"{DEBUGFS_SCHED} cannot be read: debugfs is not mounted or the kernel has no CONFIG_SCHED_DEBUG"
    if environment.debugfs_knobs is not None and knob not in environment.debugfs_knobs:
        return f"{DEBUGFS_SCHED} has no file {knob} on this kernel"
    return ""


def _why_absent(name: str, environment: NodeEnvironment) -> str:
    lifetime = LIFETIMES.get(name, Lifetime())
    kernel = environment.kernel
    if kernel != _UNKNOWN and kernel < lifetime.since:
        return f"it came with Linux {_dotted(lifetime.since)}"
    if lifetime.until is not None and kernel >= lifetime.until:
        hint = f"; {lifetime.instead} took its place with another meaning" if lifetime.instead else ""
        return f"it was removed in Linux {_dotted(lifetime.until)}{hint}"
    module = next((module for prefix, module in MODULE_OF.items() if name.startswith(prefix)), "")
    if module:
        return f"it exists only while the kernel module {module} is loaded"
    if lifetime.needs:
        return f"the kernel was built without {lifetime.needs}"
    return f"there is no {sysctl_path(name)} on the node"


def _dotted(version: Version) -> str:
    return f"{version[0]}.{version[1]}"


def _absent(name: str, value: str, environment: NodeEnvironment, subject: str, why: str) -> Finding:
    release = environment.kernel_release or _dotted(environment.kernel)
    return Finding(
        id="sysctl.absent",
        verdict=Verdict.FAIL,
        severity=Severity.WARNING,
        subject=subject,
        message=f"{name} does not exist on Linux {release}; it is left out",
        expected=f"{name} = {value}",
        actual="absent",
        why=why,
        remedy=f"remove {name} from the tier, or keep it for the nodes whose kernel has it",
        setting=f"sysctl.{name}",
    )


def _unreachable(name: str, value: str, knob: str, subject: str, why: str) -> Finding:
    return Finding(
        id="sysctl.unreachable",
        verdict=Verdict.FAIL,
        severity=Severity.WARNING,
        subject=subject,
        message=f"{name} cannot be set on this node; it is left out",
        expected=f"{DEBUGFS_SCHED}/{knob} = {value}",
        actual="not writable",
        why=why,
        remedy=f"remove {name} from the tier, or run a kernel and boot mode that allow {DEBUGFS_SCHED}/{knob}",
        setting=f"sysctl.{name}",
    )
