"""Shipped machines and shapes: what the compact form means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunectl.core.cpuset import CpuSet
from tunectl.core.errors import InputError
from tunectl.core.machine import topology_from_facts
from tunectl.lab.machines import expand_machine, load_machine, machine_names, parse_shape


@pytest.mark.parametrize("name", machine_names())
def test_every_shipped_machine_is_a_topology_of_its_name_and_says_where_it_comes_from(name: str) -> None:
    facts = load_machine(name)
    topology = topology_from_facts(facts)
    assert facts["name"] == name
    assert facts["provenance"]
    assert topology.cpus
    assert len(topology.online) == len(topology.cores) * topology.threads_per_core


def test_the_machine_of_the_source_report_has_siblings_64_apart() -> None:
    topology = topology_from_facts(load_machine("xeon-8358-2s32c2t"))
    assert topology.memory_kib == 512 << 20
    assert topology.by_id[5].siblings == CpuSet.parse("5,69")
    assert topology.numa_node(0).cpus == CpuSet.parse("0-31,64-95")
    assert topology.numa_node(1).cpus == CpuSet.parse("32-63,96-127")
    reserved, isolated = CpuSet.parse("0-18,32-50"), CpuSet.parse("19-31,51-127")
    assert len(topology.split_cores(reserved, isolated)) == 38


def test_a_cache_group_of_the_four_node_machine_is_eight_cores() -> None:
    topology = topology_from_facts(load_machine("epyc-7713-1s64c2t4n"))
    assert len(topology.numa_nodes) == 4
    assert topology.l3_groups[0] == CpuSet.parse("0-7,64-71")
    assert len(topology.l3_groups) == 8


def test_an_unknown_machine_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(InputError) as caught:
        load_machine("cray-1")
    assert "xeon-8358-2s32c2t" in str(caught.value)


@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 8), st.integers(1, 4))
def test_a_shape_has_what_it_says(sockets: int, nodes: int, cores: int, threads: int) -> None:
    topology = topology_from_facts(parse_shape(f"{sockets}s{cores * nodes}c{threads}t{sockets * nodes}n"))
    assert len(topology.sockets) == sockets
    assert len(topology.numa_nodes) == sockets * nodes
    assert len(topology.cores) == sockets * cores * nodes
    assert all(len(core) == threads for core in topology.cores)
    assert {len(node.cpus) for node in topology.numa_nodes} == {cores * threads}
    assert all(node.distances[node.id] == 10 for node in topology.numa_nodes)


def test_a_shape_without_nodes_has_one_a_socket_and_far_siblings() -> None:
    topology = topology_from_facts(parse_shape("2s4c2t"))
    assert [node.cpus.format() for node in topology.numa_nodes] == ["0-3,8-11", "4-7,12-15"]
    assert topology.cores[0] == CpuSet.parse("0,8")


@pytest.mark.parametrize(
    "text", ["", "2s", "2s32c", "2c32s2t", "0s1c1t", "2s3c1t4n", "2s4c1t3n", "99s99c9t", "2s4c2t "]
)
def test_what_is_no_shape_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="TUN-1601"):
        parse_shape(text)


def test_adjacent_numbering_puts_the_threads_of_a_core_side_by_side() -> None:
    layout = {"sockets": 2, "nodes_per_socket": 1, "cores_per_socket": 2, "threads": 2, "numbering": "adjacent"}
    machine = {
        "name": "vm",
        "arch": "x86_64",
        "vendor": "GenuineIntel",
        "model_name": "VM",
        "layout": layout,
        "memory_kib": [1 << 20, 1 << 20],
        "distances": [[10, 20], [20, 10]],
        "hugepage_sizes_kib": [2048],
    }
    topology = topology_from_facts(expand_machine(machine))
    assert [core.format() for core in topology.cores] == ["0-1", "2-3", "4-5", "6-7"]
    assert topology.numa_node(1).cpus == CpuSet.parse("4-7")
