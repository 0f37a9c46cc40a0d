# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The audit: what each pod will be to the kubelet, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..check_catalogue import CHECKS
from ..errors import InputError
from ..findings import Finding, Severity, Verdict
from ..kubelet.pod import Container, Pod, exclusive_cpus, oom_score_adj
from ..kubelet.settings import ManagerSettings
from ..kubelet.simulation import why_shared
from ..quantity import parse_bytes
from .annotations import check_annotations
from .context import AuditContext
from .cores import check_cores
from .cpu import check_cpu
from .eviction import Claim, claim_of, eviction_ranks
from .expectation import Expectation, expect
from .finding import PodFinding
from .hugepages import check_hugepages
from .mesh import check_mesh
from .numa import NumaFit
from .paths import Path, as_map, as_text
from .placement import check_placement
from .qos import Culprit, check_qos, culprits
from .spread import check_anti_affinity, check_spread
from .subject import Subject

Check = Callable[[Subject, Expectation], Iterable[PodFinding]]

_CHECKS: tuple[Check, ...] = (
    check_qos,
    check_mesh,
    check_cpu,
    check_placement,
    check_spread,
    check_annotations,
    check_cores,
    check_hugepages,
)
_NEEDS_TIER = ("pod.selector.", "pod.toleration.missing", "pod.cpu.odd-on-smt", "pod.qos.pod-level")
_NEEDS_MACHINE = ("pod.numa.", "pod.node.", "pod.sidecar.old-kubelet")
_STATIC = ManagerSettings(cpu_policy="static")


@dataclass(frozen=True)
class AuditedContainer:
    """What one container will be.

    Shape: `exclusive` CPUs of its own, 0 in the shared pool for the reason `why_shared`; `culprits` are its fields that
    keep the pod from being Guaranteed; `oom_score_adj` is None where it depends on a machine that nobody named.
    """

    name: str
    kind: str
    exclusive: int
    why_shared: str
    oom_score_adj: int | None
    culprits: tuple[Culprit, ...] = ()


@dataclass(frozen=True)
class AuditedPod:
    """What one object's pods will be, and what is wrong with them.

    Shape: `tier` is the one they were judged by, empty for none; `eviction_rank` counts from 1 among the given pods and
    is None for pods that are never evicted.
    """

    subject: Subject
    expectation: Expectation
    containers: tuple[AuditedContainer, ...]
    eviction_rank: int | None
    claim: Claim
    findings: tuple[PodFinding, ...]

    @property
    def tier(self) -> str:
        """The name of the tier it was judged by; empty for none."""
        return self.expectation.tier.name if self.expectation.tier is not None else ""


@dataclass(frozen=True)
class Audit:
    """The audit of all given pods, in their order. `memory` is the machine memory of the OOM scores, 0 for none."""

    pods: tuple[AuditedPod, ...]
    context: AuditContext
    memory: int = 0

    @property
    def findings(self) -> tuple[PodFinding, ...]:
        """Everything that is not right, pod by pod."""
        return tuple(one for pod in self.pods for one in pod.findings)


def audit(subjects: Sequence[Subject], context: AuditContext) -> Audit:
    """Return the audit of pods: what each will be, and what is not right."""
    memory = context.node_memory or _memory(context)
    pairs = [(subject, expect(subject, context)) for subject in subjects]
    checks = (*_CHECKS, NumaFit().check)
    found = [[one for check in checks for one in check(*pair)] for pair in pairs]
    for index, one in check_anti_affinity(pairs):
        found[index].append(one)
    claims = [_claim(subject) for subject in subjects]
    ranks = eviction_ranks(claims)
    pods = [
        AuditedPod(*pair, tuple(_containers(*pair, memory)), ranks[index], claims[index], tuple(found[index]))
        for index, pair in enumerate(pairs)
    ]
    return Audit(tuple(pods), context, memory)


def all_verdicts(pod: AuditedPod) -> list[Finding]:
    """Return a statement of every check about a pod: what was found, and of the others that they pass or do not apply.

    A check that needs a tier or a machine does not apply where none was named.
    """
    found: list[Finding] = list(pod.findings)
    said = {one.id for one in found}
    tier = pod.expectation.tier
    for check in (name for name in CHECKS if name.startswith("pod.") and name not in said):
        applies = not check.startswith(_NEEDS_TIER) if tier is None else True
        if check.startswith(_NEEDS_MACHINE):
            applies = tier is not None and bool(tier.machines)
        verdict = Verdict.PASS if applies else Verdict.NOT_APPLICABLE
        message = CHECKS[check].title if applies else "no tier or machine was named to judge it by"
        found.append(Finding(check, verdict, Severity.INFO, pod.subject.title, message))
    return found


def _memory(context: AuditContext) -> int:
    """Return the memory of the first machine that was named. Scale: bytes."""
    return next((machine.memory for tier in context.tiers for machine in tier.machines), 0)


def _claim(subject: Subject) -> Claim:
    overhead = as_text(as_map(subject.spec.get("overhead")).get("memory"))
    try:
        return claim_of(subject.pod, parse_bytes(overhead) if overhead else 0)
    except InputError:
        return claim_of(subject.pod)


def _containers(subject: Subject, expectation: Expectation, memory: int) -> Iterator[AuditedContainer]:
    settings = expectation.tier.in_force if expectation.tier is not None else _STATIC
    blame: dict[Path, list[Culprit]] = {}
    for culprit in culprits(subject):
        blame.setdefault(culprit.container.path, []).append(culprit)
    for one in subject.containers:
        why = why_shared(subject.pod, one.defaulted, settings)
        exclusive = 0 if why else exclusive_cpus(subject.pod, one.defaulted)
        score = _score(subject.pod, one.defaulted, memory)
        yield AuditedContainer(one.name, one.kind, exclusive, why, score, tuple(blame.get(one.path, ())))


def _score(pod: Pod, container: Container, memory: int) -> int | None:
    """Return the oom_score_adj; without a machine only where every machine gives the same."""
    if memory:
        return oom_score_adj(pod, container, memory)
    small, large = (oom_score_adj(pod, container, size) for size in (1, 2**62))
    return small if small == large else None
