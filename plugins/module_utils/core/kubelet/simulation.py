# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Admit pods one after the other on a planned node, and say what each container gets or why it is refused."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from ..cpuset import CpuSet
from ..quantity import round_up, threshold_bytes
from .admission import Rejection, StartError
from .hints import TopologyPolicy
from .machine import KubeletMachine
from .memory_policy import hugepage_kind
from .node import Flavor, KubeletNode
from .pod import Container, Pod, Qos, aggregate_requests, exclusive_cpus, whole_cpus
from .settings import ManagerSettings

DEFAULT_MAX_PODS = 110
UNSCHEDULABLE = "Unschedulable"
_LOOSER = {
    TopologyPolicy.SINGLE_NUMA_NODE: TopologyPolicy.RESTRICTED,
    TopologyPolicy.RESTRICTED: TopologyPolicy.BEST_EFFORT,
}


@dataclass(frozen=True)
class PlannedNode:
    """The node that pods are admitted on: machine and settings as they will be after the plan is applied."""

    machine: KubeletMachine
    settings: ManagerSettings
    flavor: Flavor = Flavor.UPSTREAM
    partitioned: bool = False
    max_pods: int = DEFAULT_MAX_PODS

    def boot(self) -> KubeletNode:
        """Return a kubelet on it; raises `StartError`."""
        return KubeletNode.boot(self.machine, self.settings, flavor=self.flavor, partitioned=self.partitioned)

    @property
    def allocatable(self) -> dict[str, Fraction]:
        """What the scheduler may give to pods. Scale: cores and bytes. Source: Kubernetes node allocatable."""
        memory = sum(node.memory for node in self.machine.nodes)
        eviction = threshold_bytes(self.settings.eviction_memory, memory) if self.settings.eviction_memory else 0
        found = {"cpu": len(self.machine.cpus) - self.settings.reserved_cpu_amount}
        pages = 0
        for node in self.machine.nodes:
            for size, count in node.hugepages.items():
                kind = hugepage_kind(size)
                found[kind] = found.get(kind, Fraction(0)) + size * count
                pages += size * count
        found["memory"] = Fraction(memory - pages - self.settings.memory_reservation - eviction)
        return found


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
    statement each; `changes` are the smallest changes that would admit it. `shared` is the pool left afterwards.
    """

    pod: str
    qos: Qos
    admitted: bool
    placements: tuple[Placement, ...] = ()
    shared: CpuSet = CpuSet()
    reason: str = ""
    code: str = ""
    message: str = ""
    container: str = ""
    arithmetic: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Simulation:
    """All outcomes, in the order of admission.

    Shape: `trouble` says why the kubelet does not start, empty when it does; `killed` are the running pods that a
    restart of the kubelet would turn away, with the reason, None when no restart was asked for.
    """

    planned: PlannedNode
    outcomes: tuple[Outcome, ...] = ()
    reserved: CpuSet = CpuSet()
    shared: CpuSet = CpuSet()
    trouble: str = ""
    killed: tuple[tuple[str, str], ...] | None = None

    @property
    def refused(self) -> tuple[Outcome, ...]:
        """The pods that were not admitted."""
        return tuple(outcome for outcome in self.outcomes if not outcome.admitted)


@dataclass
class _Scheduler:
    """The scheduler's view of the node: sums of requests against allocatable. It is blind to NUMA."""

    allocatable: Mapping[str, Fraction]
    max_pods: int
    used: dict[str, Fraction] = field(default_factory=dict)
    pods: int = 0

    def lacking(self, pod: Pod) -> list[str]:
        """Return what the pod does not fit in, as the scheduler words it, with the numbers."""
        found = [] if self.pods < self.max_pods else [f"Too many pods: {self.pods} of {self.max_pods}"]
        for name, size in pod_requests(pod).items():
            total, used = self.allocatable.get(name, Fraction(0)), self.used.get(name, Fraction(0))
            if name in self.allocatable and size > total - used:
                found.append(f"Insufficient {name}: asks {_amount(name, size)}, {_amount(name, total - used)} left")
        return found

    def take(self, pod: Pod) -> None:
        """Count an admitted pod."""
        self.pods += 1
        for name, size in pod_requests(pod).items():
            self.used[name] = self.used.get(name, Fraction(0)) + size


def pod_requests(pod: Pod) -> dict[str, Fraction]:
    """Return what the scheduler counts for a pod: its own requests where set, else the peak of its containers."""
    return {**aggregate_requests(pod.init, pod.app), **pod.requests}


