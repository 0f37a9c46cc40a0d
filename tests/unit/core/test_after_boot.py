"""The machine after the planned boot: what went offline is gone, planned hugepages are there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.built_machines import build_machine, with_cache_groups
from support.topologies import topologies

from tunectl.core.after_boot import topology_after, without_cpus
from tunectl.core.cpuset import CpuSet
from tunectl.core.desire_context import DesireContext
from tunectl.core.desired import Partition, Platform
from tunectl.core.environment import NodeEnvironment
from tunectl.core.kubelet.machine import machine_of
from tunectl.core.tier import CpuSpec, HugepageRequest, HugepagesSpec, Tier
from tunectl.core.topology import HugepagePool, Topology


def _context(topology: Topology, tier: Tier, offlined: str = "") -> DesireContext:
    partition = Partition(
        reserved=CpuSet((0,)), isolated=topology.online - CpuSet((0,)), offlined=CpuSet.parse(offlined)
    )
    return DesireContext(tier, topology, NodeEnvironment(arch="x86_64"), Platform.KUBEADM, partition)


def _tier(cpu: CpuSpec | None = None, hugepages: HugepagesSpec | None = None) -> Tier:
    return Tier("t", cpu=cpu or CpuSpec(), hugepages=hugepages or HugepagesSpec())


def test_offlined_cpus_are_gone_everywhere() -> None:
    machine = with_cache_groups(build_machine(4, numa=2), 2)
    after = topology_after(_context(machine, _tier(), "1,5"))
    assert after.online == CpuSet.parse("0,2-4,6-7")
    assert after.offline == CpuSet.parse("1,5")
    assert after.numa_node(0).cpus == CpuSet.parse("0,4")
    assert all(cpu.siblings <= after.online and cpu.l3 <= after.online for cpu in after.cpus)
    assert machine_of(after).cpus == after.online


def test_one_thread_of_a_core_may_go_alone() -> None:
    after = topology_after(_context(build_machine(2), _tier(), "3"))
    assert [str(core) for core in after.cores] == ["0,2", "1"]
    # The kubelet counts with the average, rounded down.
    assert machine_of(after).cpus_per_core == 1


def test_without_smt_every_core_keeps_its_first_thread() -> None:
    after = topology_after(_context(build_machine(4, numa=2), _tier(CpuSpec(disable_smt=True))))
    assert after.online == CpuSet.parse("0-3")
    assert {len(core) for core in after.cores} == {1}
    machine = machine_of(after)
    assert (machine.cpus_per_core, machine.cpus) == (1, CpuSet.parse("0-3"))


def test_without_smt_and_with_offlined_cpus() -> None:
    after = topology_after(_context(build_machine(4), _tier(CpuSpec(disable_smt=True)), "2,6"))
    assert after.online == CpuSet.parse("0-1,3")


def test_a_thread_that_is_first_of_its_core_only_now_stays() -> None:
    # CPU 0 is offline already: 4 is what is left of its core.
    machine = without_cpus(build_machine(4), CpuSet((0,)))
    after = topology_after(_context(machine, _tier(CpuSpec(disable_smt=True))))
    assert after.online == CpuSet.parse("1-4")


@pytest.mark.parametrize(
    ("requests", "pages"),
    [
        ((HugepageRequest("1G", 5),), [{1048576: 3}, {1048576: 2}]),
        ((HugepageRequest("1G", 4, node=1),), [{1048576: 0}, {1048576: 4}]),
        ((HugepageRequest("2M", 6), HugepageRequest("1G", 1, node=0)), [{2048: 3, 1048576: 1}, {2048: 3, 1048576: 0}]),
        ((), [{1048576: 0}, {1048576: 0}]),
    ],
)
def test_planned_hugepages_are_there(requests: tuple[HugepageRequest, ...], pages: list[dict[int, int]]) -> None:
    machine = build_machine(4, numa=2)
    nodes = tuple(
        replace(node, memory_kib=1 << 24, hugepages=(HugepagePool(1048576, 0, 0),)) for node in machine.numa_nodes
    )
    machine = replace(machine, numa_nodes=nodes)
    after = topology_after(_context(machine, _tier(hugepages=HugepagesSpec("1G", requests))))
    found = [{pool.size_kib: pool.total for pool in node.hugepages} for node in after.numa_nodes]
    assert found == pages
    kubelet = machine_of(after)
    assert [dict(node.hugepages) for node in kubelet.nodes] == [
        {size * 1024: count for size, count in sorted(one.items())} for one in pages
    ]


def test_pages_that_the_tier_does_not_mention_stay() -> None:
    machine = build_machine(2)
    nodes = tuple(
        replace(node, memory_kib=1 << 24, hugepages=(HugepagePool(2048, 7, 3),)) for node in machine.numa_nodes
    )
    after = topology_after(_context(replace(machine, numa_nodes=nodes), _tier()))
    assert [(pool.size_kib, pool.total) for pool in after.numa_nodes[0].hugepages] == [(2048, 7)]


@settings(max_examples=80, deadline=None)
@given(topologies(), st.data())
def test_what_leaves_is_in_no_set_and_the_rest_is_as_it_was(machine: Topology, data: st.DataObject) -> None:
    gone = CpuSet(data.draw(st.lists(st.sampled_from(list(machine.online)), unique=True)))
    after = without_cpus(machine, gone)
    assert after.online == machine.online - gone
    assert after.offline == machine.offline | gone
    assert [node.cpus for node in after.numa_nodes] == [node.cpus - gone for node in machine.numa_nodes]
    for cpu in after.cpus:
        before = machine.by_id[cpu.id]
        assert (cpu.siblings, cpu.l3) == (before.siblings - gone, before.l3 - gone)
        assert (cpu.socket, cpu.numa, cpu.core) == (before.socket, before.numa, before.core)
    assert without_cpus(machine, CpuSet()) is machine
