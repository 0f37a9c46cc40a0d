# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a restart of the kubelet does to running pods: whether it starts, whom it turns away, whom it moves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ..cpuset import CpuSet
from .admission import Rejection, StartError
from .checkpoint import CpuCheckpoint, MemoryCheckpoint
from .memory_policy import Block
from .node import Flavor, KubeletNode
from .planned_node import PlannedNode
from .pod import Container, Pod

_UNKNOWN_MEMORY = Fraction(1024**2)


@dataclass(frozen=True)
class Move:
    """A running container that gets other CPUs than it had."""

    pod: str
    container: str
    before: CpuSet
    after: CpuSet


@dataclass(frozen=True)
class Restart:
    """What a restart of the kubelet does.

    Shape: `trouble` says why it does not start, empty when it does; `killed` are the running pods that it turns away,
    with the reason; `moved` are containers that get other CPUs; `running` counts the pods before. `live` says that
    the pods and checkpoints are those of a node as it is; `fresh` that the checkpoints are deleted before the start;
    `unseen` says why a checkpoint could not be looked at, so that nothing is known.
    """

    trouble: str = ""
    killed: tuple[tuple[str, str], ...] = ()
    moved: tuple[Move, ...] = ()
    running: int = 0
    live: bool = False
    fresh: bool = False
    unseen: str = ""

    @property
    def kept(self) -> int:
        """How many pods run on."""
        return 0 if self.trouble else self.running - len(self.killed)


def restart_over(
    planned: PlannedNode,
    running: Sequence[Pod],
    cpu: CpuCheckpoint | None,
    memory: MemoryCheckpoint | None,
    *,
    live: bool = False,
) -> Restart:
    """Return what a kubelet of the planned node does over these checkpoints with the pods that run, oldest first.

    OpenShift's kubelet unit deletes both files before each start. Source: openshift/machine-config-operator, kubelet
    unit; Kubernetes 1.36, kubelet admission.
    """
    fresh = planned.flavor is Flavor.OPENSHIFT
    try:
        node = planned.boot() if fresh else _resumed(planned, cpu, memory)
    except StartError as error:
        return Restart(f"{error.code}: {error.message}", running=len(running), live=live, fresh=fresh)
    before = cpu.entries if cpu is not None else {}
    killed = tuple(_killed(planned, node, running))
    gone = {name for name, _ in killed}
    moved = tuple(_moves(before, node, gone))
    return Restart(killed=killed, moved=moved, running=len(running), live=live, fresh=fresh)


def _resumed(planned: PlannedNode, cpu: CpuCheckpoint | None, memory: MemoryCheckpoint | None) -> KubeletNode:
    return KubeletNode.resume(
        planned.machine, planned.settings, cpu, memory, flavor=planned.flavor, partitioned=planned.partitioned
    )


def _killed(planned: PlannedNode, node: KubeletNode, running: Sequence[Pod]) -> Iterator[tuple[str, str]]:
    """Yield the pods that are turned away: the topology manager judges before the kubelet counts resources."""
    counted = planned.scheduler()
    for pod in running:
        try:
            node.admit(pod)
        except Rejection as rejection:
            yield pod.name, f"{rejection.reason}: {rejection.message}"
            continue
        lacking = counted.lacking(pod)
        if lacking:
            node.remove(pod.name)
            yield pod.name, f"{lacking[0].at_admission}: {lacking[0]}"
            continue
        counted.take(pod)


def _moves(before: Mapping[str, Mapping[str, CpuSet]], node: KubeletNode, gone: set[str]) -> Iterator[Move]:
    for pod, containers in before.items():
        if pod in gone:
            continue
        now = node.cpu.assigned.get(pod, {})
        for container, cpus in containers.items():
            if now.get(container, CpuSet()) != cpus:
                yield Move(pod, container, cpus, now.get(container, CpuSet()))


def running_pods(cpu: CpuCheckpoint | None, memory: MemoryCheckpoint | None) -> list[Pod]:
    """Return the pods that hold something, told from the checkpoints alone.

    Shape: named by uid, in the order of the files. A container asks for as many CPUs as it holds and the memory that
    the memory manager gave it; where that manager gave none, a little. Containers of one pod that hold the same CPUs
    are an init container and the one that came after it.
    """
    cpus: Mapping[str, Mapping[str, CpuSet]] = cpu.entries if cpu is not None else {}
    blocks: Mapping[str, Mapping[str, tuple[Block, ...]]] = memory.entries if memory is not None else {}
    return [_running(pod, cpus.get(pod, {}), blocks.get(pod, {})) for pod in dict.fromkeys((*cpus, *blocks))]


def _running(name: str, cpus: Mapping[str, CpuSet], blocks: Mapping[str, tuple[Block, ...]]) -> Pod:
    containers = [
        _container(one, cpus.get(one, CpuSet()), blocks.get(one, ())) for one in dict.fromkeys((*cpus, *blocks))
    ]
    init: list[Container] = []
    app: list[Container] = []
    for index, container in enumerate(containers):
        later = containers[index + 1 :]
        held = cpus.get(container.name, CpuSet())
        is_reused = any(not held.isdisjoint(cpus.get(other.name, CpuSet())) for other in later)
        (init if is_reused else app).append(container)
    return Pod(name, tuple(app), tuple(replace(one, is_init=True) for one in init))


def _container(name: str, cpus: CpuSet, blocks: Sequence[Block]) -> Container:
    sizes: dict[str, Fraction] = {"cpu": Fraction(len(cpus)) or Fraction(1, 1000)}
    for block in blocks:
        sizes[block.kind] = Fraction(block.size)
    sizes.setdefault("memory", _UNKNOWN_MEMORY)
    return Container(name, sizes, sizes)
