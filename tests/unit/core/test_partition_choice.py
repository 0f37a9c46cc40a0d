from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.built_machines import build_machine, hybrid_machine, without_cpus
from support.topologies import topologies

from tunectl.core.core_choice import (
    all_cores,
    first_threads,
    nearest_sums,
    reachable_sums,
    reordered,
    stock_of,
    take_cores,
)
from tunectl.core.cpuset import CpuSet, union
from tunectl.core.topology import Topology

parse = CpuSet.parse


@given(st.lists(st.integers(1, 4), max_size=8))
def test_reachable_sums_are_those_of_all_choices(sizes: list[int]) -> None:
    cores = [CpuSet(range(10 * index, 10 * index + size)) for index, size in enumerate(sizes)]
    sums = {sum(map(len, some)) for number in range(len(cores) + 1) for some in combinations(cores, number)}
    assert {number for number in range(40) if reachable_sums(cores) >> number & 1} == sums


@pytest.mark.parametrize(
    ("sums", "count", "near"),
    [(0b10101, 3, (2, 4)), (0b10101, 4, (2,)), (0b101, 1, (2,)), (0b1, 5, ()), (0b10001, 9, (4,))],
)
def test_nearest_sums_are_below_and_above_and_never_zero(sums: int, count: int, near: tuple[int, ...]) -> None:
    assert nearest_sums(sums, count) == near


@given(topologies(), st.integers(0, 26), st.booleans(), st.data())
def test_whole_cores_are_taken_exactly_when_they_can_make_up_the_number(
    machine: Topology, count: int, even: object, st_data: st.DataObject
) -> None:
    start = st_data.draw(st.sampled_from([CpuSet(), *machine.cores]))
    stock = stock_of(machine, machine.online)
    others = [core for core in machine.cores if core != start]
    taken = take_cores(stock, count, even=bool(even), start=start)
    possible = count >= len(start) and reachable_sums(others) >> (count - len(start)) & 1
    assert (taken is not None) == bool(possible)
    if taken is not None:
        assert len(taken) == count
        assert start <= taken <= machine.online
        assert machine.split_cores(taken) == ()


@given(topologies(), st.data())
def test_the_stock_holds_each_whole_core_inside_once_on_its_node(machine: Topology, st_data: st.DataObject) -> None:
    within = CpuSet(st_data.draw(st.lists(st.sampled_from(list(machine.online)))))
    stock = stock_of(machine, within)
    assert list(stock) == [node.id for node in machine.numa_nodes if node.cpus]
    assert sorted(all_cores(stock), key=lambda core: core.first) == list(machine.cores_in(within))
    for node, cores in stock.items():
        assert union(cores) <= machine.numa_node(node).cpus


def test_even_choice_takes_turns_and_full_nodes_are_skipped() -> None:
    stock = {0: (parse("0"), parse("1")), 1: (parse("2"), parse("3"), parse("4"), parse("5"))}
    assert take_cores(stock, 3, even=True) == parse("0-2")
    assert take_cores(stock, 5, even=True) == parse("0-4")
    assert take_cores(stock, 3, even=False) == parse("0-2")
    assert take_cores(stock, 4, even=True, start=parse("2-3")) == parse("0-3")
    assert take_cores(stock, 3, even=True, start=parse("2-3")) == parse("0,2-3")
    assert take_cores(stock, 7, even=True) is None
    assert take_cores(stock, 1, even=True, start=parse("2-3")) is None
    assert take_cores(stock, 0, even=True) == CpuSet()


def test_turns_follow_the_order_of_the_stock() -> None:
    stock = {1: (parse("2"), parse("3")), 0: (parse("0"), parse("1"))}
    assert take_cores(stock, 1, even=True) == parse("2")
    assert take_cores(stock, 3, even=True) == parse("0,2-3")
    assert take_cores(stock, 3, even=False) == parse("0,2-3")
    assert take_cores(stock, 2, even=False) == parse("2-3")


def test_a_core_that_would_make_the_number_unreachable_is_passed_over() -> None:
    stock = {0: (parse("0"), parse("1-2"), parse("3-4"))}
    assert take_cores(stock, 4, even=True) == parse("1-4")
    assert take_cores(stock, 3, even=True) == parse("0-2")


def test_reordering_keeps_the_order_of_equals() -> None:
    stock = {0: (parse("4"), parse("0-1"), parse("3"), parse("5-6"))}
    assert reordered(stock, len)[0] == (parse("4"), parse("3"), parse("0-1"), parse("5-6"))


@given(topologies())
def test_first_threads_is_the_machine_under_nosmt(machine: Topology) -> None:
    single = first_threads(machine)
    assert single.online == CpuSet(core.first for core in machine.cores)
    assert single.present == machine.present
    assert not single.smt
    assert all(cpu.siblings == CpuSet((cpu.id,)) for cpu in single.cpus)
    assert all(cpu.l3 == machine.by_id[cpu.id].l3 & single.online for cpu in single.cpus)
    assert [node.cpus for node in single.numa_nodes] == [node.cpus & single.online for node in machine.numa_nodes]
    assert first_threads(single) == single


def test_order_is_by_the_lowest_cpu_of_the_core_id_in_the_node() -> None:
    assert stock_of(build_machine(4), parse("0-7"))[0] == (parse("0,4"), parse("1,5"), parse("2,6"), parse("3,7"))
    assert stock_of(hybrid_machine(1, 2), parse("0-3"))[0] == (parse("0-1"), parse("2"), parse("3"))
    assert stock_of(without_cpus(build_machine(4), parse("0")), parse("1-7"))[0][0] == parse("1,5")
