"""What a simulation says of pods: placements, refusals with their numbers, copies, restarts."""

from __future__ import annotations

import ast
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support.simulations import GIB, burstable, container, guaranteed, machine_of_shape, planned_node, pod

from tunectl.core.cpuset import CpuSet
from tunectl.core.kubelet.machine import KubeletMachine, MemoryNode
from tunectl.core.kubelet.node import Flavor
from tunectl.core.kubelet.planned_node import amount, amounts, fewest
from tunectl.core.kubelet.pod import Pod
from tunectl.core.kubelet.refusal_catalogue import REFUSALS
from tunectl.core.kubelet.simulation import Outcome, fill, simulate

_FULL: dict[str, Any] = {"cpuManagerPolicyOptions": {"full-pcpus-only": "true"}}
_STATIC: dict[str, Any] = {"memoryManagerPolicy": "Static"}


def _restricted(**config: Any) -> dict[str, Any]:
    return {"topologyManagerPolicy": "restricted", **config}


def _refused(outcome: Outcome, code: str, *numbers: str) -> None:
    assert (outcome.admitted, outcome.code) == (False, code)
    assert outcome.reason == REFUSALS[code].reason
    for text in numbers:
        assert any(text in statement for statement in outcome.arithmetic), (text, outcome.arithmetic)


# Placements


def test_exclusive_cpus_leave_the_shared_pool_and_the_rest_keeps_the_reserved_ones() -> None:
    result = simulate(planned_node(), [guaranteed("a", 4), burstable("b")])
    a, b = result.outcomes
    assert a.placements[0].cpus == CpuSet.parse("1-2,9-10")
    assert a.placements[0].numa_nodes == (0,)
    assert a.placements[0].why_shared == ""
    assert (a.free, len(a.shared)) == (10, 12)
    assert b.placements[0].cpus == CpuSet()
    assert b.placements[0].why_shared == "the pod is Burstable, not Guaranteed"
    assert b.shared == a.shared
    assert result.reserved == CpuSet.parse("0,8") <= result.shared
    assert result.free == result.shared - result.reserved


def test_strict_reservation_takes_the_reserved_cpus_out_of_the_shared_pool() -> None:
    options: dict[str, Any] = {"cpuManagerPolicyOptions": {"strict-cpu-reservation": "true"}}
    result = simulate(planned_node(**options), [burstable("b")])
    assert result.shared == CpuSet.parse("1-7,9-15") == result.free


def test_without_the_static_policy_all_containers_share_all_cpus() -> None:
    result = simulate(planned_node(cpuManagerPolicy="none", reserved=""), [guaranteed("a", 4)])
    (a,) = result.outcomes
    assert a.placements[0].why_shared == "the CPU manager policy is none"
    assert (a.free, len(a.shared), result.free) == (0, 16, CpuSet())


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (guaranteed("a", "1500m"), "1500m is not a whole number of CPUs"),
        (guaranteed("a", "0.1"), "100m is not a whole number of CPUs"),
        (pod("a", {"name": "c"}), "the pod is BestEffort, not Guaranteed"),
        (
            pod("a", container(), resources={"limits": {"cpu": "2", "memory": "1Gi"}}),
            "resources are set at pod level",
        ),
    ],
)
def test_why_a_container_shares(one: Pod, why: str) -> None:
    (outcome,) = simulate(planned_node(), [one]).outcomes
    assert (outcome.admitted, outcome.placements[0].why_shared) == (True, why)


def test_memory_lies_on_the_numa_nodes_of_the_cpus() -> None:
    result = simulate(planned_node(**_restricted(**_STATIC)), [guaranteed("a", 7), guaranteed("b", 7, "40Gi")])
    first, second = result.outcomes
    assert first.placements[0].numa_nodes == first.placements[0].memory_nodes
    assert second.code == "no-acceptable-numa-hint"


def test_init_containers_and_sidecars_are_placed_too() -> None:
    spec: dict[str, Any] = {
        "initContainers": [container("setup", 4), {**container("proxy", 1), "restartPolicy": "Always"}]
    }
    (outcome,) = simulate(planned_node(), [pod("a", container("app", 2), **spec)]).outcomes
    cpus = {one.container: one.cpus for one in outcome.placements}
    assert {name: len(found) for name, found in cpus.items()} == {"setup": 4, "proxy": 1, "app": 2}
    assert cpus["proxy"].isdisjoint(cpus["app"])
    assert cpus["app"] <= cpus["setup"]


