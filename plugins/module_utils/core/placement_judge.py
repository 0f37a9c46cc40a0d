# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Judgement of a split: does it respect cores, caches, NUMA nodes and core types."""

from __future__ import annotations

from collections.abc import Iterator

from .cpuset import CpuSet, union
from .findings import Finding, Severity
from .set_judge import Case, Statement
from .topology import CoreType

_NUMA_NODES_ACCEPTED = 8


def judge_placement(case: Case) -> Iterator[Finding]:
    """Yield what is wrong with where the sets lie on the machine."""
    yield from _too_many_numa_nodes(case)
    if case.asks:
        yield from _split_siblings(case)
        yield from _half_cores(case)
        yield from _empty_numa_nodes(case)
        yield from _mixed_types(case)
        yield from _split_caches(case)


def _split_siblings(case: Case) -> Iterator[Finding]:
    running = {role: cpus & case.running for role, cpus in case.sets.items()}
    cut = [core & case.running for core in case.machine.cores]
    cut = [core for core in cut if any(not core.isdisjoint(one) and not core <= one for one in running.values())]
    if not cut:
        return
    threads = union(cut)
    isolated = running.get("isolated", CpuSet())
    usable = union(core & case.running for core in case.machine.cores if core & case.running <= isolated)
    parts = [f"{cpus & threads} ({role})" for role, cpus in running.items() if cpus & threads]
    parts += [f"{threads - union(running.values())} (in no set)"] if threads - union(running.values()) else []
    yield case.finding(
        "cpu.siblings.split",
        _split_severity(case),
        Statement(
            f"{len(cut)} core{'s are' if len(cut) > 1 else ' is'} split: CPUs {' share cores with '.join(parts)}; "
            f"a whole-cores policy could hand out {len(usable)} of the {len(isolated)} isolated CPUs",
            expected="0 split cores",
            actual=f"{len(cut)} split cores",
            remedy=_split_remedy(case),
            field="reserved",
        ),
    )


def _split_severity(case: Case) -> Severity:
    if case.whole_cores_required:
        return Severity.WARNING if case.tier.cpu.allow_split_cores else Severity.CRITICAL
    return Severity.INFO if case.tier.cpu.allow_split_cores else Severity.WARNING


def _split_remedy(case: Case) -> str:
    if case.tier.cpu.allow_split_cores:
        return "leave allow_split_cores out where isolation counts"
    whole = case.machine.siblings_of(case.partition.reserved)
    more = "" if whole in (case.partition.reserved, case.machine.online) else f", for instance reserved {whole}"
    return f"give whole cores to each set{more}; or set allow_split_cores: true"


def _half_cores(case: Case) -> Iterator[Finding]:
    half = [
        core
        for core in case.machine.cores
        if not core.isdisjoint(case.partition.offlined) and not core <= case.partition.offlined
    ]
    if half:
        yield case.finding(
            "cpu.offlined.half-core",
            Severity.WARNING,
            Statement(
                f"{len(half)} core{'s keep' if len(half) > 1 else ' keeps'} only CPUs "
                f"{union(half) - case.partition.offlined} online, their other threads are offlined",
                expected="0 half cores",
                actual=f"{len(half)} half cores",
                remedy=f"offline {case.machine.siblings_of(case.partition.offlined)}, or set disable_smt for all cores",
                field="offlined",
            ),
        )


def _empty_numa_nodes(case: Case) -> Iterator[Finding]:
    for role, severity in (("reserved", Severity.INFO), ("isolated", Severity.WARNING)):
        cpus: CpuSet = getattr(case.partition, role)
        nodes = [node for node in case.machine.numa_nodes if node.cpus]
        empty = [node for node in nodes if node.cpus.isdisjoint(cpus)]
        if cpus and empty:
            names = ", ".join(str(node.id) for node in empty)
            yield case.finding(
                "cpu.numa.empty",
                severity,
                Statement(
                    f"NUMA node{'s' if len(empty) > 1 else ''} {names} of {len(nodes)} "
                    f"{'have' if len(empty) > 1 else 'has'} no {role} CPU",
                    expected=f"{role} CPUs on {len(nodes)} NUMA nodes",
                    actual=f"on {len(nodes) - len(empty)}",
                    remedy=_numa_remedy(case, role, len(nodes)),
                    field=role,
                ),
            )


def _numa_remedy(case: Case, role: str, nodes: int) -> str:
    if role == "isolated":
        return (
            f"leave some CPUs of every NUMA node to workloads: reserve fewer than {len(case.partition.reserved)} there"
        )
    return f"reserve at least {nodes * case.machine.threads_per_core} CPUs with spread: numa"


def _too_many_numa_nodes(case: Case) -> Iterator[Finding]:
    kubelet = case.tier.kubelet
    option = kubelet.topology_manager_policy_options.get("max-allowable-numa-nodes", "")
    most = max(int(option) if option.isdecimal() else 0, _NUMA_NODES_ACCEPTED)
    nodes = len(case.machine.numa_nodes)
    if nodes > most and kubelet.topology_manager_policy not in ("", "none"):
        yield case.finding(
            "cpu.numa.too-many",
            Severity.CRITICAL,
            Statement(
                f"the machine has {nodes} NUMA nodes and the topology manager takes {most}: no kubelet would start",
                expected=f"at most {most} NUMA nodes",
                actual=str(nodes),
                remedy=(
                    f"set kubelet.topology_manager_policy_options max-allowable-numa-nodes: {nodes} (each node doubles "
                    "its cost), use topology_manager_policy: none, or let the firmware show fewer nodes"
                ),
            ),
        )


def _mixed_types(case: Case) -> Iterator[Finding]:
    types = {
        kind: CpuSet(cpu.id for cpu in case.machine.cpus if cpu.type is kind) & case.partition.isolated
        for kind in (CoreType.PERFORMANCE, CoreType.EFFICIENCY)
    }
    fast, slow = types[CoreType.PERFORMANCE], types[CoreType.EFFICIENCY]
    if fast and slow:
        yield case.finding(
            "cpu.hybrid.mixed",
            Severity.WARNING,
            Statement(
                f"isolated has {len(fast)} CPUs of performance cores ({fast}) and {len(slow)} efficient ones ({slow})",
                expected="isolated CPUs of one core type",
                actual=f"{len(fast)} and {len(slow)}",
                remedy=f"reserve {slow} too, or give them to the shared set",
                field="isolated",
            ),
        )


def _split_caches(case: Case) -> Iterator[Finding]:
    """Report cut cache groups only where a NUMA node has several, so that another choice could be better."""
    reserved = case.partition.reserved
    several = [
        node.cpus
        for node in case.machine.numa_nodes
        if sum(1 for group in case.machine.l3_groups if not group.isdisjoint(node.cpus)) > 1
    ]
    groups = [group & cpus for group in case.machine.l3_groups for cpus in several if group & cpus]
    cut = [group for group in groups if not group.isdisjoint(reserved) and not group <= reserved]
    if cut:
        yield case.finding(
            "cpu.l3.split",
            Severity.INFO,
            Statement(
                f"reserved CPUs {union(cut) & reserved} share {len(cut)} of {len(groups)} last-level caches with "
                f"{len(union(cut) - reserved)} other CPUs",
                expected="whole cache groups reserved",
                actual=", ".join(group.format() for group in cut),
                field="reserved",
            ),
        )
