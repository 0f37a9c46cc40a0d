import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.built_machines import build_machine, hybrid_machine, renumbered, without_cpus
from support.topologies import topologies

from tunectl.core.core_choice import reachable_sums
from tunectl.core.cpuset import CpuSet, union
from tunectl.core.errors import Problem, RefusedError
from tunectl.core.findings import Origin, Severity
from tunectl.core.partition import PartitionResult, partition_cpus
from tunectl.core.profile_creator import ProfileRequest, create_profile_sets
from tunectl.core.tier import CpuIntent, CpuSpec, Spread, Tier
from tunectl.core.topology import Device, Topology

parse = CpuSet.parse
SPREADS = st.sampled_from(Spread)


def split(machine: Topology, **cpu: object) -> PartitionResult:
    return partition_cpus(Tier("t", cpu=CpuSpec(**cpu)), machine)  # type: ignore[arg-type]


def reserve(machine: Topology, intent: CpuIntent, **cpu: object) -> str:
    return split(machine, reserved=intent, **cpu).partition.reserved.format()


def refusal(machine: Topology, **cpu: object) -> Problem:
    with pytest.raises(RefusedError) as caught:
        split(machine, **cpu)
    (problem,) = caught.value.problems
    return problem


def reachable_with_boot_core(machine: Topology, count: int) -> bool:
    boot = machine.siblings_of(CpuSet((0,)))
    others = reachable_sums(core for core in machine.cores if core != boot)
    return count >= len(boot) and bool(others >> (count - len(boot)) & 1)


@given(topologies(), st.integers(1, 24), SPREADS)
def test_counted_cpus_are_exactly_as_many_in_whole_cores_and_the_rest_is_isolated(
    machine: Topology, count: int, spread: Spread
) -> None:
    assume(count < len(machine.online))
    intent = CpuIntent(count=count, spread=spread)
    if not reachable_with_boot_core(machine, count):
        assert refusal(machine, reserved=intent).code == "TUN-2103"
        return
    partition = split(machine, reserved=intent).partition
    assert len(partition.reserved) == count
    assert machine.split_cores(partition.reserved) == ()
    assert partition.isolated == machine.online - partition.reserved
    assert 0 in partition.reserved or 0 not in machine.online
    assert partition.shared | partition.offlined | partition.ovs_dpdk == CpuSet()


@given(topologies(), st.integers(1, 60), SPREADS)
def test_a_percentage_is_the_smallest_whole_core_number_that_is_not_below(
    machine: Topology, percent: int, spread: Spread
) -> None:
    exact = len(machine.online) * percent / 100
    fits = [count for count in range(1, len(machine.online)) if reachable_with_boot_core(machine, count)]
    enough = [count for count in fits if count >= exact]
    intent = CpuIntent(percent=percent, spread=spread)
    if not enough:
        assert refusal(machine, reserved=intent).code == "TUN-2101"
        return
    assert len(split(machine, reserved=intent).partition.reserved) == enough[0]


@given(topologies(), st.integers(1, 24), SPREADS)
def test_with_split_cores_allowed_every_count_is_met_and_at_most_one_core_cut(
    machine: Topology, count: int, spread: Spread
) -> None:
    assume(count < len(machine.online))
    partition = split(machine, reserved=CpuIntent(count=count, spread=spread), allow_split_cores=True).partition
    assert len(partition.reserved) == count
    assert len(machine.split_cores(partition.reserved)) <= 1
    assert 0 in partition.reserved or 0 not in machine.online
    assert bool(machine.split_cores(partition.reserved)) != reachable_with_boot_core(machine, count)


@given(st.data(), st.sampled_from([(8, 1, 2), (8, 2, 2), (8, 4, 1), (12, 2, 3), (8, 2, 4)]), SPREADS)
def test_sizes_do_not_depend_on_the_numbering(
    st_data: st.DataObject, build: tuple[int, int, int], spread: Spread
) -> None:
    cores, numa, threads = build
    machine = build_machine(cores, numa, threads)
    count = st_data.draw(st.integers(1, cores - 1)) * threads
    moved = renumbered(machine, st_data.draw(st.permutations(range(cores * threads))))
    sizes = [
        sorted(
            len(cpus)
            for cpus in one.spread(
                split(one, reserved=CpuIntent(count=count, spread=spread)).partition.reserved
            ).values()
        )
        for one in (machine, moved)
    ]
    if spread is Spread.NUMA:
        assert sizes[0] == sizes[1]
    assert sum(sizes[0]) == sum(sizes[1]) == count


