from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tuning import context, machine, profile_tier, with_hugepages

from tunectl.core.cpuset import CpuSet
from tunectl.core.desired import Partition, Platform
from tunectl.core.errors import InputError
from tunectl.core.quantity import parse_bytes
from tunectl.core.reserved_memory import (
    MemoryBalance,
    computed_reservation,
    judge_reservation,
    memory_balance,
    room_by_node,
    spread,
)
from tunectl.core.tier import HugepageRequest, HugepagesSpec, ReservedMemory

MIB = 2**20
GIB = 2**30
BALANCE = MemoryBalance(kube=500 * MIB, system=500 * MIB, eviction=100 * MIB)


def test_the_balance_is_the_sum_of_the_three_maps() -> None:
    balance = memory_balance({"memory": "1Gi"}, {"memory": "500Mi", "cpu": "2"}, {"memory.available": "100Mi"})
    assert balance.total == GIB + 600 * MIB
    assert str(balance) == "kubeReserved 1Gi + systemReserved 500Mi + evictionHard 100Mi = 1624Mi"
    assert memory_balance({}, {}, {"memory.available": "5%"}).total == 0
    with pytest.raises(InputError, match=r"kubelet\.kube_reserved\.memory"):
        memory_balance({"memory": "lots"}, {}, {})


def test_the_reservation_follows_the_reserved_cpus() -> None:
    entries = computed_reservation(context(), BALANCE)
    assert entries == (ReservedMemory(0, {"memory": "550Mi"}), ReservedMemory(1, {"memory": "550Mi"}))
    lopsided = context(partition=Partition(reserved=CpuSet.parse("0-2,8")))
    assert computed_reservation(lopsided, BALANCE) == (
        ReservedMemory(0, {"memory": "825Mi"}),
        ReservedMemory(1, {"memory": "275Mi"}),
    )


def test_without_reserved_cpus_the_reservation_follows_the_memory() -> None:
    topology = machine()
    small, large = topology.numa_nodes
    topology = replace(topology, numa_nodes=(replace(small, memory_kib=small.memory_kib // 3), large))
    entries = computed_reservation(context(topology=topology, partition=Partition()), BALANCE)
    assert entries is not None
    assert [entry.numa_node for entry in entries] == [0, 1]
    parts = [parse_bytes(entry.limits["memory"]) for entry in entries]
    assert sum(parts) == BALANCE.total
    assert parts[0] < parts[1]


def test_nodes_without_memory_reserve_nothing() -> None:
    topology = machine()
    first, second = topology.numa_nodes
    topology = replace(topology, numa_nodes=(replace(first, memory_kib=0), second))
    assert computed_reservation(context(topology=topology), BALANCE) == (ReservedMemory(1, {"memory": "1100Mi"}),)


def test_hugepages_take_their_room_first() -> None:
    topology = with_hugepages(machine(memory_gib=2), 0, 2048, 1024 - 50)
    entries = computed_reservation(context(topology=topology), BALANCE)
    assert entries == (ReservedMemory(0, {"memory": "100Mi"}), ReservedMemory(1, {"memory": "1000Mi"}))


def test_a_machine_that_is_too_small_has_no_reservation() -> None:
    assert computed_reservation(context(topology=machine(memory_gib=0)), BALANCE) is not None
    full = with_hugepages(with_hugepages(machine(memory_gib=1), 0, 2048, 512), 1, 2048, 512)
    assert room_by_node(context(topology=full)) == {0: 0, 1: 0}
    assert computed_reservation(context(topology=full), BALANCE) is None


def test_the_operator_reserves_on_node_0() -> None:
    operated = context(platform=Platform.OPENSHIFT)
    assert computed_reservation(operated, BALANCE) == (ReservedMemory(0, {"memory": "1100Mi"}),)


@given(
    total=st.integers(0, 2**36),
    rooms=st.lists(st.integers(0, 2**34), min_size=1, max_size=9),
    weights=st.lists(st.integers(0, 64), min_size=9, max_size=9),
    page=st.sampled_from([4096, 65536]),
)
def test_a_spread_is_exact_and_fits(total: int, rooms: list[int], weights: list[int], page: int) -> None:
    room = dict(enumerate(rooms))
    parts = spread(total, room, dict(enumerate(weights)), page)
    if parts is None:
        assert total > sum(rooms)
        return
    assert sum(parts.values()) == total
    assert all(0 < part <= room[node] for node, part in parts.items())


@given(total=st.integers(1, 2**36), weights=st.lists(st.integers(1, 64), min_size=1, max_size=9))
def test_with_room_for_all_only_one_part_is_no_whole_page(total: int, weights: list[int]) -> None:
    parts = spread(total, dict.fromkeys(range(len(weights)), 2**40), dict(enumerate(weights)), 4096)
    assert parts is not None
    assert sum(1 for part in parts.values() if part % 4096) <= 1


def test_what_is_less_than_a_page_each_goes_to_the_heaviest_node() -> None:
    assert spread(2 * 4096 + 1, {0: 2**30, 1: 2**30}, {0: 1, 1: 9}, 4096) == {1: 2 * 4096 + 1}


def judged(entries: tuple[ReservedMemory, ...], topology: object = None) -> dict[str, object]:
    findings = judge_reservation(context(topology=topology), entries, BALANCE)  # type: ignore[arg-type]
    return {finding.id: finding for finding in findings}


def test_a_right_reservation_is_left_alone() -> None:
    assert judged((ReservedMemory(0, {"memory": "600Mi"}), ReservedMemory(1, {"memory": "524288000"}))) == {}


def test_a_wrong_sum_shows_both_sums_and_the_difference() -> None:
    finding = next(iter(judge_reservation(context(), (ReservedMemory(0, {"memory": "1000Mi"}),), BALANCE)))
    assert finding.id == "kubelet.reserved-memory.sum"
    assert finding.blocks
    assert "100Mi missing" in finding.message
    assert finding.actual == "1000Mi = 1000Mi"
    assert finding.expected.endswith("= 1100Mi")
    more = next(iter(judge_reservation(context(), (ReservedMemory(0, {"memory": "1101Mi"}),), BALANCE)))
    assert "1Mi too much" in more.message


def test_hugepages_unknown_nodes_and_full_nodes_are_found() -> None:
    assert set(judged((ReservedMemory(0, {"memory": "1100Mi", "hugepages-2Mi": "2Mi"}),))) == {
        "kubelet.reserved-memory.resource"
    }
    assert set(judged((ReservedMemory(7, {"memory": "1100Mi"}),))) == {"kubelet.reserved-memory.node"}
    full = with_hugepages(machine(memory_gib=2), 0, 2048, 1000)
    assert set(judged((ReservedMemory(0, {"memory": "1100Mi"}),), full)) == {"kubelet.reserved-memory.room"}


def test_planned_hugepages_count_as_those_that_are_there() -> None:
    tier = profile_tier(hugepages=HugepagesSpec(pages=(HugepageRequest("1G", 63, 0), HugepageRequest("2M", 3))))
    assert room_by_node(context(tier)) == {0: GIB - 4 * MIB, 1: 64 * GIB - 2 * MIB}
