# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The split of a machine's CPUs that a tier means, and what is to be said about it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .alternatives import Alternative, alternatives_to
from .core_choice import first_threads
from .cpuset import CpuSet, union
from .desired import Partition
from .findings import Finding, Severity, Verdict
from .partition_intent import IntentContext, cpus_for
from .partition_judge import judge_partition
from .tier import CpuIntent, CpuRequest, CpuSpec, Tier
from .topology import Topology

# Reserved chooses first; isolated last, because it mostly is the rest.
_ROLES = ("reserved", "ovs_dpdk", "shared", "offlined", "isolated")


@dataclass(frozen=True)
class PartitionResult:
    """The split of a machine, the findings about it, and better splits where it is a bad one."""

    partition: Partition
    findings: tuple[Finding, ...] = ()
    alternatives: tuple[Alternative, ...] = ()


def partition_cpus(tier: Tier, topology: Topology) -> PartitionResult:
    """Return the split of the machine's CPUs for a tier.

    Shape: explicit lists are honoured exactly and judged. Intents are resolved in the order reserved, OVS-DPDK,
    shared, offlined, isolated from the CPUs that no list names; they are disjoint, whole cores unless
    `allow_split_cores`. Without `isolated` it is the rest; without `reserved` but with `isolated`, reserved is the
    rest; with neither the sets that are not asked for stay empty (the kubelet chooses). Lists that were written for
    another machine give way to `cpu.otherwise` where the tier has it. Under `disable_smt` the machine consists of the
    first thread of each core. Scale: kernel logical CPU ids.
    Sad paths: `RefusedError` TUN-2101, TUN-2103, TUN-2104 of intents (see `partition_intent.cpus_for`).
    Source: PerformanceProfile v2 `spec.cpu`; kubelet `reservedSystemCPUs`, static policy option `full-pcpus-only`.
    """
    machine = first_threads(topology) if tier.cpu.disable_smt else topology
    spec, moved = _for_this_machine(tier, machine)
    partition, findings = _resolve(spec, tier, machine)
    reasons = [sentence for sentence in (_smt_reason(tier, topology), *(one.message for one in moved)) if sentence]
    partition = replace(partition, reasons=(*reasons, *partition.reasons))
    judged = judge_partition(partition, topology, tier)
    return PartitionResult(partition, (*moved, *findings, *judged), alternatives_to(partition, machine, tier))


def _smt_reason(tier: Tier, topology: Topology) -> str:
    if not tier.cpu.disable_smt or not topology.smt:
        return ""
    return f"disable_smt: only the first threads of the {len(topology.cores)} cores are used"


def _requests(spec: CpuSpec) -> dict[str, CpuRequest]:
    return {role: getattr(spec, role) for role in _ROLES}


def _for_this_machine(tier: Tier, machine: Topology) -> tuple[CpuSpec, tuple[Finding, ...]]:
    """Return the requests that count on this machine, and a finding when `otherwise` replaces the lists."""
    spec = tier.cpu
    lists = {role: asked for role, asked in _requests(spec).items() if isinstance(asked, CpuSet)}
    if spec.otherwise is None or not lists or _lists_fit(spec, lists, machine):
        return spec, ()
    named = union(lists.values())
    finding = Finding(
        id="cpu.partition.otherwise",
        verdict=Verdict.FAIL,
        severity=Severity.INFO,
        subject=tier.name,
        message=(
            f"the CPU lists name {named} ({len(named)} CPUs) and this machine has {machine.online} "
            f"({len(machine.online)} usable), so cpu.otherwise decides what is reserved and the rest is isolated"
        ),
        expected=named.format(),
        actual=machine.online.format(),
        remedy="nothing to do where that is meant; else write a tier with lists for this machine",
        asked_in=tier.origin("cpu.otherwise"),
    )
    return (
        replace(
            spec,
            reserved=spec.otherwise,
            isolated=_intent_only(spec.isolated),
            shared=_intent_only(spec.shared),
            offlined=_intent_only(spec.offlined),
            ovs_dpdk=_intent_only(spec.ovs_dpdk),
        ),
        (finding,),
    )


def _intent_only(asked: CpuRequest) -> CpuRequest:
    return asked if isinstance(asked, CpuIntent) else None


def _lists_fit(spec: CpuSpec, lists: dict[str, CpuSet], machine: Topology) -> bool:
    """Return whether the lists name exactly the online CPUs; CPUs to be offlined may be offline already."""
    named = union(lists.values())
    offlined = lists.get("offlined", CpuSet())
    is_open = spec.isolated is None or any(isinstance(asked, CpuIntent) for asked in _requests(spec).values())
    covers = is_open or spec.reserved is None or machine.online <= named
    return covers and named - offlined <= machine.online and offlined <= machine.present


def _resolve(spec: CpuSpec, tier: Tier, machine: Topology) -> tuple[Partition, tuple[Finding, ...]]:
    asked = _requests(spec)
    sets = {role: cpus for role, cpus in asked.items() if isinstance(cpus, CpuSet)}
    reasons = [_list_reason(role, cpus, spec, tier) for role, cpus in sets.items()]
    findings: list[Finding] = []
    for role, intent in asked.items():
        if not isinstance(intent, CpuIntent):
            continue
        wanted_elsewhere = union(
            other.include for name, other in asked.items() if isinstance(other, CpuIntent) and name != role
        )
        free = machine.online - union(sets.values()) - (wanted_elsewhere - intent.include)
        field = "otherwise" if role == "reserved" and spec.reserved is not tier.cpu.reserved else role
        # What is isolated is often the rest, and the rest must not be nothing.
        spare = 1 if role == "reserved" and not isinstance(spec.isolated, CpuSet) else 0
        chosen = cpus_for(intent, IntentContext(role, field, machine, free, tier, spare))
        sets[role] = chosen.cpus
        reasons += chosen.reasons
        findings += chosen.findings
    rest = machine.online - union(sets.values())
    for role, other in (("isolated", "reserved"), ("reserved", "isolated")):
        if asked[role] is None and asked[other] is not None:
            sets[role] = rest
            reasons.append(f"{role}: the {len(rest)} CPUs that are left")
    return Partition(**sets, reasons=tuple(reasons)), tuple(findings)


def _list_reason(role: str, cpus: CpuSet, spec: CpuSpec, tier: Tier) -> str:
    field = "otherwise" if role == "reserved" and spec.reserved is not tier.cpu.reserved else role
    place = str(tier.origin(f"cpu.{field}"))
    return f"{role}: the {len(cpus)} CPUs that the tier lists" + (f" ({place})" if place else "")
