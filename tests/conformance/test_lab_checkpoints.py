"""The checkpoints of the simulated kubelet are those of the real one, byte for byte."""

import json
from typing import Any

import pytest
from support.oracles import oracle_dir, oracle_files

from tunectl.lab.checkpoint import (
    CheckpointError,
    CpuCheckpoint,
    checksum,
    cpu_hash_input,
    memory_hash_input,
    read_cpu_checkpoint,
    read_memory_checkpoint,
)


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for path in oracle_files("kubelet-state", name) for line in path.read_text().splitlines()]


_PLAIN = [one for one in _lines("index.jsonl") if "PodEntries" not in one["hashInput"]["cpu_manager_state"]]
_DAMAGED = [one for one in _lines("damaged.jsonl") if one["files"] and "featureGates" not in one["kubelet"]]


def test_the_vectors_are_there() -> None:
    oracle_dir("kubelet-state")
    assert _PLAIN
    assert _DAMAGED


@pytest.mark.parametrize("case", _PLAIN, ids=lambda case: case["id"])
def test_a_real_cpu_checkpoint_is_read_and_written_back(case: dict[str, Any]) -> None:
    text = (oracle_dir("kubelet-state") / case["id"] / "cpu_manager_state").read_text()
    dump = cpu_hash_input(json.loads(text))
    assert dump == case["hashInput"]["cpu_manager_state"]
    assert checksum(dump) == case["checksum"]["cpu_manager_state"]
    assert read_cpu_checkpoint(text).text() == text


@pytest.mark.parametrize("case", _PLAIN, ids=lambda case: case["id"])
def test_a_real_memory_checkpoint_is_read_and_written_back(case: dict[str, Any]) -> None:
    text = (oracle_dir("kubelet-state") / case["id"] / "memory_manager_state").read_text()
    dump = memory_hash_input(json.loads(text))
    assert dump == case["hashInput"]["memory_manager_state"]
    assert checksum(dump) == case["checksum"]["memory_manager_state"]
    assert read_memory_checkpoint(text).text() == text


@pytest.mark.parametrize(
    "case",
    [case for case in _DAMAGED if case.get("code") == "state-unreadable"],
    ids=lambda case: case["id"],
)
def test_an_unreadable_cpu_checkpoint_is_refused(case: dict[str, Any]) -> None:
    text = (oracle_dir("kubelet-state") / case["files"][0]).read_text()
    with pytest.raises(CheckpointError):
        read_cpu_checkpoint(text)


@pytest.mark.parametrize(
    "case",
    [case for case in _DAMAGED if case["starts"] and "runningContainers" not in case],
    ids=lambda case: case["id"],
)
def test_a_checkpoint_without_checksum_is_taken_as_it_is(case: dict[str, Any]) -> None:
    found = read_cpu_checkpoint((oracle_dir("kubelet-state") / case["files"][0]).read_text())
    assert found.default.format() == case["shared"]
    entries = {pod: {name: cpus.format() for name, cpus in one.items()} for pod, one in found.entries.items()}
    assert entries == case["entries"]


def test_a_corrupt_memory_checkpoint_is_refused() -> None:
    for case in _DAMAGED:
        if case.get("code") == "state-corrupt":
            text = (oracle_dir("kubelet-state") / case["files"][0]).read_text()
            with pytest.raises(CheckpointError, match="corrupted"):
                read_memory_checkpoint(text)


def test_an_empty_checkpoint_is_that_of_a_kubelet_without_pods() -> None:
    assert CpuCheckpoint("none").text() == '{"policyName":"none","defaultCpuSet":"","checksum":1353318690}'
