# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""NUMA nodes with memory, distances and hugepages, as sysfs tells them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .cpuset import CpuSet
from .topology import HugepagePool, NumaNode
from .tree import Tree

NODE_DIRECTORY = "/sys/devices/system/node"
HUGEPAGE_DIRECTORY = "/sys/kernel/mm/hugepages"

_HUGEPAGES = re.compile(r"hugepages-([0-9]{1,18})kB\Z")
_MEMINFO_LINE = r"^(?:Node [0-9]+ )?{}:\s+([0-9]{{1,18}}) kB\s*$"
_LOCAL_DISTANCE = 10
_X86_HUGEPAGE_KIB = 2048


def read_numa_nodes(tree: Tree, online: CpuSet) -> tuple[tuple[NumaNode, ...], Mapping[int, int]]:
    """Return the online NUMA nodes ascending, and the node of each online CPU.

    A kernel without NUMA shows no nodes: then node 0 has everything.
    Sad paths: `InputError` naming the file of a node that is malformed, or of the first that claims a CPU twice.
    """
    paths = dict(tree.numbered(NODE_DIRECTORY, "node"))
    if not paths:
        return (_whole_machine(tree, online),), dict.fromkeys(online, 0)
    ids = _online_nodes(tree, paths)
    home: dict[int, int] = {}
    nodes = []
    for node in ids:
        cpus = tree.cpus(f"{paths[node]}/cpulist") & online
        for cpu in cpus:
            if cpu in home:
                raise tree.fault(f"{paths[node]}/cpulist", f"CPU {cpu} is also on node {home[cpu]}")
            home[cpu] = node
        nodes.append(_read_node(tree, node, paths[node], cpus, len(ids)))
    homeless = online - CpuSet(home)
    if homeless:
        raise tree.fault(f"{paths[ids[0]]}/cpulist", f"CPU {homeless} is online, but on no NUMA node")
    return tuple(nodes), home


def default_hugepage_kib(tree: Tree) -> int:
    """Return the size of hugepages asked for without a size, in KiB; 2048 where the kernel does not say."""
    if not tree.has("/proc/meminfo"):
        return _X86_HUGEPAGE_KIB
    return _meminfo(tree, "/proc/meminfo", "Hugepagesize", _X86_HUGEPAGE_KIB)


def _online_nodes(tree: Tree, paths: Mapping[int, str]) -> list[int]:
    path = f"{NODE_DIRECTORY}/online"
    if not tree.has(path):
        return sorted(paths)
    ids = list(tree.cpus(path))
    for node in ids:
        if node not in paths:
            raise tree.fault(path, f"node {node} is online, but {NODE_DIRECTORY}/node{node} is not there")
    if not ids:
        raise tree.fault(path, "no NUMA node is online")
    return ids


def _read_node(tree: Tree, node: int, path: str, cpus: CpuSet, count: int) -> NumaNode:
    return NumaNode(
        id=node,
        cpus=cpus,
        memory_kib=_meminfo(tree, f"{path}/meminfo", "MemTotal"),
        distances=_distances(tree, f"{path}/distance", count),
        hugepages=_pools(tree, f"{path}/hugepages"),
    )


def _distances(tree: Tree, path: str, count: int) -> tuple[int, ...]:
    if not tree.has(path):
        return ()
    words = tree.text(path).split()
    if len(words) != count or not all(word.isascii() and word.isdigit() for word in words):
        raise tree.fault(path, f"it holds {' '.join(words)[:60]!r} where {count} distances belong, one per online node")
    return tuple(int(word[:18]) for word in words)


def _pools(tree: Tree, directory: str) -> tuple[HugepagePool, ...]:
    pools = []
    for name in tree.snapshot.names(directory):
        match = _HUGEPAGES.match(name)
        if match:
            path = f"{directory}/{name}"
            pools.append(
                HugepagePool(
                    size_kib=int(match.group(1)),
                    total=tree.count(f"{path}/nr_hugepages"),
                    free=tree.count(f"{path}/free_hugepages", 0),
                    surplus=tree.count(f"{path}/surplus_hugepages", 0),
                )
            )
    return tuple(sorted(pools, key=lambda pool: pool.size_kib))


def _whole_machine(tree: Tree, online: CpuSet) -> NumaNode:
    return NumaNode(
        id=0,
        cpus=online,
        memory_kib=_meminfo(tree, "/proc/meminfo", "MemTotal"),
        distances=(_LOCAL_DISTANCE,),
        hugepages=_pools(tree, HUGEPAGE_DIRECTORY),
    )


def _meminfo(tree: Tree, path: str, key: str, default: int | None = None) -> int:
    text = tree.text(path)
    match = re.search(_MEMINFO_LINE.format(key), text, re.MULTILINE)
    if match:
        return int(match.group(1))
    if default is not None and key not in text:
        return default
    raise tree.fault(path, f"it has no line `{key}: <number> kB`")