@given(st.integers(1, 14), st.integers(1, 14), SPREADS, st.sampled_from([1, 2, 4]))
def test_more_cpus_are_a_superset(one: int, other: int, spread: Spread, numa: int) -> None:
    machine = build_machine(16, numa)
    less, more = sorted((one, other))
    sets = [
        split(machine, reserved=CpuIntent(count=2 * count, spread=spread)).partition.reserved for count in (less, more)
    ]
    assert sets[0] <= sets[1]


@given(st.integers(1, 15), SPREADS, st.sampled_from([1, 2, 4, 8]), st.sampled_from([1, 2, 4]), st.booleans())
def test_an_intent_means_what_the_profile_creator_gives(
    cores: int,
    spread: Spread,
    numa: int,
    threads: int,
    disable_smt: bool,  # noqa: FBT001
) -> None:
    machine = build_machine(16, numa, threads)
    even = spread is Spread.NUMA
    assume(threads == 1 or disable_smt or not even or cores >= numa)
    count = cores if disable_smt else cores * threads
    request = ProfileRequest(count, split_reserved_across_numa=even, disable_ht=disable_smt)
    assert (
        split(machine, reserved=CpuIntent(count=count, spread=spread), disable_smt=disable_smt).partition.reserved
        == create_profile_sets(machine, request).reserved
    )


@given(st.integers(1, 31), st.sampled_from([2, 4, 8]))
def test_spread_gives_each_numa_node_the_same_or_one_core_more(cores: int, numa: int) -> None:
    machine = build_machine(32, numa, memory_only=1)
    reserved = split(machine, reserved=CpuIntent(count=2 * cores)).partition.reserved
    shares = [len(reserved & node.cpus) for node in machine.numa_nodes if node.cpus]
    assert sorted(shares, reverse=True) == shares
    assert shares[0] - shares[-1] in (0, 2)


def test_a_small_nodes_share_goes_to_the_others() -> None:
    machine = without_cpus(build_machine(8, 2), parse("5-7,13-15"))
    assert reserve(machine, CpuIntent(count=8)) == "0-2,4,8-10,12"


def test_packed_fills_one_node_after_the_other() -> None:
    assert reserve(build_machine(8, 2), CpuIntent(count=10, spread=Spread.PACKED)) == "0-4,8-12"


def test_sockets_behind_one_numa_node_take_turns() -> None:
    two = build_machine(8, 2)
    one_node = Topology(
        two.arch,
        tuple(type(cpu)(cpu.id, cpu.socket, cpu.core, cpu.siblings) for cpu in two.cpus),
        (type(two.numa_nodes[0])(0, two.online),),
    )
    assert reserve(one_node, CpuIntent(count=4)) == "0,4,8,12"


NIC = Device("ens1f0", "net", address="0000:81:00.0", numa=1)


@pytest.mark.parametrize("near", ["ens1f0", "0000:81:00.0"])
def test_near_serves_the_devices_node_first(near: str) -> None:
    machine = build_machine(8, 2, devices=[NIC])
    packed = CpuIntent(count=4, spread=Spread.PACKED, near=near)
    assert reserve(machine, packed, reserve_cpu0=False) == "4-5,12-13"
    assert reserve(machine, packed) == "0,4,8,12"
    assert reserve(machine, CpuIntent(count=6, near=near), reserve_cpu0=False) == "0,4-5,8,12-13"
    reasons = split(machine, reserved=packed).partition.reasons
    assert f"reserved: NUMA node 1 comes first because {near} is there" in reasons
    assert split(machine, reserved=packed).findings == ()


@pytest.mark.parametrize(
    ("device", "state"),
    [
        (None, "is not on this machine"),
        (Device("eth9", "net"), "is on no NUMA node with CPUs that the firmware tells"),
        (Device("eth9", "net", numa=2), "is on no NUMA node with CPUs that the firmware tells"),
    ],
)
def test_near_an_unknown_device_is_said_and_ignored(device: Device | None, state: str) -> None:
    machine = build_machine(8, 2, memory_only=1, devices=[device] if device else [])
    result = split(machine, reserved=CpuIntent(count=4, near="eth9"))
    assert result.partition.reserved == parse("0,4,8,12")
    assert [(one.id, one.severity, one.message) for one in result.findings] == [
        ("cpu.near.unknown", Severity.WARNING, f"reserved.near: eth9 {state}, so NUMA node 0 is served first")
    ]


def test_included_cpus_bring_their_cores() -> None:
    machine = build_machine(8, 2)
    assert reserve(machine, CpuIntent(count=4, include=parse("7"))) == "0,7-8,15"
    assert reserve(machine, CpuIntent(count=4, include=parse("7")), reserve_cpu0=False) == "0,7-8,15"
    assert reserve(machine, CpuIntent(count=6, include=parse("7"))) == "0-1,7-9,15"
    assert reserve(machine, CpuIntent(count=2, include=parse("7")), reserve_cpu0=False) == "7,15"


