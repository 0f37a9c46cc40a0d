# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A node with its kubelet: start, admission, removal, restart over the old checkpoint."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from ..cpuset import CpuSet, union
from .admission import Rejection, StartError
from .checkpoint import CpuCheckpoint, MemoryCheckpoint
from .cpu_policy import CpuPolicy, all_assigned
from .hints import DistanceError, Hint, Merger, ProviderHints, TopologyPolicy
from .machine import KubeletMachine
from .memory_policy import Block, MemoryPolicy
from .pod import Container, Pod
from .settings import (
    ManagerSettings,
    check_reserved_online,
    check_topology_manager,
    cpu_manager_setup,
    memory_setup,
)


class Flavor(Enum):
    """Whose kubelet it is; OpenShift's differs in one start check and in workload partitioning."""

    UPSTREAM = "upstream"
    OPENSHIFT = "openshift"


@dataclass(frozen=True)
class Admitted:
    """What an admitted pod got: exclusive CPUs and merged hints by container (no hints under policy none).

    `pod_cpus` are the CPUs of the pod as a whole, empty without resources at pod level.
    """

    cpus: Mapping[str, CpuSet] = field(default_factory=dict)
    hints: Mapping[str, Hint] = field(default_factory=dict)
    pod_cpus: CpuSet = CpuSet()
    memory: Mapping[str, tuple[Block, ...]] = field(default_factory=dict)


