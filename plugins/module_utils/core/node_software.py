# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a snapshot says about a node's kernel, distribution and boot loader."""

from __future__ import annotations

import math
import re
import shlex
from functools import lru_cache

from .snapshot import Snapshot

_SYSCTL_ROOT = "/proc/sys"
_DEBUGFS = "/sys/kernel/debug/sched"
_NUMA_BALANCING = f"{_DEBUGFS}/numa_balancing"
_PMD_SIZE = "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size"
_RELEASE = re.compile(r"(\d+)\.(\d+)")
_PACKAGE_VERSION = re.compile(r"^Version: (?:\d+:)?v?(\d+)\.(\d+)", re.MULTILINE)
_BLS_SWITCH = re.compile(r"^\s*GRUB_ENABLE_BLSCFG=[\"']?true", re.MULTILINE)
_PAGE_TABLE_ENTRY = 8
_LOADER_FILES = ("/boot/loader/loader.conf", "/boot/efi/loader/loader.conf", "/efi/loader/loader.conf")


def is_partial(snapshot: Snapshot) -> bool:
    """Return whether this is a capture of some files, in which a missing file says nothing about the node."""
    return _SYSCTL_ROOT not in snapshot.listings


def kernel_release(snapshot: Snapshot) -> str:
    """Return `uname -r` of the node, "" when nothing tells."""
    uname = snapshot.facts.get("uname")
    release = uname.get("release") if isinstance(uname, dict) else ""
    return str(release or snapshot.text("/proc/sys/kernel/osrelease") or "")


def version_of(text: str) -> tuple[int, int]:
    """Return the leading two numbers of a version, (0, 0) when it has none."""
    match = _RELEASE.match(text.lstrip("v"))
    return (int(match.group(1)), int(match.group(2))) if match else (0, 0)


def is_realtime(snapshot: Snapshot) -> bool | None:
    """Return whether a PREEMPT_RT kernel runs: by its own file, its configuration or its version; None unknown."""
    if "/sys/kernel/realtime" in snapshot.files:
        return snapshot.text("/sys/kernel/realtime") == "1"
    release = kernel_release(snapshot)
    for path in (f"/boot/config-{release}", f"/usr/lib/modules/{release}/config", f"/lib/modules/{release}/config"):
        if path in snapshot.files:
            return "CONFIG_PREEMPT_RT=y" in snapshot.files[path]
    uname = snapshot.facts.get("uname")
    version = (uname.get("version") if isinstance(uname, dict) else "") or snapshot.text("/proc/version")
    return "PREEMPT_RT" in str(version) if version else None


def page_kib(snapshot: Snapshot, arch: str) -> int:
    """Return the base page size in KiB, 0 when nothing tells.

    Source: x86 has 4 KiB only; elsewhere a huge page of the second level is page x page / 8 bytes, since a table
    fills one page. POWER has tables of its own.
    """
    size = snapshot.facts.get("page_size")
    if isinstance(size, int) and size > 0:
        return size // 1024
    if arch in ("x86_64", "i686"):
        return 4
    text = snapshot.text(_PMD_SIZE) or ""
    is_told = arch == "aarch64" and re.fullmatch(r"[0-9]{1,18}", text)
    return math.isqrt(int(text) * _PAGE_TABLE_ENTRY) // 1024 if is_told else 0


def sysctl_names(snapshot: Snapshot) -> frozenset[str] | None:
    """Return the dotted names of the parameters that exist, None when nobody could look below /proc/sys."""
    if is_partial(snapshot):
        return None
    found: set[str] = set()
    for directory, names in snapshot.listings.items():
        if directory.startswith(_SYSCTL_ROOT):
            found |= _dotted_names(directory, tuple(names))
    directories = {_dotted(path) for path in snapshot.listings if path.startswith(f"{_SYSCTL_ROOT}/")}
    read = {_dotted(path) for path in snapshot.proc_files if path.startswith(f"{_SYSCTL_ROOT}/")}
    return frozenset((found - directories) | read)


