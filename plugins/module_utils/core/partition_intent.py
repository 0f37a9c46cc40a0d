# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The CPUs that an intent means on a machine."""

from __future__ import annotations

from dataclasses import dataclass

from .core_choice import Stock, all_cores, nearest_sums, reachable_sums, reordered, stock_of, take_cores
from .cpuset import CpuSet, union
from .errors import RefusedError, problem
from .findings import Finding, Severity, Verdict
from .tier import CpuIntent, Spread, Tier
from .topology import CoreType, Topology

# These take the CPUs that workloads want least; the others come from the far end of the machine.
_HOUSEKEEPING = ("reserved", "shared")
_WORKLOAD = ("isolated", "ovs_dpdk")


@dataclass(frozen=True)
class IntentContext:
    """Where an intent is resolved.

    Shape: `field` is its place in the tier (`reserved`, or `otherwise` for the same role); `free` are the CPUs that
    are left, of which `spare` have to stay.
    """

    role: str
    field: str
    machine: Topology
    free: CpuSet
    tier: Tier
    spare: int = 0

    @property
    def most(self) -> int:
        """The largest number of CPUs that the intent can take."""
        return len(self.free) - self.spare

    @property
    def splits(self) -> bool:
        """Whether threads of one core may get different roles."""
        return self.tier.cpu.allow_split_cores

    @property
    def boot_core(self) -> CpuSet:
        """The core of CPU 0 where it must be reserved, else nothing."""
        return self.machine.siblings_of(CpuSet((0,))) if self.tier.cpu.reserve_cpu0 else CpuSet()

    def refused(self, code: str, key: str, value: object, why: str, fix: str) -> RefusedError:
        """Return the refusal of the intent, with its place in the tier file."""
        place = f"{self.tier.origin(f'cpu.{self.field}.{key}')}  {self.field}.{key}: {value}".strip()
        return RefusedError((problem(code, "the CPU split is impossible", where=place, why=why, fix=fix),))


@dataclass(frozen=True)
class Chosen:
    """The CPUs of an intent, with the sentences that explain them and what is to be said about them."""

    cpus: CpuSet
    reasons: tuple[str, ...]
    findings: tuple[Finding, ...] = ()


def cpus_for(intent: CpuIntent, context: IntentContext) -> Chosen:
    """Return the CPUs that the intent means.

    Shape: a subset of `context.free`, exactly `count` CPUs (a percentage: rounded up to whole cores), `include` among
    them; whole cores unless the tier allows split cores. Reserved holds CPU 0's core unless the tier says otherwise.
    `spread: numa` balances the CPUs over the NUMA nodes that have some, remainders to the first nodes, the node of
    `near` before all others; `packed` fills node after node in the same order. Reserved and shared prefer efficiency
    cores, isolated and OVS-DPDK performance cores; all but reserved start from the highest cores.
    Sad paths: `RefusedError` TUN-2101 (count out of range), TUN-2103 (no whole cores make it up), TUN-2104 (include).
    Source: the same choice as the profile creator, see `profile_creator.create_profile_sets` for the differences.
    """
    order, node, findings = _near(intent, context)
    stock = _stock(context, order)
    start = _start(intent, context)
    whole = context.machine.siblings_of(start) & context.free
    count = _count(intent, context, stock, start)
    even = intent.spread is Spread.NUMA
    cpus = take_cores(stock, count, even=even, start=whole) if len(whole) <= count else None
    if cpus is None and context.splits:
        cpus = _with_split_core(context, stock, start, count, even=even)
    if cpus is None:
        raise _not_whole_cores(context, stock, whole, count)
    return Chosen(cpus, _reasons(intent, context, cpus, node), findings)