def simulate(planned: PlannedNode, pods: Iterable[Pod], *, explain: bool = True, restart: bool = False) -> Simulation:
    """Return what becomes of `pods` on the planned node, in their order.

    With `explain`, refusals carry the smallest changes that would admit the pod, found by trying them; with `restart`
    the kubelet is restarted over its own checkpoint afterwards.
    """
    try:
        node = planned.boot()
    except StartError as error:
        return Simulation(planned, trouble=f"{error.code}: {error.message}")
    scheduler = _Scheduler(planned.allocatable, planned.max_pods)
    outcomes = [_admit(planned, node, scheduler, pod, explain=explain) for pod in pods]
    shared = node.cpu.shared
    if not restart:
        return Simulation(planned, tuple(outcomes), node.cpu.reserved, shared)
    try:
        verdicts = node.restart()
    except StartError as error:
        trouble = f"after a restart: {error.code}: {error.message}"
        return Simulation(planned, tuple(outcomes), node.cpu.reserved, shared, trouble, ())
    killed = tuple((name, f"{one.reason}: {one.message}") for name, one in verdicts.items() if one is not None)
    return Simulation(planned, tuple(outcomes), node.cpu.reserved, shared, killed=killed)


def fill(planned: PlannedNode, pod: Pod, limit: int = 10_000) -> Simulation:
    """Return the admission of copies of a pod until the first one is refused, which is the last outcome."""
    try:
        node = planned.boot()
    except StartError as error:
        return Simulation(planned, trouble=f"{error.code}: {error.message}")
    scheduler = _Scheduler(planned.allocatable, planned.max_pods)
    outcomes: list[Outcome] = []
    for number in range(limit):
        copied = replace(pod, name=f"{pod.name}-{number}")
        outcomes.append(_admit(planned, node, scheduler, copied, explain=False))
        if not outcomes[-1].admitted:
            break
    return Simulation(planned, tuple(outcomes), node.cpu.reserved, node.cpu.shared)


def _admit(planned: PlannedNode, node: KubeletNode, scheduler: _Scheduler, pod: Pod, *, explain: bool) -> Outcome:
    lacking = scheduler.lacking(pod)
    if lacking:
        return Outcome(
            pod.name, pod.qos, admitted=False, shared=node.cpu.shared, reason=UNSCHEDULABLE, code="does-not-fit",
            message="the scheduler finds no room on this node", arithmetic=tuple(lacking),
        )  # fmt: skip
    before = copy.deepcopy(node) if explain and _may_need_changes(pod) else None
    try:
        admitted = node.admit(pod)
    except Rejection as rejection:
        at = before or node
        return Outcome(
            pod.name,
            pod.qos,
            admitted=False,
            shared=node.cpu.shared,
            reason=rejection.reason,
            code=rejection.code,
            message=rejection.message,
            container=rejection.container,
            arithmetic=tuple(_arithmetic(at, pod, rejection)),
            changes=tuple(_changes(at, pod)) if explain else (),
        )
    scheduler.take(pod)
    placements = []
    for container in pod.containers:
        cpus = admitted.cpus.get(container.name, CpuSet())
        memory = sorted({name for block in admitted.memory.get(container.name, ()) for name in block.nodes})
        why = "" if cpus else why_shared(pod, container, planned.settings)
        placements.append(Placement(container.name, cpus, numa_of(planned.machine, cpus), tuple(memory), why))
    return Outcome(pod.name, pod.qos, admitted=True, placements=tuple(placements), shared=node.cpu.shared)


def _may_need_changes(pod: Pod) -> bool:
    return pod.qos is Qos.GUARANTEED


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


def _arithmetic(node: KubeletNode, pod: Pod, rejection: Rejection) -> Iterator[str]:
    """Yield the numbers behind a refusal, before the pod was tried."""
    machine, cpu = node.machine, node.cpu
    wanted = {one.name: exclusive_cpus(pod, one) for one in pod.containers}
    request = wanted.get(rejection.container) or sum(wanted.values())
    threads = machine.cpus_per_core
    if rejection.code == "cpus-not-multiple-of-threads-per-core":
        rest = request % threads
        yield f"{request} CPUs are not a multiple of {threads} threads per core: {request} mod {threads} = {rest}"
        return
    if rejection.code == "not-enough-free-physical-cpus":
        blocked = (machine.whole_cores(cpu.reserved) & cpu.shared) - cpu.reserved
        free = len(cpu.shared - machine.whole_cores(cpu.reserved))
        yield f"shared pool {len(cpu.shared)} CPUs, less {len(cpu.reserved & cpu.shared)} reserved"
        if blocked:
            yield f"less {len(blocked)} that share a core with a reserved CPU ({blocked})"
        yield f"leaves {free} CPUs on whole cores, {request} are asked for"
        return
    if wanted and any(wanted.values()):
        yield from _cpu_room(node, request)
    if node.memory is not None:
        yield from _memory_room(node, pod)
        yield from _disagreement(node, pod, request)


def _cpu_room(node: KubeletNode, request: int) -> Iterator[str]:
    machine = node.machine
    free = {name: len(cpus & node.cpu.available) for name, cpus in machine.node_cpus.items()}
    sizes = {name: len(cpus) for name, cpus in machine.node_cpus.items()}
    yield f"{request} CPUs asked for; free by NUMA node: " + ", ".join(f"{name}: {free[name]}" for name in free)
    policy = node.settings.topology_policy
    if policy is TopologyPolicy.SINGLE_NUMA_NODE:
        yield f"single-numa-node needs them on one node; the most free on one is {max(free.values())}"
    elif policy is TopologyPolicy.RESTRICTED:
        width = _fewest(list(sizes.values()), request)
        room = sum(sorted(free.values(), reverse=True)[:width])
        yield (
            f"restricted needs them on the fewest nodes that could hold them when empty: {width}; "
            f"the most free on {width} is {room}"
        )
    else:
        yield f"free in all: {sum(free.values())}"


