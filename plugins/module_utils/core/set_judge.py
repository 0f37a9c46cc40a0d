# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Judgement of a split: do the sets fit each other and the machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from .check_catalogue import CHECKS
from .core_choice import first_threads
from .cpuset import CpuSet, union
from .desired import Partition
from .findings import Finding, Severity, Verdict
from .quantity import cpu_millis
from .tier import Manifest, Tier
from .topology import Topology

ROLES = ("reserved", "isolated", "shared", "offlined", "ovs_dpdk")


@dataclass(frozen=True)
class Statement:
    """What a check says about one split; `field` is the field of the tier's `cpu` section that asked for it."""

    message: str
    expected: str
    actual: str
    remedy: str = ""
    field: str = ""


@dataclass(frozen=True)
class Case:
    """A split with all that judges it; `machine` is the topology without the threads that `disable_smt` removes."""

    partition: Partition
    machine: Topology
    tier: Tier

    @property
    def sets(self) -> dict[str, CpuSet]:
        """The sets by role, empty ones left out."""
        named = {role: getattr(self.partition, role) for role in ROLES}
        return {role: cpus for role, cpus in named.items() if cpus}

    @property
    def running(self) -> CpuSet:
        """The CPUs that are online once the split is in force."""
        return self.machine.online - self.partition.offlined

    @property
    def asks(self) -> bool:
        """Whether the tier splits the machine at all."""
        return any(getattr(self.tier.cpu, role) is not None for role in ROLES)

    @property
    def whole_cores_required(self) -> bool:
        """Whether the kubelet will hand out whole cores only, given that the tier splits the machine."""
        option = self.tier.kubelet.cpu_manager_policy_options.get("full-pcpus-only", "").lower()
        if option in ("true", "false"):
            return option == "true"
        profile = self.tier.openshift.manifest is not Manifest.KUBELET_CONFIG
        return profile and self.tier.kubelet.topology_manager_policy == "single-numa-node"

    def finding(self, check: str, severity: Severity, said: Statement) -> Finding:
        """Return a failed check of this split; reason and standard remedy come from the catalogue."""
        return Finding(
            id=check,
            verdict=Verdict.FAIL,
            severity=severity,
            subject=self.tier.name,
            message=said.message,
            expected=said.expected,
            actual=said.actual,
            why=CHECKS[check].why,
            remedy=said.remedy or CHECKS[check].remedy,
            asked_in=self.tier.origin(f"cpu.{said.field}" if said.field else "cpu"),
        )


def case_of(partition: Partition, topology: Topology, tier: Tier) -> Case:
    """Return the split with the machine as the tier boots it."""
    return Case(partition, first_threads(topology) if tier.cpu.disable_smt else topology, tier)


def judge_sets(case: Case) -> Iterator[Finding]:
    """Yield what is wrong with the sets themselves: overlap, gap, CPUs that are not there, empty sets."""
    if case.asks:
        yield from _overlaps(case)
        yield from _not_online(case)
        yield from _gap(case)
        yield from _isolated_empty(case)
        yield from _boot_cpu(case)
    yield from _reserved_too_few(case)


def _overlaps(case: Case) -> Iterator[Finding]:
    for (one, ours), (other, theirs) in combinations(case.sets.items(), 2):
        both = ours & theirs
        if both:
            yield case.finding(
                "cpu.partition.overlap",
                Severity.CRITICAL,
                Statement(
                    f"{one} and {other} both name {_cpus(both)}",
                    expected="no CPU in two sets",
                    actual=both.format(),
                    remedy=f"take {_cpus(both)} out of {one} or {other}",
                    field=other,
                ),
            )


def _not_online(case: Case) -> Iterator[Finding]:
    for role, cpus in case.sets.items():
        absent = cpus - case.machine.present
        if absent:
            yield case.finding(
                "cpu.partition.absent",
                Severity.CRITICAL,
                Statement(
                    f"{role} names {_cpus(absent)}, and the machine has {case.machine.present}",
                    expected=f"CPUs among {case.machine.present}",
                    actual=cpus.format(),
                    field=role,
                ),
            )
        offline = cpus & case.machine.offline
        if offline and role != "offlined":
            yield case.finding(
                "cpu.partition.offline",
                Severity.CRITICAL,
                Statement(
                    f"{role} names {_cpus(offline)}, {_offline_state(case)}",
                    expected=f"CPUs among {case.machine.online}",
                    actual=cpus.format(),
                    field=role,
                ),
            )


def _offline_state(case: Case) -> str:
    return "offline under disable_smt" if case.tier.cpu.disable_smt else "offline on this machine"


