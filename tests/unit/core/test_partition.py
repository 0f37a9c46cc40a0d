from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.built_machines import build_machine, hybrid_machine, without_cpus
from support.topologies import topologies

from tunectl.core.alternatives import alternatives_to
from tunectl.core.core_choice import reachable_sums
from tunectl.core.cpuset import CpuSet
from tunectl.core.desired import Partition
from tunectl.core.errors import RefusedError
from tunectl.core.findings import Origin, Severity
from tunectl.core.partition import PartitionResult, partition_cpus
from tunectl.core.tier import CpuIntent, CpuSpec, KubeletSpec, Spread, Tier
from tunectl.core.topology import Topology

parse = CpuSet.parse
# The source report's machine and lists: two sockets, siblings N and N+64.
REPORT_MACHINE = build_machine(64, 2)
REPORT_LISTS: dict[str, Any] = {"reserved": parse("0-18,32-50"), "isolated": parse("19-31,51-127")}


def split(machine: Topology, **cpu: Any) -> PartitionResult:
    return partition_cpus(Tier("t", cpu=CpuSpec(**cpu)), machine)


def test_lists_of_the_source_report_split_38_cores_and_an_equal_split_is_offered() -> None:
    result = split(REPORT_MACHINE, **REPORT_LISTS)
    assert result.partition.reserved == REPORT_LISTS["reserved"]
    assert result.partition.isolated == REPORT_LISTS["isolated"]
    (finding,) = result.findings
    assert (finding.id, finding.severity) == ("cpu.siblings.split", Severity.WARNING)
    assert finding.message == (
        "38 cores are split: CPUs 0-18,32-50 (reserved) share cores with 64-82,96-114 (isolated); "
        "a whole-cores policy could hand out 52 of the 90 isolated CPUs"
    )
    (better,) = result.alternatives
    assert better.reserved == parse("0-9,32-40,64-73,96-104")
    assert better.isolated == parse("10-31,41-63,74-95,105-127")
    assert better.reason == (
        "the same 90 isolated CPUs, and no core is split: reserved is 19 whole cores "
        "(10 on node 0, 9 on node 1; 19 of the reserved CPUs stay), so a whole-cores policy can hand out "
        "all 90 isolated CPUs instead of 52"
    )


def test_lists_for_another_machine_give_way_to_otherwise() -> None:
    machine = build_machine(40, 2)
    intent = CpuIntent(count=24)
    tier = Tier(
        "t",
        cpu=CpuSpec(**REPORT_LISTS, otherwise=intent),
        origins={"cpu.otherwise": Origin("t.yaml", 9, 3)},
    )
    result = partition_cpus(tier, machine)
    assert result.partition.reserved == split(machine, reserved=intent).partition.reserved
    assert result.partition.isolated == machine.online - result.partition.reserved
    (finding,) = result.findings
    assert (finding.id, finding.severity, str(finding.asked_in)) == (
        "cpu.partition.otherwise",
        Severity.INFO,
        "t.yaml:9:3",
    )
    assert finding.message == (
        "the CPU lists name 0-127 (128 CPUs) and this machine has 0-79 (80 usable), "
        "so cpu.otherwise decides what is reserved and the rest is isolated"
    )
    assert result.partition.reasons[0] == finding.message
    assert result.alternatives == ()


def test_lists_for_this_machine_are_kept_although_otherwise_is_there() -> None:
    result = split(REPORT_MACHINE, **REPORT_LISTS, otherwise=CpuIntent(count=24))
    assert result.partition.reserved == REPORT_LISTS["reserved"]


@pytest.mark.parametrize(
    ("lists", "kept"),
    [
        ({"reserved": "0,8"}, True),
        ({"reserved": "0,8", "isolated": "1-7,9-15"}, True),
        ({"isolated": "1-7,9-15"}, True),
        ({"isolated": "1-7,9-99"}, False),
        ({"reserved": "0,16"}, False),
        ({"reserved": "0,8", "isolated": "1-7,9-14"}, False),
        ({"reserved": "0,8", "isolated": "1-6,9-14", "offlined": "7,15"}, True),
        ({"reserved": "0,8", "isolated": "1-6,9-14", "offlined": "7,15,23"}, False),
        ({"reserved": "0,8", "isolated": "1-6,9-14", "shared": "7,15"}, True),
    ],
)
def test_lists_fit_when_they_name_exactly_the_machines_cpus(*, lists: dict[str, str], kept: bool) -> None:
    result = split(
        build_machine(8), **{role: parse(text) for role, text in lists.items()}, otherwise=CpuIntent(count=4)
    )
    assert ("cpu.partition.otherwise" not in {one.id for one in result.findings}) is kept
    if not kept:
        assert result.partition == replace(
            split(build_machine(8), reserved=CpuIntent(count=4)).partition, reasons=result.partition.reasons
        )


