from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.built_machines import build_machine, hybrid_machine, renumbered, without_cpus
from support.topologies import topologies

from tunectl.core.core_choice import first_threads
from tunectl.core.cpuset import CpuSet
from tunectl.core.pools import NodePool
from tunectl.core.profile import create_profile, kernel_arguments
from tunectl.core.profile_creator import POWER_MODES, ProfileRequest, RequestRefusedError, create_profile_sets
from tunectl.core.topology import Topology

parse = CpuSet.parse
POOL = NodePool("hpc", {"role": "hpc"}, {"node-role/hpc": ""})
MACHINE = build_machine(8, 2)


def refused(machine: Topology, request: ProfileRequest) -> RequestRefusedError:
    with pytest.raises(RequestRefusedError) as caught:
        create_profile(request, POOL, (POOL,), {"n": machine})
    (problem,) = caught.value.problems
    assert all((problem.what, problem.why, problem.fix))
    return caught.value


REQUESTS = st.builds(
    ProfileRequest,
    reserved_cpu_count=st.integers(-1, 26),
    offlined_cpu_count=st.integers(-1, 26),
    split_reserved_across_numa=st.booleans(),
    disable_ht=st.booleans(),
    power_mode=st.sampled_from(POWER_MODES),
)


@given(topologies(), REQUESTS)
def test_served_requests_are_met_exactly(machine: Topology, request_: ProfileRequest) -> None:
    reserved, offlined = request_.reserved_cpu_count, request_.offlined_cpu_count
    usable = first_threads(machine) if request_.disable_ht else machine
    try:
        partition = create_profile_sets(machine, request_)
    except RequestRefusedError as refusal:
        problem = refusal.problems[0]
    else:
        assert (len(partition.reserved), len(partition.offlined)) == (reserved, offlined)
        assert len(partition.isolated) == len(usable.online) - reserved - offlined > 0
        assert partition.reserved | partition.offlined | partition.isolated == usable.online
        assert usable.split_cores(partition.reserved) == ()
        return
    possible = reserved >= 1 and offlined >= 0 and reserved + offlined < len(usable.online)
    assert (problem.code == "TUN-2103") is possible


@pytest.mark.parametrize(
    ("request_", "reason", "code"),
    [
        (ProfileRequest(0), "reserved_count_out_of_range", "TUN-2101"),
        (ProfileRequest(16), "reserved_count_out_of_range", "TUN-2101"),
        (ProfileRequest(8, disable_ht=True), "reserved_count_out_of_range", "TUN-2101"),
        (ProfileRequest(2, -1), "offlined_count_out_of_range", "TUN-2101"),
        (ProfileRequest(2, 16), "offlined_count_out_of_range", "TUN-2101"),
        (ProfileRequest(2, 14), "reserved_plus_offlined_out_of_range", "TUN-2102"),
        (ProfileRequest(3), "odd_count_with_smt", "TUN-2103"),
        (ProfileRequest(2, split_reserved_across_numa=True), "odd_count_with_smt", "TUN-2103"),
        (ProfileRequest(2, rt_kernel=True), "rt_kernel_needs_low_latency", "TUN-2106"),
        (
            ProfileRequest(2, per_pod_power_management=True, power_mode="ultra-low-latency"),
            "per_pod_power_with_ultra_low_latency",
            "TUN-2106",
        ),
        (ProfileRequest(2, topology_policy="none"), "unknown_topology_policy", "TUN-2106"),
        (ProfileRequest(2, power_mode="fast"), "unknown_power_mode", "TUN-2106"),
        (
            ProfileRequest(4, split_reserved_across_numa=True, topology_policy="Single-NUMA-Node"),
            "split_with_single_numa_node",
            "TUN-2106",
        ),
    ],
)
def test_refusals_have_a_stable_word_and_a_code(request_: ProfileRequest, reason: str, code: str) -> None:
    refusal = refused(MACHINE, request_)
    assert (refusal.reason, refusal.problems[0].code) == (reason, code)


def test_the_edges_of_the_ranges_are_served() -> None:
    assert len(create_profile_sets(MACHINE, ProfileRequest(14)).isolated) == 2
    assert len(create_profile_sets(MACHINE, ProfileRequest(2, 13)).isolated) == 1
    assert create_profile_sets(build_machine(2, threads=1), ProfileRequest(1)).reserved == parse("0")


def test_refusals_offer_numbers_that_work() -> None:
    fix = refused(build_machine(4, threads=4), ProfileRequest(6)).problems[0].fix
    assert fix == "ask for 4 or 8"
    assert refused(hybrid_machine(2, 2), ProfileRequest(3)).problems[0].fix == "ask for 2 or 4"
    assert refused(MACHINE, ProfileRequest(15)).problems[0].fix == "ask for 14"
    assert refused(build_machine(1), ProfileRequest(1)).problems[0].fix == "use a machine with more cores"
    assert "at least 4, or do not split" in (
        refused(MACHINE, ProfileRequest(2, split_reserved_across_numa=True)).problems[0].fix
    )