def _gap(case: Case) -> Iterator[Finding]:
    gap = case.machine.online - union(case.sets.values())
    if gap and case.partition.reserved:
        yield case.finding(
            "cpu.partition.gap",
            Severity.WARNING,
            Statement(
                f"{_cpus(gap)} ({len(gap)} of {len(case.machine.online)}) {'is' if len(gap) == 1 else 'are'} in no set",
                expected=f"sets that cover {case.machine.online}",
                actual=union(case.sets.values()).format(),
                field="isolated",
            ),
        )


def _isolated_empty(case: Case) -> Iterator[Finding]:
    asked = case.tier.cpu.reserved is not None or case.tier.cpu.isolated is not None
    if asked and not case.partition.isolated & case.running:
        taken = len(case.partition.reserved & case.running)
        yield case.finding(
            "cpu.isolated.empty",
            Severity.CRITICAL,
            Statement(
                f"no CPU is left for workloads: {taken} of {len(case.running)} CPUs are reserved",
                expected="at least 1 isolated CPU",
                actual="0",
                field="isolated",
            ),
        )


def _boot_cpu(case: Case) -> Iterator[Finding]:
    if 0 in case.partition.offlined:
        x86 = case.machine.arch in ("x86_64", "amd64", "i686")
        yield case.finding(
            "cpu.offlined.boot-cpu",
            Severity.CRITICAL if x86 else Severity.WARNING,
            Statement(
                "CPU 0 is to be taken offline, which "
                + ("x86 kernels cannot do" if x86 else "not every machine can do"),
                expected="CPU 0 online",
                actual=f"offlined {case.partition.offlined}",
                field="offlined",
            ),
        )
    elif (
        0 in case.machine.online
        and 0 not in case.partition.reserved
        and case.partition.reserved
        and case.tier.cpu.reserve_cpu0
    ):
        yield case.finding(
            "cpu.reserved.cpu0",
            Severity.WARNING,
            Statement(
                f"CPU 0 is {case.partition.role_of(0)}, not reserved",
                expected="CPU 0 reserved",
                actual=f"reserved {case.partition.reserved}",
                remedy=f"reserve {_cpus(case.machine.by_id[0].siblings)}, or set reserve_cpu0: false if this is meant",
                field="reserved",
            ),
        )


def _reserved_too_few(case: Case) -> Iterator[Finding]:
    """Judge the amount; without a split the kubelet takes systemReserved and kubeReserved as its reserved CPUs."""
    kubelet = case.tier.kubelet
    millis = sum(cpu_millis(one["cpu"]) for one in (kubelet.system_reserved, kubelet.kube_reserved) if "cpu" in one)
    named = -(-millis // 1000)
    online = len(case.running)
    if not case.asks:
        if kubelet.cpu_manager_policy == "static":
            yield from _kubelet_chooses(case, named, online)
        return
    reserved = len(case.partition.reserved & case.running)
    if case.tier.cpu.reserved is None and case.tier.cpu.isolated is None:
        return
    if reserved == 0:
        yield case.finding(
            "cpu.reserved.too-few",
            Severity.CRITICAL,
            Statement(
                f"none of the {online} CPUs is reserved",
                expected="at least 1 reserved CPU",
                actual="0",
                field="reserved",
            ),
        )
    elif reserved == 1 and online > 1:
        yield case.finding(
            "cpu.reserved.too-few",
            Severity.WARNING,
            Statement(
                f"only CPU {case.partition.reserved & case.running} of {online} CPUs is reserved",
                expected="at least 2 reserved CPUs",
                actual="1",
                field="reserved",
            ),
        )
    elif reserved < named:
        yield case.finding(
            "cpu.reserved.too-few",
            Severity.WARNING,
            Statement(
                f"{reserved} CPUs are reserved, but systemReserved and kubeReserved name {named}; the list counts",
                expected=f"{named} reserved CPUs",
                actual=str(reserved),
                remedy=f"reserve {named} CPUs, or lower systemReserved and kubeReserved cpu",
                field="reserved",
            ),
        )


def _kubelet_chooses(case: Case, named: int, online: int) -> Iterator[Finding]:
    if named == 0:
        yield case.finding(
            "cpu.reserved.too-few",
            Severity.CRITICAL,
            Statement(
                "the static CPU manager has no reserved CPU: no cpu.reserved, no systemReserved or kubeReserved cpu",
                expected="at least 1 reserved CPU",
                actual="0",
            ),
        )
    elif named >= online:
        yield case.finding(
            "cpu.isolated.empty",
            Severity.CRITICAL,
            Statement(
                f"systemReserved and kubeReserved take {named} CPUs and the machine has {online}",
                expected=f"at most {online - 1} reserved CPUs",
                actual=str(named),
                remedy=f"lower systemReserved and kubeReserved cpu to {online - 1} together",
            ),
        )


def _cpus(cpus: CpuSet) -> str:
    return f"CPU {cpus}" if len(cpus) == 1 else f"CPUs {cpus}"
