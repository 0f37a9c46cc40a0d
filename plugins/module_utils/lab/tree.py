# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Builds the directory tree of a simulated node, and writes what its kernel shows into it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from . import cpu_files, device_files
from .boot_config import sysctl_writes
from .grub import MENU, booted_cmdline
from .kernel import RunningKernel
from .kubelet import start_kubelet
from .kubelet_config import DROPINS as KUBELET_DROPINS
from .kubelet_config import kubelet_files
from .node import MARKER, SimulatedNode
from .profiles import load_profile
from .system_files import system_files

KERNEL_STATE = "/run/tunectl/simulated-kernel"
BOOT_ID = "/proc/sys/kernel/random/boot_id"
SWAPS = "/proc/swaps"

_SWAPS_HEAD = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
_EMPTY_DIRECTORIES = (
    KUBELET_DROPINS, "/etc/tmpfiles.d", "/etc/modprobe.d", "/etc/systemd/system", "/etc/kubernetes/manifests",
    "/run/sysctl.d", "/usr/lib/tmpfiles.d", "/var/lib/tunectl", "/boot/grub",
)  # fmt: skip


def build_tree(root: Path, machine: Mapping[str, Any], *, profile: str = "debian12", name: str = "") -> SimulatedNode:
    """Write the tree of a node that has booted once into `root` and return the node.

    Shape: `machine` are facts of the described-machine format, `profile` names the software. Hugepages that the
    machine is described with are there until the first reboot, like pages that somebody asked for by hand.
    Sad paths: `InputError` for an unknown profile; `ValueError` for facts that are no machine; `OSError`.
    """
    node = SimulatedNode(name or root.name, machine, load_profile(profile))
    files = {**system_files(node), **kubelet_files(node.profile), MARKER: node.marker()}
    for directory in _EMPTY_DIRECTORIES:
        (root / directory.lstrip("/")).mkdir(parents=True, exist_ok=True)
    kernel = RunningKernel.start(node, booted_cmdline(files[MENU]))
    for pool_node in node.topology.numa_nodes:
        kernel.pages.update({(pool_node.id, pool.size_kib): pool.total for pool in pool_node.hugepages})
    write_files(root, files)
    for path, value in sysctl_writes(root, kernel.knobs):
        kernel.write(path, value)
    write_links(root, device_files.device_links(node.topology))
    write_files(root, device_files.device_files(node.topology))
    write_hardware(root, kernel)
    write_files(root, {BOOT_ID: new_boot_id(), SWAPS: _SWAPS_HEAD})
    _state, written = start_kubelet(root, kernel)
    write_files(root, written)
    write_kernel(root, kernel)
    return node


def new_boot_id() -> str:
    """Return another boot id each time."""
    return f"{uuid.uuid4()}\n"


def write_kernel(root: Path, kernel: RunningKernel) -> None:
    """Write what the kernel shows now, and its state for the next look."""
    write_files(root, kernel.files())
    write_files(root, {KERNEL_STATE: json.dumps(kernel.save(), separators=(",", ":"))})


def write_hardware(root: Path, kernel: RunningKernel, stale: Iterable[int] = ()) -> None:
    """Write topology and caches of the online CPUs; remove those of the CPUs in `stale` first."""
    for cpu in stale:
        for part in ("topology", "cache"):
            shutil.rmtree(root / f"{cpu_files.CPU}/cpu{cpu}/{part}".lstrip("/"), ignore_errors=True)
    write_files(root, cpu_files.cpu_files(kernel.node.topology, kernel.online, kernel.node.l3_sizes))


def read_kernel(root: Path, node: SimulatedNode) -> RunningKernel:
    """Return the kernel that the tree was last written by; raises `OSError`, `KeyError` or `ValueError`."""
    saved = json.loads((root / KERNEL_STATE.lstrip("/")).read_text(encoding="utf-8"))
    return RunningKernel.restore(node, saved)


def write_files(root: Path, files: Mapping[str, str | None]) -> None:
    """Write files by absolute path, in place; None removes the file. Directories are made where they are missing."""
    base = str(root)
    made = {base}
    for path, text in files.items():
        place = base + path
        if text is None:
            _remove(place)
            continue
        data = text.encode("utf-8", "surrogateescape")
        if _holds(place, data):
            continue
        _make(place.rpartition("/")[0], made)
        _write(place, data)


def write_links(root: Path, links: Mapping[str, str]) -> None:
    """Make symbolic links by absolute path, replacing what is there."""
    for path, target in links.items():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_symlink():
            place.unlink()
        place.symlink_to(target)


def _make(directory: str, made: set[str]) -> None:
    """Make a directory and those above it, one system call each: a node has hundreds."""
    if directory in made:
        return
    _make(directory.rpartition("/")[0], made)
    with contextlib.suppress(FileExistsError):
        os.mkdir(directory)  # noqa: PTH102
    made.add(directory)


def _holds(place: str, data: bytes) -> bool:
    """Return whether a file has the content already: reading one costs a tenth of writing it."""
    try:
        handle = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.read(handle, len(data) + 1) == data
    finally:
        os.close(handle)


def _write(place: str, data: bytes) -> None:
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
    try:
        os.write(handle, data)
    finally:
        os.close(handle)


def _remove(place: str) -> None:
    Path(place).unlink(missing_ok=True)