# Refusals and their numbers


def test_the_scheduler_counts_requests_against_what_is_not_reserved() -> None:
    result = simulate(planned_node(), [guaranteed("a", 10), guaranteed("b", 5)])
    _refused(result.outcomes[1], "does-not-fit", "Insufficient cpu: 5 asked for, 4 of 14 left")
    assert result.outcomes[1].changes[:2] == (
        "pod: cpu 4 instead of 5 for container c",
        "tier: cpu.reserved=0 (1 fewer)",
    )


def test_the_scheduler_takes_reservation_eviction_and_hugepages_off_the_memory() -> None:
    planned = planned_node(systemReserved={"memory": "1Gi"}, kubeReserved={"memory": "512Mi"})
    nodes = tuple(replace(node, hugepages={GIB: 4}) for node in planned.machine.nodes)
    planned = replace(planned, machine=replace(planned.machine, nodes=nodes))
    assert planned.allocatable == {
        "cpu": 14,
        "memory": 64 * GIB - 8 * GIB - GIB - GIB // 2 - 100 * 1024**2,
        "hugepages-1Gi": 8 * GIB,
    }
    _refused(simulate(planned, [guaranteed("a", 1, "57Gi")]).outcomes[0], "does-not-fit", "Insufficient memory: 57Gi")


def test_a_threshold_in_percent_is_of_the_whole_machine() -> None:
    planned = planned_node(evictionHard={"memory.available": "5%"})
    assert planned.allocatable["memory"] == 64 * GIB - 3435973888


def test_hugepages_that_nobody_has_do_not_fit() -> None:
    (outcome,) = simulate(planned_node(), [guaranteed("a", 1, hugepages_1Gi="2Gi")]).outcomes
    _refused(outcome, "does-not-fit", "Insufficient hugepages-1Gi: 2Gi asked for, 0 of 0 left")
    change = 'tier: hugepages.pages=[{"size":"1G","count":2}] hugepages.default_size=1G (2 more of 1G)'
    assert outcome.changes == (change,)
    (outcome,) = simulate(planned_node(), [guaranteed("a", 1, hugepages_16Gi="16Gi")]).outcomes
    assert outcome.changes == ()


def test_hugepages_are_added_to_those_that_are_there() -> None:
    planned = planned_node()
    first, second = planned.machine.nodes
    pages = {2 * 1024**2: 6, GIB: 2}
    nodes = (replace(first, hugepages=pages), replace(second, hugepages={2 * 1024**2: 3, GIB: 2}))
    planned = replace(planned, machine=replace(planned.machine, nodes=nodes))
    (outcome,) = simulate(planned, [guaranteed("a", 1, hugepages_1Gi="5Gi")]).outcomes
    before = '{"size":"2M","count":6,"node":0},{"size":"2M","count":3,"node":1}'
    assert outcome.changes == (
        "pod: hugepages-1Gi 4Gi instead of 5Gi for container c",
        f'tier: hugepages.pages=[{before},{{"size":"1G","count":5}}] (1 more of 1G)',
    )


def test_devices_are_not_judged() -> None:
    one = pod("a", {"name": "c", "resources": {"limits": {"nvidia.com/gpu": "1", "ephemeral-storage": "1Ti"}}})
    (outcome,) = simulate(planned_node(), [one]).outcomes
    assert outcome.admitted
    assert outcome.unjudged == ("ephemeral-storage", "nvidia.com/gpu")


def test_too_many_pods() -> None:
    result = simulate(planned_node(max_pods=1), [burstable("a"), burstable("b")])
    _refused(result.outcomes[1], "does-not-fit", "Too many pods: the node takes 1")
    assert result.outcomes[1].changes == ("tier: kubelet.max_pods=2 (instead of 1)",)


def test_parts_of_cores() -> None:
    (outcome,) = simulate(planned_node(**_FULL), [guaranteed("a", 3)]).outcomes
    _refused(outcome, "cpus-not-multiple-of-threads-per-core", "whole cores of 2 threads: 3 mod 2 = 1")
    assert outcome.message == "requested 3 cpus not multiple cpus per core = 2"
    assert outcome.changes == (
        "pod: cpu 2 instead of 3 for container c",
        "pod: cpu 4 instead of 3 for container c",
        "tier: kubelet.cpu_manager_policy_options.full-pcpus-only=false (instead of true)",
    )


