# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The Static memory manager policy: NUMA nodes that guarantee memory and hugepages to containers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

from ..quantity import round_up
from .admission import Rejection, StartError
from .hints import Hint, ProviderHints, Subset, mask, node_subsets, subset_sums
from .machine import KubeletMachine
from .pod import Container, Pod, Qos, Resources

_WRAP = 2**64
_BINARY = ((1024**4, "Ti"), (1024**3, "Gi"), (1024**2, "Mi"), (1024, "Ki"))


@dataclass(frozen=True)
class Block:
    """Memory of one kind given to a container out of a set of NUMA nodes. Scale: bytes."""

    kind: str
    nodes: tuple[int, ...]
    size: int


@dataclass(frozen=True)
class MemoryTable:
    """Memory of one kind on one node. Scale: bytes, unsigned 64 bit: the kubelet wraps around below zero."""

    total: int
    system_reserved: int
    allocatable: int
    reserved: int
    free: int


@dataclass
class NodeMemory:
    """A NUMA node in the machine state. `cells` is the group of nodes that allocations of this node span."""

    cells: tuple[int, ...]
    assignments: int = 0
    tables: dict[str, MemoryTable] = field(default_factory=dict)

    def take(self, kind: str, size: int) -> int:
        """Reserve up to `size` and return what is still missing."""
        table = self.tables.get(kind)
        if table is None or table.free == 0 or size == 0:
            return size
        part = min(size, table.free)
        self.tables[kind] = replace(table, reserved=table.reserved + part, free=table.free - part)
        return size - part

    def release(self, kind: str, size: int) -> int:
        """Free up to `size` and return what is still to be freed."""
        table = self.tables.get(kind)
        if table is None or size == 0:
            return size
        part = min(size, table.reserved)
        self.tables[kind] = replace(table, reserved=table.reserved - part, free=(table.free + part) % _WRAP)
        return size - part


MachineState = dict[int, NodeMemory]


def hugepage_kind(size: int) -> str:
    """Return the resource name of a page size in bytes (`hugepages-2Mi`)."""
    for unit, suffix in _BINARY:
        if size % unit == 0:
            return f"hugepages-{size // unit}{suffix}"
    return f"hugepages-{size}"


def fresh_state(machine: KubeletMachine, reserved: Mapping[int, Mapping[str, int]]) -> MachineState:
    """Return the machine state without pods; `reserved` is node -> kind -> bytes.

    Reserved memory plus hugepages beyond a node's memory wrap around to a huge free amount, as in the kubelet.
    """
    state: MachineState = {}
    for node in machine.nodes:
        own = reserved.get(node.id, {})
        tables = {}
        pages = 0
        for size, count in node.hugepages.items():
            kind = hugepage_kind(size)
            pages += size * count
            tables[kind] = _table(size * count, own.get(kind, 0), 0)
        tables["memory"] = _table(node.memory, own.get("memory", 0), pages)
        state[node.id] = NodeMemory((node.id,), 0, tables)
    return state


def _table(total: int, system_reserved: int, pages: int) -> MemoryTable:
    allocatable = (total - system_reserved - pages) % _WRAP
    return MemoryTable(total, system_reserved, allocatable, 0, allocatable)


