"""What a kubelet starts with and should not."""

from typing import Any

import pytest

from tunectl.core.cpuset import CpuSet
from tunectl.core.kubelet.hazards import Hazard, hazards, odd_cores
from tunectl.core.kubelet.machine import KubeletMachine, MemoryNode, RawCpu, discover
from tunectl.core.kubelet.settings import read_settings

GIB = 1024**3
STATIC = {"cpuManagerPolicy": "static", "reservedSystemCPUs": "0"}


def machine(cpus: str = "0-7", nodes: tuple[int, ...] = (0,), pages: int = 0, sockets: int = 1) -> KubeletMachine:
    online = CpuSet.parse(cpus)
    raw = [RawCpu(cpu, cpu // 2, cpu * sockets // 8, nodes[cpu * len(nodes) // 8], None) for cpu in online]
    memory = [MemoryNode(one, 8 * GIB, {2 * 1024**2: pages} if pages else {}, (10,) * len(nodes)) for one in nodes]
    return discover(raw, memory)


def found(config: dict[str, Any], on: KubeletMachine) -> list[Hazard]:
    return list(hazards(read_settings(config), on))


@pytest.mark.parametrize(
    ("cpus", "sockets", "words"),
    [
        ("0-7", 1, ""),
        ("0,2,4,6", 1, ""),
        ("0-6", 1, "1 or 2 online threads"),
        ("0-2,4-7", 2, "1 or 2 online threads"),
        ("0-3,6-7", 2, "sockets have 2 or 4 online CPUs"),
    ],
)
def test_uneven_machines_under_the_static_policy(cpus: str, sockets: int, words: str) -> None:
    on = machine(cpus, sockets=sockets)
    hits = found(STATIC, on)
    assert [one.code for one in hits] == (["uneven-cores"] if words else [])
    assert all(words in one.what for one in hits)
    assert found({}, on) == []


def test_the_cpus_of_odd_cores_are_named() -> None:
    # Seven CPUs on four cores: the kubelet takes every core to have one thread.
    assert str(odd_cores(machine("0-6"))) == "0-5"
    assert odd_cores(machine()) == CpuSet()


@pytest.mark.parametrize(("reserved", "pages", "hits"), [("4Gi", 2048, 0), ("4097Mi", 2048, 1), ("9Gi", 0, 1)])
def test_memory_that_wraps_around(reserved: str, pages: int, hits: int) -> None:
    config = {
        "memoryManagerPolicy": "Static",
        "reservedMemory": [{"numaNode": 0, "limits": {"memory": reserved}}],
    }
    result = found(config, machine(pages=pages))
    assert [one.code for one in result] == ["memory-wrap"] * hits
    assert found({**config, "memoryManagerPolicy": "None"}, machine(pages=pages)) == []


@pytest.mark.parametrize(
    ("policy", "nodes", "hits"),
    [
        ("best-effort", (0, 1), 0),
        ("best-effort", (0, 8), 1),
        ("restricted", (1, 2), 1),
        ("single-numa-node", (0, 8), 0),
        ("none", (0, 8), 0),
    ],
)
def test_gaps_in_the_numbers_of_nodes(policy: str, nodes: tuple[int, ...], hits: int) -> None:
    config = {
        "topologyManagerPolicy": policy,
        "topologyManagerPolicyOptions": {"prefer-closest-numa-nodes": "true"},
    }
    assert [one.code for one in found(config, machine(nodes=nodes))] == ["sparse-nodes"] * hits


def test_the_gate_that_gives_a_second_set_of_cpus() -> None:
    (hit,) = found({"featureGates": {"PodLevelResourceManagers": True}}, machine())
    assert hit.code == "pod-level-managers"
    assert "PodLevelResourceManagers" in hit.fix