def test_cores_that_a_reserved_list_cuts_in_two_are_given_to_nobody() -> None:
    planned = planned_node(reserved="0-3", alternatives=("0-1,8-9",), **_FULL)
    (outcome,) = simulate(planned, [guaranteed("a", 12)]).outcomes
    _refused(
        outcome,
        "not-enough-free-physical-cpus",
        "16 CPUs are in the shared pool, 4 of them reserved",
        "4 more share a core with a reserved CPU: 8-11",
        "8 CPUs on whole cores are left, 12 are asked for",
    )
    assert outcome.changes == (
        "pod: cpu 8 instead of 12 for container c",
        "tier: cpu.reserved=0-1,8-9 (instead of 0-3)",
        "tier: kubelet.cpu_manager_policy_options.full-pcpus-only=false (instead of true)",
    )


def test_restricted_wants_the_fewest_nodes_that_could_hold_the_request() -> None:
    pods = [guaranteed("a", 5), guaranteed("b", 5), guaranteed("c", 4)]
    outcome = simulate(planned_node(**_restricted()), pods).outcomes[2]
    _refused(
        outcome,
        "no-acceptable-numa-hint",
        "4 CPUs asked for; free by NUMA node: 0: 1, 1: 3; in all 4",
        "with all CPUs free: 1; the most free on 1 is 3",
    )
    assert outcome.changes == (
        "pod: cpu 3 instead of 4 for container c",
        "tier: kubelet.topology_manager_policy=best-effort (instead of restricted)",
    )


def test_single_numa_node_wants_one() -> None:
    outcome = simulate(planned_node(topologyManagerPolicy="single-numa-node"), [guaranteed("a", 9)]).outcomes[0]
    _refused(
        outcome, "no-acceptable-numa-hint", "single-numa-node needs them on one NUMA node; the most free on one is 8"
    )
    assert outcome.changes == (
        "pod: cpu 8 instead of 9 for container c",
        "tier: kubelet.topology_manager_policy=restricted (instead of single-numa-node)",
    )


def test_managers_that_prefer_different_widths_agree_on_nothing() -> None:
    outcome = simulate(planned_node(**_restricted(**_STATIC)), [guaranteed("a", 10, "8Gi")]).outcomes[0]
    _refused(
        outcome,
        "no-acceptable-numa-hint",
        "8Gi of memory asked for; free by NUMA node: 0: 31.9Gi, 1: 32Gi",
        "the CPUs need 2 and the memory needs 1 of the NUMA nodes",
    )
    assert outcome.changes == (
        "pod: cpu 8 instead of 10 for container c",
        "pod: memory 32769Mi instead of 8Gi for container c",
        "tier: kubelet.memory_manager_policy=None (instead of Static)",
        "tier: kubelet.topology_manager_policy=best-effort (instead of restricted)",
    )


def test_memory_that_needs_more_nodes_than_the_cpus() -> None:
    outcome = simulate(planned_node(**_restricted(**_STATIC)), [guaranteed("a", 4, "40Gi")]).outcomes[0]
    _refused(outcome, "no-acceptable-numa-hint", "the CPUs need 1 and the memory needs 2 of the NUMA nodes")
    assert outcome.changes[:2] == (
        "pod: cpu 9 instead of 4 for container c",
        "pod: memory 32Gi instead of 40Gi for container c",
    )


def test_nodes_that_give_memory_together_give_none_alone() -> None:
    pods = [guaranteed("wide", 10, "40Gi"), guaranteed("small", 2)]
    outcome = simulate(planned_node(**_restricted(**_STATIC)), pods).outcomes[1]
    assert not outcome.admitted
    assert any("NUMA nodes 0+1 give memory to a running pod together" in one for one in outcome.arithmetic)


def test_nodes_in_use_alone_are_not_joined() -> None:
    pods = [guaranteed("small", 2), guaranteed("wide", 10, "40Gi")]
    outcome = simulate(planned_node(**_restricted(**_STATIC)), pods).outcomes[1]
    _refused(
        outcome,
        "memory-numa-group-conflict",
        "40Gi of memory asked for",
        "NUMA nodes in use alone, so that no pod gets them together with others: 0",
    )
    assert not any("CPUs" in statement for statement in outcome.arithmetic)


