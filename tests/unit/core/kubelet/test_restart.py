"""Restarts over checkpoints: who is killed, who moves, and the pods that checkpoints alone tell of."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.simulations import GIB, container, planned_node, pod

from tunectl.core.cpuset import CpuSet
from tunectl.core.kubelet.admission import Rejection
from tunectl.core.kubelet.checkpoint import (
    CpuCheckpoint,
    MemoryCheckpoint,
    read_cpu_checkpoint,
    read_memory_checkpoint,
)
from tunectl.core.kubelet.memory_policy import Block
from tunectl.core.kubelet.node import Flavor
from tunectl.core.kubelet.planned_node import PlannedNode
from tunectl.core.kubelet.pod import Pod, Qos, exclusive_cpus
from tunectl.core.kubelet.restart import Move, restart_over, running_pods

_EVERYTHING = CpuSet.parse("0-15")


def _held(**pods: str) -> CpuCheckpoint:
    entries = {name: {"c": CpuSet.parse(cpus)} for name, cpus in pods.items()}
    taken = CpuSet(cpu for containers in entries.values() for cpus in containers.values() for cpu in cpus)
    return CpuCheckpoint("static", _EVERYTHING - taken, entries)


def test_pods_are_told_from_the_cpus_they_hold() -> None:
    first, second = running_pods(_held(a="1-2,9-10", b="4"), None)
    assert (first.name, second.name) == ("a", "b")
    assert (first.qos, second.qos) == (Qos.GUARANTEED, Qos.GUARANTEED)
    assert [exclusive_cpus(one, one.app[0]) for one in (first, second)] == [4, 1]


def test_memory_is_what_the_memory_manager_gave() -> None:
    memory = MemoryCheckpoint(
        "Static", {}, {"a": {"c": (Block("memory", (0,), GIB), Block("hugepages-1Gi", (0,), GIB))}}
    )
    (one,) = running_pods(_held(a="1"), memory)
    assert dict(one.app[0].requests) == {"cpu": 1, "memory": GIB, "hugepages-1Gi": GIB}


def test_a_pod_with_memory_only_has_no_cpus_of_its_own() -> None:
    (one,) = running_pods(None, MemoryCheckpoint("Static", {}, {"a": {"c": (Block("memory", (0,), GIB),)}}))
    assert one.qos is Qos.GUARANTEED
    assert exclusive_cpus(one, one.app[0]) == 0


def test_containers_that_hold_the_same_cpus_came_one_after_the_other() -> None:
    entries = {"a": {"app": CpuSet.parse("1-2"), "setup": CpuSet.parse("1-2,9-10")}}
    (one,) = running_pods(CpuCheckpoint("static", CpuSet.parse("0,3-8,11-15"), entries), None)
    assert {"app", "setup"} == {container.name for container in one.containers}
    assert len(one.init) == len(one.app) == 1


def test_nothing_runs_without_checkpoints() -> None:
    assert running_pods(None, None) == []
    restart = restart_over(planned_node(), [], None, None, live=True)
    assert (restart.trouble, restart.running, restart.killed) == ("", 0, ())


@pytest.mark.parametrize(
    ("planned", "code"),
    [
        (planned_node(reserved="0-1,8-9"), "state-reserved-not-in-shared"),
        (planned_node(cpuManagerPolicy="none", reserved=""), "state-policy-differs"),
        (planned_node("2s5c2t", reserved="0"), "state-cpus-differ"),
        (
            planned_node(cpuManagerPolicyOptions={"strict-cpu-reservation": "true"}),
            "state-strict-reserved-in-shared",
        ),
        (planned_node(memoryManagerPolicy="Static"), ""),
    ],
)
def test_what_the_new_configuration_makes_of_the_old_checkpoint(planned: PlannedNode, code: str) -> None:
    held = _held(a="1-2,9-10")
    restart = restart_over(planned, running_pods(held, None), held, None, live=True)
    assert restart.trouble.partition(":")[0] == code
    assert restart.running == 1
    assert restart.kept == (0 if code else 1)


def test_a_tightened_policy_kills_what_lies_across_numa_nodes() -> None:
    held = _held(near="1-2,9-10", far="3-4,11-12")
    planned = planned_node(topologyManagerPolicy="single-numa-node")
    restart = restart_over(planned, running_pods(held, None), held, None, live=True)
    ((name, reason),) = restart.killed
    assert (name, reason.partition(":")[0]) == ("far", "TopologyAffinityError")
    assert (restart.running, restart.kept) == (2, 1)


def test_whole_cores_kill_running_pods_of_odd_size() -> None:
    held = _held(odd="1-3", even="4-5,12-13")
    planned = planned_node(cpuManagerPolicyOptions={"full-pcpus-only": "true"})
    restart = restart_over(planned, running_pods(held, None), held, None, live=True)
    assert [(name, reason.partition(":")[0]) for name, reason in restart.killed] == [("odd", "SMTAlignmentError")]


def test_a_larger_reservation_of_free_cpus_is_taken() -> None:
    held = _held(a="1-6", b="9-14")
    restart = restart_over(planned_node(reserved="0,7-8,15"), running_pods(held, None), held, None, live=True)
    assert (restart.trouble, restart.killed, restart.kept) == ("", (), 2)


def test_the_kubelet_counts_resources_after_the_managers_have_judged() -> None:
    held = _held(a="1-2", b="3-4")
    restart = restart_over(planned_node(max_pods=1), running_pods(held, None), held, None, live=True)
    assert restart.killed == (("b", "OutOfpods: Too many pods: the node takes 1"),)
    memory = MemoryCheckpoint("Static", {}, {one: {"c": (Block("memory", (0,), 20 * GIB),)} for one in ("a", "b")})
    planned = replace(planned_node(systemReserved={"memory": "30Gi"}), flavor=Flavor.OPENSHIFT)
    restart = restart_over(planned, running_pods(held, memory), held, memory, live=True)
    assert restart.killed == (("b", "OutOfmemory: Insufficient memory: 20Gi asked for, 13.9Gi of 33.9Gi left"),)
    assert restart.kept == 1


def test_openshift_deletes_the_checkpoints_and_moves_pods() -> None:
    held = _held(a="5-6,13-14")
    planned = replace(planned_node(reserved="0-1,8-9"), flavor=Flavor.OPENSHIFT)
    restart = restart_over(planned, running_pods(held, None), held, None, live=True)
    assert (restart.fresh, restart.trouble, restart.killed) == (True, "", ())
    assert restart.moved == (Move("a", "c", CpuSet.parse("5-6,13-14"), CpuSet.parse("2-3,10-11")),)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["none", "best-effort", "restricted", "single-numa-node"]),
    st.sampled_from(["None", "Static"]),
    st.lists(st.sampled_from([1, 2, 3, 4, 5]), max_size=5),
    st.lists(st.sampled_from([1, 2]), max_size=1),
)
def test_what_the_files_tell_is_readmitted_as_the_pods_are(
    policy: str, memory_policy: str, sizes: list[int], inits: list[int]
) -> None:
    planned = planned_node(topologyManagerPolicy=policy, memoryManagerPolicy=memory_policy)
    node = planned.boot()
    running: list[Pod] = []
    for number, size in enumerate(sizes):
        init = [container("setup", size * times) for times in inits]
        one = pod(f"p{number}", container("app", size), initContainers=init)
        try:
            node.admit(one)
        except Rejection:
            continue
        running.append(one)
    cpu, memory = node.checkpoints()
    told = running_pods(read_cpu_checkpoint(cpu.text()), read_memory_checkpoint(memory.text()))
    assert [one.name for one in told] == [one.name for one in running]
    real = restart_over(planned, running, cpu, memory)
    assert (real.trouble, real.killed, real.moved) == ("", (), ())
    again = restart_over(planned, told, cpu, memory, live=True)
    assert (again.trouble, again.killed, again.moved) == ("", (), ())