@dataclass
class MemoryPolicy:
    """The state of the Static policy on one node.

    Shape: `assigned` is pod -> container -> blocks, `reusable` pod -> node set -> kind -> bytes of earlier init
    containers. Source: Kubernetes 1.36, memory manager static policy.
    """

    machine: KubeletMachine
    reserved: Mapping[int, Mapping[str, int]]
    state: MachineState
    assigned: dict[str, dict[str, tuple[Block, ...]]] = field(default_factory=dict)
    reusable: dict[str, dict[tuple[int, ...], dict[str, int]]] = field(default_factory=dict)

    @classmethod
    def fresh(cls, machine: KubeletMachine, reserved: Mapping[int, Mapping[str, int]]) -> MemoryPolicy:
        """Return the policy of a node without pods; raises `StartError` when nothing is reserved."""
        if sum(kinds.get("memory", 0) for kinds in reserved.values()) <= 0:
            raise StartError("memory-manager-create", "no-memory-reservation", "policy Static needs reserved memory")
        return cls(machine, reserved, fresh_state(machine, reserved))

    def fork(self) -> MemoryPolicy:
        """Return a state of its own that is the same."""
        return replace(
            self,
            state={name: replace(node, tables=dict(node.tables)) for name, node in self.state.items()},
            assigned={pod: dict(containers) for pod, containers in self.assigned.items()},
            reusable={pod: {nodes: dict(kinds) for nodes, kinds in own.items()} for pod, own in self.reusable.items()},
        )

    def hints(self, pod: Pod, container: Container) -> ProviderHints:
        """Return the hints for one container; None when its memory is not guaranteed."""
        if not _is_managed(pod):
            return None
        request = requested(container.requests)
        blocks = self.assigned.get(pod.name, {}).get(container.name)
        return self._calculate(pod, request) if blocks is None else _repeat(blocks, request)

    def pod_hints(self, pod: Pod) -> ProviderHints:
        """Return the hints for a whole pod (scope pod)."""
        if not _is_managed(pod):
            return None
        request = peak_memory(pod)
        for container in pod.containers:
            blocks = self.assigned.get(pod.name, {}).get(container.name)
            if blocks is not None:
                return _repeat(blocks, request)
        return self._calculate(pod, request)

    def allocate(self, pod: Pod, container: Container, hint: Hint) -> None:
        """Give a container its memory under the merged hint; raises `Rejection`."""
        if not _is_managed(pod):
            return
        blocks = self.assigned.get(pod.name, {}).get(container.name)
        if blocks is None:
            request = requested(container.requests)
            nodes = self._choose(pod, request, hint)
            blocks = tuple(Block(kind, nodes, size) for kind, size in request.items())
            for block in blocks:
                self._occupy(block, self._reusable_of(pod, nodes, block.kind))
            self._remember_reusable(pod, container, blocks)
            self.assigned.setdefault(pod.name, {})[container.name] = blocks
            self._shrink_init_blocks(pod, container, blocks)
        else:
            self._remember_reusable(pod, container, blocks)

    def started(self, pod: Pod, container_name: str) -> None:
        """Release the regular init containers before a container that now runs."""
        for container in pod.init:
            if container.name == container_name:
                return
            if not container.is_sidecar:
                self._release(pod.name, container.name)

    def remove(self, pod_name: str) -> None:
        """Release everything of a pod."""
        for container in list(self.assigned.get(pod_name, {})):
            self._release(pod_name, container)
        self.assigned.pop(pod_name, None)

    def check_state(self, old: MachineState) -> None:
        """Raise `StartError` when a checkpoint's machine state is not what its assignments make of this machine."""
        if not old:
            if self.assigned:
                raise _state_differs("the checkpoint has assignments and no machine state", "state-empty-machine")
            return
        expected = fresh_state(self.machine, self.reserved)
        for containers in self.assigned.values():
            for blocks in containers.values():
                for block in blocks:
                    _replay(expected, block)
        if not _same_state(old, expected):
            raise _state_differs("the machine state of the checkpoint is not the one of this machine and configuration")
        self.state = old

    def _choose(self, pod: Pod, request: Mapping[str, int], hint: Hint) -> tuple[int, ...]:
        if hint.nodes is None:
            best = self._default_hint(pod, request)
            if hint.preferred and not best.preferred:
                _reject("memory-no-preferred-default", "failed to find the default preferred hint")
        else:
            best = hint
        if not self._has_free(best.nodes or frozenset(), request):
            wider = self._extended_hint(pod, request, best.nodes or frozenset())
            if best.preferred and not wider.preferred:
                _reject("memory-no-preferred-extension", "failed to find the extended preferred hint")
            best = wider
        nodes = tuple(sorted(best.nodes or ()))
        if self._breaks_groups(nodes):
            _reject("memory-numa-group-conflict", "preferred hint violates NUMA node allocation")
        return nodes

    def _default_hint(self, pod: Pod, request: Mapping[str, int]) -> Hint:
        hints = self._calculate(pod, request).get("memory")
        if not hints:
            _reject(
                "memory-does-not-fit",
                "failed to get the default NUMA affinity, no NUMA nodes with enough memory is available",
            )
        return _best(hints)

    def _extended_hint(self, pod: Pod, request: Mapping[str, int], nodes: frozenset[int]) -> Hint:
        hints = [hint for hint in self._calculate(pod, request).get("memory", []) if nodes <= (hint.nodes or nodes)]
        if not hints:
            _reject("memory-cannot-extend-hint", "failed to find NUMA nodes to extend the current topology hint")
        return _best(hints)

    def _calculate(self, pod: Pod, request: Mapping[str, int]) -> dict[str, list[Hint]]:
        """Return the same hints for every kind; empty when no set of nodes can hold the request."""
        subsets = node_subsets(tuple(self.state))
        large: Sequence[int] = range(len(subsets))
        for kind, size in request.items():
            sums = subset_sums(subsets, self._column(kind, "allocatable"))
            large = [index for index in large if sums[index] % _WRAP >= size]
        # Sets come in the order of their size.
        smallest = len(subsets[large[0]].nodes) if large else len(self.state)
        found = self._apart(subsets, large)
        reusable = bool(self.reusable.get(pod.name))
        for kind, size in request.items():
            sums = subset_sums(subsets, self._column(kind, "free"))
            if reusable:
                sums = [total + self._reusable_of(pod, subset.nodes, kind) for total, subset in zip(sums, subsets)]
            found = [index for index in found if sums[index] % _WRAP >= size]
        if not found:
            return {}
        chosen = [subsets[index] for index in found]
        hints = [subset.hint(preferred=len(subset.nodes) == smallest) for subset in chosen]
        return dict.fromkeys(request, hints)

    def _column(self, kind: str, name: str) -> dict[int, int]:
        """Return one figure of a kind by node, 0 where a node has none of it."""
        tables = {node: memory.tables.get(kind) for node, memory in self.state.items()}
        return {node: 0 if table is None else int(getattr(table, name)) for node, table in tables.items()}

    def _apart(self, subsets: Sequence[Subset], indexes: Iterable[int]) -> list[int]:
        """Return the sets that keep single-node and grouped allocations apart."""
        grouped = mask(frozenset(name for name, node in self.state.items() if len(node.cells) > 1))
        used = {name: tuple(sorted(node.cells)) for name, node in self.state.items() if node.assignments > 0}
        in_use, groups = mask(frozenset(used)), set(used.values())
        found = []
        for index in indexes:
            subset = subsets[index]
            nodes = subset.nodes
            if len(nodes) == 1:
                is_apart = not subset.bits & grouped
            else:
                # A group that is in use can only be used as it is.
                is_apart = not subset.bits & in_use or (
                    nodes in groups and all(used.get(node, nodes) == nodes for node in nodes)
                )
            if is_apart:
                found.append(index)
        return found

    def _has_free(self, nodes: Iterable[int], request: Mapping[str, int]) -> bool:
        members = tuple(nodes)
        columns = ((size, self._column(kind, "free")) for kind, size in request.items())
        return all(sum(column[node] for node in members) % _WRAP >= size for size, column in columns)

    def _breaks_groups(self, nodes: tuple[int, ...]) -> bool:
        used = [self.state[node] for node in nodes if self.state[node].assignments > 0]
        if len(nodes) == 1:
            return any(len(node.cells) > 1 for node in used)
        return any(tuple(sorted(node.cells)) != nodes for node in used)

    def _occupy(self, block: Block, reusable: int) -> None:
        left = max(0, block.size - reusable)
        for node in block.nodes:
            self.state[node].assignments += 1
            self.state[node].cells = block.nodes
            left = self.state[node].take(block.kind, left)

    def _release(self, pod_name: str, container: str) -> None:
        for block in self.assigned.get(pod_name, {}).pop(container, ()):
            left = block.size
            for node in block.nodes:
                memory = self.state[node]
                memory.assignments -= 1
                if memory.assignments == 0:
                    memory.cells = (node,)
                left = memory.release(block.kind, left)

    def _reusable_of(self, pod: Pod, nodes: tuple[int, ...], kind: str) -> int:
        return self.reusable.get(pod.name, {}).get(nodes, {}).get(kind, 0)

    def _remember_reusable(self, pod: Pod, container: Container, blocks: Iterable[Block]) -> None:
        own = self.reusable.get(pod.name, {})
        self.reusable = {pod.name: own}
        for block in blocks:
            if container.is_init and not container.is_sidecar:
                kinds = own.setdefault(block.nodes, {})
                kinds[block.kind] = max(kinds.get(block.kind, 0), block.size)
            elif own.get(block.nodes, {}).get(block.kind):
                own[block.nodes][block.kind] = max(0, own[block.nodes][block.kind] - block.size)

    def _shrink_init_blocks(self, pod: Pod, container: Container, blocks: Iterable[Block]) -> None:
        """Take what a container re-uses out of the blocks of earlier init containers."""
        own = self.assigned[pod.name]
        for block in blocks:
            left = block.size
            for init in pod.init:
                if init.name == container.name or left == 0:
                    break
                if init.is_sidecar or init.name not in own:
                    continue
                own[init.name], left = _shrunk(own[init.name], block, left)


