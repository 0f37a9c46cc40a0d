# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""One text per hardware: nodes with equal fingerprints are planned once."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import lru_cache

from .snapshot import Snapshot
from .sysfs_cpuinfo import architecture, vendor_and_model

# The texts that `read_topology` takes as they are; CPU files beside topology and caches are settings.
_VERBATIM = re.compile(
    r"/sys/devices/(?:"
    r"system/cpu/(?:present|online|cpu[0-9]+/(?:topology/.+|cache/.+|cpu_capacity))"
    r"|system/node/(?:online|node[0-9]+/(?:cpulist|distance|hugepages/[^/]+/nr_hugepages))"
    r"|cpu_(?:core|atom|lowpower)/cpus"
    r"|.+/(?:class|numa_node|local_cpulist)"
    r")\Z"
    r"|/sys/kernel/mm/hugepages/[^/]+/nr_hugepages\Z"
)
_CPU_ONLINE = re.compile(r"/sys/devices/system/cpu/(?:offline|cpu[0-9]+/online)\Z")
_NODE_MEMINFO = re.compile(r"/sys/devices/system/node/node[0-9]+/meminfo\Z")
_MEMORY = re.compile(r"MemTotal:\s+([0-9]+) kB")
_DEFAULT_SIZE = re.compile(r"^Hugepagesize:.*$", re.MULTILINE)
_NOTHING, _TEXT, _SINGLE_CPU, _MEMINFO = range(4)
# Firmware and kernel keep some megabytes more or less from one boot to the next.
_MEMORY_STEP_KIB = 64 << 10


def hardware_fingerprint(snapshot: Snapshot) -> str:
    """Return a SHA-256 as hex that is equal for nodes with equal topologies and different for different ones.

    Shape: it covers all that `read_topology` shows, except counts of free and surplus hugepages, and memory is
    rounded to 64 MiB. Hugepage totals, their default size and offline CPUs are settings, but a plan depends on
    them, so they count: a fingerprint may change when a node is tuned. The node's name is not in it.
    """
    parts = [f"{key}\0{text}" for key, text in _parts(snapshot)]
    parts.sort()
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()


def _parts(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    yield "arch", architecture(snapshot)
    yield "model", "\0".join(vendor_and_model(snapshot))
    meminfo = snapshot.files.get("/proc/meminfo", "")
    yield "default hugepage", "".join(_DEFAULT_SIZE.findall(meminfo))
    if not snapshot.names("/sys/devices/system/node"):
        yield "memory", _memory(meminfo)
    for directory in ("/sys/devices/system/cpu", "/sys/devices/system/node"):
        yield directory, " ".join(snapshot.names(directory))
    # Where the list of online CPUs is there, nothing else is asked.
    singly = "/sys/devices/system/cpu/online" not in snapshot.files
    for path, text in snapshot.files.items():
        kind = _kind(path)
        if kind == _TEXT or (singly and kind == _SINGLE_CPU):
            yield path, text.strip()
        elif kind == _MEMINFO:
            yield path, _memory(text)
    for path, target in snapshot.links.items():
        if path.startswith(("/sys/class/", "/sys/bus/pci/")):
            yield path, target


@lru_cache(maxsize=1 << 16)
def _kind(path: str) -> int:
    """Return what a file counts for; the nodes of a pool have the same paths."""
    if "/topology/" in path or "/cache/" in path:
        return _TEXT
    if not path.startswith("/sys/"):
        return _NOTHING
    if _VERBATIM.match(path):
        return _TEXT
    return _SINGLE_CPU if _CPU_ONLINE.match(path) else _MEMINFO if _NODE_MEMINFO.match(path) else _NOTHING


def _memory(meminfo: str) -> str:
    match = _MEMORY.search(meminfo)
    return str((int(match.group(1)) + _MEMORY_STEP_KIB // 2) // _MEMORY_STEP_KIB) if match else ""
