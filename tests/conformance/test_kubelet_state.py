"""Checkpoints of the real kubelet are read, checked and written as it does; damaged ones are refused as it does."""

import json
from typing import Any

import pytest
from support.kubelet_machines import load_machines
from support.oracles import oracle_dir, oracle_files

from tunectl.core.kubelet.admission import StartError
from tunectl.core.kubelet.checkpoint import CpuCheckpoint, MemoryCheckpoint, read_cpu_checkpoint, read_memory_checkpoint
from tunectl.core.kubelet.checkpoint_dump import (
    checksum,
    cpu_dump_with_pods,
    cpu_hash_input,
    memory_dump_with_pods,
    memory_hash_input,
)
from tunectl.core.kubelet.node import Flavor, KubeletNode
from tunectl.core.kubelet.pod import pod_from_spec
from tunectl.core.kubelet.settings import ManagerSettings, read_settings

Case = dict[str, Any]


def _lines(name: str) -> list[Case]:
    return [json.loads(line) for path in oracle_files("kubelet-state", name) for line in path.read_text().splitlines()]


GENUINE, DAMAGED = _lines("index.jsonl"), _lines("damaged.jsonl")


def _text(case: Case, name: str) -> str | None:
    path = oracle_dir("kubelet-state") / case["id"] / name
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _read(case: Case, settings: ManagerSettings) -> tuple[CpuCheckpoint | None, MemoryCheckpoint | None]:
    cpu, memory = _text(case, "cpu_manager_state"), _text(case, "memory_manager_state")
    found = None
    if cpu is not None:
        found = read_cpu_checkpoint(
            cpu,
            policy=settings.cpu_policy,
            pod_level=settings.pod_level_managers,
            running=case.get("runningContainers"),
        )
    if memory is None:
        return found, None
    return found, read_memory_checkpoint(memory, policy=settings.memory_policy, pod_level=settings.pod_level_managers)


def _resumed(case: Case) -> KubeletNode:
    machine = load_machines(oracle_dir("kubelet-state"))[case["machine"]][0]
    settings = read_settings(case["kubelet"])
    cpu, memory = _read(case, settings)
    flavor = Flavor(case.get("flavor", "upstream"))
    partitioned = bool(case.get("openshiftWorkloadPartitioning"))
    return KubeletNode.resume(machine, settings, cpu, memory, flavor=flavor, partitioned=partitioned)


def test_the_vectors_are_there() -> None:
    directory = oracle_dir("kubelet-state")
    assert len(GENUINE) >= 10, directory
    assert len(DAMAGED) >= 10, directory


@pytest.mark.parametrize("case", GENUINE, ids=lambda case: case["id"])
def test_a_genuine_file_is_read_and_written_back(case: Case) -> None:
    cpu, memory = _read(case, read_settings(case["kubelet"]))
    assert cpu is not None
    assert memory is not None
    assert cpu.text() == _text(case, "cpu_manager_state")
    assert memory.text() == _text(case, "memory_manager_state")


@pytest.mark.parametrize("case", GENUINE, ids=lambda case: case["id"])
def test_the_checksum_is_of_the_text_that_the_kubelet_hashes(case: Case) -> None:
    pod_level = read_settings(case["kubelet"]).pod_level_managers
    dumps = {
        "cpu_manager_state": cpu_dump_with_pods if pod_level else cpu_hash_input,
        "memory_manager_state": memory_dump_with_pods if pod_level else memory_hash_input,
    }
    for name, dump in dumps.items():
        text = dump(json.loads(_text(case, name) or ""))
        assert text == case["hashInput"][name]
        assert checksum(text) == case["checksum"][name]


@pytest.mark.parametrize("case", [case for case in GENUINE if "expect" in case], ids=lambda case: case["id"])
def test_the_file_says_what_each_container_must_show(case: Case) -> None:
    cpu, memory = _read(case, read_settings(case["kubelet"]))
    assert cpu is not None
    assert memory is not None
    for one in case["expect"]:
        own = cpu.entries.get(one["pod"], {}).get(one["container"])
        assert (own is not None) == one["exclusive"]
        if "cpus" in one:
            assert str(own if own is not None else cpu.default) == one["cpus"]
        blocks = memory.entries.get(one["pod"], {}).get(one["container"], ())
        assert ",".join(str(node) for node in sorted({node for block in blocks for node in block.nodes})) == one.get(
            "mems", ""
        )


@pytest.mark.parametrize("case", GENUINE, ids=lambda case: case["id"])
def test_the_model_writes_the_same_files(case: Case) -> None:
    machine = load_machines(oracle_dir("kubelet-state"))[case["machine"]][0]
    node = KubeletNode.boot(
        machine,
        read_settings(case["kubelet"]),
        flavor=Flavor(case["flavor"]),
        partitioned=bool(case.get("openshiftWorkloadPartitioning")),
    )
    for spec in case.get("pods") or ():
        pod = pod_from_spec(spec)
        node.admit(pod)
    cpu, memory = node.checkpoints()
    assert cpu.text() == _text(case, "cpu_manager_state")
    assert _without_order(memory.text()) == _without_order(_text(case, "memory_manager_state") or "")


def _without_order(text: str) -> Any:
    """The blocks of a container come in the order of a map of the kubelet's, which has none."""
    data = json.loads(text)
    del data["checksum"]
    for containers in data.get("entries", {}).values():
        for blocks in containers.values():
            blocks.sort(key=lambda block: block["type"])
    return data


@pytest.mark.parametrize("case", DAMAGED, ids=lambda case: case["id"])
def test_a_damaged_file_is_judged_as_the_kubelet_does(case: Case) -> None:
    if case["starts"]:
        node = _resumed(case)
        assert str(node.cpu.shared) == case["shared"]
        entries = {pod: {name: str(cpus) for name, cpus in one.items()} for pod, one in node.cpu.assigned.items()}
        assert entries == case.get("entries", {})
        return
    with pytest.raises(StartError) as refused:
        _resumed(case)
    assert (refused.value.stage, refused.value.code) == (case["stage"], case["code"])
