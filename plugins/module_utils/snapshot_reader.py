# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The one impure reader: copies named files below a root into a snapshot and interprets nothing.

It runs on the nodes, so it imports little and reads only what is used. Three files are shortened while they are read:
/proc/cpuinfo to its first processor, the kernel configuration to the options of `snapshot_paths`, /etc/fstab to swap.
"""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from .core.snapshot import Snapshot
from .rooted_files import RootedFiles
from .snapshot_hardware import read_hardware
from .snapshot_paths import (
    BOOT_ID,
    DIRECTORIES,
    FILES,
    GRUB_MENUS,
    KERNEL_CONFIG,
    KUBELET_BINARIES,
    KUBELET_DROPINS,
    KUBELET_ENVIRONMENT,
    KUBELET_MAIN,
    LISTINGS,
    PROCESSES,
    SCHEDULER_KNOBS,
    SYSCTL_DETAIL,
    SYSCTLS,
    UNIT_DIRECTORIES,
    UNITS,
)

SIMULATED_MARKER = "/run/tunectl/simulated"

_SYSCTL_LINE = re.compile(r"^[ \t]*-?[ \t]*([A-Za-z0-9_][^\s=*?\[]*)[ \t]*=", re.MULTILINE)
_KUBELET_PATH_FLAG = re.compile(r"--(config|config-dir)[=\s\0]+[\"']?(/[^\s\0\"']*)")
_GENERATIONS = "/var/lib/tunectl/generations"
# Older ones are history, which the node itself tells.
_GENERATIONS_READ = 3
_SYSCTL_DEPTH = 2
_KUBELET_STANZA = re.compile(r"^Package: kubelet\n(?:.+\n)*", re.MULTILINE)


def read_snapshot(  # noqa: PLR0913  what to read beside the usual has several kinds
    root: str,
    node: str,
    sysctls: Sequence[str] = (),
    extra_paths: Sequence[str] = (),
    *,
    taken_at: str = "",
    extra: Callable[[RootedFiles], Mapping[str, object]] | None = None,
) -> Snapshot:
    """Return what a node's files say, read below `root`; never raises for a file.

    Shape: `sysctls` are dotted names read besides the usual ones and those that the node's sysctl.d files mention;
    `extra_paths` are absolute, `*` matches within one component. `taken_at` replaces the clock.
    `extra` reads more files and returns more facts.
    Sad paths: `ValueError` for a path of the caller that is not absolute.
    """
    for path in extra_paths:
        if not path.startswith("/") or "\0" in path:
            raise ValueError(f"{path!r} is not an absolute path")
    files = RootedFiles(root)
    release = _kernel(files)
    read_hardware(files)
    for path in FILES:
        files.read(path)
    for path in LISTINGS:
        files.listing(path)
    for directory, suffix in DIRECTORIES:
        _directory(files, directory, suffix)
    _sysctls(files, sysctls)
    _processes(files)
    _kubelet(files)
    _owned(files)
    for path in extra_paths:
        _extra(files, path)
    more = extra(files) if extra else {}
    return Snapshot(
        node=node,
        files=files.files,
        links=files.links,
        listings=files.listings,
        unreadable=files.unreadable,
        absent=frozenset(files.absent),
        facts={**_facts(files, release, taken_at), **more},
        simulated=bool(files.base) and files.exists(SIMULATED_MARKER),
    )


def _facts(files: RootedFiles, release: str, taken_at: str) -> dict[str, object]:
    facts: dict[str, object] = {
        "python": platform.python_version(),
        "uid": os.getuid(),
        "taken_at": taken_at or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "root": files.base or "/",
        "boot_id": (files.probe(BOOT_ID) or "").strip(),
        "kubelet_binary": next((path for path in KUBELET_BINARIES if files.exists(path)), ""),
    }
    # Below another root the running kernel is not that system's.
    if files.base:
        facts["uname"] = {"release": release}
    else:
        uname = os.uname()
        facts["uname"] = {key: getattr(uname, key) for key in ("sysname", "release", "version", "machine")}
        facts["page_size"] = os.sysconf("SC_PAGE_SIZE")
    return facts


def _kernel(files: RootedFiles) -> str:
    """Read what tells and describes the kernel; return its release, "" when nothing tells."""
    cpuinfo = files.peek("/proc/cpuinfo")
    if cpuinfo is not None:
        files.files["/proc/cpuinfo"] = cpuinfo.lstrip().partition("\n\n")[0] + "\n"
    release = (files.read("/proc/sys/kernel/osrelease") or "").strip()
    if not release:
        release = os.uname().release if not files.base else ""
    if release and "/" not in release:
        for path in (f"/boot/config-{release}", f"/usr/lib/modules/{release}/config", f"/lib/modules/{release}/config"):
            text = files.peek(path)
            if text is not None:
                files.files[path] = "".join(line for line in text.splitlines(keepends=True) if _is_wanted_option(line))
                break
    return release


def _is_wanted_option(line: str) -> bool:
    return line.startswith(KERNEL_CONFIG) or (line.startswith("# ") and line[2:].startswith(KERNEL_CONFIG))


def _directory(files: RootedFiles, directory: str, suffix: str) -> None:
    for name in files.listing(directory):
        if name.endswith(suffix):
            path = f"{directory}/{name}"
            if files.read(path) is None and files.unreadable.get(path) == "is a directory":
                del files.unreadable[path]


def _sysctls(files: RootedFiles, asked: Sequence[str]) -> None:
    _sysctl_names(files, "/proc/sys", 0)
    mentioned = [
        name
        for path, text in files.files.items()
        if path == "/etc/sysctl.conf" or (path.endswith(".conf") and "/sysctl.d/" in path)
        for name in _SYSCTL_LINE.findall(text)
    ]
    for path in sorted({_sysctl_path(name) for name in (*SYSCTLS, *mentioned, *asked)}):
        if "/../" not in path:
            files.read(path)
    for name in SCHEDULER_KNOBS if "/sys/kernel/debug/sched" in files.listings else ():
        files.read(f"/sys/kernel/debug/sched/{name}")


def _sysctl_path(name: str) -> str:
    """Return the file of a parameter: as in sysctl.d(5), the first separator tells which one separates."""
    slash, dot = name.find("/"), name.find(".")
    slashed = slash >= 0 and (dot < 0 or slash < dot)
    return "/proc/sys/" + (name if slashed else name.translate(str.maketrans("./", "/.")))


def _sysctl_names(files: RootedFiles, directory: str, depth: int) -> None:
    """List the parameters that exist, without those per interface."""
    names = files.listing(directory)
    for name in names:
        path = f"{directory}/{name}"
        if depth < _SYSCTL_DEPTH and name not in SYSCTL_DETAIL and files.is_directory(path):
            _sysctl_names(files, path, depth + 1)


def _processes(files: RootedFiles) -> None:
    for name in files.entries("/proc") or ():
        if name.isdigit() and (files.probe(f"/proc/{name}/comm") or "").strip() in PROCESSES:
            files.read(f"/proc/{name}/comm")
            files.read(f"/proc/{name}/cmdline")


def _kubelet(files: RootedFiles) -> None:
    for path in KUBELET_ENVIRONMENT:
        files.read(path)
    for directory in UNIT_DIRECTORIES:
        files.read(f"{directory}/kubelet.service")
        _directory(files, f"{directory}/kubelet.service.d", ".conf")
    mains, directories = set(KUBELET_MAIN), {KUBELET_DROPINS}
    for flag, path in list(_kubelet_paths(files)):
        (mains if flag == "config" else directories).add(path)
    for path in sorted(mains):
        text = files.peek(path)
        # Where kubeadm has its kubeconfig, with credentials, others have the configuration.
        if text is not None and (path not in KUBELET_MAIN[1:] or "KubeletConfiguration" in text):
            files.files[path] = text
    for directory in sorted(directories):
        _dropins(files, directory)
    status = files.probe("/var/lib/dpkg/status")
    stanza = _KUBELET_STANZA.search(status) if status else None
    if stanza:
        files.files["/var/lib/dpkg/status"] = stanza.group(0)


def _kubelet_paths(files: RootedFiles) -> Iterator[tuple[str, str]]:
    for path, text in files.files.items():
        if "kubelet" in path or (path.endswith("/cmdline") and "kubelet" in text):
            yield from _KUBELET_PATH_FLAG.findall(text)


def _dropins(files: RootedFiles, directory: str) -> None:
    """Read the drop-ins of a directory as the kubelet does: `.conf` only, directories below it too."""
    for name in files.listing(directory):
        path = f"{directory}/{name}"
        if files.is_directory(path):
            _dropins(files, path)
        elif name.endswith(".conf"):
            files.read(path)


def _owned(files: RootedFiles) -> None:
    text = files.peek("/etc/fstab")
    if text is not None:
        files.files["/etc/fstab"] = "".join(line for line in text.splitlines(keepends=True) if _is_swap(line.split()))
    for path in GRUB_MENUS:
        menu = files.peek(path)
        if menu is not None:
            # Lines keep their numbers.
            lines = menu.splitlines(keepends=True)
            files.files[path] = "".join(line if _tells_the_default(line) else "\n" for line in lines)
    for name in files.listing(_GENERATIONS)[-_GENERATIONS_READ:]:
        files.read(f"{_GENERATIONS}/{name}/manifest.json")
    for path in files.glob("/etc/systemd/system/*tunectl*"):
        files.read(path)
    for path in files.glob("/etc/systemd/system/*.d/*tunectl*"):
        files.read(path)
    for unit in UNITS:
        files.link(f"/etc/systemd/system/{unit}.service")


def _tells_the_default(line: str) -> bool:
    # All that tells which entry boots and with what; the rest of a menu is modules and devices.
    return line.strip().startswith(("set default=", "menuentry ", "submenu ", "linux", "}"))


def _is_swap(fields: Sequence[str]) -> bool:
    return fields[2:3] == ["swap"] and not fields[0].startswith("#")


def _extra(files: RootedFiles, path: str) -> None:
    if any(mark in path for mark in "*?["):
        for found in files.glob(path):
            files.read(found)
    elif path not in files.files:
        files.read(path)
