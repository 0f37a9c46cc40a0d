# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""CPU counts: whole numbers, whole cores, and init containers that take more than the application."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from ..findings import Severity, Verdict
from ..kubelet.pod import whole_cpus
from ..quantity import round_up
from .edits import Edit
from .expectation import Expectation
from .finding import PodFinding, Says, finding
from .subject import ContainerView, Subject

# The restartable init container became beta, on by default, in 1.29; 1.28 gave its CPUs to others too.
_SIDECARS_KEEP_CPUS = (1, 29)
_ONE_CPU = 1000


def check_cpu(subject: Subject, expectation: Expectation) -> Iterator[PodFinding]:
    """Yield what is wrong with the CPU counts of containers that would have CPUs of their own.

    On a tier that pins, also of those whose pod is not Guaranteed yet: it has to be.
    """
    if subject.pod.has_pod_resources or not (subject.is_guaranteed or expectation.pinned):
        return
    if expectation.tier is not None and not expectation.tier.pins:
        return
    yield from _not_whole(subject, expectation)
    yield from _odd(subject, expectation)
    yield from _larger_init(subject)
    yield from _old_sidecars(subject, expectation)


def _own_cpus(one: ContainerView) -> int:
    """Return how many CPUs of its own a container has in a Guaranteed pod."""
    return whole_cpus(one.defaulted.requests) if one.is_fixed() else 0


def _millis(one: ContainerView) -> int:
    return round_up(one.defaulted.requests.get("cpu", Fraction(0)) * _ONE_CPU)


def _not_whole(subject: Subject, expectation: Expectation) -> Iterator[PodFinding]:
    is_large = any(_millis(one) >= _ONE_CPU for one in subject.containers)
    for one in subject.containers:
        millis = _millis(one)
        if not one.is_fixed() or whole_cpus(one.defaulted.requests):
            continue
        matters = millis > _ONE_CPU or (expectation.pinned and not is_large)
        count = max(1, -(-millis // _ONE_CPU))
        path = one.resource_path("limits", "cpu")
        says = Says(
            f"{one.title} asks for {one.resource('limits', 'cpu')} CPUs, which is no whole number: it shares the "
            f"common pool{_sum_text(subject)}",
            expected=f"a whole number, like {count}",
            actual=one.resource("limits", "cpu"),
            container=one.name,
            edits=_set_cpus(one, count) if matters else (),
        )
        yield finding("pod.cpu.not-whole", Severity.WARNING if matters else Severity.INFO, subject, path, says)


def _sum_text(subject: Subject) -> str:
    total = sum(_millis(one) for one in subject.containers if one.kind != "init")
    if total % _ONE_CPU or len(subject.pod.app) < 2:  # noqa: PLR2004  a sum has two parts
        return ""
    return f" (the sum of the pod, {total // _ONE_CPU}, does not count)"


def _set_cpus(one: ContainerView, count: int) -> tuple[Edit, ...]:
    """Return the edits that give a container a number of CPUs; a request that was not written stays so."""
    parts = ["limits", *(["requests"] if one.resource("requests", "cpu") else [])]
    return tuple(Edit(one.resource_path(part, "cpu"), str(count)) for part in parts)


def _odd(subject: Subject, expectation: Expectation) -> Iterator[PodFinding]:
    tier = expectation.tier
    if tier is None or not tier.whole_cores:
        return
    known = sorted({machine.threads for machine in tier.machines})
    threads = known[-1] if known else 2
    for one in subject.containers:
        count = _own_cpus(one)
        if not count or count % threads == 0:
            continue
        better = count + threads - count % threads
        where = f"{threads} threads per core" if known else "two threads per core (no machine was named)"
        path = one.resource_path("limits", "cpu")
        says = Says(
            f"{one.title} asks for {count} CPUs; tier {tier.name} gives whole cores only, and on machines with {where} "
            f"the kubelet refuses it: SMTAlignmentError",
            expected=f"a multiple of {threads}, like {better}",
            actual=str(count),
            container=one.name,
            edits=_set_cpus(one, better) if known else (),
            verdict=Verdict.FAIL if known else Verdict.UNKNOWN,
        )
        yield finding("pod.cpu.odd-on-smt", Severity.CRITICAL, subject, path, says)


def _larger_init(subject: Subject) -> Iterator[PodFinding]:
    app = sum(_own_cpus(one) for one in subject.containers if one.kind == "app")
    for one in subject.containers:
        count = _own_cpus(one)
        if one.kind == "init" and count > app:
            path = one.resource_path("limits", "cpu")
            says = Says(
                f"{one.title} gets {count} CPUs of its own, the application {app}: {count - app} stay taken until the "
                "pod ends, used by nobody",
                expected=f"at most {app}" if app else "less than a whole CPU, or CPUs for the application too",
                actual=str(count),
                container=one.name,
            )
            yield finding("pod.init.larger-than-app", Severity.WARNING, subject, path, says)


def _old_sidecars(subject: Subject, expectation: Expectation) -> Iterator[PodFinding]:
    machines = expectation.tier.machines if expectation.tier is not None else ()
    versions = {machine.kubelet_version for machine in machines} - {(0, 0)}
    old = sorted(version for version in versions if version < _SIDECARS_KEEP_CPUS)
    for one in subject.containers:
        if old and one.kind == "sidecar" and _own_cpus(one):
            version = ".".join(map(str, old[0]))
            message = f"{one.title} has CPUs of its own, and a kubelet of version {version} may give them away again"
            says = Says(message, expected="1.29 or newer", actual=version, container=one.name)
            yield finding("pod.sidecar.old-kubelet", Severity.WARNING, subject, (*one.path, "restartPolicy"), says)