def test_the_numbers_are_those_of_the_moment_of_the_refusal() -> None:
    one = pod("b", container("first", 4), container("second", 5), container("third", 4))
    outcome = simulate(planned_node(topologyManagerPolicy="single-numa-node"), [one]).outcomes[0]
    # 4 of node 0 and 5 of node 1 went to the containers before.
    _refused(outcome, "no-acceptable-numa-hint", "4 CPUs asked for; free by NUMA node: 0: 2, 1: 3; in all 5")
    assert outcome.container == "third"
    assert outcome.changes == (
        "pod: cpu 3 instead of 4 for container third",
        "tier: kubelet.topology_manager_policy=best-effort (instead of single-numa-node)",
    )


def test_sparse_numbering_crashes_the_kubelet() -> None:
    machine = machine_of_shape("2s4c2t")
    far = KubeletMachine(
        tuple(replace(place, node=place.node * 8) for place in machine.places),
        tuple(MemoryNode(node.id * 8, node.memory, node.hugepages, node.distances) for node in machine.nodes),
    )
    options: dict[str, Any] = {"topologyManagerPolicyOptions": {"prefer-closest-numa-nodes": "true"}}
    outcome = simulate(planned_node(machine=far, **_restricted(**options)), [guaranteed("a", 4)]).outcomes[0]
    _refused(outcome, "panic", "the ids have gaps: 0, 8")
    field = "kubelet.topology_manager_policy_options.prefer-closest-numa-nodes"
    assert f"tier: {field}=false (instead of true)" in outcome.changes


def test_a_pod_that_leaves_no_shared_cpus_to_its_own_containers() -> None:
    gates: dict[str, Any] = {"featureGates": {"PodLevelResources": True, "PodLevelResourceManagers": True}}
    planned = planned_node(topologyManagerPolicy="best-effort", topologyManagerScope="pod", **gates)
    size = {"cpu": "4", "memory": "4Gi"}
    one = pod("a", container("own", 4), {"name": "rest"}, resources={"requests": size, "limits": size})
    outcome = simulate(planned, [one]).outcomes[0]
    _refused(outcome, "empty-shared-pool", "the pod has 4 CPUs", "own 4", "nothing is left for rest")
    assert "pod: cpu 5 instead of 4 for the pod" in outcome.changes


def test_a_second_pod_alike_refers_to_the_first() -> None:
    pods = [guaranteed(f"a-{number}", 9) for number in range(3)]
    first, second, third = simulate(planned_node(topologyManagerPolicy="single-numa-node"), pods).outcomes
    assert first.same_as == ""
    assert first.arithmetic
    assert first.changes
    assert (second.same_as, third.same_as) == ("a-0", "a-0")
    assert (second.arithmetic, second.changes, second.code) == ((), (), first.code)


def test_refusals_leave_nothing_behind() -> None:
    planned = planned_node(**_restricted(**_STATIC))
    alone = simulate(planned, [guaranteed("b", 4)]).outcomes[0]
    after = simulate(planned, [guaranteed("a", 10, "8Gi"), guaranteed("b", 4)]).outcomes[1]
    assert after == alone


def test_a_kubelet_that_does_not_start_admits_nobody() -> None:
    result = simulate(planned_node(reserved=""), [guaranteed("a", 1)])
    assert result.trouble.startswith("no-cpu-reservation: ")
    assert result.outcomes == ()
    assert fill(planned_node(reserved=""), guaranteed("a", 1)).trouble == result.trouble


def test_every_code_of_a_refusal_is_explained() -> None:
    directory = Path(__file__).parents[4] / "plugins" / "module_utils" / "core" / "kubelet"
    found = set()
    for file in directory.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                place = {"Rejection": 1, "_reject": 0}.get(node.func.id)
                code = None if place is None else node.args[place]
                if isinstance(code, ast.Constant):
                    found.add(code.value)
    assert found >= {"panic", "not-enough-cpus", "memory-numa-group-conflict"}
    # Not written as constants: the codes of `_empty_share` and of the scheduler.
    assert found | {"empty-shared-pool", "empty-shared-pool-init", "does-not-fit"} == set(REFUSALS)


# Copies


@pytest.mark.parametrize(
    ("config", "one", "copies", "code"),
    [
        ({}, guaranteed("a", 4), 3, "does-not-fit"),
        ({"topologyManagerPolicy": "single-numa-node"}, guaranteed("a", 7), 1, "no-acceptable-numa-hint"),
        (_FULL, guaranteed("a", 3), 0, "cpus-not-multiple-of-threads-per-core"),
        (_restricted(**_STATIC), guaranteed("a", 1, "20Gi"), 2, "memory-cannot-extend-hint"),
        ({}, burstable("a"), 110, "does-not-fit"),
    ],
)
def test_fill_is_repeated_admission(config: dict[str, Any], one: Pod, copies: int, code: str) -> None:
    planned = planned_node(**config)
    result = fill(planned, one)
    assert len(result.outcomes) - len(result.refused) == copies
    assert [outcome.code for outcome in result.refused] == [code]
    pods = [replace(one, name=f"a-{number}") for number in range(copies + 1)]
    assert result.outcomes == simulate(planned, pods).outcomes


