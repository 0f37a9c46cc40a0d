# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Hugepage requests and the volumes through which they are used."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from ..findings import Severity
from .edits import Edit
from .expectation import Expectation
from .finding import PodFinding, Says, finding
from .paths import as_list, as_map, as_text
from .subject import Subject

_KIND = "hugepages-"
_MEDIUM = "HugePages"


def check_hugepages(subject: Subject, expectation: Expectation) -> Iterator[PodFinding]:
    """Yield what the API server, or the kubelet at the mount, would refuse. Source: Kubernetes, manage huge pages."""
    del expectation
    yield from _unequal(subject)
    yield from _alone(subject)
    yield from _mediums(subject)
    yield from _without_volume(subject)


def _sizes(subject: Subject) -> set[str]:
    return {name for one in subject.containers for name in one.defaulted.requests if name.startswith(_KIND)}


def _unequal(subject: Subject) -> Iterator[PodFinding]:
    for one in subject.containers:
        names = {name for name in (*one.defaulted.requests, *one.defaulted.limits) if name.startswith(_KIND)}
        for name in sorted(names):
            request, limit = one.defaulted.requests.get(name), one.defaulted.limits.get(name)
            if request == limit:
                continue
            written, most = one.resource("requests", name), one.resource("limits", name)
            path = one.resource_path("requests" if limit is not None else "limits", name)
            says = Says(
                f"{one.title} requests {written or 'no'} {name} and has the limit {most or 'none'}: huge pages cannot "
                "be overcommitted",
                expected=f"requests and limits of {name} that are the same",
                actual=f"requests {written or 'none'}, limits {most or 'none'}",
                container=one.name,
                edits=(Edit(path, most or written),),
            )
            yield finding("pod.hugepages.unequal", Severity.CRITICAL, subject, path, says)


def _alone(subject: Subject) -> Iterator[PodFinding]:
    sizes = _sizes(subject)
    if not sizes or subject.pod.has_pod_resources:
        return
    if any(one.defaulted.requests.get(name) for one in subject.containers for name in ("cpu", "memory")):
        return
    first = next(one for one in subject.containers if any(name in sizes for name in one.defaulted.requests))
    says = Says(
        f"{first.title} asks for huge pages, and no container of the pod for cpu or memory",
        expected="cpu or memory beside huge pages",
        actual="huge pages alone",
        container=first.name,
    )
    yield finding("pod.hugepages.alone", Severity.CRITICAL, subject, (*first.path, "resources"), says)


def _mediums(subject: Subject) -> Iterator[PodFinding]:
    sizes = _sizes(subject)
    for index, one in enumerate(as_list(subject.spec.get("volumes"))):
        medium = as_text(as_map(as_map(one).get("emptyDir")).get("medium"))
        path = subject.in_spec("volumes", index, "emptyDir", "medium")
        if medium == _MEDIUM and len(sizes) != 1:
            asked = ", ".join(sorted(sizes)) or "none"
            says = Says(
                f"a volume of medium HugePages takes the one size that the pod asks for, and it asks for {asked}",
                expected="medium HugePages-SIZE, or one size",
                actual=asked,
            )
            yield finding("pod.hugepages.medium", Severity.CRITICAL, subject, path, says)
        elif medium.startswith(_MEDIUM + "-") and _KIND + medium[len(_MEDIUM) + 1 :] not in sizes:
            says = Says(
                f"a volume of medium {medium} cannot be mounted: no container asks for pages of that size",
                expected=f"a request of {_KIND}{medium[len(_MEDIUM) + 1 :]}",
                actual=", ".join(sorted(sizes)) or "none",
            )
            yield finding("pod.hugepages.medium", Severity.CRITICAL, subject, path, says)


def _without_volume(subject: Subject) -> Iterator[PodFinding]:
    volumes = {
        as_text(as_map(one).get("name"))
        for one in as_list(subject.spec.get("volumes"))
        if as_text(as_map(as_map(one).get("emptyDir")).get("medium")).startswith(_MEDIUM)
    }
    for one in subject.containers:
        if not any(value > Fraction(0) for name, value in one.defaulted.requests.items() if name.startswith(_KIND)):
            continue
        mounted = {as_text(as_map(mount).get("name")) for mount in as_list(one.written.get("volumeMounts"))}
        if not mounted & volumes:
            says = Says(
                f"{one.title} asks for huge pages and mounts no volume of them: only mmap with MAP_HUGETLB and shmget "
                "reach them",
                expected="an emptyDir of medium HugePages, mounted",
                actual="none",
                container=one.name,
            )
            yield finding("pod.hugepages.no-volume", Severity.INFO, subject, (*one.path, "resources"), says)
