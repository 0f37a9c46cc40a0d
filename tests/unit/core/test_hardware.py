from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.built_machines import build_machine, renumbered, with_cache_groups, without_cpus
from support.topologies import topologies

from tunectl.core.cpuset import CpuSet
from tunectl.core.findings import Finding, Severity
from tunectl.core.hardware import Inventory, inventory, pool_findings, same_hardware
from tunectl.core.topology import Topology

parse = CpuSet.parse


def other_core_ids(machine: Topology) -> Topology:
    return replace(machine, cpus=tuple(replace(cpu, core=cpu.core + 1) for cpu in machine.cpus))


@given(topologies())
def test_a_machine_equals_itself(machine: Topology) -> None:
    compared = same_hardware(machine, replace(machine))
    assert compared == type(compared)(equal=True, warn_core_ids=False)


@given(topologies(), topologies())
def test_comparison_is_symmetric_and_unequal_machines_have_differences(one: Topology, other: Topology) -> None:
    there, back = same_hardware(one, other), same_hardware(other, one)
    assert there.equal is back.equal
    assert bool(there.differences) is not there.equal
    assert len(there.differences) == len(back.differences)
    assert bool(there.remarks) is bool(back.remarks)


@given(st.permutations(range(8)))
def test_only_the_same_numbering_is_equal(numbers: list[int]) -> None:
    machine = build_machine(4, 2)
    moved = renumbered(machine, numbers)
    nodes = {node.id: node.cpus for node in machine.numa_nodes}
    same = set(moved.cores) == set(machine.cores) and {node.id: node.cpus for node in moved.numa_nodes} == nodes
    assert same_hardware(machine, moved).equal is same


MACHINE = build_machine(4, 2)


@pytest.mark.parametrize(
    ("other", "differences"),
    [
        (replace(MACHINE, arch="aarch64"), ("architecture aarch64 instead of x86_64",)),
        (build_machine(8, 2), ("CPUs 0-15 instead of 0-7", "8 cores instead of 4")),
        (build_machine(4), ("NUMA nodes 0 instead of 0-1",)),
        (build_machine(4, 2, memory_only=1), ("NUMA nodes 0-2 instead of 0-1",)),
        (build_machine(8, 2, threads=1), ("8 cores instead of 4", "NUMA node 0 with CPUs 0-3 instead of 0-1,4-5")),
        (without_cpus(MACHINE, parse("7")), ("CPUs 0-6 instead of 0-7",)),
        (
            renumbered(MACHINE, [0, 1, 2, 3, 5, 4, 6, 7]),
            ("threads 0,5 on the core of CPU 0 instead of 0,4",),
        ),
        (
            renumbered(MACHINE, [2, 1, 0, 3, 4, 5, 6, 7]),
            ("NUMA node 0 with CPUs 1-2,4-5 instead of 0-1,4-5",),
        ),
    ],
)
def test_differences_name_both_values(other: Topology, differences: tuple[str, ...]) -> None:
    compared = same_hardware(MACHINE, other)
    assert not compared.equal
    assert not compared.warn_core_ids
    assert set(differences) <= set(compared.differences)


def test_core_ids_alone_are_a_warning() -> None:
    compared = same_hardware(MACHINE, other_core_ids(MACHINE))
    assert compared.equal
    assert compared.warn_core_ids


def test_remarks_do_not_make_machines_unequal() -> None:
    other = replace(
        with_cache_groups(MACHINE, 2),
        cpus=tuple(replace(cpu, socket=0) for cpu in with_cache_groups(MACHINE, 2).cpus),
        numa_nodes=tuple(replace(node, memory_kib=1024) for node in MACHINE.numa_nodes),
        model="other",
        offline=parse("9"),
    )
    compared = same_hardware(MACHINE, other)
    assert compared.equal
    assert compared.remarks == (
        "1 sockets instead of 2",
        "2 last-level caches instead of 0, or shared by other CPUs",
        "2048 KiB of memory instead of 0",
        "processor 'other' instead of ''",
        "offline CPUs 9 instead of none",
    )


def test_inventory_counts_online_threads_and_all_numa_nodes() -> None:
    assert inventory(build_machine(8, 2, memory_only=1)) == Inventory(sockets=2, cores=8, threads=16, numa_nodes=3)
    assert inventory(without_cpus(build_machine(8, 2), parse("15"))).threads == 15


def said(findings: tuple[Finding, ...]) -> list[tuple[str, Severity, str]]:
    return [(one.id, one.severity, one.message) for one in findings]


def test_equal_machines_are_not_mentioned() -> None:
    assert pool_findings({}) == ()
    assert pool_findings({f"n{number}": MACHINE for number in range(3)}) == ()
    assert pool_findings({"a": MACHINE, "b": build_machine(4, 2)}) == ()


def test_each_other_build_is_one_finding_that_names_its_nodes() -> None:
    machines = {f"n{number}": MACHINE for number in range(1, 4)}
    machines |= {"x2": build_machine(8, 2), "x1": build_machine(8, 2), "y": build_machine(4)}
    findings = pool_findings(machines, pool="hpc")
    assert said(findings) == [
        (
            "pool.hardware.unequal",
            Severity.WARNING,
            "x1, x2 differ from n1, n2, n3: CPUs 0-15 instead of 0-7; 8 cores instead of 4",
        ),
        ("pool.hardware.unequal", Severity.WARNING, "y differs from n1, n2, n3: NUMA nodes 0 instead of 0-1"),
    ]
    assert [one.remedy for one in findings] == ["put x1, x2 into a pool of their own", "put y into a pool of its own"]
    assert {one.subject for one in findings} == {"hpc"}


def test_unequal_machines_block_where_one_profile_serves_all() -> None:
    (finding,) = pool_findings({"a": MACHINE, "b": build_machine(4)}, one_profile=True)
    assert finding.blocks


def test_the_first_name_is_the_reference_on_a_tie() -> None:
    (finding,) = pool_findings({"b": build_machine(4), "a": MACHINE})
    assert finding.message.startswith("b differs from a:")


def test_many_nodes_are_counted_not_listed() -> None:
    machines = {f"n{number}": MACHINE for number in range(9)} | {f"x{number}": build_machine(4) for number in range(6)}
    (finding,) = pool_findings(machines)
    assert finding.message.startswith("x0, x1, x2, x3 and 2 more differ from n0, n1, n2, n3 and 5 more: ")


def test_nodes_that_differ_in_core_ids_alone_are_information() -> None:
    machines = {"a": MACHINE, "b": MACHINE, "c": other_core_ids(MACHINE), "d": build_machine(4)}
    assert said(pool_findings(machines)) == [
        ("pool.hardware.unequal", Severity.WARNING, "d differs from a, b, c: NUMA nodes 0 instead of 0-1"),
        ("pool.hardware.core-ids", Severity.INFO, "c has other kernel core ids than a"),
    ]