@dataclass
class KubeletNode:
    """A running kubelet. Make it with `boot`; raises `StartError` where the real one does not start."""

    machine: KubeletMachine
    settings: ManagerSettings
    cpu: CpuPolicy
    flavor: Flavor = Flavor.UPSTREAM
    partitioned: bool = False
    memory: MemoryPolicy | None = None
    running: dict[str, Pod] = field(default_factory=dict)

    @classmethod
    def boot(
        cls,
        machine: KubeletMachine,
        settings: ManagerSettings,
        *,
        flavor: Flavor = Flavor.UPSTREAM,
        partitioned: bool = False,
    ) -> KubeletNode:
        """Return a kubelet started with no checkpoint; `partitioned` is OpenShift's workload partitioning."""
        node = cls(
            machine, settings, _cpu_policy(machine, settings), flavor, partitioned and flavor is Flavor.OPENSHIFT
        )
        if settings.is_static:
            node.cpu.shared = node.initial_shared
        node.memory = _memory_policy(machine, settings)
        return node

    @property
    def hides_reserved(self) -> bool:
        """Whether reserved CPUs are outside of the shared pool."""
        return self.cpu.options.strict_cpu_reservation or self.partitioned

    @property
    def initial_shared(self) -> CpuSet:
        """The shared pool of a node without pods."""
        return self.machine.cpus - self.cpu.reserved if self.hides_reserved else self.machine.cpus

    def admit(self, pod: Pod) -> Admitted:
        """Admit a pod and return what it got; raises `Rejection`, after which nothing of the pod is left."""
        try:
            hints = self.attempt(pod)
        except Rejection:
            self._forget(pod.name)
            raise
        self.running[pod.name] = pod
        blocks = self.memory.assigned.get(pod.name, {}) if self.memory else {}
        return Admitted(
            dict(self.cpu.assigned.get(pod.name, {})),
            hints,
            self.cpu.bubbles.get(pod.name, CpuSet()),
            dict(blocks),
        )

    def fork(self) -> KubeletNode:
        """Return a node of its own in the same state: what is tried on it does not happen here."""
        memory = self.memory.fork() if self.memory is not None else None
        return replace(self, cpu=self.cpu.fork(), memory=memory, running=dict(self.running))

    def start(self, pod_name: str, container: str) -> None:
        """Note that a container of an admitted pod runs: memory of the init containers before it is released."""
        if self.memory is not None:
            self.memory.started(self.running[pod_name], container)

    def remove(self, pod_name: str) -> None:
        """Forget a pod that terminated."""
        self.running.pop(pod_name, None)
        self._forget(pod_name)

    def _forget(self, pod_name: str) -> None:
        self.cpu.remove(pod_name)
        if self.memory is not None:
            self.memory.remove(pod_name)

    def restart(self, settings: ManagerSettings | None = None) -> dict[str, Rejection | None]:
        """Restart over the same checkpoint, with new settings if given; return the verdict on each running pod.

        Raises `StartError` when the kubelet refuses the checkpoint; then it is as before. Pods are re-admitted in the
        order they came.
        """
        cpu, memory = self.checkpoints()
        new = _Start(self.machine, settings or self.settings, self.flavor, self.partitioned).over(cpu, memory)
        running = tuple(self.running.values())
        self.settings, self.cpu, self.memory, self.running = new.settings, new.cpu, new.memory, {}
        return self.readmit(running)

    @classmethod
    def resume(  # noqa: PLR0913  two files, two facts about the platform
        cls,
        machine: KubeletMachine,
        settings: ManagerSettings,
        cpu: CpuCheckpoint | None,
        memory: MemoryCheckpoint | None,
        *,
        flavor: Flavor = Flavor.UPSTREAM,
        partitioned: bool = False,
    ) -> KubeletNode:
        """Return a kubelet started over checkpoints, None for a file that is not there; no pod is admitted yet.

        Raises `StartError`. `readmit` then takes the pods that run.
        """
        return _Start(machine, settings, flavor, partitioned and flavor is Flavor.OPENSHIFT).over(cpu, memory)

    def readmit(self, pods: Iterable[Pod]) -> dict[str, Rejection | None]:
        """Admit pods that run already, in the order they were created; return the verdict on each."""
        return {pod.name: self._verdict(pod) for pod in pods}

    def _verdict(self, pod: Pod) -> Rejection | None:
        try:
            self.admit(pod)
        except Rejection as rejection:
            return rejection
        return None

    def checkpoints(self) -> tuple[CpuCheckpoint, MemoryCheckpoint]:
        """Return what the kubelet has written to its two files."""
        cpu = CpuCheckpoint(
            self.settings.cpu_policy,
            self.cpu.shared,
            self.cpu.assigned,
            self.cpu.bubbles,
            self.settings.pod_level_managers,
        )
        state, assigned = (self.memory.state, self.memory.assigned) if self.memory is not None else ({}, {})
        pod_level = self.settings.pod_level_managers
        return cpu, MemoryCheckpoint(self.settings.memory_policy, state, assigned, pod_level)

    def take_over_cpus(self, found: CpuCheckpoint) -> None:
        """Go on with what a checkpoint says; raises `StartError` when it does not fit machine and settings."""
        self.cpu.shared = found.default
        self.cpu.assigned = {pod: dict(containers) for pod, containers in found.entries.items()}
        self.cpu.bubbles = dict(found.pods)
        if self.settings.is_static:
            self._check_state()

    def _check_state(self) -> None:
        """Judge the checkpoint in the kubelet's order."""
        shared, reserved = self.cpu.shared, self.cpu.reserved
        assigned = all_assigned(self.cpu.assigned) | union(self.cpu.bubbles.values())
        if not shared:
            if assigned:
                raise _refused("state-empty-shared", "the default set is empty but containers hold CPUs")
            self.cpu.shared = self.initial_shared
            return
        self._check_reserved(shared, reserved)
        for pod, containers in self.cpu.assigned.items():
            for container, cpus in containers.items():
                if not cpus.isdisjoint(shared):
                    raise _refused(
                        "state-overlap", f"CPUs {cpus & shared} of {pod}/{container} are also in the default set"
                    )
        known = shared | assigned
        expected = self._expected_cpus()
        if known != expected:
            raise _refused("state-cpus-differ", f"the checkpoint names {known}, the machine has {expected}")

    def _check_reserved(self, shared: CpuSet, reserved: CpuSet) -> None:
        if self.cpu.options.strict_cpu_reservation:
            if not reserved.isdisjoint(shared):
                raise _refused(
                    "state-strict-reserved-in-shared", f"reserved CPUs {reserved & shared} are in the default set"
                )
        elif not self.partitioned and not reserved <= shared:
            raise _refused(
                "state-reserved-not-in-shared", f"reserved CPUs {reserved - shared} are not in the default set"
            )

    def _expected_cpus(self) -> CpuSet:
        if self.partitioned:
            return self.machine.cpus - self.cpu.reserved
        if self.cpu.options.strict_cpu_reservation and self.flavor is Flavor.UPSTREAM:
            return self.machine.cpus - self.cpu.reserved
        return self.machine.cpus

    def attempt(self, pod: Pod) -> dict[str, Hint]:
        """Give a pod what it asks for, container by container, and return the merged hints.

        Raises `Rejection` and leaves what was given until then: the state in which the pod was turned away.
        """
        if self.settings.topology_policy is TopologyPolicy.NONE:
            for container in pod.containers:
                self._allocate(pod, container, Hint(None, preferred=False))
            return {}
        if self.settings.topology_scope == "pod":
            hint = self._merge(self._pod_hints(pod), "")
            if self.settings.is_static and self.settings.pod_level_managers and pod.has_pod_resources:
                self.cpu.allocate_bubble(pod, hint.nodes)
                return {container.name: hint for container in pod.containers}
            for container in pod.containers:
                self._allocate(pod, container, hint)
            return {container.name: hint for container in pod.containers}
        hints = {}
        for container in pod.containers:
            hint = self._merge(self._container_hints(pod, container), container.name)
            self._allocate(pod, container, hint)
            hints[container.name] = hint
        return hints

    def _container_hints(self, pod: Pod, container: Container) -> list[ProviderHints]:
        return [
            self.cpu.hints(pod, container) if self.settings.is_static else None,
            self.memory.hints(pod, container) if self.memory else None,
        ]

    def _pod_hints(self, pod: Pod) -> list[ProviderHints]:
        return [
            self.cpu.pod_hints(pod) if self.settings.is_static else None,
            self.memory.pod_hints(pod) if self.memory else None,
        ]

    def _allocate(self, pod: Pod, container: Container, hint: Hint) -> None:
        try:
            if self.settings.is_static:
                self.cpu.allocate(pod, container, hint.nodes)
            if self.memory is not None:
                self.memory.allocate(pod, container, hint)
        except Rejection as rejection:
            raise rejection.at(container.name) from None

    def _merge(self, providers: list[ProviderHints], container: str) -> Hint:
        merger = Merger(
            self.settings.topology_policy,
            tuple(node.id for node in self.machine.nodes),
            self.settings.prefer_closest,
            {node.id: node.distances for node in self.machine.nodes},
        )
        try:
            best, admit = merger.merge(providers)
        except DistanceError:
            message = "prefer-closest-numa-nodes on sparse NUMA node ids: the kubelet crashes"
            raise Rejection("panic", "panic", message, container) from None
        if not admit:
            message = "Resources cannot be allocated with Topology locality"
            raise Rejection("TopologyAffinityError", "no-acceptable-numa-hint", message, container)
        return best