def test_single_threads_may_be_fewer_than_numa_nodes() -> None:
    request = ProfileRequest(1, split_reserved_across_numa=True)
    assert create_profile_sets(build_machine(8, 2, threads=1), request).reserved == parse("0")


def test_offlined_are_sockets_that_fit_then_second_threads_then_the_rest() -> None:
    def offlined(count: int, mode: str = "default") -> str:
        return create_profile_sets(MACHINE, ProfileRequest(2, count, power_mode=mode)).offlined.format()

    assert offlined(8) == "4-7,12-15"
    assert offlined(9) == "4-7,9,12-15"
    assert offlined(7) == "9-15"
    assert offlined(8, "ultra-low-latency") == "1,9-15"
    assert offlined(2) == "9-10"


def test_offlined_follow_kernel_core_ids() -> None:
    machine = replace(MACHINE, cpus=tuple(replace(cpu, core=10 - cpu.core) for cpu in MACHINE.cpus))
    assert create_profile_sets(machine, ProfileRequest(2, 2)).offlined == parse("10-11")


def test_sockets_with_reserved_cpus_stay() -> None:
    request = ProfileRequest(4, 8, split_reserved_across_numa=True)
    assert create_profile_sets(MACHINE, request).offlined == parse("1-2,9-11,13-15")


def test_reasons_tell_the_shares() -> None:
    request = ProfileRequest(4, 5, split_reserved_across_numa=True, disable_ht=True)
    assert create_profile_sets(build_machine(12, 2), request).reasons == (
        "only the first thread of each core is used: 12 CPUs",
        "reserved: 4 CPUs in whole cores, spread evenly over the NUMA nodes (2 + 2)",
        "offlined: 5 CPUs",
        "isolated: all other usable CPUs",
    )
    assert create_profile_sets(MACHINE, ProfileRequest(2, 8)).reasons[1] == "offlined: 8 CPUs, socket 1 as a whole"


def test_a_profile_says_what_was_asked_in_the_spelling_of_the_api() -> None:
    request = ProfileRequest(
        4,
        power_mode="Ultra-Low-Latency",
        topology_policy="Best-Effort",
        rt_kernel=True,
        disable_ht=True,
        user_level_networking=True,
        profile_name="edge",
    )
    assert create_profile(request, POOL, (POOL,), {"n": MACHINE}).to_json() == {
        "name": "edge",
        "reserved": "0-3",
        "isolated": "4-7",
        "offlined": "",
        "topologyPolicy": "best-effort",
        "realTimeKernel": True,
        "realTime": True,
        "highPowerConsumption": True,
        "perPodPowerManagement": False,
        "userLevelNetworking": True,
        "nodeSelector": {"node-role/hpc": ""},
        "machineConfigPoolSelector": {"role": "hpc"},
        "additionalKernelArgs": ["nosmt"],
    }


def test_power_modes_set_the_hints() -> None:
    def hints(mode: str) -> tuple[bool, bool]:
        profile = create_profile(ProfileRequest(2, power_mode=mode), POOL, (POOL,), {"n": MACHINE})
        return profile.real_time, profile.high_power_consumption

    assert [hints(mode) for mode in POWER_MODES] == [(False, False), (True, False), (True, True)]


def test_low_latency_goes_with_per_pod_power_management() -> None:
    request = ProfileRequest(2, power_mode="low-latency", per_pod_power_management=True)
    assert create_profile(request, POOL, (POOL,), {"n": MACHINE}).per_pod_power_management


def test_kernel_arguments_turn_smt_off_when_asked() -> None:
    assert kernel_arguments(ProfileRequest(2)) == ()
    assert kernel_arguments(ProfileRequest(2, disable_ht=True)) == ("nosmt",)


def test_a_pool_needs_known_and_equal_machines() -> None:
    with pytest.raises(RequestRefusedError) as caught:
        create_profile(ProfileRequest(2), POOL, (POOL,), {})
    assert (caught.value.reason, caught.value.problems[0].code) == ("no_usable_node", "TUN-2105")
    machines = {"a": MACHINE, "b": MACHINE, "c": without_cpus(MACHINE, parse("15"))}
    with pytest.raises(RequestRefusedError) as caught:
        create_profile(ProfileRequest(2), POOL, (POOL,), machines)
    assert caught.value.reason == "nodes_differ"
    assert "CPUs 0-14 instead of 0-15" in caught.value.problems[0].why
    assert "nodes a and c" in caught.value.problems[0].what


def test_numbering_decides_nothing_but_the_ids() -> None:
    moved = renumbered(MACHINE, [*range(8, 16), *range(8)])
    assert create_profile_sets(moved, ProfileRequest(4)).reserved == parse("0-1,8-9")
