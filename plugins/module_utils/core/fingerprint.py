# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""One text per hardware: nodes with equal fingerprints are planned once."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from .snapshot import Snapshot
from .sysfs_cpuinfo import architecture, vendor_and_model

# The texts that `read_topology` takes as they are, besides topology and caches of CPUs; other CPU files are settings.
_VERBATIM = re.compile(
    r"/sys/devices/(?:"
    r"system/cpu/(?:present|online|cpu[0-9]+/cpu_capacity)"
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
        # Most files are these, and the fingerprint is taken of every node.
        if "/topology/" in path or "/cache/" in path:
            yield path, text.strip()
        elif not path.startswith("/sys/"):
            continue
        elif _VERBATIM.match(path) or (singly and _CPU_ONLINE.match(path)):
            yield path, text.strip()
        elif _NODE_MEMINFO.match(path):
            yield path, _memory(text)
    for path, target in snapshot.links.items():
        if path.startswith(("/sys/class/", "/sys/bus/pci/")):
            yield path, target


def _memory(meminfo: str) -> str:
    match = _MEMORY.search(meminfo)
    return str((int(match.group(1)) + _MEMORY_STEP_KIB // 2) // _MEMORY_STEP_KIB) if match else ""