@pytest.mark.parametrize(
    ("intent", "code", "where", "why"),
    [
        (CpuIntent(count=4, include=parse("7,20")), "TUN-2104", "reserved.include: 7,20", "CPUs 20 are not free"),
        (
            CpuIntent(count=2, include=parse("1-3")),
            "TUN-2104",
            "reserved.include: 1-3",
            "names 3 CPUs and the count is 2",
        ),
        (
            CpuIntent(count=2, include=parse("1")),
            "TUN-2103",
            "reserved.count: 2",
            "CPUs 0-1,8-9, which must be among them, are 4",
        ),
        (CpuIntent(count=16), "TUN-2101", "reserved.count: 16", "16 of the machine's 16 usable CPUs are free"),
        (CpuIntent(count=0), "TUN-2101", "reserved.count: 0", "16 of the machine's 16 usable CPUs are free"),
        (CpuIntent(count=99), "TUN-2101", "reserved.count: 99", "16 of the machine's 16 usable CPUs are free"),
        (CpuIntent(count=1), "TUN-2103", "reserved.count: 1", "CPUs 0,8, which must be among them, are 2"),
        (CpuIntent(count=7), "TUN-2103", "reserved.count: 7", "the count must be even"),
    ],
)
def test_impossible_intents_are_refused_with_numbers(intent: CpuIntent, code: str, where: str, why: str) -> None:
    problem = refusal(build_machine(8, 2), reserved=intent)
    assert (problem.code, problem.where) == (code, where)
    assert why in problem.why
    assert problem.fix


def test_a_refusal_names_the_line_and_possible_numbers() -> None:
    tier = Tier(
        "t", cpu=CpuSpec(reserved=CpuIntent(count=6)), origins={"cpu.reserved.count": Origin("my-tier.yaml", 12, 5)}
    )
    with pytest.raises(RefusedError) as caught:
        partition_cpus(tier, build_machine(4, 2, threads=4))
    (problem,) = caught.value.problems
    assert problem.where == "my-tier.yaml:12:5  reserved.count: 6"
    assert problem.why == (
        "SMT is on (4 threads per core) and whole cores are required, so the count must be a multiple of 4"
    )
    assert problem.fix == (
        "reserved.count: 4 or 8, or allow_split_cores: true (costs isolation; see tunectl explain allow_split_cores)"
    )


def test_the_offered_numbers_leave_a_cpu_for_workloads() -> None:
    fix = refusal(build_machine(4), reserved=CpuIntent(count=7)).fix
    assert fix.startswith("reserved.count: 6, or allow_split_cores")


def test_a_core_that_a_list_has_begun_cannot_be_included() -> None:
    problem = refusal(build_machine(8), reserved=CpuIntent(count=4, include=parse("3")), shared=parse("11"))
    assert problem.code == "TUN-2104"
    assert problem.why == ("its cores also have CPUs 11, which are in another set, and whole cores are required")
    assert problem.fix == "leave CPUs 3,11 out, or give whole cores to the other set"


def test_efficiency_cores_are_reserved_before_performance_cores() -> None:
    machine = hybrid_machine(6, 8)
    result = split(machine, reserved=CpuIntent(count=6))
    assert result.partition.reserved == parse("0-1,12-15")
    assert "reserved: efficiency cores 12-15 are preferred; workloads keep the fast ones" in result.partition.reasons
    assert reserve(machine, CpuIntent(count=3)) == "0-1,12"
    assert reserve(machine, CpuIntent(count=1), reserve_cpu0=False) == "12"
    assert reserve(machine, CpuIntent(count=11)) == "0-3,12-18"
    assert split(machine, isolated=CpuIntent(count=4), reserved=CpuIntent(count=2)).partition.isolated == parse("8-11")


def test_a_core_is_passed_over_when_only_others_make_up_the_number() -> None:
    machine = hybrid_machine(3, 1)
    assert reserve(machine, CpuIntent(count=4)) == "0-3"
    assert reserve(machine, CpuIntent(count=3)) == "0-1,6"
    assert reserve(machine, CpuIntent(count=5)) == "0-3,6"


def test_four_threads_per_core_stay_together() -> None:
    machine = build_machine(8, 2, threads=4)
    assert reserve(machine, CpuIntent(count=8)) == "0,4,8,12,16,20,24,28"
    assert reserve(machine, CpuIntent(count=12)) == "0-1,4,8-9,12,16-17,20,24-25,28"