def requested(requests: Resources) -> dict[str, int]:
    """Return the memory kinds of a request in bytes."""
    return {
        kind: round_up(value) for kind, value in requests.items() if kind == "memory" or kind.startswith("hugepages-")
    }


def peak_memory(pod: Pod) -> dict[str, int]:
    """Return the memory that a pod holds at its peak, of the kinds that its app containers ask for."""
    sidecars: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in pod.init:
        for kind, size in requested(container.requests).items():
            if container.is_sidecar:
                sidecars[kind] = sidecars.get(kind, 0) + size
            else:
                peak[kind] = max(peak.get(kind, 0), sidecars.get(kind, 0) + size)
    total: dict[str, int] = {}
    for container in pod.app:
        for kind, size in requested(container.requests).items():
            total[kind] = total.get(kind, 0) + size
    return {kind: max(size + sidecars.get(kind, 0), peak.get(kind, 0)) for kind, size in total.items()}


def _is_managed(pod: Pod) -> bool:
    return pod.qos is Qos.GUARANTEED and not pod.has_pod_resources


def _repeat(blocks: tuple[Block, ...], request: Mapping[str, int]) -> ProviderHints:
    """Return the hint that gives a container what it has; None when it asks for something else."""
    if {block.kind: block.size for block in blocks} != dict(request):
        return None
    nodes = frozenset(blocks[0].nodes) if blocks else frozenset()
    return {block.kind: [Hint(nodes, preferred=True)] for block in blocks}


