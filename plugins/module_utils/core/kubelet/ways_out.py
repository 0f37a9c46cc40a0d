# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The smallest changes that would admit a refused pod, each of them tried before it is offered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ..cpuset import CpuSet
from ..quantity import format_bytes, round_up
from .admission import Rejection, StartError
from .go_values import TRUE
from .hints import TopologyPolicy
from .memory_policy import hugepage_kind
from .node import KubeletNode
from .planned_node import PlannedNode, Scheduler, amount, pod_requests
from .pod import Container, Pod, Qos, Resources, whole_cpus
from .refusal import container_at
from .settings import ManagerSettings

_LOOSER = {
    TopologyPolicy.SINGLE_NUMA_NODE: TopologyPolicy.RESTRICTED,
    TopologyPolicy.RESTRICTED: TopologyPolicy.BEST_EFFORT,
}
_OTHER_SCOPE = {"container": "pod", "pod": "container"}
_MIB = 1024**2
_GIB = 1024**3


@dataclass(frozen=True)
class WayOut:
    """A change that admits the pod: in the pod or in the tier.

    Shape: `text` is for people; `pod` is the pod to submit and `planned` the node to submit it on, as they are after
    the change: one of the two differs from what was refused.
    """

    text: str
    pod: Pod
    planned: PlannedNode


@dataclass(frozen=True)
class Refused:
    """A pod at the moment of its refusal.

    Shape: `node` and `scheduler` are as before the pod, `before` are the pods admitted earlier, in order; `container`
    is the one at which it happened, empty when the pod as a whole was refused.
    """

    planned: PlannedNode
    node: KubeletNode
    scheduler: Scheduler
    before: Sequence[Pod]
    pod: Pod
    container: str = ""

    def admits(self, pod: Pod) -> bool:
        """Return whether a changed pod is admitted in place of the refused one."""
        if self.scheduler.lacking(pod):
            return False
        try:
            self.node.fork().attempt(pod)
        except Rejection:
            return False
        return True

    def admits_on(self, planned: PlannedNode) -> bool:
        """Return whether a changed node admits the earlier pods, and then the refused one."""
        try:
            node = planned.boot()
        except StartError:
            return False
        scheduler = planned.scheduler()
        for pod in (*self.before, self.pod):
            if scheduler.lacking(pod):
                return False
            scheduler.take(pod)
            if pod.qos is Qos.GUARANTEED:
                try:
                    node.admit(pod)
                except Rejection:
                    return False
        return True


def ways_out(refused: Refused) -> Iterator[WayOut]:
    """Yield the changes that admit the pod: those of the pod first, the smallest of each kind."""
    for text, pod in _other_pods(refused):
        yield WayOut(f"pod: {text}", pod, refused.planned)
    done: set[str] = set()
    for other in _other_nodes(refused.planned, refused):
        if other.field not in done and refused.admits_on(other.planned):
            done.add(other.field)
            yield WayOut(f"tier: {other.field}={other.value} ({other.now})", refused.pod, other.planned)


