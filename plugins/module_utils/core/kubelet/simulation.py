# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Admit pods one after the other on a planned node, and say what each container gets or why it is refused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from ..cpuset import CpuSet
from ..quantity import round_up
from .admission import Rejection, StartError
from .machine import KubeletMachine
from .node import Admitted, KubeletNode
from .planned_node import PlannedNode, Scheduler, unjudged
from .pod import Container, Pod, Qos, whole_cpus
from .refusal import arithmetic
from .refused import Refused, Replays
from .restart import Restart, restart_over
from .settings import ManagerSettings
from .ways_out import ways_out

UNSCHEDULABLE = "Unschedulable"
DOES_NOT_FIT = "does-not-fit"
# Ways out are found by trying; a manifest rarely has more different refusals than this.
_MOST_EXPLAINED = 10


@dataclass(frozen=True)
class Placement:
    """What one container got. `cpus` is empty in the shared pool, `why_shared` then says why."""

    container: str
    cpus: CpuSet = CpuSet()
    numa_nodes: tuple[int, ...] = ()
    memory_nodes: tuple[int, ...] = ()
    why_shared: str = ""


@dataclass(frozen=True)
class Outcome:
    """What became of one pod.

    Shape: `reason` and `code` are empty for an admitted pod; `arithmetic` are the numbers behind a refusal, one
    statement each; `changes` are the smallest changes that would admit it; `same_as` names an earlier pod that asks for
    the same and was refused alike, whose numbers and changes are not repeated. `shared` is the pool in which the
    other containers run afterwards, `free` how many of its CPUs may still be given away. `unjudged` are resources
    that nobody knows here.
    """

    pod: str
    qos: Qos
    admitted: bool
    placements: tuple[Placement, ...] = ()
    shared: CpuSet = CpuSet()
    free: int = 0
    reason: str = ""
    code: str = ""
    message: str = ""
    container: str = ""
    arithmetic: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    same_as: str = ""
    unjudged: tuple[str, ...] = ()


@dataclass(frozen=True)
class Simulation:
    """All outcomes, in the order of admission.

    Shape: `trouble` says why the kubelet does not start, empty when it does; `shared` is the pool of containers
    without CPUs of their own, `reserved` CPUs included unless the kubelet keeps those apart; `restart` is what a
    restart of the kubelet would do, None when none was asked for.
    """

    planned: PlannedNode
    outcomes: tuple[Outcome, ...] = ()
    reserved: CpuSet = CpuSet()
    shared: CpuSet = CpuSet()
    trouble: str = ""
    restart: Restart | None = None

    @property
    def refused(self) -> tuple[Outcome, ...]:
        """The pods that were not admitted."""
        return tuple(outcome for outcome in self.outcomes if not outcome.admitted)

    @property
    def free(self) -> CpuSet:
        """CPUs that may still be given to one container alone; none without the static policy."""
        return self.shared - self.reserved if self.planned.settings.is_static else CpuSet()


def simulate(planned: PlannedNode, pods: Iterable[Pod], *, explain: bool = True, restart: bool = False) -> Simulation:
    """Return what becomes of `pods` on the planned node, in their order.

    With `explain`, refusals carry the smallest changes that would admit the pod, found by trying them; with `restart`
    the kubelet is restarted over what it wrote down.
    """
    try:
        run = _Run(planned, planned.boot(), planned.scheduler(), explain=explain)
    except StartError as error:
        return Simulation(planned, trouble=trouble_of(error))
    outcomes = [run.admit(pod) for pod in pods]
    return run.closed(outcomes, with_restart=restart)


def fill(planned: PlannedNode, pod: Pod, limit: int = 10_000) -> Simulation:
    """Return the admission of copies of a pod until the first one is refused, which is the last outcome."""
    try:
        run = _Run(planned, planned.boot(), planned.scheduler())
    except StartError as error:
        return Simulation(planned, trouble=trouble_of(error))
    outcomes: list[Outcome] = []
    for number in range(limit):
        outcomes.append(run.admit(replace(pod, name=f"{pod.name}-{number}")))
        if not outcomes[-1].admitted:
            break
    return run.closed(outcomes, with_restart=False)


def trouble_of(error: StartError) -> str:
    """Return why a kubelet does not start, for people."""
    return f"{error.code}: {error.message}"


