from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.built_machines import build_machine, hybrid_machine, with_cache_groups, without_cpus
from support.topologies import topologies

from tunectl.core.cpuset import CpuSet, union
from tunectl.core.topology import NumaNode, Topology, cores_by_numa, total_threads

parse = CpuSet.parse


@given(topologies())
def test_cores_partition_the_online_cpus(machine: Topology) -> None:
    assert total_threads(machine.cores) == len(machine.online)
    assert union(machine.cores) == machine.online
    assert [core.first for core in machine.cores] == sorted(core.first for core in machine.cores)
    assert all(machine.by_id[cpu].siblings == core for core in machine.cores for cpu in core)


@given(topologies())
def test_sockets_and_nodes_partition_the_online_cpus(machine: Topology) -> None:
    for parts in (list(machine.sockets.values()), [node.cpus for node in machine.numa_nodes]):
        assert sum(map(len, parts)) == len(machine.online)
        assert union(parts) == machine.online
    assert list(machine.sockets) == sorted(machine.sockets)
    assert all(machine.by_id[cpu].socket == socket for socket, cpus in machine.sockets.items() for cpu in cpus)


@given(topologies())
def test_present_is_online_and_offline(machine: Topology) -> None:
    assert machine.present == machine.online | machine.offline
    assert machine.online.isdisjoint(machine.offline)
    assert set(machine.by_id) == set(machine.online)


@given(topologies())
def test_core_keys_are_one_per_core(machine: Topology) -> None:
    keys = {cpu.core_key for cpu in machine.cpus}
    assert len(keys) == len(machine.cores)
    assert {cpu.siblings for cpu in machine.cpus if cpu.core_key == machine.cpus[0].core_key} == {
        machine.cpus[0].siblings
    }


@given(topologies(), st.data())
def test_completing_and_cutting_cores(machine: Topology, st_data: st.DataObject) -> None:
    cpus = CpuSet(st_data.draw(st.lists(st.integers(0, 30))))
    whole = machine.siblings_of(cpus)
    assert cpus & machine.online <= whole <= machine.online
    assert machine.siblings_of(whole) == whole
    assert machine.split_cores(whole) == ()
    assert set(machine.cores_in(whole)) == {core for core in machine.cores if not core.isdisjoint(cpus)}
    cut = machine.split_cores(cpus)
    assert set(cut) == {core for core in machine.cores if core & cpus and core - cpus}
    assert union(machine.cores_in(cpus)) | (union(cut) & cpus) == cpus & machine.online


@given(topologies(), st.data())
def test_a_core_is_cut_by_any_of_several_sets(machine: Topology, st_data: st.DataObject) -> None:
    one, other = (CpuSet(st_data.draw(st.lists(st.sampled_from(list(machine.online))))) for _ in range(2))
    assert set(machine.split_cores(one, other)) == {*machine.split_cores(one), *machine.split_cores(other)}
    assert machine.split_cores() == ()


@given(topologies(), st.data())
def test_spread_tells_every_node(machine: Topology, st_data: st.DataObject) -> None:
    cpus = CpuSet(st_data.draw(st.lists(st.integers(0, 30))))
    spread = machine.spread(cpus)
    assert list(spread) == [node.id for node in machine.numa_nodes]
    assert union(spread.values()) == cpus & machine.online


@given(topologies())
def test_cores_by_numa_leaves_out_nodes_without_cpus(machine: Topology) -> None:
    cores = cores_by_numa(machine)
    assert list(cores) == [node.id for node in machine.numa_nodes if node.cpus]
    assert {node: union(some) for node, some in cores.items()} == {
        node.id: node.cpus for node in machine.numa_nodes if node.cpus
    }


def test_numbers_of_a_known_machine() -> None:
    machine = build_machine(8, 2, memory_only=1)
    assert machine.online == parse("0-15")
    assert machine.cores[:2] == (parse("0,8"), parse("1,9"))
    assert machine.sockets == {0: parse("0-3,8-11"), 1: parse("4-7,12-15")}
    assert machine.split_cores(parse("0-1,8")) == (parse("1,9"),)
    assert machine.siblings_of(parse("1,12")) == parse("1,4,9,12")
    assert machine.cores_in(parse("0-9")) == (parse("0,8"), parse("1,9"))
    assert machine.spread(parse("3-4")) == {0: parse("3"), 1: parse("4"), 2: CpuSet()}
    assert machine.numa_node(2) == NumaNode(2, CpuSet())


def test_threads_per_core_is_the_largest() -> None:
    assert (build_machine(2, threads=1).threads_per_core, build_machine(2, threads=1).smt) == (1, False)
    assert (build_machine(2, threads=4).threads_per_core, build_machine(2, threads=4).smt) == (4, True)
    assert hybrid_machine(1, 4).threads_per_core == 2
    assert without_cpus(build_machine(2), parse("2-3")).smt is False
    assert without_cpus(build_machine(2), parse("3")).smt is True


def test_cache_groups_are_distinct_and_ascending() -> None:
    assert build_machine(4).l3_groups == ()
    assert with_cache_groups(build_machine(4), 2).l3_groups == (parse("0-1,4-5"), parse("2-3,6-7"))


def test_memory_is_that_of_all_nodes() -> None:
    machine = build_machine(4, 2)
    nodes = tuple(replace(node, memory_kib=10 + node.id) for node in machine.numa_nodes)
    assert replace(machine, numa_nodes=nodes).memory_kib == 21


def test_an_unknown_numa_node_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="5"):
        build_machine(2).numa_node(5)


def test_topologies_are_values() -> None:
    one, other = build_machine(4, 2), build_machine(4, 2)
    assert one.cores
    assert one == other
    assert hash(one) == hash(other)
    assert one != build_machine(4)