def _fewest(sizes: Sequence[int], request: int) -> int:
    total = 0
    for width, size in enumerate(sorted(sizes, reverse=True), start=1):
        total += size
        if total >= request:
            return width
    return len(sizes)


def _memory_room(node: KubeletNode, pod: Pod) -> Iterator[str]:
    if node.memory is None:
        return
    kinds = {
        kind for one in pod.containers for kind in one.requests if kind == "memory" or kind.startswith("hugepages-")
    }
    for kind in sorted(kinds):
        free = {name: memory.tables[kind].free for name, memory in node.memory.state.items() if kind in memory.tables}
        asked = sum(round_up(one.requests.get(kind, Fraction(0))) for one in pod.app)
        rows = ", ".join(f"{name}: {_amount('memory', Fraction(size))}" for name, size in free.items())
        yield f"{kind} {_amount('memory', Fraction(asked))} asked for; free by NUMA node: {rows or 'none'}"


def _disagreement(node: KubeletNode, pod: Pod, request: int) -> Iterator[str]:
    """Say when CPUs and memory prefer different numbers of NUMA nodes, which no merged hint can prefer."""
    policy = node.settings.topology_policy
    if node.memory is None or not request or policy not in _LOOSER:
        return
    asked = sum(round_up(one.requests.get("memory", Fraction(0))) for one in pod.app)
    sizes = [memory.tables["memory"].allocatable for memory in node.memory.state.values()]
    for_memory = _fewest(sizes, asked)
    for_cpus = _fewest([len(cpus) for cpus in node.machine.node_cpus.values()], request)
    if for_memory != for_cpus:
        yield (
            f"the memory fits {for_memory} NUMA node(s) and the CPUs need {for_cpus}: each manager prefers its own "
            f"fewest, and {policy.value} admits only sets that both prefer"
        )


def _changes(node: KubeletNode, pod: Pod) -> Iterator[str]:
    """Yield the smallest changes that admit the pod, each of them tried on a copy of the node."""
    fewer = _fewer_cpus(node, pod)
    if fewer:
        yield fewer
    yield from _looser_settings(node, pod)


def _fewer_cpus(node: KubeletNode, pod: Pod) -> str:
    wanted = {one.name: exclusive_cpus(pod, one) for one in pod.containers}
    name, request = max(wanted.items(), key=lambda item: item[1], default=("", 0))
    for count in range(request - 1, 0, -1):
        if _admits(node, _with_cpus(pod, name, count)):
            return f"pod: {count} CPUs instead of {request} for container {name}"
    return ""


def _with_cpus(pod: Pod, name: str, count: int) -> Pod:
    def changed(one: Container) -> Container:
        if one.name != name:
            return one
        cpu = {"cpu": Fraction(count)}
        return replace(one, requests={**one.requests, **cpu}, limits={**one.limits, **cpu})

    return replace(pod, app=tuple(map(changed, pod.app)), init=tuple(map(changed, pod.init)))


def _looser_settings(node: KubeletNode, pod: Pod) -> Iterator[str]:
    settings = node.settings
    options = dict(settings.cpu_options)
    if options.pop("full-pcpus-only", "") and _admits(node, pod, replace(settings, cpu_options=options)):
        yield "tier: cpu_manager_policy_options without full-pcpus-only"
    if node.memory is not None and _admits(node, pod, replace(settings, memory_policy="None")):
        yield "tier: memory_manager_policy None instead of Static"
    policy = settings.topology_policy
    while policy in _LOOSER:
        policy = _LOOSER[policy]
        if _admits(node, pod, replace(settings, topology_policy=policy)):
            yield f"tier: topology_manager_policy {policy.value} instead of {settings.topology_policy.value}"
            return


def _admits(node: KubeletNode, pod: Pod, settings: ManagerSettings | None = None) -> bool:
    trial = copy.deepcopy(node)
    if settings is not None:
        trial.settings = settings
        trial.cpu.options = replace(trial.cpu.options, full_pcpus_only="full-pcpus-only" in settings.cpu_options)
        trial.memory = trial.memory if settings.guarantees_memory else None
    try:
        trial.admit(pod)
    except Rejection:
        return False
    return True


def _amount(name: str, size: Fraction) -> str:
    if name == "cpu":
        return f"{float(size):g}"
    for unit, suffix in ((1024**3, "Gi"), (1024**2, "Mi"), (1024, "Ki")):
        if size >= unit:
            return f"{float(size / unit):.4g}{suffix}"
    return f"{float(size):g}"
