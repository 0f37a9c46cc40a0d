# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The static CPU manager policy: who gets which CPUs, hints, re-use of init containers' CPUs, removal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..cpuset import CpuSet, union
from .admission import Rejection
from .allocator import NotEnoughCpusError, Strategy, choose_cpus
from .hints import Hint, ProviderHints, node_subsets, subset_sums
from .machine import KubeletMachine
from .pod import Container, Pod, Qos, exclusive_cpus, whole_cpus


@dataclass(frozen=True)
class CpuOptions:
    """Options of the static policy, by their KubeletConfiguration names."""

    full_pcpus_only: bool = False
    distribute_cpus_across_numa: bool = False
    align_by_socket: bool = False
    distribute_cpus_across_cores: bool = False
    strict_cpu_reservation: bool = False
    prefer_align_cpus_by_uncorecache: bool = False

    def strategy(self, machine: KubeletMachine) -> Strategy:
        """Return how the allocator chooses under these options."""
        return Strategy(
            spread_cores=self.distribute_cpus_across_cores,
            prefer_group=self.prefer_align_cpus_by_uncorecache,
            distribute=self.distribute_cpus_across_numa,
            group_size=machine.cpus_per_core if self.full_pcpus_only else 1,
        )


def reserve_by_count(machine: KubeletMachine, count: int, options: CpuOptions) -> CpuSet:
    """Return the CPUs that the kubelet reserves for a number of CPUs: its own allocator over all of them.

    Raises `NotEnoughCpusError`.
    """
    return choose_cpus(machine, machine.cpus, count, options.strategy(machine))


