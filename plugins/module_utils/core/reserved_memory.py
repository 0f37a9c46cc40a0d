# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The Static memory manager's reservation: what it must add up to, and how it is spread over NUMA nodes.

Source: kubelet memory manager: per resource, the sum over NUMA nodes must equal kubeReserved + systemReserved +
the hard eviction threshold memory.available, to the byte; what a node reserves and its hugepages must fit the node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .desire_context import DesireContext
from .findings import Finding, Severity
from .hugepage_plan import base_page_kib, hugepage_bytes
from .quantity import format_bytes, is_percentage, parse_bytes
from .tier import ReservedMemory

_KIB = 1024
_MEMORY = "memory"
_SIGNAL = "memory.available"


@dataclass(frozen=True)
class MemoryBalance:
    """The parts of the node's memory reservation, in bytes."""

    kube: int
    system: int
    eviction: int

    @property
    def total(self) -> int:
        """What reservedMemory must add up to."""
        return self.kube + self.system + self.eviction

    def __str__(self) -> str:
        """Return the sum as it is written down."""
        parts = (self.kube, self.system, self.eviction)
        kube, system, eviction = (format_bytes(part) for part in parts)
        return f"kubeReserved {kube} + systemReserved {system} + evictionHard {eviction} = {format_bytes(self.total)}"


def memory_balance(kube: Mapping[str, str], system: Mapping[str, str], eviction: Mapping[str, str]) -> MemoryBalance:
    """Return the parts of the reservation from the three maps as the kubelet reads them; a percentage counts as 0."""
    threshold = eviction.get(_SIGNAL, "0")
    return MemoryBalance(
        kube=parse_bytes(kube.get(_MEMORY, "0"), "kubelet.kube_reserved.memory"),
        system=parse_bytes(system.get(_MEMORY, "0"), "kubelet.system_reserved.memory"),
        eviction=0 if is_percentage(threshold) else parse_bytes(threshold, f"kubelet.eviction_hard.{_SIGNAL}"),
    )


def room_by_node(context: DesireContext) -> dict[int, int]:
    """Return the bytes of each NUMA node with memory that hugepages leave, never below zero."""
    huge = hugepage_bytes(context)
    return {
        node.id: max(0, node.memory_kib * _KIB - huge[node.id])
        for node in context.topology.numa_nodes
        if node.memory_kib
    }


