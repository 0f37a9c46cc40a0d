# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How many hugepages a kernel really sets aside, where."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..core.cmdline import Argument, page_size_kib
from ..core.topology import Topology

Pages = dict[tuple[int, int], int]

_DEFAULT_KIB = 2048
# Pages larger than the largest buddy block are taken first, straight from the boot-time allocator.
_LARGEST_BUDDY_KIB = 4096
_COUNT_BY_NODE = (5, 16)
_LEADING_NUMBER = re.compile(r"\d+")
_BY_NODE = re.compile(r"\d+:\d+(?:,\d+:\d+)*\Z")
# What kernel and daemons hold of a node's memory after boot, as one part in so many.
_USED_SHARE = 40


@dataclass(frozen=True)
class Request:
    """Pages of one size: a total for the kernel to spread, or counts by node."""

    size_kib: int
    total: int = 0
    by_node: Mapping[int, int] = field(default_factory=dict)


def used_kib(memory_kib: int) -> int:
    """Return how much of a node's memory the running system holds without hugepages. Scale: KiB."""
    return memory_kib // _USED_SHARE


def sizes_of(topology: Topology) -> tuple[int, ...]:
    """Return the hugepage sizes of the machine in KiB, ascending."""
    return tuple(sorted({pool.size_kib for node in topology.numa_nodes for pool in node.hugepages}))


def boot_requests(
    args: Iterable[Argument], sizes: tuple[int, ...], kernel: tuple[int, int]
) -> tuple[int, tuple[Request, ...]]:
    """Return the default page size in KiB and the requests that the kernel accepts, in order.

    Shape: a `hugepages=` belongs to the size named last before it, to the default size when there is none;
    a size the machine lacks and a size named twice swallow the count that follows.
    Source: kernel `admin-guide/mm/hugetlbpage`, `mm/hugetlb.c` (`hugepages_setup`, `hugepagesz_setup`).
    """
    default = _DEFAULT_KIB if _DEFAULT_KIB in sizes or not sizes else sizes[0]
    current: int | None = None
    valid, named, counted = True, set[int](), set[int]()
    found: list[tuple[int | None, str]] = []
    for arg in args:
        if arg.name == "default_hugepagesz":
            size = _size(arg.value, sizes)
            if size is not None:
                default = size
            current, valid = size, size is not None
        elif arg.name == "hugepagesz":
            current = _size(arg.value, sizes)
            valid = current is not None and current not in named
            named |= {current} if current is not None else set()
        elif arg.name == "hugepages" and arg.value is not None and valid:
            key = -1 if current is None else current
            if key not in counted:
                found.append((current, arg.value))
            counted.add(key)
    return default, tuple(_request(default if size is None else size, text, kernel) for size, text in found)


def allocate(
    topology: Topology, requests: Iterable[Request], taken: Mapping[tuple[int, int], int] | None = None
) -> Pages:
    """Return the pages by (node id, size in KiB) that fit, on top of `taken`.

    Shape: a total is dealt out page by page over the nodes with memory; a full node is passed over; what fits
    nowhere is not allocated. Every (node, size) of the machine is a key.
    """
    sizes = sizes_of(topology)
    pages: Pages = {(node.id, size): 0 for node in topology.numa_nodes for size in sizes}
    pages.update(taken or {})
    free = {
        node.id: node.memory_kib
        - used_kib(node.memory_kib)
        - sum(count * size for (owner, size), count in pages.items() if owner == node.id)
        for node in topology.numa_nodes
    }
    giants_first = sorted(requests, key=lambda request: request.size_kib <= _LARGEST_BUDDY_KIB)
    for request in giants_first:
        for node, count in _shares(request, free).items():
            pages[node, request.size_kib] += count
            free[node] -= count * request.size_kib
    return pages


def _shares(request: Request, free: Mapping[int, int]) -> dict[int, int]:
    room = {node: max(0, left // request.size_kib) for node, left in free.items()}
    if request.by_node:
        return {node: min(count, room[node]) for node, count in request.by_node.items() if node in room}
    shares = dict.fromkeys(room, 0)
    left = request.total
    while left > 0 and any(shares[node] < room[node] for node in room):
        open_nodes = [node for node in sorted(room) if shares[node] < room[node]]
        if left < len(open_nodes):
            open_nodes = open_nodes[:left]
        step = max(1, min(*(room[node] - shares[node] for node in open_nodes), left // len(open_nodes)))
        for node in open_nodes:
            shares[node] += step
            left -= step
    return shares


def _size(text: str | None, sizes: tuple[int, ...]) -> int | None:
    try:
        size = page_size_kib(text or "")
    except ValueError:
        return None
    return size if size in sizes else None


def _request(size: int, text: str, kernel: tuple[int, int]) -> Request:
    if kernel >= _COUNT_BY_NODE and _BY_NODE.match(text):
        pairs = (pair.split(":") for pair in text.split(","))
        return Request(size, by_node={int(node): int(count) for node, count in pairs})
    number = _LEADING_NUMBER.match(text)
    return Request(size, total=int(number.group()) if number else 0)
