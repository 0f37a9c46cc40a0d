# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a node's software allows; with the topology, all that a desired state depends on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .kubelet_config_dir import DEFAULT_KUBELET_DIR, arguments_to_extend
from .node_software import (
    boot_loader,
    cgroup_version,
    debugfs_knobs,
    distribution,
    is_partial,
    is_realtime,
    kernel_release,
    kubelet_version,
    lockdown,
    page_kib,
    pod_cgroup_driver,
    sysctl_names,
    version_of,
)
from .snapshot import Snapshot
from .sysfs_cpuinfo import architecture

if TYPE_CHECKING:
    # At run time observed.py needs this file.
    from .observed import ObservedState


@dataclass(frozen=True)
class NodeEnvironment:
    """Facts that decide how a setting is expressed on a node; equal environments get equal desired states.

    Shape: `kernel_release` is `uname -r`; `kernel` its leading numbers, `(0, 0)` when unknown;
    `sysctls` are the dotted names known to exist (None when nobody could look); `debugfs` whether
    /sys/kernel/debug/sched is readable (None unknown); `lockdown` the mode in force, `none` when off;
    `boot_loader` is grub, bls, ostree, systemd-boot or unknown; `kubelet_config_dir` is the drop-in
    directory that the kubelet reads, or will read when `kubelet_config_args` (what `KUBELET_CONFIG_ARGS` of its unit
    is) is extended by it, empty when it reads none; `kubelet_version` is (0, 0) when unknown.
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
    kubelet_config_args: str = ""
    has_kubelet: bool = False
    debugfs_knobs: frozenset[str] | None = None
    pmu_name: str | None = None
    page_kib: int = 0
    realtime: bool | None = None


def environment(observed: ObservedState) -> NodeEnvironment:
    """Return what a node's software allows, as far as its snapshot tells."""
    snapshot = observed.snapshot
    release, arch = kernel_release(snapshot), architecture(snapshot)
    name, version = distribution(snapshot)
    knobs = debugfs_knobs(snapshot)
    # The kubelet's default is what kubeadm never leaves in force: only what is written tells something.
    is_stated = "cgroupDriver" in observed.kubelet.sources
    stated_driver = observed.kubelet.config.get("cgroupDriver", "") if is_stated else ""
    config_args = arguments_to_extend(snapshot, observed.kubelet.command, kubelet_version(snapshot))
    return NodeEnvironment(
        kernel_release=release,
        kernel=version_of(release),
        arch=arch,
        sysctls=sysctl_names(snapshot),
        debugfs=None if knobs is None else bool(knobs),
        lockdown=lockdown(snapshot),
        distribution=name,
        distribution_version=version,
        boot_loader=boot_loader(snapshot),
        cgroup_version=cgroup_version(snapshot),
        # The runtime's answer beats the file, and the pods' cgroups show it.
        cgroup_driver=pod_cgroup_driver(snapshot) or str(stated_driver),
        kubelet_version=kubelet_version(snapshot),
        kubelet_config_dir=observed.kubelet.config_dir or (DEFAULT_KUBELET_DIR if config_args else ""),
        kubelet_config_args=config_args,
        has_kubelet=observed.kubelet.present,
        debugfs_knobs=knobs,
        pmu_name=_text_or_absent(snapshot, "/sys/devices/cpu/caps/pmu_name"),
        page_kib=page_kib(snapshot, arch),
        realtime=is_realtime(snapshot),
    )


def _text_or_absent(snapshot: Snapshot, path: str) -> str | None:
    text = snapshot.text(path)
    return "" if text is None and path in snapshot.absent and not is_partial(snapshot) else text
