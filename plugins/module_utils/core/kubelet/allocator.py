# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How the static CPU manager chooses CPUs: the packed and the distributed algorithm, defects included."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..cpuset import CpuSet, union
from .machine import KubeletMachine


class NotEnoughCpusError(Exception):
    """There are fewer free CPUs than were asked for."""


@dataclass(frozen=True)
class Strategy:
    """The policy options that steer the choice.

    `spread_cores` is distribute-cpus-across-cores, `prefer_group` prefer-align-cpus-by-uncorecache,
    `distribute` distribute-cpus-across-numa in groups of `group_size` CPUs (threads a core with full-pcpus-only).
    """

    spread_cores: bool = False
    prefer_group: bool = False
    distribute: bool = False
    group_size: int = 1


def choose_cpus(machine: KubeletMachine, available: CpuSet, count: int, strategy: Strategy) -> CpuSet:
    """Return the `count` CPUs that the kubelet takes out of `available`.

    On uneven machines the result may hold CPUs that were not available: the kubelet judges cores and sockets by
    averages. Raises `NotEnoughCpusError`. Source: Kubernetes 1.36, CPU manager static policy.
    """
    if strategy.distribute:
        return _distributed(machine, available, count, strategy)
    return _packed(machine, available, count, strategy)


class _Accumulator:
    """CPUs taken so far, and what is free by node, socket, core and cache group."""

    def __init__(self, machine: KubeletMachine, available: CpuSet, count: int) -> None:
        self.machine = machine
        self.free = available & machine.cpus
        self.needed = count
        self.taken = CpuSet()
        self._nodes_first = len(machine.socket_cpus) >= len(machine.node_cpus)

    @property
    def satisfied(self) -> bool:
        return self.needed < 1

    def check(self) -> None:
        """Raise when the free CPUs cannot cover what is still needed."""
        if self.needed > len(self.free):
            raise NotEnoughCpusError

    def take(self, cpus: CpuSet) -> None:
        self.taken |= cpus
        self.free -= cpus
        self.needed -= len(cpus)

    def take_whole(self, names: Sequence[int], members: Mapping[int, CpuSet]) -> None:
        """Take whole units, in order, while at least one unit's worth is needed."""
        for name in names:
            if self.needed >= len(members[name]):
                self.take(members[name])
                if self.satisfied:
                    return

    def take_levels(self) -> None:
        """Take whole free NUMA nodes and sockets, the outer level first."""
        levels = (self.free_nodes, self.free_sockets)
        members = (self.machine.node_cpus, self.machine.socket_cpus)
        order = (0, 1) if self._nodes_first else (1, 0)
        for level in order:
            if not self.satisfied:
                self.take_whole(levels[level](), members[level])

    def free_nodes(self) -> list[int]:
        cpus = self.machine.node_cpus
        return [node for node in self.nodes() if cpus[node] <= self.free]

    def free_sockets(self) -> list[int]:
        cpus, size = self.machine.socket_cpus, self.machine.cpus_per_socket
        return [socket for socket in self.sockets() if len(cpus[socket] & self.free) == size]

    def free_cores(self) -> list[int]:
        cpus, size = self.machine.core_cpus, self.machine.cpus_per_core
        return [core for core in self.cores() if len(cpus[core] & self.free) == size]

    def nodes(self) -> list[int]:
        """NUMA nodes with free CPUs, fuller ones first."""
        if self._nodes_first:
            return self._ordered(self.machine.node_cpus, self.free)
        return [
            node
            for socket in self.sockets()
            for node in self._ordered(self.machine.node_cpus, self.machine.socket_cpus[socket] & self.free)
        ]

    def sockets(self) -> list[int]:
        """Sockets with free CPUs, fuller ones first."""
        if not self._nodes_first:
            return self._ordered(self.machine.socket_cpus, self.free)
        return [
            socket
            for node in self.nodes()
            for socket in self._ordered(self.machine.socket_cpus, self.machine.node_cpus[node] & self.free)
        ]

    def cores(self) -> list[int]:
        """Cores with free CPUs, fuller ones first, inside the order of nodes and sockets."""
        outer = self.sockets() if self._nodes_first else self.nodes()
        cpus = self.machine.socket_cpus if self._nodes_first else self.machine.node_cpus
        return [core for name in outer for core in self._ordered(self.machine.core_cpus, cpus[name] & self.free)]

    def groups(self) -> list[int]:
        """Cache groups with free CPUs, fuller ones first, inside the order of nodes."""
        return [
            group
            for node in self.nodes()
            for group in self._ordered(self.machine.group_cpus, self.machine.node_cpus[node] & self.free)
        ]

    def _ordered(self, members: Mapping[int, CpuSet], within: CpuSet) -> list[int]:
        """Units that have a free CPU within a set, by all their free CPUs ascending, then by id."""
        names = [name for name, cpus in members.items() if not cpus.isdisjoint(within)]
        return sorted(names, key=lambda name: (len(members[name] & self.free), name))


