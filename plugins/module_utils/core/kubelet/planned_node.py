# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The node that pods are admitted on in a simulation, and what the scheduler knows about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from ..cpuset import CpuSet
from ..quantity import format_bytes, parse_quantity, round_up, threshold_bytes
from .machine import KubeletMachine
from .memory_policy import hugepage_kind
from .node import Flavor, KubeletNode
from .pod import Pod
from .settings import ManagerSettings

DEFAULT_MAX_PODS = 110
_MILLI = 1000
_DIGITS = 4


@dataclass(frozen=True)
class PlannedNode:
    """The node that pods are admitted on: machine and settings as they will be after the plan is applied.

    Shape: `max_pods` is the kubelet's limit; `alternatives` are other settings that the tier could have, each with what
    to change in the tier for them: they are tried when a pod is refused. `isolated` are the CPUs that the tier lists
    beside the reserved ones, empty where it does not.
    """

    machine: KubeletMachine
    settings: ManagerSettings
    flavor: Flavor = Flavor.UPSTREAM
    partitioned: bool = False
    max_pods: int = DEFAULT_MAX_PODS
    alternatives: tuple[tuple[str, ManagerSettings], ...] = ()
    isolated: CpuSet = CpuSet()

    def boot(self) -> KubeletNode:
        """Return a kubelet on it that finds no checkpoints; raises `StartError`."""
        return KubeletNode.boot(self.machine, self.settings, flavor=self.flavor, partitioned=self.partitioned)

    def scheduler(self) -> Scheduler:
        """Return the scheduler's view of the node without pods."""
        return Scheduler(self.allocatable, self.max_pods)

    @property
    def allocatable(self) -> dict[str, Fraction]:
        """What the scheduler may give to pods. Scale: cores and bytes. Source: Kubernetes node allocatable."""
        settings = self.settings
        memory = sum(node.memory for node in self.machine.nodes)
        eviction = threshold_bytes(settings.eviction_memory, memory) if settings.eviction_memory else 0
        found = {"cpu": len(self.machine.cpus) - settings.reserved_cpu_amount}
        pages = 0
        for node in self.machine.nodes:
            for size, count in node.hugepages.items():
                kind = hugepage_kind(size)
                found[kind] = found.get(kind, Fraction(0)) + size * count
                pages += size * count
        found["memory"] = Fraction(memory - pages - settings.memory_reservation - eviction)
        return found


@dataclass
class Scheduler:
    """The scheduler's view of a node: sums of requests against allocatable. It is blind to NUMA nodes."""

    allocatable: Mapping[str, Fraction]
    max_pods: int
    used: dict[str, Fraction] = field(default_factory=dict)
    pods: int = 0

    def lacking(self, pod: Pod) -> list[Shortage]:
        """Return what the pod does not fit in; a resource that nobody knows here is not judged."""
        found = []
        if self.pods >= self.max_pods:
            found.append(Shortage("pods", Fraction(1), Fraction(0), Fraction(self.max_pods)))
        for name, size in pod.total_requests.items():
            left = self.left(name)
            if is_judged(name) and size > 0 and size > left:
                found.append(Shortage(name, size, left, self.allocatable.get(name, Fraction(0))))
        return found

    def left(self, name: str) -> Fraction:
        """Return how much of a resource is left."""
        return self.allocatable.get(name, Fraction(0)) - self.used.get(name, Fraction(0))

    def take(self, pod: Pod) -> None:
        """Count a pod that runs."""
        self.pods += 1
        for name, size in pod.total_requests.items():
            self.used[name] = self.used.get(name, Fraction(0)) + size

    def fork(self) -> Scheduler:
        """Return a view of its own that is the same."""
        return replace(self, used=dict(self.used))


@dataclass(frozen=True)
class Shortage:
    """A resource of which a pod asks more than is `left` of all that pods may have. Scale: cores, bytes, pods."""

    name: str
    asked: Fraction
    left: Fraction
    total: Fraction

    @property
    def at_admission(self) -> str:
        """The kubelet's reason for the same shortage. Source: Kubernetes, predicate admission."""
        return f"OutOf{self.name}"

    def __str__(self) -> str:
        """Return it as the scheduler words it, with the numbers."""
        if self.name == "pods":
            return f"Too many pods: the node takes {self.total}"
        left = max(self.left, Fraction(0))
        asked, free, total = amounts(self.name, self.asked, left, self.total)
        return f"Insufficient {self.name}: {asked} asked for, {free} of {total} left"


def is_judged(name: str) -> bool:
    """Return whether a simulation knows how much of a resource a node has: no devices, no disks."""
    return name in ("cpu", "memory") or name.startswith("hugepages-")


def unjudged(pod: Pod) -> tuple[str, ...]:
    """Return the resources that a pod asks for and a simulation does not judge."""
    return tuple(sorted(name for name, size in pod.total_requests.items() if size > 0 and not is_judged(name)))


def amount(name: str, size: Fraction) -> str:
    """Return an amount of a resource for people: exact for CPUs, four digits for bytes unless they are few units."""
    if name == "cpu":
        return f"{round_up(size * _MILLI) / _MILLI:g}"
    count = round_up(size)
    exact = format_bytes(count)
    if len(exact) <= _DIGITS + 2:
        return exact
    for unit, suffix in ((1024**3, "Gi"), (1024**2, "Mi"), (1024, "Ki")):
        if count >= unit:
            return f"{count / unit:.{_DIGITS}g}{suffix}"
    return exact


def amounts(name: str, asked: Fraction, *others: Fraction) -> list[str]:
    """Return amounts for people, exact ones where the first would read like another that it is not."""
    short = [amount(name, size) for size in (asked, *others)]
    if name == "cpu" or not any(size != asked and _same(text, short[0]) for text, size in zip(short[1:], others)):
        return short
    return [format_bytes(round_up(size)) for size in (asked, *others)]


def _same(text: str, other: str) -> bool:
    return parse_quantity(text) == parse_quantity(other)


def fewest(sizes: Sequence[int], request: int) -> int:
    """Return how many of the largest parts hold a request; all of them when not even those do."""
    total = 0
    for width, size in enumerate(sorted(sizes, reverse=True), start=1):
        total += size
        if total >= request:
            return width
    return len(sizes)