@dataclass
class CpuPolicy:
    """The state of the static policy on one node: the one mutable value of the model.

    Shape: `shared` and `assigned` are what the checkpoint holds (defaultCpuSet, entries); `bubbles` are the CPUs
    of pods with resources at pod level, which exist while `pod_level` (gate PodLevelResourceManagers) is on.
    """

    machine: KubeletMachine
    options: CpuOptions
    reserved: CpuSet
    shared: CpuSet
    assigned: dict[str, dict[str, CpuSet]] = field(default_factory=dict)
    reusable: dict[str, CpuSet] = field(default_factory=dict)
    bubbles: dict[str, CpuSet] = field(default_factory=dict)
    pod_level: bool = False

    def fork(self) -> CpuPolicy:
        """Return a state of its own that is the same."""
        assigned = {pod: dict(containers) for pod, containers in self.assigned.items()}
        return replace(self, assigned=assigned, reusable=dict(self.reusable), bubbles=dict(self.bubbles))

    @property
    def available(self) -> CpuSet:
        """CPUs that may be handed out exclusively."""
        return self.shared - self.reserved

    def of(self, pod: Pod, container: Container) -> CpuSet | None:
        """Return the exclusive CPUs of a container, None when it lives in the shared pool."""
        return self.assigned.get(pod.name, {}).get(container.name)

    def request(self, pod: Pod, container: Container) -> int:
        """Return how many CPUs a container wants for itself, 0 for the shared pool."""
        if self.pod_level and pod.has_pod_resources and pod.qos is Qos.GUARANTEED:
            return whole_cpus(container.requests) if _is_bounded(container) else 0
        return exclusive_cpus(pod, container)

    def bubble_size(self, pod: Pod) -> int:
        """Return the CPUs that a pod wants as a whole (scope pod), 0 when it wants none."""
        if self.pod_level and pod.has_pod_resources and pod.qos is Qos.GUARANTEED:
            return whole_cpus(pod.requests)
        return 0

    def hints(self, pod: Pod, container: Container) -> ProviderHints:
        """Return the hints for one container; None when it wants no exclusive CPUs."""
        request = self.request(pod, container)
        if request == 0:
            return None
        have = self.of(pod, container)
        if have is not None:
            return {"cpu": self.generate_hints(have, CpuSet(), request) if len(have) == request else []}
        return {"cpu": self.generate_hints(self.available, self.reusable.get(pod.name, CpuSet()), request)}

    def pod_hints(self, pod: Pod) -> ProviderHints:
        """Return the hints for a whole pod (scope pod)."""
        size = self.bubble_size(pod) if self.pod_level and pod.has_pod_resources else peak_cpus(pod)
        if size == 0:
            return None
        if self._empty_share(pod, size):
            return {"cpu": []}
        have = CpuSet()
        for container in pod.containers:
            cpus = self.of(pod, container)
            if cpus is None:
                continue
            if len(cpus) != self.request(pod, container):
                return {"cpu": []}
            have |= cpus
        if len(have) == size:
            return {"cpu": self.generate_hints(have, CpuSet(), size)}
        return {"cpu": self.generate_hints(self.available, self.reusable.get(pod.name, CpuSet()) | have, size)}

    def generate_hints(self, available: CpuSet, reusable: CpuSet, request: int) -> list[Hint]:
        """Return a hint for every set of NUMA nodes with enough CPUs, in the kubelet's order."""
        cpus = self.machine.node_cpus
        subsets = node_subsets(tuple(cpus))
        free = subset_sums(subsets, {node: len(members & available) for node, members in cpus.items()})
        needed = {node for node, members in cpus.items() if not members.isdisjoint(reusable)}
        smallest = self._fewest_nodes(request)
        missing = request - len(reusable)
        fitting = [subset for subset, room in zip(subsets, free) if room >= missing]
        if needed:
            fitting = [subset for subset in fitting if needed.issubset(subset.nodes)]
        if not self.options.align_by_socket:
            return [subset.preferred if len(subset.nodes) == smallest else subset.other for subset in fitting]
        return [
            subset.hint(preferred=len(subset.nodes) == smallest or self._is_socket_aligned(subset.nodes, smallest))
            for subset in fitting
        ]

    def _fewest_nodes(self, request: int) -> int:
        """Return on how few NUMA nodes a request fits, busy CPUs counted too; all of them when it fits nowhere."""
        total = 0
        sizes = sorted((len(members) for members in self.machine.node_cpus.values()), reverse=True)
        for width, size in enumerate(sizes, start=1):
            total += size
            if total >= request:
                return width
        return len(sizes)

    def allocate(self, pod: Pod, container: Container, nodes: frozenset[int] | None) -> None:
        """Give a container its exclusive CPUs, near `nodes` when they are not None.

        Raises `Rejection` with the kubelet's reason.
        """
        request = self.request(pod, container)
        if request == 0:
            return
        if self.options.full_pcpus_only:
            self.check_whole_cores(request)
        have = self.of(pod, container)
        if have is None:
            have = self.take(request, nodes, self.reusable.get(pod.name, CpuSet()))
            self.assigned.setdefault(pod.name, {})[container.name] = have
        self._remember_reusable(pod, container, have)

    def allocate_bubble(self, pod: Pod, nodes: frozenset[int] | None) -> None:
        """Give a pod its CPUs as a whole and deal them out to its containers; raises `Rejection`.

        Containers with whole, bounded requests get theirs; the others share what is left.
        """
        size = self.bubble_size(pod)
        if size == 0:
            return
        if self.options.full_pcpus_only:
            self.check_whole_cores(size)
        blocked = self._empty_share(pod, size)
        if blocked:
            raise Rejection("EmptyPodSharedPoolError", blocked, "no CPUs of the pod are left for its other containers")
        bubble = self.take(size, nodes, CpuSet())
        self.bubbles[pod.name] = bubble
        self.assigned[pod.name] = self._deal(pod, bubble)

    def _deal(self, pod: Pod, bubble: CpuSet) -> dict[str, CpuSet]:
        strategy = self.options.strategy(self.machine)
        own: dict[str, CpuSet] = {}
        during: dict[str, CpuSet] = {}
        left = bubble
        for container in pod.containers:
            request = self.request(pod, container)
            during[container.name] = left
            if request:
                own[container.name] = choose_cpus(self.machine, left, request, strategy)
                if not container.is_init or container.is_sidecar:
                    left -= own[container.name]
        stays = {one.name for one in pod.containers if not one.is_init or one.is_sidecar}
        return {one.name: own.get(one.name, left if one.name in stays else during[one.name]) for one in pod.containers}

    def _empty_share(self, pod: Pod, size: int) -> str:
        """Return the code of the container that would be left without CPUs, empty when there is none."""
        if not self.bubble_size(pod):
            return ""
        taken = 0
        for container in pod.init:
            request = self.request(pod, container)
            if container.is_sidecar:
                taken += request
            elif request == 0 and taken >= size:
                return "empty-shared-pool-init"
        lasting = [one for one in pod.containers if not one.is_init or one.is_sidecar]
        requests = [self.request(pod, one) for one in lasting]
        return "empty-shared-pool" if 0 in requests and sum(requests) >= size else ""

    def check_whole_cores(self, request: int) -> None:
        """Raise `Rejection` when whole cores cannot be handed out for a request."""
        threads = self.machine.cpus_per_core
        if request % threads:
            raise Rejection(
                "SMTAlignmentError",
                "cpus-not-multiple-of-threads-per-core",
                f"requested {request} cpus not multiple cpus per core = {threads}",
            )
        free = len(self.shared - self.machine.whole_cores(self.reserved))
        if request > free:
            raise Rejection(
                "SMTAlignmentError",
                "not-enough-free-physical-cpus",
                f"not enough free physical CPUs: available physical CPUs = {free}, requested CPUs = {request}, "
                f"CPUs per core = {threads}",
            )

    def take(self, request: int, nodes: frozenset[int] | None, reusable: CpuSet) -> CpuSet:
        """Take CPUs out of the shared pool: those of the hinted nodes first; raises `Rejection`."""
        allocatable = self.available | reusable
        strategy = self.options.strategy(self.machine)
        result = CpuSet()
        try:
            if nodes is not None:
                aligned = allocatable & self._aligned(nodes)
                result = choose_cpus(self.machine, aligned, min(request, len(aligned)), strategy)
            result |= choose_cpus(self.machine, allocatable - result, request - len(result), strategy)
        except NotEnoughCpusError:
            raise Rejection(
                "UnexpectedAdmissionError",
                "not-enough-cpus",
                f"Allocate failed due to not enough cpus available to satisfy request: requested={request}, "
                f"available={len(allocatable)}, which is unexpected",
            ) from None
        self.shared -= result
        return result

    def remove(self, pod_name: str) -> None:
        """Return the CPUs of a pod to the shared pool, also those that another pod holds on an uneven machine."""
        self.shared |= union(self.assigned.pop(pod_name, {}).values()) | self.bubbles.pop(pod_name, CpuSet())

    def sweep(self, active: Iterable[str]) -> None:
        """Remove every pod that is not active."""
        keep = set(active)
        for name in [name for name in self.assigned if name not in keep]:
            self.remove(name)

    def _aligned(self, nodes: frozenset[int]) -> CpuSet:
        cpus = union(self.machine.node_cpus[node] for node in nodes if node in self.machine.node_cpus)
        if not self.options.align_by_socket:
            return cpus
        return union(members for members in self.machine.socket_cpus.values() if not members.isdisjoint(cpus))

    def _is_socket_aligned(self, nodes: Sequence[int], smallest: int) -> bool:
        sockets = len(self.machine.socket_cpus)
        per_socket = len(self.machine.node_cpus) // sockets
        if per_socket == 0:
            return False
        touched = union(self.machine.node_cpus[node] for node in nodes)
        spanned = sum(1 for members in self.machine.socket_cpus.values() if not members.isdisjoint(touched))
        return spanned == -(-smallest // per_socket)

    def _remember_reusable(self, pod: Pod, container: Container, cpus: CpuSet) -> None:
        have = self.reusable.get(pod.name, CpuSet())
        stays = container.is_init and not container.is_sidecar
        self.reusable = {pod.name: have | cpus if stays else have - cpus}


def _is_bounded(container: Container) -> bool:
    wanted = [container.requests.get(name) for name in ("cpu", "memory")]
    return None not in wanted and wanted == [container.limits.get(name) for name in ("cpu", "memory")]


def peak_cpus(pod: Pod) -> int:
    """Return the exclusive CPUs a pod holds at its peak: apps and sidecars, or an init container on the way."""
    sidecars = peak = 0
    for container in pod.init:
        request = exclusive_cpus(pod, container)
        if container.is_sidecar:
            sidecars += request
        else:
            peak = max(peak, sidecars + request)
    return max(peak, sidecars + sum(exclusive_cpus(pod, container) for container in pod.app))


def all_assigned(assigned: Mapping[str, Mapping[str, CpuSet]]) -> CpuSet:
    """Return the union of all exclusive CPUs."""
    return union(cpus for pod in assigned.values() for cpus in pod.values())