def test_fill_ends_at_its_limit() -> None:
    assert len(fill(planned_node(), burstable("a"), limit=5).outcomes) == 5


# Restarts


def test_whole_cores_on_a_full_node_do_not_survive_a_restart() -> None:
    pods = [guaranteed("a", 8), guaranteed("b", 4)]
    result = simulate(planned_node(**_FULL), pods, restart=True)
    assert result.restart is not None
    assert result.refused == ()
    ((name, reason),) = result.restart.killed
    # Once a is gone there is room for b again.
    assert name == "a"
    assert reason.startswith("SMTAlignmentError: not enough free physical CPUs: available physical CPUs = 2")
    assert (result.restart.running, result.restart.kept) == (2, 1)


def test_whole_cores_with_enough_left_survive() -> None:
    result = simulate(planned_node(**_FULL), [guaranteed("a", 6)], restart=True)
    assert result.restart is not None
    assert (result.restart.killed, result.restart.kept, result.restart.moved) == ((), 1, ())


@pytest.mark.parametrize(
    "config",
    [{}, _restricted(), _restricted(**_STATIC), {"topologyManagerPolicy": "single-numa-node"}],
    ids=["none", "restricted", "restricted, Static", "single-numa-node"],
)
def test_otherwise_every_running_pod_is_readmitted(config: dict[str, Any]) -> None:
    pods = [guaranteed("a", 4), burstable("b"), guaranteed("c", 3), pod("d", {"name": "c"})]
    result = simulate(planned_node(**config), pods, restart=True)
    assert result.restart is not None
    assert (result.restart.trouble, result.restart.killed, result.restart.moved) == ("", (), ())
    assert (result.restart.running, result.restart.kept) == (4, 4)


def test_an_empty_shared_pool_is_refused_at_the_start() -> None:
    options: dict[str, Any] = {"cpuManagerPolicyOptions": {"strict-cpu-reservation": "true"}}
    result = simulate(planned_node(**options), [guaranteed("a", 14)], restart=True)
    assert result.restart is not None
    assert result.restart.trouble.startswith("state-empty-shared: ")
    assert result.restart.kept == 0


def test_openshift_starts_without_the_checkpoints() -> None:
    options: dict[str, Any] = {"cpuManagerPolicyOptions": {"strict-cpu-reservation": "true"}}
    planned = replace(planned_node(**options), flavor=Flavor.OPENSHIFT)
    result = simulate(planned, [guaranteed("a", 14)], restart=True)
    assert result.restart is not None
    assert result.restart.fresh
    assert (result.restart.trouble, result.restart.killed, result.restart.kept) == ("", (), 1)


# Words


@pytest.mark.parametrize(
    ("name", "size", "text"),
    [
        ("cpu", Fraction(90), "90"),
        ("cpu", Fraction(3, 2), "1.5"),
        ("memory", Fraction(200 * GIB), "200Gi"),
        ("memory", Fraction(GIB + 1), "1Gi"),
        ("memory", Fraction(GIB * 1279, 10), "127.9Gi"),
        ("memory", Fraction(12), "12"),
        ("hugepages-2Mi", Fraction(2 * 1024**2), "2Mi"),
        ("memory", Fraction(0), "0"),
    ],
)
def test_amounts(name: str, size: Fraction, text: str) -> None:
    assert amount(name, size) == text


def test_amounts_that_read_alike_are_exact() -> None:
    assert amounts("memory", Fraction(GIB), Fraction(GIB - 1)) == ["1Gi", str(GIB - 1)]
    assert amounts("memory", Fraction(GIB), Fraction(GIB)) == ["1Gi", "1Gi"]


@pytest.mark.parametrize(
    ("sizes", "request_", "width"), [([4, 8, 2], 8, 1), ([4, 8, 2], 9, 2), ([4], 9, 1), ([], 1, 0)]
)
def test_fewest(sizes: list[int], request_: int, width: int) -> None:
    assert fewest(sizes, request_) == width
