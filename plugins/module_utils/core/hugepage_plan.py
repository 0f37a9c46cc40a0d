# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Hugepages of a tier on a machine: what each NUMA node gives, and what cannot be had."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .cmdline import page_size_kib
from .desire_context import DesireContext
from .desired import Platform
from .findings import Finding, Severity
from .quantity import format_bytes
from .tier import HugepageRequest
from .topology import NumaNode

_KIB = 1024
_PAGE_4K, _PAGE_64K = 4, 64
_K, _M, _G = 1, 1024, 1024 * 1024
# Source: kernel admin-guide/mm/hugetlbpage and arch/arm64 hugetlb; the sizes follow from the base page.
VALID_SIZES_KIB: dict[tuple[str, int], tuple[int, ...]] = {
    ("x86_64", _PAGE_4K): (2 * _M, 1 * _G),
    ("aarch64", _PAGE_4K): (64 * _K, 2 * _M, 32 * _M, 1 * _G),
    ("aarch64", _PAGE_64K): (2 * _M, 512 * _M, 16 * _G),
}


def size_text(size_kib: int) -> str:
    """Return a page size as users write it: 64k, 2M, 1G."""
    for unit, kib in (("G", _G), ("M", _M)):
        if size_kib % kib == 0:
            return f"{size_kib // kib}{unit}"
    return f"{size_kib}k"


def base_page_kib(context: DesireContext) -> int:
    """Return the base page size in KiB: as the tier asks, else as the node runs, else the architecture's usual."""
    asked = context.tier.kernel.page_size
    return page_size_kib(asked) if asked else context.environment.page_kib or _PAGE_4K


def requests(context: DesireContext) -> Iterator[tuple[HugepageRequest, int]]:
    """Yield the requests whose size can be read, each with its size in KiB."""
    for request in context.tier.hugepages.pages:
        size = _size(request.size)
        if size:
            yield request, size


def hugepage_pools(context: DesireContext) -> dict[int, dict[int, int]]:
    """Return the hugepages on each NUMA node once the tier is in force: node -> page size in KiB -> count.

    Shape: a request with a node counts there; one without is spread over the nodes that have memory, as the kernel
    does at boot; pools of sizes that the tier does not mention stay as they are.
    """
    topology = context.topology
    holders = [node.id for node in topology.numa_nodes if node.memory_kib] or [
        node.id for node in topology.numa_nodes[:1]
    ]
    total: dict[int, Counter[int]] = {node.id: Counter() for node in topology.numa_nodes}
    managed = set()
    for request, size in requests(context):
        managed.add(size)
        if request.node is not None:
            total.setdefault(request.node, Counter())[size] += request.count
            continue
        share, extra = divmod(request.count, len(holders) or 1)
        for place, node_id in enumerate(holders):
            total[node_id][size] += share + (place < extra)
    for node in topology.numa_nodes:
        for pool in node.hugepages:
            if pool.size_kib not in managed:
                total[node.id][pool.size_kib] += pool.total
    return {node: dict(sizes) for node, sizes in total.items()}


def hugepage_bytes(context: DesireContext) -> dict[int, int]:
    """Return the bytes of hugepages on each NUMA node once the tier is in force."""
    pools = hugepage_pools(context)
    return {node: sum(size * _KIB * count for size, count in sizes.items()) for node, sizes in pools.items()}


def judge_hugepages(context: DesireContext) -> tuple[Finding, ...]:
    """Return what is wrong with the tier's hugepages on this machine.

    Shape: findings `hugepages.size`, `hugepages.default`, `hugepages.duplicate`, `hugepages.node`,
    `hugepages.memory`.
    """
    return (
        *_bad_sizes(context),
        *_no_default(context),
        *_duplicates(context),
        *_bad_nodes(context),
        *_too_many(context),
    )


def _size(text: str) -> int:
    try:
        return page_size_kib(text)
    except ValueError:
        return 0


def _bad_sizes(context: DesireContext) -> Iterator[Finding]:
    arch, page = context.topology.arch, base_page_kib(context)
    valid = VALID_SIZES_KIB.get((arch, page))
    if valid is None:
        return
    spec = context.tier.hugepages
    asked = [("hugepages.default_size", spec.default_size)] if spec.default_size else []
    asked += [(f"hugepages.pages[{index}].size", request.size) for index, request in enumerate(spec.pages)]
    for path, size in asked:
        if _size(size) not in valid:
            yield context.finding(
                "hugepages.size",
                Severity.CRITICAL,
                f"{arch} with {page} KiB pages has no hugepages of {size}",
                path=path,
                expected=", ".join(size_text(kib) for kib in valid),
                actual=size,
                why="the kernel refuses the size at boot and drops the count next to it",
                remedy=f"use one of {', '.join(size_text(kib) for kib in valid)}",
            )


def _no_default(context: DesireContext) -> Iterator[Finding]:
    spec = context.tier.hugepages
    if spec.pages and not spec.default_size and context.platform is Platform.OPENSHIFT and context.is_profile:
        yield context.finding(
            "hugepages.default",
            Severity.CRITICAL,
            "hugepages are asked for without a default size",
            path="hugepages",
            why="a PerformanceProfile with pages and no defaultHugepagesSize is refused",
            remedy="add hugepages.default_size to the tier",
        )


def _duplicates(context: DesireContext) -> Iterator[Finding]:
    places = Counter((size, request.node) for request, size in requests(context))
    for (size, node), count in places.items():
        if count > 1:
            where = "without a NUMA node" if node is None else f"on NUMA node {node}"
            yield context.finding(
                "hugepages.duplicate",
                Severity.CRITICAL,
                f"hugepages of {size_text(size)} {where} are asked for {count} times",
                path="hugepages.pages",
                why="the kernel takes the last count, not the sum",
                remedy="keep one entry with the count you mean",
            )


def _bad_nodes(context: DesireContext) -> Iterator[Finding]:
    known = {node.id: node for node in context.topology.numa_nodes}
    for index, request in enumerate(context.tier.hugepages.pages):
        if request.node is None or request.node in known:
            continue
        yield context.finding(
            "hugepages.node",
            Severity.CRITICAL,
            f"{request.count} hugepages of {request.size} are asked for on NUMA node {request.node}, "
            "which this machine does not have",
            path=f"hugepages.pages[{index}].node",
            expected=f"one of {', '.join(str(node) for node in known)}",
            actual=str(request.node),
            why="there is no such directory in sysfs to write the count to",
            remedy="name a NUMA node that every machine of the pool has, or leave node out",
        )


def _too_many(context: DesireContext) -> Iterator[Finding]:
    if not context.tier.hugepages.pages:
        return
    wanted = hugepage_bytes(context)
    for node in context.topology.numa_nodes:
        if context.topology.memory_kib and wanted[node.id] > node.memory_kib * _KIB:
            yield _does_not_fit(context, node, wanted[node.id])


def _does_not_fit(context: DesireContext, node: NumaNode, wanted: int) -> Finding:
    has = node.memory_kib * _KIB
    return context.finding(
        "hugepages.memory",
        Severity.CRITICAL,
        f"hugepages need {format_bytes(wanted)} on NUMA node {node.id}, which has {_gib(has)} GiB",
        path="hugepages.pages",
        expected=f"at most {has} bytes",
        actual=f"{wanted} bytes",
        why=f"the kernel would give fewer pages than asked for; {_gib(wanted - has)} GiB are missing",
        remedy="lower the count, or spread the pages over more NUMA nodes",
    )


def _gib(count: int) -> str:
    return f"{count / 2**30:.1f}"