@dataclass(frozen=True)
class _Start:
    """A kubelet's start over the checkpoints that an earlier one left."""

    machine: KubeletMachine
    settings: ManagerSettings
    flavor: Flavor
    partitioned: bool

    def over(self, cpu: CpuCheckpoint | None, memory: MemoryCheckpoint | None) -> KubeletNode:
        node = KubeletNode.boot(self.machine, self.settings, flavor=self.flavor, partitioned=self.partitioned)
        if cpu is not None:
            if cpu.policy != self.settings.cpu_policy:
                raise _other_policy("cpu-manager-start", cpu.policy, self.settings.cpu_policy)
            node.take_over_cpus(cpu)
        if memory is not None:
            if memory.policy != self.settings.memory_policy:
                raise _other_policy("memory-manager-start", memory.policy, self.settings.memory_policy)
            if node.memory is not None:
                node.memory.assigned = {pod: dict(blocks) for pod, blocks in memory.entries.items()}
                node.memory.check_state(copy.deepcopy(dict(memory.state)))
        return node


def _other_policy(stage: str, found: str, wanted: str) -> StartError:
    message = f"the checkpoint was written by policy {found or 'none at all'}, configured is {wanted}"
    return StartError(stage, "state-policy-differs", message)


def _cpu_policy(machine: KubeletMachine, settings: ManagerSettings) -> CpuPolicy:
    check_reserved_online(settings, machine)
    check_topology_manager(settings, machine)
    options, reserved = cpu_manager_setup(settings, machine)
    return CpuPolicy(machine, options, reserved, CpuSet(), pod_level=settings.pod_level_managers)


def _memory_policy(machine: KubeletMachine, settings: ManagerSettings) -> MemoryPolicy | None:
    stage = "memory-manager-create"
    if settings.memory_policy == "BestEffort":
        raise StartError(stage, "policy-not-on-this-platform", "memoryManagerPolicy BestEffort is for Windows only")
    if settings.memory_policy not in ("None", "Static"):
        raise StartError(stage, "unknown-policy", f"memoryManagerPolicy {settings.memory_policy!r} is None or Static")
    if not settings.guarantees_memory:
        return None
    return MemoryPolicy.fresh(machine, memory_setup(settings, machine))


def _refused(code: str, message: str) -> StartError:
    return StartError("cpu-manager-start", code, message)