def _packed(machine: KubeletMachine, available: CpuSet, count: int, strategy: Strategy) -> CpuSet:
    state = _Accumulator(machine, available, count)
    if state.satisfied:
        return state.taken
    state.check()
    state.take_levels()
    if strategy.prefer_group and not state.satisfied:
        _take_groups(state)
    if not strategy.spread_cores and not state.satisfied:
        state.take_whole(state.free_cores(), machine.core_cpus)
    for cpu in _single_cpus(state, strategy):
        if state.satisfied:
            break
        state.take(CpuSet((cpu,)))
    if not state.satisfied:
        raise NotEnoughCpusError
    return state.taken


def _single_cpus(state: _Accumulator, strategy: Strategy) -> list[int]:
    if state.satisfied:
        return []
    machine = state.machine
    if strategy.spread_cores:
        return [cpu for socket in state.sockets() for cpu in machine.socket_cpus[socket] & state.free]
    return [cpu for core in state.cores() for cpu in machine.core_cpus[core] & state.free]


def _take_groups(state: _Accumulator) -> None:
    machine = state.machine
    for group in state.groups():
        if state.needed >= machine.cpus_per_group:
            free = [name for name in state.groups() if machine.group_cpus[name] <= state.free]
            state.take_whole(free, machine.group_cpus)
        if not state.satisfied:
            _take_part_of_group(state, group)
        if state.satisfied:
            return


