# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether a pod fits: on an empty node of its tier, by the kubelet's own rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..findings import Severity, Verdict
from ..kubelet.hints import TopologyPolicy
from ..kubelet.pod import exclusive_cpus
from ..kubelet.simulation import DOES_NOT_FIT, Outcome, Simulation, fill, simulate
from .context import AuditTier, Machine
from .expectation import Expectation
from .finding import PodFinding, Says, finding
from .subject import Subject

# Said by a check of their own, with an edit.
_SAID_ELSEWHERE = "cpus-not-multiple-of-threads-per-core"
_STRICT = (TopologyPolicy.SINGLE_NUMA_NODE, TopologyPolicy.RESTRICTED)


class NumaFit:
    """Tries pods on empty machines; pods that ask for the same are tried once."""

    def __init__(self) -> None:
        """Begin without trials."""
        self._trials: dict[tuple[int, str], _Trial] = {}

    def check(self, subject: Subject, expectation: Expectation) -> Iterator[PodFinding]:
        """Yield whether one pod fits on an empty machine of its tier, and how."""
        tier = expectation.tier
        for machine in tier.machines if tier is not None else ():
            if tier is not None:
                yield from self._on(subject, tier, machine)

    def _on(self, subject: Subject, tier: AuditTier, machine: Machine) -> Iterator[PodFinding]:
        if machine.trouble:
            yield _unknown(subject, tier, machine, machine.trouble)
            return
        trial = self._trial(subject, machine)
        result = trial.one
        if result.trouble:
            yield _unknown(subject, tier, machine, result.trouble)
        elif result.outcomes[0].admitted:
            yield from _admitted(subject, machine, result.outcomes[0])
            yield from _blind_scheduler(subject, machine, trial)
        elif result.outcomes[0].code != _SAID_ELSEWHERE:
            yield _refused(subject, tier, machine, result.outcomes[0])

    def _trial(self, subject: Subject, machine: Machine) -> _Trial:
        key = (id(machine), f"{subject.makes_copies} {replace(subject.pod, name='')!r}")
        if key not in self._trials:
            one = simulate(machine.planned, [subject.pod])
            full = fill(machine.planned, subject.pod) if _may_be_blind(subject, machine) and not one.refused else None
            self._trials[key] = _Trial(one, full)
        return self._trials[key]


@dataclass(frozen=True)
class _Trial:
    """One pod on an empty machine, and the machine filled with such pods where that was asked."""

    one: Simulation
    full: Simulation | None


def _may_be_blind(subject: Subject, machine: Machine) -> bool:
    """Whether the kubelet may refuse what the scheduler sends: copies with CPUs of their own, under a strict policy."""
    own = any(exclusive_cpus(subject.pod, one.defaulted) for one in subject.containers)
    return own and subject.makes_copies and machine.planned.settings.topology_policy in _STRICT


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


def _blind_scheduler(subject: Subject, machine: Machine, trial: _Trial) -> Iterator[PodFinding]:
    """Yield that copies fill the machine until the scheduler finds room for one that the kubelet refuses."""
    result = trial.full
    if result is None:
        return
    last = result.outcomes[-1]
    if last.admitted or last.code == DOES_NOT_FIT:
        return
    count = len(result.outcomes) - 1
    says = Says(
        f"an empty {machine.name} takes {count} of these pods; the scheduler then finds room for more, and the kubelet "
        f"refuses them: {last.reason}",
        expected="pods that fill the NUMA nodes without a rest, or a scheduler that knows NUMA nodes",
        actual=f"{count} pods, {len(result.free)} CPUs left",
    )
    yield finding("pod.numa.blind-scheduler", Severity.INFO, subject, subject.in_spec("containers"), says)