def _near(intent: CpuIntent, context: IntentContext) -> tuple[tuple[int, ...], int | None, tuple[Finding, ...]]:
    nodes = tuple(node.id for node in context.machine.numa_nodes if node.cpus)
    if not intent.near:
        return nodes, None, ()
    devices = [one for one in context.machine.devices if intent.near in (one.name, one.address)]
    known = [one.numa for one in devices if one.numa in nodes]
    if known and known[0] is not None:
        return (known[0], *(node for node in nodes if node != known[0])), known[0], ()
    state = "is on no NUMA node with CPUs that the firmware tells" if devices else "is not on this machine"
    finding = Finding(
        id="cpu.near.unknown",
        verdict=Verdict.FAIL,
        severity=Severity.WARNING,
        subject=context.tier.name,
        message=f"{context.field}.near: {intent.near} {state}, so NUMA node {nodes[0]} is served first",
        expected=f"a device {intent.near} with a NUMA node",
        actual=", ".join(sorted(device.name for device in context.machine.devices)) or "no devices known",
        remedy=f"name another device in {context.field}.near, or leave it out",
        asked_in=context.tier.origin(f"cpu.{context.field}.near"),
    )
    return nodes, None, (finding,)


def _stock(context: IntentContext, order: tuple[int, ...]) -> dict[int, tuple[CpuSet, ...]]:
    free = context.free if context.role == "reserved" else context.free - context.boot_core
    stock: Stock = stock_of(context.machine, free)
    if context.role != "reserved":
        stock = {node: tuple(reversed(cores)) for node, cores in stock.items()}
    types = {cpu.id: cpu.type for cpu in context.machine.cpus}
    if context.role in _HOUSEKEEPING:
        stock = reordered(stock, lambda core: types[core.first] is CoreType.PERFORMANCE)
    if context.role in _WORKLOAD:
        stock = reordered(stock, lambda core: types[core.first] is CoreType.EFFICIENCY)
    return {node: stock[node] for node in order}


def _start(intent: CpuIntent, context: IntentContext) -> CpuSet:
    if not intent.include <= context.free:
        raise context.refused(
            "TUN-2104",
            "include",
            intent.include,
            f"CPUs {intent.include - context.free} are not free: they are offline, absent or in another set",
            f"choose from {context.free}",
        )
    boot = context.boot_core & context.free if context.role == "reserved" else CpuSet()
    if context.splits:
        return intent.include | (boot & CpuSet((0,)))
    whole = context.machine.siblings_of(intent.include)
    if not whole <= context.free:
        raise context.refused(
            "TUN-2104",
            "include",
            intent.include,
            f"its cores also have CPUs {whole - context.free}, which are in another set, and whole cores are required",
            f"leave CPUs {context.machine.siblings_of(whole - context.free)} out, or give whole cores to the other set",
        )
    return whole | (boot if boot and context.boot_core <= context.free else CpuSet())