@dataclass
class _Run:
    """One simulation under way."""

    planned: PlannedNode
    node: KubeletNode
    scheduler: Scheduler
    explain: bool = True
    admitted: list[Pod] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    replays: Replays = field(default_factory=Replays)

    def admit(self, pod: Pod) -> Outcome:
        lacking = self.scheduler.lacking(pod)
        if lacking:
            message = "the scheduler finds no room on this node"
            rejection = Rejection(UNSCHEDULABLE, DOES_NOT_FIT, message)
            return self._refusal(pod, rejection, None, tuple(map(str, lacking)))
        # On an uneven machine a refused pod leaves traces: what it asked for may be another's.
        before = self.node if self._is_even else self.node.fork()
        try:
            got = self.node.admit(pod)
        except Rejection as rejection:
            return self._refusal(pod, rejection, before, ())
        self.scheduler.take(pod)
        self.admitted.append(pod)
        return self._outcome(pod, admitted=True, placements=self._placements(pod, got))

    @property
    def _is_even(self) -> bool:
        machine = self.node.machine
        return all(len(cpus) == machine.cpus_per_core for cpus in machine.core_cpus.values()) and all(
            len(cpus) == machine.cpus_per_socket for cpus in machine.socket_cpus.values()
        )

    def _refusal(
        self, pod: Pod, rejection: Rejection, before: KubeletNode | None, statements: tuple[str, ...]
    ) -> Outcome:
        refusal = self._outcome(
            pod,
            admitted=False,
            reason=rejection.reason,
            code=rejection.code,
            message=rejection.message,
            container=rejection.container,
        )
        alike = repr((rejection.code, rejection.container, replace(pod, name="")))
        same_as = self.refused.setdefault(alike, pod.name)
        if same_as != pod.name:
            return replace(refusal, same_as=same_as)
        node = _as_for_a_new_pod(before or self.node)
        statements = statements or _statements(node, pod)
        refusal = replace(refusal, arithmetic=statements)
        if not self.explain or len(self.refused) > _MOST_EXPLAINED:
            return refusal
        earlier = tuple(self.admitted)
        at = Refused(self.planned, node, self.scheduler, earlier, pod, rejection.container, self.replays)
        return replace(refusal, changes=tuple(way.text for way in ways_out(at)))

    def _outcome(  # noqa: PLR0913  the parts of an outcome
        self,
        pod: Pod,
        *,
        admitted: bool,
        placements: tuple[Placement, ...] = (),
        reason: str = "",
        code: str = "",
        message: str = "",
        container: str = "",
    ) -> Outcome:
        shared = shared_pool(self.node)
        free = len(self.node.cpu.available) if self.planned.settings.is_static else 0
        return Outcome(
            pod.name,
            pod.qos,
            admitted,
            placements,
            shared,
            free,
            reason,
            code,
            message,
            container,
            unjudged=unjudged(pod),
        )

    def _placements(self, pod: Pod, got: Admitted) -> tuple[Placement, ...]:
        placements = []
        for container in pod.containers:
            cpus = got.cpus.get(container.name, CpuSet())
            memory = sorted({name for block in got.memory.get(container.name, ()) for name in block.nodes})
            why = "" if cpus else why_shared(pod, container, self.planned.settings)
            placements.append(Placement(container.name, cpus, numa_of(self.planned.machine, cpus), tuple(memory), why))
        return tuple(placements)

    def closed(self, outcomes: list[Outcome], *, with_restart: bool) -> Simulation:
        restart = None
        if with_restart:
            cpu, memory = self.node.checkpoints()
            restart = restart_over(self.planned, self.admitted, cpu, memory)
        node = self.node
        return Simulation(self.planned, tuple(outcomes), node.cpu.reserved, shared_pool(node), restart=restart)


def _as_for_a_new_pod(node: KubeletNode) -> KubeletNode:
    """Return a node without what the managers remember of the init containers of the pod that they saw last."""
    fork = node.fork()
    fork.cpu.reusable.clear()
    if fork.memory is not None:
        fork.memory.reusable.clear()
    return fork


def _statements(node: KubeletNode, pod: Pod) -> tuple[str, ...]:
    trial = node.fork()
    try:
        trial.attempt(pod)
    except Rejection as rejection:
        return tuple(arithmetic(trial, pod, rejection))
    return ()


def shared_pool(node: KubeletNode) -> CpuSet:
    """Return the CPUs on which containers without CPUs of their own run: all of them without the static policy."""
    return node.cpu.shared if node.settings.is_static else node.machine.cpus


def numa_of(machine: KubeletMachine, cpus: CpuSet) -> tuple[int, ...]:
    """Return the NUMA nodes of CPUs, ascending."""
    return tuple(sorted({machine.by_cpu[cpu].node for cpu in cpus if cpu in machine.by_cpu}))


def why_shared(pod: Pod, container: Container, settings: ManagerSettings) -> str:
    """Return why a container runs in the shared pool; empty when it gets CPUs of its own."""
    if not settings.is_static:
        return "the CPU manager policy is none"
    if pod.qos is not Qos.GUARANTEED:
        return f"the pod is {pod.qos.value}, not Guaranteed"
    if pod.has_pod_resources and not settings.pod_level_managers:
        return "resources are set at pod level"
    if not whole_cpus(container.requests):
        millis = round_up(container.requests.get("cpu", Fraction(0)) * 1000)
        return f"{millis}m is not a whole number of CPUs"
    return ""