def _other_pods(refused: Refused) -> Iterator[tuple[str, Pod]]:
    """Yield the first value in each direction, of each resource of the container at fault, that is admitted."""
    for part in _parts(refused):
        for kind in sorted(part.requests, key=_by_kind):
            for values in _values(refused, part, kind):
                found = next(((value, pod) for value, pod in values if refused.admits(pod)), None)
                if found is not None:
                    now = format_bytes(round_up(found[0])) if kind != "cpu" else amount(kind, found[0])
                    yield f"{kind} {now} instead of {amount(kind, part.requests[kind])} for {part.title}", found[1]


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
        unit = _MIB if kind == "memory" else _page_size(refused, kind)
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
        yield from map(Fraction, range(int(asked) - 1, 0, -1))
        return
    others = pod_requests(refused.pod).get("cpu", Fraction(0)) - asked
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
    others = pod_requests(refused.pod).get(kind, Fraction(0)) - asked
    sums = [*_sums(refused.node, kind, "free"), *_sums(refused.node, kind, "allocatable")]
    sums = [total - others for total in (*sums, refused.scheduler.left(kind))]
    return sorted({Fraction(total // unit * unit) for total in sums if unit <= total // unit * unit < asked})[::-1]


def _more_memory(refused: Refused, kind: str, asked: Fraction, unit: int) -> list[Fraction]:
    """Sizes above the request: one unit more than what groups of the largest NUMA nodes have."""
    others = pod_requests(refused.pod).get(kind, Fraction(0)) - asked
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


def _page_size(refused: Refused, kind: str) -> int:
    sizes = {hugepage_kind(size): size for node in refused.planned.machine.nodes for size in node.hugepages}
    return sizes.get(kind, _GIB)


@dataclass(frozen=True)
class _Other:
    """Another node that the tier could make: the field of the tier, its value then and now."""

    field: str
    value: str
    now: str
    planned: PlannedNode


def _other_nodes(planned: PlannedNode, refused: Refused) -> Iterator[_Other]:
    settings = planned.settings
    for value, other in planned.alternatives:
        now = f"instead of {settings.reserved_cpus}"
        yield _Other("cpu.reserved", value, now, replace(planned, settings=other))
    # What the scheduler has no room for, no manager of the kubelet makes room for.
    for field, value, now, other in _looser(settings) if not refused.scheduler.lacking(refused.pod) else ():
        yield _Other(f"kubelet.{field}", value, f"instead of {now}", replace(planned, settings=other))
    if refused.scheduler.pods >= planned.max_pods:
        more = planned.max_pods + 1
        now = f"instead of {planned.max_pods}"
        yield _Other("kubelet.max_pods", str(more), now, replace(planned, max_pods=more))
    yield from _smaller_reservation(planned, refused)
    yield from _more_hugepages(planned, refused)


def _looser(settings: ManagerSettings) -> Iterator[tuple[str, str, str, ManagerSettings]]:
    """Yield field, value, value now, and the settings with it; of several values the tightest first."""
    if settings.cpu_options.get("full-pcpus-only", "") in TRUE:
        options = {**settings.cpu_options, "full-pcpus-only": "false"}
        field = "cpu_manager_policy_options.full-pcpus-only"
        yield field, "false", "true", replace(settings, cpu_options=options)
    if settings.prefer_closest:
        options = {**settings.topology_options, "prefer-closest-numa-nodes": "false"}
        field = "topology_manager_policy_options.prefer-closest-numa-nodes"
        yield field, "false", "true", replace(settings, topology_options=options)
    if settings.guarantees_memory:
        yield "memory_manager_policy", "None", "Static", replace(settings, memory_policy="None", reserved_memory=())
    policy = settings.topology_policy
    if policy is not TopologyPolicy.NONE:
        scope = settings.topology_scope
        other = _OTHER_SCOPE.get(scope, "container")
        yield "topology_manager_scope", other, scope, replace(settings, topology_scope=other)
    while policy in _LOOSER:
        policy = _LOOSER[policy]
        now = settings.topology_policy.value
        yield "topology_manager_policy", policy.value, now, replace(settings, topology_policy=policy)


def _smaller_reservation(planned: PlannedNode, refused: Refused) -> Iterator[_Other]:
    """Yield the node with as many CPUs fewer reserved as the scheduler lacks."""
    reserved = planned.settings.reserved_cpus
    lacking = {one.name: one for one in refused.scheduler.lacking(refused.pod)}
    if not reserved or "cpu" not in lacking:
        return
    missing = -int((lacking["cpu"].left - lacking["cpu"].asked) // 1)
    if missing >= len(reserved):
        return
    kept = CpuSet(list(reserved)[:-missing])
    settings = replace(planned.settings, reserved_cpus=kept, reserved_cpu_amount=Fraction(len(kept)))
    yield _Other("cpu.reserved", str(kept), f"{missing} fewer", replace(planned, settings=settings))


def _more_hugepages(planned: PlannedNode, refused: Refused) -> Iterator[_Other]:
    """Yield the node with as many pages more as the scheduler lacks, spread over the NUMA nodes with memory."""
    for shortage in refused.scheduler.lacking(refused.pod):
        if not shortage.name.startswith("hugepages-"):
            continue
        size = _page_size(refused, shortage.name)
        missing = -int((shortage.left - shortage.asked) // size)
        pages = _spread(planned, missing)
        nodes = tuple(
            replace(node, hugepages={**node.hugepages, size: node.hugepages.get(size, 0) + pages.get(node.id, 0)})
            for node in planned.machine.nodes
        )
        now = f"{missing} more of {shortage.name.partition('-')[2]}"
        total = sum(node.hugepages.get(size, 0) for node in nodes)
        other = replace(planned, machine=replace(planned.machine, nodes=nodes))
        yield _Other("hugepages.pages", str(total), now, other)


def _spread(planned: PlannedNode, count: int) -> Mapping[int, int]:
    holders = [node.id for node in planned.machine.nodes if node.memory]
    share, extra = divmod(count, len(holders) or 1)
    return {name: share + (place < extra) for place, name in enumerate(holders)}
