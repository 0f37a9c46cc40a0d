# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Quality of service: which field makes a pod what it is, and who spoils it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from ..findings import Severity
from ..kubelet.pod import Qos
from .edits import Edit
from .expectation import Expectation
from .finding import PodFinding, Says, finding
from .paths import Path, as_map, as_text
from .subject import ContainerView, Subject

_RESOURCES = ("cpu", "memory")
# Containers that service meshes put into pods. Source: Istio and Linkerd injection templates.
MESH_CONTAINERS = {
    "istio-proxy": "Istio",
    "istio-init": "Istio",
    "istio-validation": "Istio",
    "linkerd-proxy": "Linkerd",
    "linkerd-init": "Linkerd",
    "linkerd-network-validator": "Linkerd",
}


@dataclass(frozen=True)
class Culprit:
    """One field that keeps a pod from being Guaranteed: `text` says why, `short` names it."""

    container: ContainerView
    resource: str
    path: Path
    text: str
    short: str
    edits: tuple[Edit, ...] = ()


def culprits(subject: Subject) -> tuple[Culprit, ...]:
    """Return the fields that keep a pod from being Guaranteed, in the order of its containers; none in one that is.

    Source: Kubernetes API, pod quality of service: every container, also an init container, has limits of cpu and
    memory, and the requests are the same. Pods with resources at pod level are judged by these alone.
    """
    if subject.is_guaranteed or subject.pod.has_pod_resources:
        return ()
    found = (_culprit(one, name) for one in subject.containers for name in _RESOURCES)
    return tuple(culprit for culprit in found if culprit is not None)


def _culprit(one: ContainerView, name: str) -> Culprit | None:
    limit, request = one.defaulted.limits.get(name, Fraction(0)), one.defaulted.requests.get(name, Fraction(0))
    if limit > 0 and limit == request:
        return None
    written_limit, written = one.resource("limits", name), one.resource("requests", name)
    requests, limits = one.resource_path("requests", name), one.resource_path("limits", name)
    if limit > 0:
        text = f"requests.{name} {written} is not limits.{name} {written_limit}"
        return Culprit(one, name, requests, text, f"requests.{name}", (Edit(requests, written_limit),))
    if request > 0:
        text = f"limits.{name} is missing beside requests.{name} {written}"
        return Culprit(one, name, limits, text, f"no limits.{name}", (Edit(limits, written),))
    text = f"limits.{name} is " + ("0" if written_limit else "missing")
    return Culprit(one, name, limits, text, f"no limits.{name}")


def check_qos(subject: Subject, expectation: Expectation) -> Iterator[PodFinding]:
    """Yield what the resources of a pod make of its class."""
    above = list(_above_limit(subject))
    yield from above
    yield from _set_otherwise(subject)
    if subject.pod.qos is Qos.BEST_EFFORT:
        yield _best_effort(subject)
        return
    if subject.pod.has_pod_resources:
        yield from _pod_level(subject, expectation)
        return
    if expectation.tier is not None and not expectation.tier.pins:
        return  # the tier shares its CPUs on purpose
    helpers = _spoilers(subject)
    said = {one.path for one in above}
    for culprit in culprits(subject):
        if culprit.path in said:
            continue
        if culprit.container in helpers:
            yield _spoils(subject, culprit)
        else:
            yield _not_guaranteed(subject, culprit, expectation)


def _above_limit(subject: Subject) -> Iterator[PodFinding]:
    for one in subject.containers:
        for name, limit in one.defaulted.limits.items():
            if one.defaulted.requests.get(name, Fraction(0)) > limit and not name.startswith("hugepages-"):
                path = one.resource_path("requests", name)
                request, most = one.resource("requests", name), one.resource("limits", name)
                says = Says(
                    f"{one.title} requests {name} {request}, more than its limit {most}",
                    expected=f"at most {most}",
                    actual=request,
                    container=one.name,
                    edits=(Edit(path, most),),
                )
                yield finding("pod.resources.above-limit", Severity.CRITICAL, subject, path, says)


def _set_otherwise(subject: Subject) -> Iterator[PodFinding]:
    """Yield that a running pod has another class than its fields give: the one it was made with stays."""
    live = as_text(as_map(subject.document.get("status")).get("qosClass"))
    if live in [one.value for one in Qos] and live != subject.pod.qos.value:
        says = Says(
            f"the pod runs as {live}, and its fields make it {subject.pod.qos.value}: the former counts",
            expected=subject.pod.qos.value,
            actual=live,
        )
        yield finding("pod.qos.set-otherwise", Severity.WARNING, subject, ("status", "qosClass"), says)


def _best_effort(subject: Subject) -> PodFinding:
    first = subject.containers[0] if subject.containers else None
    path = (*first.path, "resources") if first else subject.in_spec("containers")
    says = Says(
        "no container has requests or limits of cpu or memory, so the pod is BestEffort",
        expected="requests of cpu and memory",
        actual="none",
        container=first.name if first else "",
    )
    return finding("pod.qos.best-effort", Severity.WARNING, subject, path, says)


def _pod_level(subject: Subject, expectation: Expectation) -> Iterator[PodFinding]:
    if not expectation.pinned:
        return
    path = subject.in_spec("resources")
    message = f"resources are set at pod level (class {subject.pod.qos.value}): no container gets CPUs of its own"
    says = Says(message, expected="resources of each container", actual="resources of the pod")
    yield finding("pod.qos.pod-level", Severity.WARNING, subject, path, says)


def _spoilers(subject: Subject) -> list[ContainerView]:
    """Return the containers that keep others, which would have CPUs of their own, from having them."""
    if not any(one.is_whole() for one in subject.containers if one.kind == "app"):
        return []
    return [one for one in subject.containers if not one.is_fixed()]


def _spoils(subject: Subject, culprit: Culprit) -> PodFinding:
    one = culprit.container
    mesh = MESH_CONTAINERS.get(one.name, "")
    who = f"{one.title} of {mesh}" if mesh else one.title
    good = ", ".join(other.name for other in subject.containers if other.kind == "app" and other.is_whole())
    says = Says(
        f"{who} makes the pod {subject.pod.qos.value}: {culprit.text}; {good} would have CPUs of its own without it",
        expected=f"requests and limits of {culprit.resource} that are the same",
        actual=culprit.text,
        container=one.name,
        edits=culprit.edits,
    )
    return finding("pod.sidecar.spoils-qos", Severity.WARNING, subject, culprit.path, says)


def _not_guaranteed(subject: Subject, culprit: Culprit, expectation: Expectation) -> PodFinding:
    one = culprit.container
    pinned = expectation.pinned
    tier = f"; tier {expectation.tier.name} gives CPUs to Guaranteed pods only" if pinned and expectation.tier else ""
    says = Says(
        f"{one.title}: {culprit.text}, so the pod is {subject.pod.qos.value}{tier}",
        expected=f"requests and limits of {culprit.resource} that are the same",
        actual=culprit.text,
        container=one.name,
        edits=culprit.edits if pinned else (),
    )
    severity = Severity.WARNING if pinned else Severity.INFO
    return finding("pod.qos.not-guaranteed", severity, subject, culprit.path, says)