def spread(total: int, room: Mapping[int, int], weights: Mapping[int, int], page: int) -> dict[int, int] | None:
    """Return how `total` bytes are spread over nodes, or None when they do not fit.

    Shape: the parts add up to `total` exactly and none exceeds its node's room; all but one are whole pages; they
    follow the weights as far as the room allows, nodes of weight 0 are used last. Nodes with nothing are left out.
    """
    if total > sum(room.values()):
        return None
    parts = dict.fromkeys(room, 0)
    left = total
    while left:
        open_nodes = [node for node in room if room[node] - parts[node] >= page]
        weighted = [node for node in open_nodes if weights.get(node)] or open_nodes
        step = _step(left, weighted, weights, page)
        whole = {node: (size - parts[node]) // page * page + parts[node] for node, size in room.items()}
        moved = sum(_give(parts, whole, node, amount) for node, amount in step.items())
        left -= moved
        if not moved:
            break
    # What is left is smaller than a page for each node: it goes where there is room, heaviest node first.
    for node in sorted(room, key=lambda one: (-weights.get(one, 0), one)):
        left -= _give(parts, room, node, left)
    return {node: part for node, part in parts.items() if part}


def _step(left: int, nodes: list[int], weights: Mapping[int, int], page: int) -> dict[int, int]:
    sum_of_weights = sum(weights.get(node, 0) for node in nodes)
    shares = {}
    for node in nodes:
        share = left * weights.get(node, 0) // sum_of_weights if sum_of_weights else left // len(nodes)
        shares[node] = share // page * page
    return shares


def _give(parts: dict[int, int], room: Mapping[int, int], node: int, amount: int) -> int:
    given = min(amount, room[node] - parts[node])
    parts[node] += given
    return given


def computed_reservation(context: DesireContext, balance: MemoryBalance) -> tuple[ReservedMemory, ...] | None:
    """Return the reservation for this machine, or None when the machine has too little memory.

    Shape: on OpenShift one entry for NUMA node 0, which is what the operator writes; elsewhere spread like the
    reserved CPUs, because the daemons that use the memory run there; without reserved CPUs, like the memory.
    """
    if context.is_operated:
        return (ReservedMemory(0, {_MEMORY: format_bytes(balance.total)}),)
    room = room_by_node(context)
    if not room:
        return (whole_reservation(context, balance),)
    reserved = context.partition.reserved
    weights = {node.id: len(reserved & node.cpus) for node in context.topology.numa_nodes if node.id in room}
    if not any(weights.values()):
        weights = dict(room)
    parts = spread(balance.total, room, weights, base_page_kib(context) * _KIB)
    if parts is None:
        return None
    return tuple(ReservedMemory(node, {_MEMORY: format_bytes(part)}) for node, part in parts.items())


def whole_reservation(context: DesireContext, balance: MemoryBalance) -> ReservedMemory:
    """Return the reservation in one entry, for the first NUMA node: where nothing is known to spread it by."""
    first = context.topology.numa_nodes[0].id if context.topology.numa_nodes else 0
    return ReservedMemory(first, {_MEMORY: format_bytes(balance.total)})


def judge_reservation(
    context: DesireContext, entries: tuple[ReservedMemory, ...], balance: MemoryBalance
) -> Iterator[Finding]:
    """Yield what is wrong with a reservation: sum, resources, NUMA nodes, and room on each node."""
    yield from _wrong_sum(context, entries, balance)
    yield from _hugepage_entries(context, entries)
    yield from _unknown_nodes(context, entries)
    yield from _no_room(context, entries)


def _memory_of(entry: ReservedMemory) -> int:
    return parse_bytes(entry.limits.get(_MEMORY, "0"), f"kubelet.reserved_memory (NUMA node {entry.numa_node})")


def _wrong_sum(
    context: DesireContext, entries: tuple[ReservedMemory, ...], balance: MemoryBalance
) -> Iterator[Finding]:
    given = sum(_memory_of(entry) for entry in entries)
    if given == balance.total:
        return
    difference = given - balance.total
    side = "too much" if difference > 0 else "missing"
    yield context.finding(
        "kubelet.reserved-memory.sum",
        Severity.CRITICAL,
        f"reservedMemory adds up to {format_bytes(given)} and must be {format_bytes(balance.total)}: "
        f"{format_bytes(abs(difference))} {side}",
        path="kubelet.reserved_memory",
        expected=str(balance),
        actual=f"{' + '.join(format_bytes(_memory_of(entry)) for entry in entries) or '0'} = {format_bytes(given)}",
        why="the kubelet compares both sums to the byte and exits when they differ",
        remedy="remove kubelet.reserved_memory from the tier, then it is computed; or correct the sum",
        setting="kubelet.reservedMemory",
    )


def _hugepage_entries(context: DesireContext, entries: tuple[ReservedMemory, ...]) -> Iterator[Finding]:
    other = sorted({resource for entry in entries for resource in entry.limits if resource != _MEMORY})
    if other:
        yield context.finding(
            "kubelet.reserved-memory.resource",
            Severity.CRITICAL,
            f"reservedMemory names {', '.join(other)}, which cannot be matched",
            path="kubelet.reserved_memory",
            expected=_MEMORY,
            actual=", ".join(other),
            why="the other side of the sum is always 0: kubeReserved and systemReserved take no hugepages",
            remedy=f"remove {', '.join(other)} from kubelet.reserved_memory",
            setting="kubelet.reservedMemory",
        )


def _unknown_nodes(context: DesireContext, entries: tuple[ReservedMemory, ...]) -> Iterator[Finding]:
    known = [node.id for node in context.topology.numa_nodes]
    for entry in entries:
        if known and entry.numa_node not in known:
            yield context.finding(
                "kubelet.reserved-memory.node",
                Severity.CRITICAL,
                f"reservedMemory names NUMA node {entry.numa_node}, which this machine does not have",
                path="kubelet.reserved_memory",
                expected=f"one of {', '.join(str(node) for node in known)}",
                actual=str(entry.numa_node),
                why="the kubelet checks the NUMA nodes when it starts and exits",
                remedy="remove kubelet.reserved_memory from the tier, then it is computed for each machine",
                setting="kubelet.reservedMemory",
            )


def _no_room(context: DesireContext, entries: tuple[ReservedMemory, ...]) -> Iterator[Finding]:
    huge = hugepage_bytes(context)
    for node in context.topology.numa_nodes:
        reserved = sum(_memory_of(entry) for entry in entries if entry.numa_node == node.id)
        has = node.memory_kib * _KIB
        if not reserved or not context.topology.memory_kib or reserved + huge[node.id] <= has:
            continue
        yield context.finding(
            "kubelet.reserved-memory.room",
            Severity.CRITICAL,
            f"NUMA node {node.id} has {has} bytes; {reserved} are reserved and {huge[node.id]} are hugepages",
            path="kubelet.reserved_memory",
            expected=f"at most {has} bytes",
            actual=f"{reserved + huge[node.id]} bytes",
            why="the kubelet's subtraction wraps around: the node would admit pods of any size",
            remedy="reserve on a NUMA node with room, or ask for fewer hugepages there",
            setting="kubelet.reservedMemory",
        )