def _percent_count(intent: CpuIntent, context: IntentContext, stock: Stock, start: CpuSet) -> int:
    wanted = max(-(-len(context.machine.online) * intent.percent // 100), len(start))
    sums = _sums(stock, start)
    count = next((count for count in range(wanted, context.most + 1) if sums >> count & 1), None)
    if count is None:
        raise context.refused(
            "TUN-2101",
            "percent",
            intent.percent,
            f"that is at least {wanted} CPUs in whole cores, and at most {context.most} of the machine's "
            f"{len(context.machine.online)} usable CPUs can be taken",
            f"a smaller {context.field}.percent, or {context.field}.count",
        )
    return count


def _count(intent: CpuIntent, context: IntentContext, stock: Stock, start: CpuSet) -> int:
    if intent.percent:
        return _percent_count(intent, context, stock, start)
    least = 1 if context.role == "reserved" else 0
    if not least <= intent.count <= context.most:
        raise context.refused(
            "TUN-2101",
            "count",
            intent.count,
            f"{len(context.free)} of the machine's {len(context.machine.online)} usable CPUs are free for it",
            f"{context.field}.count: {least} to {context.most}",
        )
    if len(intent.include) > intent.count:
        raise context.refused(
            "TUN-2104",
            "include",
            intent.include,
            f"it names {len(intent.include)} CPUs and the count is {intent.count}",
            f"{context.field}.count: {len(start)}, or include fewer",
        )
    return intent.count


def _sums(stock: Stock, start: CpuSet) -> int:
    """Return which counts whole cores around `start` make up, as a bit mask."""
    return reachable_sums(core for core in all_cores(stock) if core.isdisjoint(start)) << len(start)


def _with_split_core(context: IntentContext, stock: Stock, start: CpuSet, count: int, *, even: bool) -> CpuSet:
    """Return as many whole cores as fit into `count`, completed with threads of the next core."""
    base, whole = start, context.machine.siblings_of(start) & context.free
    for fewer in range(count - 1, len(whole) - 1, -1):
        cores = take_cores(stock, fewer, even=even, start=whole)
        if cores is not None:
            base = cores
            break
    threads = [*(whole - base), *(cpu for core in all_cores(stock) for cpu in core), *context.free]
    rest = [cpu for cpu in dict.fromkeys(threads) if cpu not in base]
    return base | CpuSet(rest[: count - len(base)])


def _not_whole_cores(context: IntentContext, stock: Stock, start: CpuSet, count: int) -> RefusedError:
    numbers = [number for number in nearest_sums(_sums(stock, start), count) if number <= context.most]
    ways = [f"{context.field}.count: {' or '.join(map(str, numbers))}"] if numbers else []
    ways.append("allow_split_cores: true (costs isolation; see tunectl explain allow_split_cores)")
    return context.refused("TUN-2103", "count", count, _whole_core_rule(stock, start, count), ", or ".join(ways))


def _whole_core_rule(stock: Stock, start: CpuSet, count: int) -> str:
    sizes = sorted({len(core) for core in all_cores(stock)})
    if len(start) > count:
        return f"whole cores are required and CPUs {start}, which must be among them, are {len(start)}"
    if sizes == [2]:
        return "hyper-threading is on (2 threads per core) and whole cores are required, so the count must be even"
    if len(sizes) == 1:
        state = f"SMT is on ({sizes[0]} threads per core)"
        return f"{state} and whole cores are required, so the count must be a multiple of {sizes[0]}"
    known = " or ".join(map(str, sizes))
    return f"whole cores are required and no choice of the free cores, which have {known} threads, makes {count} CPUs"


def _reasons(intent: CpuIntent, context: IntentContext, cpus: CpuSet, near: int | None) -> tuple[str, ...]:
    machine = context.machine
    cores = machine.cores_in(cpus)
    share = {node: len(part) for node, part in machine.spread(cpus).items() if machine.numa_node(node).cpus}
    asked = f"{intent.percent}% of {len(machine.online)} CPUs" if intent.percent else "as counted"
    amount = f"{len(cpus)} CPUs on {len(cores)} whole core{'' if len(cores) == 1 else 's'}, {asked}"
    if len(share) > 1:
        way = "evenly over NUMA nodes" if intent.spread is Spread.NUMA else "NUMA node by NUMA node"
        amount += f", {way} ({', '.join(f'node {node}: {number}' for node, number in share.items())})"
    reasons = [f"{context.role}: {amount}"]
    if near is not None:
        reasons.append(f"{context.role}: NUMA node {near} comes first because {intent.near} is there")
    if intent.include:
        reasons.append(f"{context.role}: CPUs {intent.include} are included as asked")
    if context.role == "reserved" and context.boot_core and context.boot_core <= cpus:
        reasons.append("reserved: CPU 0's core is among them, because timers and firmware like CPU 0")
    efficient = CpuSet(cpu.id for cpu in machine.cpus if cpu.type is CoreType.EFFICIENCY)
    if context.role in _HOUSEKEEPING and efficient & cpus:
        reasons.append(
            f"{context.role}: efficiency cores {efficient & cpus} are preferred; workloads keep the fast ones"
        )
    if context.splits and machine.split_cores(cpus):
        halves = union(machine.split_cores(cpus)) & cpus
        reasons.append(f"{context.role}: CPUs {halves} are parts of cores, because allow_split_cores is set")
    return tuple(reasons)
