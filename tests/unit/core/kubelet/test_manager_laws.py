"""Laws of the managers on machines of equal cores, whatever pods come and go."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tunectl.core.cpuset import CpuSet, union
from tunectl.core.kubelet.admission import Rejection, StartError
from tunectl.core.kubelet.machine import KubeletMachine, MemoryNode, RawCpu, discover
from tunectl.core.kubelet.node import KubeletNode
from tunectl.core.kubelet.pod import Pod, pod_from_spec
from tunectl.core.kubelet.settings import ManagerSettings, read_settings

GIB = 1024**3
NODE_MEMORY = 8 * GIB
OPTIONS = (
    (),
    ("full-pcpus-only",),
    ("strict-cpu-reservation",),
    ("distribute-cpus-across-numa",),
    ("distribute-cpus-across-cores",),
    ("prefer-align-cpus-by-uncorecache",),
    ("align-by-socket",),
    ("full-pcpus-only", "strict-cpu-reservation"),
    ("full-pcpus-only", "distribute-cpus-across-numa"),
    ("full-pcpus-only", "prefer-align-cpus-by-uncorecache", "strict-cpu-reservation"),
)
POLICIES = ("none", "best-effort", "restricted", "single-numa-node")
GATES = {"CPUManagerPolicyAlphaOptions": True}


@st.composite
def machines(draw: st.DrawFn) -> KubeletMachine:
    sockets = draw(st.sampled_from((1, 2)))
    nodes = draw(st.sampled_from((1, 2)))
    cores = draw(st.integers(1, 4))
    threads = draw(st.sampled_from((1, 2)))
    block = draw(st.booleans())
    total = sockets * nodes * cores
    cpus = []
    for index in range(total * threads):
        core, thread = (index % total, index // total) if block else divmod(index, threads)
        node = core // cores
        del thread
        cpus.append(RawCpu(index, core % (nodes * cores), node // nodes, node, node))
    distances = [[10 if a == b else 20 for b in range(sockets * nodes)] for a in range(sockets * nodes)]
    return discover(cpus, [MemoryNode(one, NODE_MEMORY, {}, tuple(distances[one])) for one in range(sockets * nodes)])


@st.composite
def kubelets(draw: st.DrawFn) -> KubeletNode:
    machine = draw(machines())
    reserved = draw(st.sets(st.sampled_from(sorted(machine.cpus)), min_size=1, max_size=3))
    config: dict[str, Any] = {
        "cpuManagerPolicy": "static",
        "cpuManagerPolicyOptions": dict.fromkeys(draw(st.sampled_from(OPTIONS)), "true"),
        "reservedSystemCPUs": CpuSet(reserved).format(),
        "topologyManagerPolicy": draw(st.sampled_from(POLICIES)),
        "topologyManagerScope": draw(st.sampled_from(("container", "pod"))),
        "featureGates": GATES,
    }
    if draw(st.booleans()):
        config["memoryManagerPolicy"] = "Static"
        config["reservedMemory"] = [{"numaNode": 0, "limits": {"memory": "100Mi"}}]
    try:
        return KubeletNode.boot(machine, read_settings(config))
    except StartError:
        assume(False)  # noqa: FBT003  hypothesis takes it so
        raise


@st.composite
def containers(draw: st.DrawFn, name: str) -> dict[str, Any]:
    cpu = draw(st.sampled_from(("1", "2", "3", "4", "500m", "1500m")))
    memory = draw(st.sampled_from(("64Mi", "1Gi", "5Gi")))
    return {"name": name, "limits": {"cpu": cpu, "memory": memory}}


@st.composite
def pods(draw: st.DrawFn, name: str) -> Pod:
    spec: dict[str, Any] = {"name": name, "containers": [draw(containers("app"))]}
    if draw(st.booleans()):
        spec["containers"].append(draw(containers("side")))
    if draw(st.booleans()):
        spec["initContainers"] = [draw(containers("init"))]
        if draw(st.booleans()):
            spec["initContainers"][0]["restartPolicy"] = "Always"
    if draw(st.integers(0, 5)) == 0:
        spec["containers"][0]["requests"] = {"cpu": "100m"}
    return pod_from_spec(spec)


def _admit(node: KubeletNode, pod: Pod) -> bool:
    try:
        node.admit(pod)
    except Rejection:
        return False
    return True


def _of_pod(node: KubeletNode, name: str) -> CpuSet:
    return union(node.cpu.assigned.get(name, {}).values())


def _state(node: KubeletNode) -> tuple[Any, ...]:
    """Return what the node has given away; memory may move inside a group of NUMA nodes."""
    cpu, memory = node.checkpoints()
    groups = {
        one.cells: (sum(memory.state[cell].tables["memory"].free for cell in one.cells), one.assignments)
        for one in memory.state.values()
    }
    return cpu.text(), groups, memory.entries


STEPS = st.lists(st.tuples(st.sampled_from(("add", "add", "add", "remove")), st.integers(0, 5)), max_size=8)


def _played(node: KubeletNode, steps: list[tuple[str, int]], data: st.DataObject) -> None:
    """Admit and remove pods; as uids are, a name is never used twice."""
    for count, (kind, number) in enumerate(steps):
        running = list(node.running)
        if kind == "add":
            _admit(node, data.draw(pods(f"p{count}")))
        elif running:
            node.remove(running[number % len(running)])


@settings(max_examples=60, deadline=None)
@given(kubelets(), STEPS, st.data())
def test_no_cpu_has_two_owners(node: KubeletNode, steps: list[tuple[str, int]], data: st.DataObject) -> None:
    _played(node, steps, data)
    taken = [_of_pod(node, name) for name in node.cpu.assigned]
    assert sum(len(one) for one in taken) == len(union(taken))
    assert union(taken).isdisjoint(node.cpu.shared)
    assert union(taken) | node.cpu.shared == node.initial_shared


@settings(max_examples=60, deadline=None)
@given(kubelets(), STEPS, st.data())
def test_nothing_outside_of_allocatable_is_given_away(
    node: KubeletNode, steps: list[tuple[str, int]], data: st.DataObject
) -> None:
    _played(node, steps, data)
    given_away = union(_of_pod(node, name) for name in node.cpu.assigned)
    assert given_away <= node.machine.cpus - node.cpu.reserved
    for pod in node.running.values():
        for container in pod.containers:
            own = node.cpu.of(pod, container)
            assert len(own or ()) == node.cpu.request(pod, container)


@settings(max_examples=60, deadline=None)
@given(kubelets(), st.data())
def test_whole_cores_are_given_under_full_pcpus_only(node: KubeletNode, data: st.DataObject) -> None:
    # Without half cores from other times, and with whole cores reserved.
    reserved = node.machine.whole_cores(node.cpu.reserved)
    assume(len(reserved) < len(node.machine.cpus))
    options = {"full-pcpus-only": "true"}
    node = KubeletNode.boot(node.machine, replace(node.settings, cpu_options=options, reserved_cpus=reserved))
    for number in range(4):
        pod = data.draw(pods(f"p{number}"))
        if _admit(node, pod):
            for cpus in node.cpu.assigned.get(pod.name, {}).values():
                assert node.machine.whole_cores(cpus) == cpus


@settings(max_examples=60, deadline=None)
@given(kubelets(), STEPS, st.data())
def test_removing_every_pod_restores_the_node(
    node: KubeletNode, steps: list[tuple[str, int]], data: st.DataObject
) -> None:
    before = _state(node)
    _played(node, steps, data)
    for name in list(node.running):
        node.remove(name)
    assert _state(node) == before


@settings(max_examples=60, deadline=None)
@given(kubelets(), STEPS, st.data())
def test_a_rejected_pod_leaves_nothing_behind(
    node: KubeletNode, steps: list[tuple[str, int]], data: st.DataObject
) -> None:
    _played(node, steps, data)
    before = _state(node)
    if not _admit(node, data.draw(pods("last"))):
        assert _state(node) == before


@settings(max_examples=60, deadline=None)
@given(kubelets(), STEPS, st.data())
def test_a_restart_over_its_own_checkpoint_admits_everything_again(
    node: KubeletNode, steps: list[tuple[str, int]], data: st.DataObject
) -> None:
    """But for whole cores: there the kubelet counts free cores before it sees that a pod has its own already."""
    assume(not node.cpu.options.full_pcpus_only)
    _played(node, steps, data)
    assume(node.cpu.shared)
    before = _state(node)[0]
    running = list(node.running.values())
    verdicts = node.restart()
    assert list(verdicts) == [pod.name for pod in running]
    assert set(verdicts.values()) <= {None}, [str(one) for one in verdicts.values() if one]
    assert _state(node)[0] == before


def test_the_trap_of_whole_cores() -> None:
    """A pod larger than what is free beside it is turned away by a plain restart (kubernetes issue 129078)."""
    cpus = [RawCpu(cpu, cpu // 2, 0, 0, None) for cpu in range(8)]
    machine = discover(cpus, [MemoryNode(0, NODE_MEMORY)])
    config = {"cpuManagerPolicy": "static", "cpuManagerPolicyOptions": {"full-pcpus-only": "true"}}
    node = KubeletNode.boot(machine, read_settings({**config, "reservedSystemCPUs": "0-1"}))
    spec = {"name": "big", "containers": [{"name": "app", "limits": {"cpu": "4", "memory": "1Gi"}}]}
    node.admit(pod_from_spec(spec))
    verdict = node.restart()["big"]
    assert verdict is not None
    assert verdict.reason == "SMTAlignmentError"


@settings(max_examples=40, deadline=None)
@given(kubelets(), STEPS, st.data())
def test_a_kubelet_with_other_reserved_cpus_never_starts_over_cpus_that_a_pod_has(
    node: KubeletNode, steps: list[tuple[str, int]], data: st.DataObject
) -> None:
    _played(node, steps, data)
    owned = union(_of_pod(node, name) for name in node.cpu.assigned)
    assume(owned)
    changed: ManagerSettings = replace(node.settings, reserved_cpus=node.cpu.reserved | CpuSet((owned.first,)))
    cpu, memory = node.checkpoints()
    with pytest.raises(StartError) as refused:
        KubeletNode.resume(node.machine, changed, cpu, memory)
    assert refused.value.code in {
        "state-reserved-not-in-shared",
        "state-strict-reserved-in-shared",
        "state-cpus-differ",
        "state-empty-shared",
    }
