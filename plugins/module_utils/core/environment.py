# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a node's software allows; with the topology, all that a desired state depends on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NodeEnvironment:
    """Facts that decide how a setting is expressed on a node; equal environments get equal desired states.

    Shape: `kernel_release` is `uname -r`; `kernel` its leading numbers, `(0, 0)` when unknown;
    `sysctls` are the dotted names known to exist (None when nobody could look); `debugfs` whether
    /sys/kernel/debug/sched is readable (None unknown); `lockdown` the mode in force, `none` when off;
    `boot_loader` is grub, bls, ostree, systemd-boot or unknown; `kubelet_config_dir` is the drop-in
    directory that the kubelet really reads, empty when it reads none; `kubelet_version` is (0, 0) when unknown.
    `debugfs_knobs` are the names below /sys/kernel/debug/sched, `numa_balancing/scan_size_mb` and the like
    included (None when nobody could look); `pmu_name` is the text of /sys/devices/cpu/caps/pmu_name, `""` where
    the kernel has no such file (None when nobody looked); `page_kib` is the kernel's base page size, 0 when unknown;
    `realtime` whether a PREEMPT_RT kernel runs (None unknown).
    """

    kernel_release: str = ""
    kernel: tuple[int, int] = (0, 0)
    arch: str = ""
    sysctls: frozenset[str] | None = None
    debugfs: bool | None = None
    lockdown: str = "none"
    distribution: str = ""
    distribution_version: str = ""
    boot_loader: str = "unknown"
    cgroup_version: int = 0
    cgroup_driver: str = ""
    kubelet_version: tuple[int, int] = (0, 0)
    kubelet_config_dir: str = ""
    has_kubelet: bool = False
    debugfs_knobs: frozenset[str] | None = None
    pmu_name: str | None = None
    page_kib: int = 0
    realtime: bool | None = None
