# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The static CPU manager policy: who gets which CPUs, hints, re-use of init containers' CPUs, removal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..cpuset import CpuSet, union
from .admission import Rejection
from .allocator import NotEnoughCpusError, Strategy, choose_cpus
from .hints import Hint, ProviderHints, node_subsets
from .machine import KubeletMachine
from .pod import Container, Pod, exclusive_cpus


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

    Shape: `shared` and `assigned` are what the checkpoint holds (defaultCpuSet, entries).
    """

    machine: KubeletMachine
    options: CpuOptions
    reserved: CpuSet
    shared: CpuSet
    assigned: dict[str, dict[str, CpuSet]] = field(default_factory=dict)
    reusable: dict[str, CpuSet] = field(default_factory=dict)

    @property
    def available(self) -> CpuSet:
        """CPUs that may be handed out exclusively."""
        return self.shared - self.reserved

    def of(self, pod: Pod, container: Container) -> CpuSet | None:
        """Return the exclusive CPUs of a container, None when it lives in the shared pool."""
        return self.assigned.get(pod.name, {}).get(container.name)

    def hints(self, pod: Pod, container: Container) -> ProviderHints:
        """Return the hints for one container; None when it wants no exclusive CPUs."""
        request = exclusive_cpus(pod, container)
        if request == 0:
            return None
        have = self.of(pod, container)
        if have is not None:
            return {"cpu": self.generate_hints(have, CpuSet(), request) if len(have) == request else []}
        return {"cpu": self.generate_hints(self.available, self.reusable.get(pod.name, CpuSet()), request)}

    def pod_hints(self, pod: Pod) -> ProviderHints:
        """Return the hints for a whole pod (scope pod)."""
        request = peak_cpus(pod)
        if request == 0:
            return None
        have = CpuSet()
        for container in pod.containers:
            cpus = self.of(pod, container)
            if cpus is None:
                continue
            if len(cpus) != exclusive_cpus(pod, container):
                return {"cpu": []}
            have |= cpus
        if len(have) == request:
            return {"cpu": self.generate_hints(have, CpuSet(), request)}
        return {"cpu": self.generate_hints(self.available, self.reusable.get(pod.name, CpuSet()) | have, request)}

    def generate_hints(self, available: CpuSet, reusable: CpuSet, request: int) -> list[Hint]:
        """Return a hint for every set of NUMA nodes with enough CPUs, in the kubelet's order."""
        cpus = self.machine.node_cpus
        smallest = len(cpus)
        found: list[frozenset[int]] = []
        for nodes in node_subsets(tuple(cpus)):
            inside = union(cpus[node] for node in nodes)
            if len(inside) >= request and len(nodes) < smallest:
                smallest = len(nodes)
            if reusable <= inside and len(reusable) + len(available & inside) >= request:
                found.append(nodes)
        return [Hint(nodes, len(nodes) == smallest or self._is_socket_aligned(nodes, smallest)) for nodes in found]

    def allocate(self, pod: Pod, container: Container, nodes: frozenset[int] | None) -> None:
        """Give a container its exclusive CPUs, near `nodes` when they are not None.

        Raises `Rejection` with the kubelet's reason.
        """
        request = exclusive_cpus(pod, container)
        if request == 0:
            return
        if self.options.full_pcpus_only:
            self.check_whole_cores(request)
        have = self.of(pod, container)
        if have is None:
            have = self.take(request, nodes, self.reusable.get(pod.name, CpuSet()))
            self.assigned.setdefault(pod.name, {})[container.name] = have
        self._remember_reusable(pod, container, have)

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
        """Return the CPUs of a pod to the shared pool."""
        released = union(self.assigned.pop(pod_name, {}).values())
        self.shared |= released - union(cpus for pod in self.assigned.values() for cpus in pod.values())

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

    def _is_socket_aligned(self, nodes: frozenset[int], smallest: int) -> bool:
        sockets = len(self.machine.socket_cpus)
        per_socket = len(self.machine.node_cpus) // sockets
        if not self.options.align_by_socket or per_socket == 0:
            return False
        touched = union(self.machine.node_cpus[node] for node in nodes)
        spanned = sum(1 for members in self.machine.socket_cpus.values() if not members.isdisjoint(touched))
        return spanned == -(-smallest // per_socket)

    def _remember_reusable(self, pod: Pod, container: Container, cpus: CpuSet) -> None:
        have = self.reusable.get(pod.name, CpuSet())
        stays = container.is_init and not container.is_sidecar
        self.reusable = {pod.name: have | cpus if stays else have - cpus}


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