def debugfs_knobs(snapshot: Snapshot) -> frozenset[str] | None:
    """Return the names below /sys/kernel/debug/sched, empty when it is not there, None when nobody could look."""
    if is_partial(snapshot):
        return None
    if _DEBUGFS in snapshot.absent:
        return frozenset()
    if _DEBUGFS not in snapshot.listings:
        return None
    nested = (f"numa_balancing/{name}" for name in snapshot.names(_NUMA_BALANCING))
    return frozenset((*snapshot.names(_DEBUGFS), *nested))


def lockdown(snapshot: Snapshot) -> str:
    """Return the lockdown mode in force; `none` also where the kernel has no lockdown."""
    match = re.search(r"\[(\w+)\]", snapshot.text("/sys/kernel/security/lockdown") or "")
    return match.group(1) if match else "none"


def distribution(snapshot: Snapshot) -> tuple[str, str]:
    """Return ID and VERSION_ID of os-release(5), "" where they are not given."""
    return _os_release(snapshot.files.get("/etc/os-release", ""))


def boot_loader(snapshot: Snapshot) -> str:
    """Return who hands arguments to the kernel: grub, bls, ostree, systemd-boot or unknown.

    Shape: `bls` is GRUB that takes its entries from /boot/loader/entries, where /etc/default/grub does not count.
    """
    if "/run/ostree-booted" in snapshot.files:
        return "ostree"
    defaults = snapshot.files.get("/etc/default/grub")
    has_grub = defaults is not None or any(
        "grub.cfg" in snapshot.names(directory) for directory in ("/boot/grub", "/boot/grub2")
    )
    entries = any(name.endswith(".conf") for name in snapshot.names("/boot/loader/entries"))
    if has_grub and entries and (defaults is None or _BLS_SWITCH.search(defaults)):
        return "bls"
    if has_grub:
        return "grub"
    return "systemd-boot" if any(path in snapshot.files for path in _LOADER_FILES) or entries else "unknown"


def cgroup_version(snapshot: Snapshot) -> int:
    """Return 2 for the unified hierarchy, 1 for the old one, 0 when nothing tells."""
    if "/sys/fs/cgroup/cgroup.controllers" in snapshot.files:
        return 2
    return 1 if {"cpuset", "memory", "systemd"} & set(snapshot.names("/sys/fs/cgroup")) else 0


def pod_cgroup_driver(snapshot: Snapshot) -> str:
    """Return the driver whose pod cgroups are there, "" when there are none."""
    names = set(snapshot.names("/sys/fs/cgroup"))
    if "kubepods.slice" in names:
        return "systemd"
    return "cgroupfs" if "kubepods" in names else ""


def kubelet_version(snapshot: Snapshot) -> tuple[int, int]:
    """Return the kubelet's release as the package database or the reader tells, (0, 0) when nothing does."""
    stated = version_of(str(snapshot.facts.get("kubelet_version", "")))
    match = _PACKAGE_VERSION.search(snapshot.files.get("/var/lib/dpkg/status", ""))
    return stated if stated != (0, 0) or not match else (int(match.group(1)), int(match.group(2)))


@lru_cache(maxsize=256)
def _dotted_names(directory: str, names: tuple[str, ...]) -> frozenset[str]:
    # The nodes of a pool list the same parameters.
    return frozenset(_dotted(f"{directory}/{name}") for name in names)


@lru_cache(maxsize=8192)
def _dotted(path: str) -> str:
    return path[len(_SYSCTL_ROOT) + 1 :].translate(str.maketrans("./", "/."))


@lru_cache(maxsize=64)
def _os_release(text: str) -> tuple[str, str]:
    values: dict[str, str] = {}
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if equals:
            values[name.strip()] = _unquoted(value.strip())
    return values.get("ID", ""), values.get("VERSION_ID", "")


def _unquoted(value: str) -> str:
    try:
        return " ".join(shlex.split(value))
    except ValueError:
        return value