def _take_part_of_group(state: _Accumulator, group: int) -> None:
    machine = state.machine
    threads = machine.cpus_per_core
    within = machine.group_cpus[group] & state.free
    cores = [core for core, cpus in machine.core_cpus.items() if not cpus.isdisjoint(within)]
    chosen = union(machine.core_cpus[core] & state.free for core in cores[: -(-state.needed // threads)])
    if threads > 1 and state.needed % 2 and len(chosen) > state.needed:
        chosen -= CpuSet((chosen.last,))
    if len(chosen) == state.needed:
        state.take(chosen)


def _distributed(machine: KubeletMachine, available: CpuSet, count: int, strategy: Strategy) -> CpuSet:
    packed = Strategy(spread_cores=strategy.spread_cores)
    if count % strategy.group_size:
        return _packed(machine, available, count, packed)
    state = _Accumulator(machine, available, count)
    if state.satisfied:
        return state.taken
    state.check()
    nodes = state.nodes()
    for width in range(*_node_range(state, strategy.group_size)):
        best = _best_combination(state, nodes, width, strategy.group_size)
        if best is not None:
            return _take_combination(state, best, strategy)
    return _packed(machine, available, count, packed)


def _node_range(state: _Accumulator, group_size: int) -> tuple[int, int]:
    machine = state.machine
    groups = -(-len(machine.cpus) // group_size)
    per_node = -(-groups // len(machine.node_cpus))
    needed = -(-state.needed // group_size)
    return -(-needed // per_node), min(needed, len(state.nodes())) + 1


@dataclass
class _Best:
    """The combination with the lowest deviation so far; `nodes` and `rest` share storage with the iteration."""

    balance: float = math.inf
    nodes: _Slice | None = None
    rest: _Slice | None = None


class _Slice:
    """A list that grows as a Go slice does: appending within capacity writes into shared storage.

    The kubelet keeps a reference to the best combination while it goes on; later combinations of the same
    storage then change the last member. The recorded answers of the real kubelet show it.
    """

    def __init__(self, storage: list[int], length: int) -> None:
        self.storage = storage
        self.length = length

    def __iter__(self) -> Iterator[int]:
        return iter(self.storage[: self.length])

    def __len__(self) -> int:
        return self.length

    def appended(self, value: int) -> _Slice:
        storage = self.storage
        if self.length == len(storage):
            capacity = max(1, 2 * len(storage))
            storage = storage[: self.length] + [0] * (capacity - self.length)
        storage[self.length] = value
        return _Slice(storage, self.length + 1)


def _combinations(names: Sequence[int], width: int, visit: Callable[[_Slice], bool]) -> None:
    """Call `visit` with each combination in lexical order until it returns True."""

    def extend(start: int, left: int, prefix: _Slice) -> bool:
        if left == 0:
            return visit(prefix)
        return any(
            extend(index + 1, left - 1, prefix.appended(names[index])) for index in range(start, len(names) - left + 1)
        )

    if width >= 1:
        extend(0, width, _Slice([], 0))


def _best_combination(state: _Accumulator, nodes: Sequence[int], width: int, group_size: int) -> _Best | None:
    best = _Best()
    cpus = state.machine.node_cpus
    free = {node: len(cpus[node] & state.free) for node in nodes}
    share = state.needed // width // group_size * group_size

    def visit(combination: _Slice) -> bool:
        if best.balance == 0:
            return True
        if sum(free[node] for node in combination) < state.needed or any(free[node] < share for node in combination):
            return False
        left = dict(free)
        for node in combination:
            left[node] -= share
        balance, rest = _best_rest(left, combination, state.needed - share * width, group_size)
        if balance < best.balance:
            best.balance, best.nodes, best.rest = balance, combination, rest
        return False

    _combinations(nodes, width, visit)
    return best if best.nodes is not None else None


def _best_rest(
    left: Mapping[int, int], combination: _Slice, remainder: int, group_size: int
) -> tuple[float, _Slice | None]:
    """Return the lowest deviation, and the nodes that take the remainder for it."""
    if remainder == 0:
        return _deviation(list(left.values())), None
    candidates = [node for node in combination if left[node] >= group_size]
    best = _Best()

    def visit(subset: _Slice) -> bool:
        if sum(left[node] for node in subset) < remainder:
            return False
        balance = _deviation(list(_hand_out(left, subset, remainder, group_size).values()))
        if balance < best.balance:
            best.balance, best.rest = balance, subset
        return False

    for width in range(1, len(candidates) + 1):
        _combinations(candidates, width, visit)
    return best.balance, best.rest


def _hand_out(left: Mapping[int, int], nodes: _Slice, remainder: int, group_size: int) -> dict[int, int]:
    after = dict(left)
    while remainder > 0:
        before = remainder
        for node in nodes:
            if remainder == 0:
                break
            if after[node] >= group_size:
                after[node] -= group_size
                remainder -= group_size
        if remainder == before:
            break
    return after


def _take_combination(state: _Accumulator, best: _Best, strategy: Strategy) -> CpuSet:
    machine, cpus = state.machine, state.machine.node_cpus
    packed = Strategy(spread_cores=strategy.spread_cores)
    nodes = list(best.nodes or ())
    share = state.needed // len(nodes) // strategy.group_size * strategy.group_size
    remainder = state.needed - share * len(nodes)
    for node in nodes:
        state.take(_packed(machine, cpus[node] & state.free, share, packed))
    while remainder > 0:
        before = remainder
        for node in best.rest or ():
            if remainder == 0:
                break
            if len(cpus[node] & state.free) >= strategy.group_size:
                state.take(_packed(machine, cpus[node] & state.free, strategy.group_size, packed))
                remainder -= strategy.group_size
        if remainder == before:
            break
    if not state.satisfied:
        raise NotEnoughCpusError
    return state.taken


def _deviation(values: Sequence[int]) -> float:
    """Return the population standard deviation rounded to three digits, halves away from zero."""
    mean = sum(values) / len(values)
    exact = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    return math.floor(exact * 1000 + 0.5) / 1000