def _best(hints: Iterable[Hint]) -> Hint:
    return min(hints, key=lambda hint: (not hint.preferred, len(hint.nodes or ()), mask(hint.nodes or frozenset())))


def _shrunk(blocks: tuple[Block, ...], used: Block, left: int) -> tuple[tuple[Block, ...], int]:
    result = []
    for block in blocks:
        part = min(block.size, left) if block.kind == used.kind and block.nodes == used.nodes else 0
        left -= part
        result.append(replace(block, size=block.size - part))
    return tuple(result), left


def _replay(state: MachineState, block: Block) -> None:
    left = block.size
    for node in block.nodes:
        memory = state.get(node)
        if memory is None:
            raise _state_differs(
                f"the checkpoint has memory on NUMA node {node}, which is not there", "state-unknown-numa-node"
            )
        memory.assignments += 1
        memory.cells = block.nodes
        if block.kind not in memory.tables:
            raise _state_differs(
                f"the checkpoint has {block.kind} on NUMA node {node}, which has none", "state-unknown-memory-type"
            )
        left = memory.take(block.kind, left)


def _same_state(old: MachineState, expected: MachineState) -> bool:
    if old.keys() != expected.keys():
        return False
    for name, node in old.items():
        other = expected[name]
        if (node.assignments, sorted(node.cells)) != (other.assignments, sorted(other.cells)):
            return False
        if _sizes(node) != _sizes(other):
            return False
    return all(_group_sums(old, node.cells) == _group_sums(expected, node.cells) for node in old.values())


def _sizes(node: NodeMemory) -> dict[str, tuple[int, int, int]]:
    return {kind: (table.total, table.system_reserved, table.allocatable) for kind, table in node.tables.items()}


def _group_sums(state: MachineState, cells: tuple[int, ...]) -> dict[str, tuple[int, int]]:
    """Return reserved and free by kind over a group: how memory lies inside a group may differ."""
    sums: dict[str, tuple[int, int]] = {}
    for node in cells:
        for kind, table in state[node].tables.items():
            reserved, free = sums.get(kind, (0, 0))
            sums[kind] = (reserved + table.reserved, free + table.free)
    return sums


def _reject(code: str, why: str) -> NoReturn:
    message = f"Allocate failed due to [memorymanager] {why}, which is unexpected"
    raise Rejection("UnexpectedAdmissionError", code, message)


def _state_differs(message: str, code: str = "state-machine-differs") -> StartError:
    return StartError("memory-manager-start", code, message)
