# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which whole cores make up a number of CPUs: one rule for the tiers' intents and for the profile creator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from .cpuset import CpuSet, union
from .topology import Topology

Stock = Mapping[int, tuple[CpuSet, ...]]
_NOTHING = CpuSet()


def first_threads(topology: Topology) -> Topology:
    """Return the machine as it is under `nosmt`: the lowest thread of each core online, the others offline."""
    kept = CpuSet(core.first for core in topology.cores)
    return replace(
        topology,
        cpus=tuple(
            replace(cpu, siblings=CpuSet((cpu.id,)), l3=cpu.l3 & kept) for cpu in topology.cpus if cpu.id in kept
        ),
        numa_nodes=tuple(replace(node, cpus=node.cpus & kept) for node in topology.numa_nodes),
        offline=topology.offline | (topology.online - kept),
    )


def stock_of(topology: Topology, within: CpuSet) -> dict[int, tuple[CpuSet, ...]]:
    """Return the cores that lie completely inside `within`, by NUMA node, in the order in which they are handed out.

    Shape: only NUMA nodes that have CPUs at all are keys, ascending. Inside a node cores ascend by the lowest CPU
    among all cores of that node with the same kernel core id, then by their own lowest thread: on a node behind
    several sockets the sockets take turns.
    Source: the order of the OpenShift profile creator.
    """
    leader: dict[tuple[int, int], int] = {}
    for cpu in topology.cpus:
        leader.setdefault((cpu.numa, cpu.core), cpu.id)
    stock: dict[int, list[tuple[int, CpuSet]]] = {node.id: [] for node in topology.numa_nodes if node.cpus}
    for core in topology.cores:
        if core <= within:
            cpu = topology.by_id[core.first]
            stock[cpu.numa].append((leader[cpu.numa, cpu.core], core))
    return {
        node: tuple(core for _leader, core in sorted(cores, key=lambda pair: (pair[0], pair[1].first)))
        for node, cores in stock.items()
    }


def reordered(stock: Stock, key: Callable[[CpuSet], int]) -> dict[int, tuple[CpuSet, ...]]:
    """Return the stock with the cores of each node sorted by `key`; the order of equals stays."""
    return {node: tuple(sorted(cores, key=key)) for node, cores in stock.items()}


def all_cores(stock: Stock) -> tuple[CpuSet, ...]:
    """Return the cores of every node, node by node."""
    return tuple(core for cores in stock.values() for core in cores)


def reachable_sums(cores: Iterable[CpuSet]) -> int:
    """Return as a bit mask which numbers of CPUs whole cores can make up: bit n is set when some have n together."""
    return _sums(Counter(len(core) for core in cores))


def nearest_sums(sums: int, count: int) -> tuple[int, ...]:
    """Return the reachable numbers next to `count`, below and above it, 0 never among them."""
    below = [number for number in range(1, count) if sums >> number & 1]
    above = [number for number in range(count + 1, sums.bit_length()) if sums >> number & 1]
    return (*below[-1:], *above[:1])


def take_cores(stock: Stock, count: int, *, even: bool, start: CpuSet = _NOTHING) -> CpuSet | None:
    """Return exactly `count` CPUs in whole cores, `start` among them, or None when no whole cores make up the number.

    Shape: `even` gives each next core to the node that has the fewest of the chosen CPUs (the earlier node of the
    stock on a tie), so a remainder goes to the first nodes and a small node's share to the others; otherwise nodes
    are filled in the order of the stock. A core is passed over only when taking it would make `count` unreachable.
    """
    queues = {node: [core for core in cores if core.isdisjoint(start)] for node, cores in stock.items()}
    load = {node: sum(len(core & start) for core in cores) for node, cores in stock.items()}
    sizes = Counter(len(core) for core in all_cores(stock) if core.isdisjoint(start))
    need = count - len(start)
    if need < 0 or not _sums(sizes) >> need & 1:
        return None
    chosen = [start]
    while need:
        nodes = sorted(queues, key=lambda node: load[node]) if even else list(queues)
        node, core = _next_core(((node, core) for node in nodes for core in queues[node]), sizes, need)
        queues[node].remove(core)
        chosen.append(core)
        sizes[len(core)] -= 1
        load[node] += len(core)
        need -= len(core)
    return union(chosen)


def _next_core(candidates: Iterable[tuple[int, CpuSet]], sizes: Counter[int], need: int) -> tuple[int, CpuSet]:
    fits: dict[int, bool] = {}
    for node, core in candidates:
        size = len(core)
        if size not in fits:
            fits[size] = size <= need and bool(_sums(sizes - Counter([size])) >> (need - size) & 1)
        if fits[size]:
            return node, core
    raise AssertionError(f"no core fits into {need} CPUs although the number was found reachable")


def _sums(sizes: Counter[int]) -> int:
    sums = 1
    for size, number in sizes.items():
        part, left = 1, number
        while left > 0:
            part = min(part, left)
            sums |= sums << (part * size)
            left -= part
            part *= 2
    return sums
