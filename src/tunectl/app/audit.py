"""What is wrong with pods before they exist: audit manifests, and correct them. Nothing is contacted or written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tunectl.app.simulate import Target, pod_of
from tunectl.core.audit.audit import Audit, audit
from tunectl.core.audit.context import HEAVY_CPUS, AuditContext, AuditTier, Machine, audit_tier
from tunectl.core.audit.edits import Edit, compatible
from tunectl.core.audit.mesh import injection_of
from tunectl.core.audit.paths import as_map, as_text, path_text
from tunectl.core.audit.subject import Subject, nowhere
from tunectl.core.desired import Platform
from tunectl.core.findings import Origin, Severity, Verdict
from tunectl.core.kubelet.pod import Pod
from tunectl.core.node_software import kubelet_version
from tunectl.core.tier import Tier
from tunectl.planning.manifest_edit import Change, edited_text
from tunectl.planning.manifests import TEMPLATES, Manifests, Workload, manifests_of

# Source: Kubernetes, guaranteed scheduling of critical pods.
_SYSTEM_PRIORITIES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
_MOST_ROUNDS = 5
_DEFAULT_NAMESPACE = "default"


@dataclass(frozen=True)
class AuditRequest:
    """What the audit is asked: against which tiers, on which machine, and what counts as a failure.

    Shape: `node_memory` is in bytes, 0 for that of the tiers' machines.
    """

    tiers: tuple[AuditTier, ...] = ()
    node_memory: int = 0
    heavy_cpus: int = HEAVY_CPUS
    fail_on: Severity = Severity.WARNING


@dataclass(frozen=True)
class Correction:
    """Files before and after the correction, and what could not be corrected: where, which check, why."""

    before: Mapping[str, str]
    after: Mapping[str, str]
    left: tuple[tuple[Origin, str, str], ...] = ()


def tier_with_machines(tier: Tier, targets: Iterable[Target], platform: Platform) -> AuditTier:
    """Return a tier as pods meet it on the machines of these targets."""
    machines = [
        Machine(
            one.name,
            one.planned,
            one.trouble,
            kubelet_version(one.snapshot) if one.snapshot is not None else (0, 0),
        )
        for one in targets
    ]
    return audit_tier(tier, platform, machines)


def audit_manifests(manifests: Manifests, request: AuditRequest) -> Audit:
    """Return the audit of all objects that make pods; raises `InputError` TUN-1803 for a pod that cannot be read."""
    classes = frozenset(_name(one) for one in manifests.related if one.get("kind") == "RuntimeClass")
    context = AuditContext(request.tiers, request.node_memory, request.heavy_cpus, classes)
    return audit(subjects_of(manifests), context)


def exit_code(result: Audit, fail_on: Severity) -> int:
    """Return 3 when something at or above a severity was found, 5 when it could not be judged, else 0."""
    weights = list(Severity)
    heavy = [one for one in result.findings if weights.index(one.severity) <= weights.index(fail_on)]
    if any(one.verdict is Verdict.FAIL for one in heavy):
        return 3
    return 5 if any(one.verdict is Verdict.UNKNOWN for one in heavy) else 0


def subjects_of(manifests: Manifests) -> list[Subject]:
    """Return what is audited, in the order of the manifests."""
    spaces = {_name(one): one for one in manifests.related if one.get("kind") == "Namespace"}
    priorities = _Priorities(manifests.related)
    return [_subject(workload, spaces, priorities) for workload in manifests.workloads]


def _subject(workload: Workload, spaces: Mapping[str, Mapping[str, Any]], priorities: _Priorities) -> Subject:
    pod, known = priorities.applied(pod_of(workload))
    subject = Subject(
        kind=workload.kind,
        name=workload.name,
        namespace=workload.namespace,
        replicas=workload.replicas,
        document=workload.document,
        template=TEMPLATES[workload.kind],
        pod=pod,
        priority_known=known,
        place=workload.source.origin if workload.source is not None else nowhere,
    )
    space = spaces.get(workload.namespace or _DEFAULT_NAMESPACE, {})
    return replace(subject, injection=injection_of(subject.labels, subject.annotations, space))


class _Priorities:
    """The priority classes that are known: the system's own, and those that the manifests define."""

    def __init__(self, related: Iterable[Mapping[str, Any]]) -> None:
        self._values = dict(_SYSTEM_PRIORITIES)
        self._default = 0
        for one in related:
            value = one.get("value")
            if one.get("kind") == "PriorityClass" and isinstance(value, int) and not isinstance(value, bool):
                self._values[_name(one)] = value
                if one.get("globalDefault") is True:
                    self._default = value

    def applied(self, pod: Pod) -> tuple[Pod, bool]:
        """Return the pod with the priority of its class, and whether that is known; a priority that is written wins."""
        if pod.priority:
            return pod, True
        if not pod.priority_class:
            return replace(pod, priority=self._default), True
        return replace(pod, priority=self._values.get(pod.priority_class, 0)), pod.priority_class in self._values


def _name(item: Mapping[str, Any]) -> str:
    return as_text(as_map(item.get("metadata")).get("name"))


@dataclass(frozen=True)
class _Wanted:
    """One change of a file, and the finding that offers it."""

    change: Change
    origin: Origin
    check: str
    subject: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from others, also after other changes have moved it."""
        return (self.subject, self.check, path_text(self.change.edit.path))


def correct(manifests: Manifests, request: AuditRequest) -> Correction:
    """Return the files with every correction that a finding offers, until the audit offers no other."""
    texts = dict(manifests.texts)
    left: dict[tuple[str, str, str], tuple[Origin, str, str]] = {}
    for _ in range(_MOST_ROUNDS):
        read = manifests_of(texts.items())
        written = dict(texts)
        for file, wanted in _changes(read, audit_manifests(read, request), left).items():
            offers = {id(one.change): one for one in wanted}
            written[file], failed = edited_text(texts[file], [one.change for one in wanted])
            for change, why in failed:
                offer = offers[id(change)]
                left[offer.key] = (offer.origin, offer.check, why)
        if written == texts:
            break
        texts = written
    return Correction(dict(manifests.texts), texts, tuple(left.values()))


def _changes(read: Manifests, result: Audit, left: Mapping[tuple[str, str, str], object]) -> dict[str, list[_Wanted]]:
    """Return the changes of each file that can be made together."""
    wanted: dict[str, list[_Wanted]] = {}
    for workload, pod in zip(read.workloads, result.pods, strict=True):
        source = workload.source
        if source is None:
            continue
        chosen: list[Edit] = []
        for one in pod.findings:
            offers = [
                _Wanted(Change(source.node.start_mark.index, edit), one.asked_in, one.id, one.subject)
                for edit in one.edits
                if edit not in chosen
            ]
            edits = [offer.change.edit for offer in offers]
            if any(offer.key in left for offer in offers) or len(compatible([*chosen, *edits])) < len(chosen + edits):
                continue  # all edits of a finding, or none
            chosen += edits
            wanted.setdefault(source.file, []).extend(offers)
    return wanted
