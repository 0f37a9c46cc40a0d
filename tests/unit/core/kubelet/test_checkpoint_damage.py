"""Whatever a checkpoint holds: it is read, or refused for a reason of the kubelet's; never a crash."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunectl.core.cpuset import CpuSet
from tunectl.core.kubelet.admission import StartError
from tunectl.core.kubelet.checkpoint import (
    CpuCheckpoint,
    MemoryCheckpoint,
    read_cpu_checkpoint,
    read_memory_checkpoint,
)
from tunectl.core.kubelet.memory_policy import Block, MemoryTable, NodeMemory

NAMES = st.text('abc-0123:{}[] "é', min_size=1, max_size=8)
SETS = st.sets(st.integers(0, 40)).map(CpuSet)
ENTRIES = st.dictionaries(NAMES, st.dictionaries(NAMES, SETS, min_size=1, max_size=3), max_size=3)
SIZES = st.integers(0, 2**64 - 1)
TABLES = st.builds(MemoryTable, SIZES, SIZES, SIZES, SIZES, SIZES)
NODES = st.lists(st.integers(0, 12), max_size=3, unique=True).map(tuple)
CPU = st.builds(CpuCheckpoint, st.sampled_from(("none", "static")), SETS, ENTRIES)
MEMORY = st.builds(
    MemoryCheckpoint,
    st.sampled_from(("None", "Static")),
    st.dictionaries(
        st.integers(0, 12),
        st.builds(
            NodeMemory, NODES, st.integers(0, 9), st.dictionaries(st.sampled_from(("memory", "hugepages-2Mi")), TABLES)
        ),
        max_size=3,
    ),
    st.dictionaries(
        NAMES,
        st.dictionaries(
            NAMES,
            st.lists(st.builds(Block, st.sampled_from(("memory", "hugepages-1Gi")), NODES, SIZES), max_size=2).map(
                tuple
            ),
            min_size=1,
            max_size=2,
        ),
        max_size=2,
    ),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
FIELDS = (
    "policyName", "defaultCpuSet", "entries", "podEntries", "machineState", "checksum", "memoryMap", "cells",
    "numberOfAssignments", "POLICYNAME",
)  # fmt: skip
DOCUMENTS = st.dictionaries(st.sampled_from(FIELDS), JSON)
CODES = {"state-unreadable", "state-corrupt", "state-v1-unknown-container", "state-policy-differs"}


def _read(text: str) -> tuple[set[str], list[Any]]:
    codes, found = set(), []
    readers: tuple[Callable[[str], Any], ...] = (
        read_cpu_checkpoint,
        read_memory_checkpoint,
        lambda one: read_cpu_checkpoint(one, policy="static", pod_level=True, running={"c": "pod/app"}),
        lambda one: read_memory_checkpoint(one, policy="Static", pod_level=True),
    )
    for read in readers:
        try:
            found.append(read(text))
        except StartError as error:
            codes.add(error.code)
    return codes, found


@given(CPU)
def test_a_cpu_checkpoint_is_read_back(checkpoint: CpuCheckpoint) -> None:
    assert read_cpu_checkpoint(checkpoint.text()) == checkpoint


@given(MEMORY)
def test_a_memory_checkpoint_is_read_back(checkpoint: MemoryCheckpoint) -> None:
    assert read_memory_checkpoint(checkpoint.text()) == checkpoint


@given(CPU | MEMORY, st.data())
def test_a_truncated_file_is_refused(checkpoint: CpuCheckpoint | MemoryCheckpoint, data: st.DataObject) -> None:
    text = checkpoint.text()
    codes, found = _read(text[: data.draw(st.integers(0, len(text) - 1))])
    assert not found
    assert codes == {"state-unreadable"}


@given(CPU, st.integers(1, 2**32 - 1))
def test_a_wrong_checksum_is_refused(checkpoint: CpuCheckpoint, off: int) -> None:
    data = json.loads(checkpoint.text())
    data["checksum"] = (data["checksum"] + off) % 2**32
    if data["checksum"] == 0:
        assert read_cpu_checkpoint(json.dumps(data)) == checkpoint
        return
    with pytest.raises(StartError) as refused:
        read_cpu_checkpoint(json.dumps(data))
    assert refused.value.code == "state-unreadable"


@given(DOCUMENTS.map(json.dumps) | st.text() | JSON.map(json.dumps))
def test_any_content_is_read_or_refused(text: str) -> None:
    codes, _found = _read(text)
    assert codes <= CODES


def test_a_file_nested_without_end_is_refused() -> None:
    codes, found = _read("[" * 100_000)
    assert (codes, found) == ({"state-unreadable"}, [])


def test_names_count_in_any_case_and_null_is_nothing() -> None:
    assert read_cpu_checkpoint('{"POLICYNAME":"static","defaultcpuset":null,"entries":null}').policy == "static"
    assert read_cpu_checkpoint("null") == CpuCheckpoint("")


def test_of_the_oldest_format_each_container_must_be_known() -> None:
    text = '{"policyName":"static","defaultCpuSet":"0","entries":{"c1":"1","c2":"2"}}'
    with pytest.raises(StartError) as refused:
        read_cpu_checkpoint(text, running={"c1": "p/a"})
    assert refused.value.code == "state-v1-unknown-container"
    found = read_cpu_checkpoint(text, running={"c1": "p/a", "c2": "p/b"})
    assert found.entries == {"p": {"a": CpuSet((1,)), "b": CpuSet((2,))}}


def test_another_policy_is_told_before_a_list_that_is_none() -> None:
    text = '{"policyName":"none","defaultCpuSet":"0-x"}'
    with pytest.raises(StartError) as refused:
        read_cpu_checkpoint(text, policy="static")
    assert refused.value.code == "state-policy-differs"
    with pytest.raises(StartError) as refused:
        read_cpu_checkpoint(text)
    assert refused.value.code == "state-unreadable"