def test_cpus_to_be_offlined_may_be_offline_already() -> None:
    lists = {"reserved": parse("0,8"), "isolated": parse("1-6,9-14"), "offlined": parse("7,15")}
    before = split(build_machine(8), **lists, otherwise=CpuIntent(count=4))
    after = split(without_cpus(build_machine(8), parse("7,15")), **lists, otherwise=CpuIntent(count=4))
    assert before.partition == after.partition
    assert before.findings == after.findings == ()


def test_an_intent_beside_lists_stays_on_another_machine() -> None:
    result = split(
        build_machine(8), reserved=parse("0-3,64-67"), shared=CpuIntent(count=2), otherwise=CpuIntent(count=4)
    )
    assert result.partition.reserved == parse("0-1,8-9")
    assert result.partition.shared == parse("7,15")
    assert result.partition.isolated == parse("2-6,10-14")


def test_lists_of_other_sets_mean_nothing_on_another_machine() -> None:
    lists = {"shared": parse("2,66"), "ovs_dpdk": parse("3,67"), "offlined": parse("4,68")}
    result = split(build_machine(8), reserved=parse("0-1,64-65"), **lists, otherwise=CpuIntent(count=4))
    partition = result.partition
    assert partition.reserved == parse("0-1,8-9")
    assert partition.isolated == parse("2-7,10-15")
    assert partition.shared | partition.ovs_dpdk | partition.offlined == CpuSet()


def test_an_isolated_intent_stays_on_another_machine() -> None:
    result = split(build_machine(8), reserved=parse("64"), isolated=CpuIntent(count=4), otherwise=CpuIntent(count=4))
    assert result.partition.isolated == parse("6-7,14-15")
    assert "cpu.partition.gap" in {one.id for one in result.findings}


def test_otherwise_may_be_a_list_too_and_is_named_when_refused() -> None:
    lists: dict[str, Any] = {"reserved": parse("0-3,64-67"), "isolated": parse("4-63,68-127")}
    tier = Tier(
        "t", cpu=CpuSpec(**lists, otherwise=parse("0-1,8-9")), origins={"cpu.otherwise": Origin("t.yaml", 4, 3)}
    )
    result = partition_cpus(tier, build_machine(8))
    assert result.partition.reserved == parse("0-1,8-9")
    assert "reserved: the 4 CPUs that the tier lists (t.yaml:4:3)" in result.partition.reasons
    with pytest.raises(RefusedError) as caught:
        split(build_machine(8), **lists, otherwise=CpuIntent(count=5))
    assert caught.value.problems[0].where == "otherwise.count: 5"
    assert caught.value.problems[0].fix.startswith("otherwise.count: 4 or 6, or allow_split_cores: true")


def test_without_otherwise_lists_are_judged_as_they_are() -> None:
    result = split(build_machine(40, 2), **REPORT_LISTS)
    assert result.partition.isolated == REPORT_LISTS["isolated"]
    assert "cpu.partition.absent" in {one.id for one in result.findings if one.blocks}
    result = split(build_machine(96, 2), reserved=parse("0,96"), isolated=parse("1-95,97-190"))
    assert [one.id for one in result.findings if one.blocks] == []
    assert "cpu.partition.gap" in {one.id for one in result.findings}


def test_a_tier_that_leaves_the_choice_to_the_kubelet_splits_nothing() -> None:
    kubelet = KubeletSpec(
        cpu_manager_policy="static",
        topology_manager_policy="single-numa-node",
        system_reserved={"cpu": "4"},
        kube_reserved={"cpu": "4"},
    )
    assert partition_cpus(Tier("hpc-standard", kubelet=kubelet), REPORT_MACHINE) == PartitionResult(Partition())


def test_reserved_alone_leaves_the_rest_isolated_and_the_other_way_round() -> None:
    machine = build_machine(8)
    assert split(machine, reserved=parse("0-1,8-9")).partition.isolated == parse("2-7,10-15")
    assert split(machine, isolated=parse("2-7,10-15")).partition.reserved == parse("0-1,8-9")
    partition = split(machine, offlined=parse("7,15")).partition
    assert (partition.offlined, partition.reserved, partition.isolated) == (parse("7,15"), CpuSet(), CpuSet())


def test_intents_avoid_what_lists_name() -> None:
    partition = split(
        build_machine(8), reserved=CpuIntent(count=4), shared=parse("1,9"), isolated=parse("3-7,11-15")
    ).partition
    assert partition.reserved == parse("0,2,8,10")
    assert partition.reasons[:2] == (
        "shared: the 2 CPUs that the tier lists",
        "isolated: the 10 CPUs that the tier lists",
    )


