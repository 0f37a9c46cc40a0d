# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether a pod fits: on an empty node of its tier, by the kubelet's own rules."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Severity, Verdict
from ..kubelet.hints import TopologyPolicy
from ..kubelet.pod import exclusive_cpus
from ..kubelet.simulation import DOES_NOT_FIT, Outcome, simulate
from .context import AuditTier, Machine
from .expectation import Expectation
from .finding import PodFinding, Says, finding
from .subject import Subject

# Said by a check of their own, with an edit.
_SAID_ELSEWHERE = "cpus-not-multiple-of-threads-per-core"
_STRICT = (TopologyPolicy.SINGLE_NUMA_NODE, TopologyPolicy.RESTRICTED)


def check_numa(subject: Subject, expectation: Expectation) -> Iterator[PodFinding]:
    """Yield whether one pod fits on an empty machine of its tier, and how."""
    tier = expectation.tier
    if tier is None:
        return
    for machine in tier.machines:
        if machine.trouble:
            yield _unknown(subject, tier, machine, machine.trouble)
            continue
        result = simulate(machine.planned, [subject.pod])
        if result.trouble:
            yield _unknown(subject, tier, machine, result.trouble)
        elif result.outcomes[0].admitted:
            yield from _admitted(subject, machine, result.outcomes[0])
        elif result.outcomes[0].code != _SAID_ELSEWHERE:
            yield _refused(subject, tier, machine, result.outcomes[0])


def _unknown(subject: Subject, tier: AuditTier, machine: Machine, trouble: str) -> PodFinding:
    says = Says(
        f"tier {tier.name} on {machine.name}: the kubelet does not start, so nothing can be said about pods: {trouble}",
        remedy=f"Run tunectl plan --tier {tier.name} and mend the tier.",
        verdict=Verdict.UNKNOWN,
    )
    return finding("pod.numa.does-not-fit", Severity.CRITICAL, subject, subject.in_spec("containers"), says)


def _refused(subject: Subject, tier: AuditTier, machine: Machine, outcome: Outcome) -> PodFinding:
    fits = outcome.code != DOES_NOT_FIT
    check = "pod.numa.does-not-fit" if fits else "pod.node.does-not-fit"
    index = next((number for number, one in enumerate(subject.containers) if one.name == outcome.container), 0)
    path = subject.in_spec("containers")
    if index < len(subject.containers):
        path = (*subject.containers[index].path, "resources")
    who = f"{outcome.reason}: " if fits else ""
    numbers = "; ".join(outcome.arithmetic)
    says = Says(
        f"on an empty {machine.name} of tier {tier.name} the pod is refused: {who}{outcome.message}"
        + (f" ({numbers})" if numbers else ""),
        expected="a pod that an empty node takes",
        actual=outcome.code,
        remedy="; ".join(outcome.changes),
        container=outcome.container,
    )
    return finding(check, Severity.CRITICAL, subject, path, says)


def _admitted(subject: Subject, machine: Machine, outcome: Outcome) -> Iterator[PodFinding]:
    for one, placement in zip(subject.containers, outcome.placements):
        if len(placement.numa_nodes) > 1:
            path = one.resource_path("limits", "cpu")
            nodes = ", ".join(map(str, placement.numa_nodes))
            says = Says(
                f"{one.title} gets CPUs of NUMA nodes {nodes} of an empty {machine.name}: no one of them has "
                f"{len(placement.cpus)}, and part of its memory is remote",
                expected="one NUMA node",
                actual=f"NUMA nodes {nodes}",
                container=one.name,
            )
            yield finding("pod.numa.spans", Severity.INFO, subject, path, says)
    yield from _blind_scheduler(subject, machine)


def _blind_scheduler(subject: Subject, machine: Machine) -> Iterator[PodFinding]:
    """Yield that the scheduler will find room where the kubelet does not: the pod takes most of a NUMA node.

    With a pod in each NUMA node, what is left of them adds up to another one, and no node holds it.
    """
    planned = machine.planned
    sizes = [len(cpus - planned.settings.reserved_cpus) for cpus in planned.machine.node_cpus.values()]
    count = sum(exclusive_cpus(subject.pod, one.defaulted) for one in subject.containers if one.kind != "init")
    left = sum(size - count for size in sizes if size >= count)
    is_strict = planned.settings.topology_policy in _STRICT
    if not (is_strict and subject.makes_copies and len(sizes) > 1 and count and left >= count):
        return
    if not max(sizes) // 2 < count <= max(sizes):
        return
    path = subject.in_spec("containers")
    says = Says(
        f"each pod takes {count} of the {max(sizes)} CPUs of a NUMA node of {machine.name}; with one in each, {left} "
        "CPUs are left in all, so the scheduler sends another pod, and the kubelet refuses it for ever",
        expected=f"at most {max(sizes) // 2} CPUs, or a scheduler that knows NUMA nodes",
        actual=str(count),
    )
    yield finding("pod.numa.blind-scheduler", Severity.INFO, subject, path, says)
