"""Hints, merging, admission, removal and restart against recordings of the real kubelet; quality of service too."""

from typing import Any

import pytest
from support.conformance import tally
from support.kubelet_machines import load_machines, read_jsonl
from support.kubelet_replay import replay, without_empty
from support.oracles import oracle_dir

from tunectl.core.cpuset import CpuSet
from tunectl.core.kubelet.cpu_policy import CpuOptions, CpuPolicy
from tunectl.core.kubelet.hints import Hint, Merger, TopologyPolicy
from tunectl.core.kubelet.pod import exclusive_cpus, oom_score_adj, pod_from_spec
from tunectl.core.quantity import parse_quantity


def _check(oracle: str, wrong: list[Any], total: int) -> None:
    tally(oracle, total, len(wrong))
    assert total > 0
    assert not wrong, f"{len(wrong)} of {total} differ, the first: {wrong[0]}"


def test_hints_are_those_of_the_kubelet() -> None:
    directory = oracle_dir("kubelet-cpumanager")
    machines = load_machines(directory)
    cases = read_jsonl(directory / "hints.jsonl")
    wrong = []
    for case in cases:
        machine = machines[case["machine"]][0]
        policy = CpuPolicy(machine, CpuOptions(align_by_socket=case["alignBySocket"]), CpuSet(), machine.cpus)
        hints = policy.generate_hints(CpuSet.parse(case["available"]), CpuSet.parse(case["reusable"]), case["request"])
        answer = [[sorted(hint.nodes or ()), hint.preferred] for hint in hints]
        if answer != case["hints"]:
            wrong.append((case, answer))
    _check("kubelet-cpumanager", wrong, len(cases))


def test_hints_are_merged_as_the_kubelet_does() -> None:
    directory = oracle_dir("kubelet-cpumanager")
    machines = load_machines(directory)
    cases = read_jsonl(directory / "merge.jsonl")
    wrong = []
    for case in cases:
        nodes = machines[case["machine"]][0].nodes
        merger = Merger(
            TopologyPolicy(case["policy"]),
            tuple(node.id for node in nodes),
            case.get("preferClosest", False),
            {node.id: node.distances for node in nodes},
        )
        best, admit = merger.merge([_provider(provider) for provider in case["providers"]])
        answer = ([sorted(best.nodes) if best.nodes is not None else None, best.preferred], admit)
        if answer != (case["best"], case["admit"]):
            wrong.append((case, answer))
    _check("kubelet-cpumanager", wrong, len(cases))


def _provider(resources: dict[str, Any] | None) -> dict[str, list[Hint] | None] | None:
    return None if resources is None else {name: _hints(hints) for name, hints in resources.items()}


def _hints(hints: list[Any] | None) -> list[Hint] | None:
    if hints is None:
        return None
    return [Hint(None if nodes is None else frozenset(nodes), preferred) for nodes, preferred in hints]


@pytest.mark.parametrize("name", ["kubelet-cpumanager", "kubelet-memorymanager"])
def test_sequences_end_as_on_the_real_kubelet(name: str) -> None:
    directory = oracle_dir(name)
    machines = load_machines(directory)
    cases = read_jsonl(directory / "sequences.jsonl")
    wrong = []
    for case in cases:
        expected = [without_empty(step) for step in case["steps"]]
        answer = replay(case, machines[case["machine"]][0])
        if answer != expected:
            wrong.append((case["id"], [pair for pair in zip(expected, answer, strict=False) if pair[0] != pair[1]][:1]))
    _check(name, wrong, len(cases))


def test_quality_of_service_and_oom_scores() -> None:
    cases = read_jsonl(oracle_dir("kubelet-qos") / "pods.jsonl")
    wrong = []
    for case in cases:
        pod = pod_from_spec(case["pod"])
        answer = {
            "qosClass": pod.qos.value,
            "oomScoreAdj": {one.name: oom_score_adj(pod, one, case["nodeMemoryBytes"]) for one in pod.containers},
            "exclusiveCpus": {one.name: exclusive_cpus(pod, one) for one in pod.containers},
            "effectiveRequests": {one.name: dict(one.requests) for one in pod.containers if one.requests},
        }
        expected = {key: case[key] for key in answer}
        expected["effectiveRequests"] = {
            name: {resource: parse_quantity(value) for resource, value in requests.items()}
            for name, requests in case["effectiveRequests"].items()
        }
        if answer != expected:
            wrong.append((case["id"], answer, expected))
    _check("kubelet-qos", wrong, len(cases))
