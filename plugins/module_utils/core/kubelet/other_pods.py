# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The pods that could be submitted instead: one request less, or more where more helps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from ..quantity import format_bytes, round_up
from .machine import KubeletMachine
from .memory_policy import hugepage_kind
from .node import KubeletNode
from .planned_node import amount
from .pod import Container, Pod, Qos, Resources, whole_cpus
from .refusal import container_at
from .refused import Refused

_MIB = 1024**2


def other_pods(refused: Refused) -> Iterator[tuple[str, Pod]]:
    """Yield what is admitted instead: of each resource of the container at fault, the nearest value in each direction.

    Shape: what changed, and the pod.
    """
    for part in _parts(refused):
        for kind in sorted(part.requests, key=_by_kind):
            for values in _values(refused, part, kind):
                found = next(((value, pod) for value, pod in values if refused.admits(pod)), None)
                if found is not None:
                    yield _change_text(kind, found[0], part), found[1]


def two_changes(refused: Refused) -> Iterator[tuple[str, Pod]]:
    """Yield pods with another memory request and another change that together are admitted, with what changed."""
    container = container_at(refused.pod, refused.container) or _largest(refused.pod)
    part = _Part(container.name, container.requests)
    for candidates in _values(refused, part, "memory") if "memory" in part.requests else ():
        for value, pod in candidates:
            first = _change_text("memory", value, part)
            for text, both in other_pods(replace(refused, pod=pod)):
                yield f"{text} and {first}", both


def _change_text(kind: str, value: Fraction, part: _Part) -> str:
    now = amount(kind, value) if kind == "cpu" else format_bytes(round_up(value))
    return f"{kind} {now} instead of {amount(kind, part.requests[kind])} for {part.title}"


@dataclass(frozen=True)
class _Part:
    """What has requests of its own: a container, or with an empty name the pod."""

    name: str
    requests: Resources

    @property
    def title(self) -> str:
        return f"container {self.name}" if self.name else "the pod"


def _parts(refused: Refused) -> Iterator[_Part]:
    container = container_at(refused.pod, refused.container) or _largest(refused.pod)
    yield _Part(container.name, container.requests)
    if refused.pod.has_pod_resources:
        yield _Part("", refused.pod.requests)


def _by_kind(kind: str) -> tuple[int, str]:
    return ("cpu", "memory").index(kind) if kind in ("cpu", "memory") else 2, kind


def _largest(pod: Pod) -> Container:
    return max(pod.containers, key=lambda one: (one.requests.get("cpu", 0), one.requests.get("memory", 0)))


Candidates = Iterator[tuple[Fraction, Pod]]


def _values(refused: Refused, part: _Part, kind: str) -> tuple[Candidates, ...]:
    """Return what a container could ask for instead: less, from the largest; more, from the smallest."""
    asked = part.requests[kind]

    def candidates(sizes: Iterator[Fraction]) -> Candidates:
        return ((size, with_request(refused.pod, part.name, kind, size)) for size in sizes)

    if kind == "cpu":
        return candidates(_fewer_cpus(refused, asked)), candidates(_more_cpus(refused, asked))
    if kind == "memory" or kind.startswith("hugepages-"):
        unit = _MIB if kind == "memory" else page_size(refused.planned.machine, kind) or _MIB
        return (
            candidates(iter(_less_memory(refused, kind, asked, unit))),
            candidates(iter(_more_memory(refused, kind, asked, unit))),
        )
    return ()


def with_request(pod: Pod, name: str, kind: str, size: Fraction) -> Pod:
    """Return the pod with another request of one container, of the pod itself for an empty name; its limit follows."""
    if not name:
        requests, limits = _changed(pod.requests, pod.limits, kind, size)
        return replace(pod, requests=requests, limits=limits)

    def changed(one: Container) -> Container:
        if one.name != name:
            return one
        requests, limits = _changed(one.requests, one.limits, kind, size)
        return replace(one, requests=requests, limits=limits)

    return replace(pod, app=tuple(map(changed, pod.app)), init=tuple(map(changed, pod.init)))


def _changed(requests: Resources, limits: Resources, kind: str, size: Fraction) -> tuple[Resources, Resources]:
    follows = kind in limits and (limits[kind] == requests.get(kind) or limits[kind] < size)
    return {**requests, kind: size}, {**limits, kind: size} if follows else limits


def _fewer_cpus(refused: Refused, asked: Fraction) -> Iterator[Fraction]:
    """Whole CPUs below the request; for the shared pool, what the scheduler has left of it."""
    if whole_cpus({"cpu": asked}):
        # No more than there are: a request may be any number.
        yield from map(Fraction, range(min(int(asked) - 1, len(refused.node.machine.cpus)), 0, -1))
        return
    others = refused.pod.total_requests.get("cpu", Fraction(0)) - asked
    left = refused.scheduler.left("cpu") - others
    if 0 < left < asked:
        yield left


def _more_cpus(refused: Refused, asked: Fraction) -> Iterator[Fraction]:
    """Whole CPUs above the request: as many as fill cores, or as need as many NUMA nodes as the memory does."""
    if not whole_cpus({"cpu": asked}) or refused.pod.qos is not Qos.GUARANTEED:
        return
    machine = refused.node.machine
    steps = {int(asked) + step for step in range(1, max(machine.cpus_per_core, 1))}
    total = 0
    for size in sorted(map(len, machine.node_cpus.values()), reverse=True):
        total += size
        steps |= {total + step for step in range(1, max(machine.cpus_per_core, 1) + 1)}
    yield from (Fraction(step) for step in sorted(steps) if asked < step <= len(machine.cpus))


def _less_memory(refused: Refused, kind: str, asked: Fraction, unit: int) -> list[Fraction]:
    """Sizes below the request: what whole groups of the freest, or largest, NUMA nodes have, in units."""
    others = refused.pod.total_requests.get(kind, Fraction(0)) - asked
    sums = [*_sums(refused.node, kind, "free"), *_sums(refused.node, kind, "allocatable")]
    sums = [total - others for total in (*sums, refused.scheduler.left(kind))]
    return sorted({Fraction(total // unit * unit) for total in sums if unit <= total // unit * unit < asked})[::-1]


def _more_memory(refused: Refused, kind: str, asked: Fraction, unit: int) -> list[Fraction]:
    """Sizes above the request: one unit more than what groups of the largest NUMA nodes have."""
    others = refused.pod.total_requests.get(kind, Fraction(0)) - asked
    sums = [total - others for total in _sums(refused.node, kind, "allocatable")]
    return sorted({Fraction((total // unit + 1) * unit) for total in sums if (total // unit + 1) * unit > asked})


def _sums(node: KubeletNode, kind: str, column: str) -> list[Fraction]:
    if node.memory is None:
        return []
    sizes = [getattr(one.tables[kind], column) for one in node.memory.state.values() if kind in one.tables]
    total, found = Fraction(0), []
    for size in sorted(sizes, reverse=True):
        total += size
        found.append(total)
    return found


def page_size(machine: KubeletMachine, kind: str) -> int:
    """Return the bytes of a page of a resource like `hugepages-2Mi`, 0 when the machine has no such pages."""
    return next((size for node in machine.nodes for size in node.hugepages if hugepage_kind(size) == kind), 0)