def test_half_a_core_beside_a_list_is_left_to_isolated() -> None:
    partition = split(build_machine(8), reserved=CpuIntent(count=4), shared=parse("1")).partition
    assert partition.reserved == parse("0,2,8,10")
    assert partition.isolated == parse("3-7,9,11-15")


def test_reserving_all_but_nothing_blocks() -> None:
    result = split(build_machine(4), reserved=parse("0-7"))
    assert "cpu.isolated.empty" in {one.id for one in result.findings if one.blocks}


LISTS = st.lists(st.integers(0, 23), min_size=1, max_size=20).map(CpuSet)


@given(topologies(), LISTS, LISTS)
def test_lists_are_honoured_exactly_whatever_they_are(machine: Topology, reserved: CpuSet, isolated: CpuSet) -> None:
    partition = split(machine, reserved=reserved, isolated=isolated).partition
    assert (partition.reserved, partition.isolated) == (reserved, isolated)


@given(topologies(), st.data())
def test_alternatives_keep_the_number_of_isolated_cpus_and_cut_no_core(
    machine: Topology, st_data: st.DataObject
) -> None:
    reserved = CpuSet(st_data.draw(st.lists(st.sampled_from(list(machine.online)), unique=True)))
    isolated = machine.online - reserved
    assume(reserved)
    assume(isolated)
    result = split(machine, reserved=reserved)
    asked, total = len(isolated), len(machine.online)
    boot = machine.siblings_of(CpuSet((0,)))
    sums = reachable_sums(core for core in machine.cores if core != boot) << len(boot)
    possible = [count for count in range(1, asked + 1) if sums >> (total - count) & 1]
    if not machine.split_cores(reserved, isolated) or not possible:
        assert result.alternatives == ()
        return
    (better,) = result.alternatives
    assert len(better.isolated) == max(possible)
    assert better.reserved | better.isolated == machine.online
    assert better.reserved.isdisjoint(better.isolated)
    assert machine.split_cores(better.reserved, better.isolated) == ()
    assert 0 in better.reserved or 0 not in machine.online
    assert f"all {max(possible)} isolated CPUs" in better.reason
    assert ("the same" in better.reason) is (max(possible) == asked)
    if max(possible) != asked:
        assert better.reason.startswith(f"{max(possible)} instead of {asked} isolated CPUs")


def test_no_alternative_where_none_is_needed_or_possible() -> None:
    machine = build_machine(8, 2)
    assert split(machine, reserved=parse("0,4,8,12")).alternatives == ()
    assert split(machine, reserved=parse("0-3"), allow_split_cores=True).alternatives == ()
    assert split(machine, reserved=parse("0-3"), shared=parse("5")).alternatives == ()
    assert split(machine, reserved=parse("0-3"), shared=parse("5,13")).alternatives != ()
    assert alternatives_to(Partition(isolated=parse("0-3")), machine, Tier("t")) == ()


def test_an_alternative_keeps_the_cores_that_hold_the_most_reserved_cpus() -> None:
    # Core 3 (CPUs 3 and 11) is reserved as a whole and core 2 by half; core 0 must be, because of CPU 0.
    result = split(build_machine(8, 1), reserved=parse("0,2-3,11"))
    (better,) = result.alternatives
    assert better.reserved == parse("0,3,8,11")
    assert split(build_machine(8, 1), reserved=parse("2-3,5,11"), reserve_cpu0=False).alternatives[0].reserved == parse(
        "2-3,10-11"
    )


def test_a_gap_goes_to_the_reserved_side_of_an_alternative() -> None:
    (better,) = split(build_machine(8), reserved=parse("0-1"), isolated=parse("2-7,10-15")).alternatives
    assert better.reserved == parse("0-1,8-9")
    assert better.isolated == parse("2-7,10-15")


def test_other_sets_stay_out_of_an_alternative() -> None:
    (better,) = split(
        build_machine(8), reserved=parse("0-1"), offlined=parse("6,14"), shared=parse("7,15")
    ).alternatives
    assert better.reserved == parse("0,8")
    assert better.isolated == parse("1-5,9-13")


def test_hybrid_machines_get_alternatives_of_whole_cores_of_any_size() -> None:
    (better,) = split(hybrid_machine(4, 2), reserved=parse("0,8")).alternatives
    assert len(better.isolated) == 8
    assert better.reserved == parse("0-1")


def test_a_large_machine_is_split_by_percentage() -> None:
    machine = build_machine(128, 8)
    result = split(machine, reserved=CpuIntent(percent=10, spread=Spread.NUMA))
    assert len(result.partition.reserved) == 26
    assert [len(cpus) for cpus in machine.spread(result.partition.reserved).values()] == [4] * 5 + [2] * 3