def test_offline_threads_leave_smaller_cores() -> None:
    machine = without_cpus(build_machine(4), parse("5,7"))
    assert reserve(machine, CpuIntent(count=3)) == "0-1,4"
    assert reserve(machine, CpuIntent(count=4)) == "0-1,3-4"


@given(topologies(), st.data())
def test_intents_of_all_sets_are_disjoint_and_in_whole_cores(machine: Topology, st_data: st.DataObject) -> None:
    roles = ("reserved", "ovs_dpdk", "shared", "offlined")
    asked = {role: CpuIntent(percent=st_data.draw(st.integers(1, 20))) for role in roles}
    try:
        partition = split(machine, **asked).partition
    except RefusedError:
        # Small machines have no whole core for each of four sets.
        assume(len(machine.cores) > 8)
        raise
    sets = [getattr(partition, role) for role in (*roles, "isolated")]
    assert sum(map(len, sets)) == len(machine.online)
    assert union(sets) == machine.online
    assert machine.split_cores(*sets) == ()


def test_other_sets_come_from_the_far_end_and_isolated_gets_the_rest() -> None:
    partition = split(
        build_machine(16, 2),
        reserved=CpuIntent(count=4),
        ovs_dpdk=CpuIntent(count=4),
        shared=CpuIntent(count=2),
        offlined=CpuIntent(count=4),
    ).partition
    assert partition.reserved == parse("0,8,16,24")
    assert partition.ovs_dpdk == parse("7,15,23,31")
    assert partition.shared == parse("6,22")
    assert partition.offlined == parse("5,14,21,30")
    assert partition.isolated == parse("1-4,9-13,17-20,25-29")


def test_isolated_by_count_leaves_the_rest_to_reserved() -> None:
    partition = split(build_machine(16, 2), isolated=CpuIntent(count=20)).partition
    assert partition.isolated == parse("3-7,11-15,19-23,27-31")
    assert partition.reserved == parse("0-2,8-10,16-18,24-26")
    assert partition.reasons[-1] == "reserved: the 12 CPUs that are left"


def test_the_core_of_cpu0_is_left_to_reserved() -> None:
    partition = split(build_machine(8, 2), isolated=CpuIntent(count=8, spread=Spread.PACKED)).partition
    assert partition.isolated == parse("1-3,7,9-11,15")
    partition = split(
        build_machine(8, 2), isolated=CpuIntent(count=8, spread=Spread.PACKED), reserve_cpu0=False
    ).partition
    assert partition.isolated == parse("0-3,8-11")


def test_split_cores_begin_with_the_cores_that_are_begun() -> None:
    machine = build_machine(8, 1, threads=4)
    intent = CpuIntent(count=2, include=parse("7"))
    assert reserve(machine, intent, reserve_cpu0=False, allow_split_cores=True) == "7,15"
    assert reserve(machine, CpuIntent(count=2), allow_split_cores=True) == "0,8"


def test_whole_cores_are_spread_before_one_is_cut() -> None:
    assert reserve(build_machine(8, 2), CpuIntent(count=5), allow_split_cores=True) == "0-1,4,8,12"
    assert reserve(build_machine(8, 2), CpuIntent(count=7), allow_split_cores=True) == "0-2,4,8-9,12"


def test_split_cores_take_halves_that_lists_have_left() -> None:
    lists = {"shared": parse("8-9"), "isolated": parse("15")}
    assert reserve(build_machine(8), CpuIntent(count=13), allow_split_cores=True, **lists) == "0-7,10-14"


def test_what_another_set_must_include_is_not_taken() -> None:
    partition = split(
        build_machine(8), reserved=CpuIntent(count=4), shared=CpuIntent(count=2, include=parse("1"))
    ).partition
    assert partition.shared == parse("1,9")
    assert partition.reserved == parse("0,2,8,10")


def test_disable_smt_uses_first_threads_only() -> None:
    result = split(build_machine(8, 2), reserved=CpuIntent(count=3), disable_smt=True)
    assert result.partition.reserved == parse("0-1,4")
    assert result.partition.isolated == parse("2-3,5-7")
    assert result.partition.reasons[0] == "disable_smt: only the first threads of the 8 cores are used"
    assert result.findings == ()


def test_reasons_say_how_many_where_and_why() -> None:
    result = split(build_machine(8, 2), reserved=CpuIntent(percent=30))
    assert result.partition.reasons == (
        "reserved: 6 CPUs on 3 whole cores, 30% of 16 CPUs, evenly over NUMA nodes (node 0: 4, node 1: 2)",
        "reserved: CPU 0's core is among them, because timers and firmware like CPU 0",
        "isolated: the 10 CPUs that are left",
    )
