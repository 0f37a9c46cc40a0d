from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.built_machines import build_machine, hybrid_machine, with_cache_groups, without_cpus
from support.topologies import topologies

from tunectl.core.check_catalogue import CHECKS
from tunectl.core.cpuset import CpuSet
from tunectl.core.desired import Partition
from tunectl.core.errors import InputError
from tunectl.core.findings import Finding, Origin, Severity, Verdict
from tunectl.core.partition_judge import judge_partition
from tunectl.core.tier import CpuSpec, KubeletSpec, Manifest, OpenShiftSpec, Tier
from tunectl.core.topology import Topology

parse = CpuSet.parse
CRITICAL, WARNING, INFO = Severity.CRITICAL, Severity.WARNING, Severity.INFO


def judge(machine: Topology, kubelet: KubeletSpec = KubeletSpec(), **cpu: Any) -> tuple[Finding, ...]:  # noqa: B008
    """The findings about a split that is listed in full; the options of `CpuSpec` are given beside the lists."""
    lists: dict[str, Any] = {role: parse(text) for role, text in cpu.items() if isinstance(text, str)}
    options = {name: value for name, value in cpu.items() if name not in lists}
    tier = Tier("t", cpu=CpuSpec(**lists, **options), kubelet=kubelet)
    return judge_partition(Partition(**lists), machine, tier)


def said(findings: tuple[Finding, ...]) -> list[tuple[str, Severity, str]]:
    return [(one.id, one.severity, one.message) for one in findings]


def test_a_good_split_is_not_mentioned() -> None:
    machine = build_machine(8, 2)
    assert judge(machine, reserved="0,4,8,12", isolated="1-3,5-7,9-11,13-15") == ()


CASES = [
    (
        {"reserved": "0,8", "isolated": "0-7,9-15"},
        ("cpu.partition.overlap", CRITICAL, "reserved and isolated both name CPU 0"),
    ),
    (
        {"reserved": "0-1,8-9", "isolated": "2-7,10-15", "shared": "2-3,10-11"},
        ("cpu.partition.overlap", CRITICAL, "isolated and shared both name CPUs 2-3,10-11"),
    ),
    (
        {"reserved": "0,8", "isolated": "1-5,9-13"},
        ("cpu.partition.gap", WARNING, "CPUs 6-7,14-15 (4 of 16) are in no set"),
    ),
    (
        {"reserved": "0,8", "isolated": "1-7,9-14"},
        ("cpu.partition.gap", WARNING, "CPU 15 (1 of 16) is in no set"),
    ),
    (
        {"reserved": "0,8", "isolated": "1-7,9-17"},
        ("cpu.partition.absent", CRITICAL, "isolated names CPUs 16-17, and the machine has 0-15"),
    ),
    (
        {"reserved": "0,8", "isolated": "1-7,9-15", "offlined": "99"},
        ("cpu.partition.absent", CRITICAL, "offlined names CPU 99, and the machine has 0-15"),
    ),
    (
        {"reserved": "0-7,8-15", "isolated": ""},
        ("cpu.isolated.empty", CRITICAL, "no CPU is left for workloads: 16 of 16 CPUs are reserved"),
    ),
    (
        {"reserved": "0-15", "isolated": "99"},
        ("cpu.isolated.empty", CRITICAL, "no CPU is left for workloads: 16 of 16 CPUs are reserved"),
    ),
    (
        {"reserved": "0,99", "isolated": "1-15"},
        ("cpu.reserved.too-few", WARNING, "only CPU 0 of 16 CPUs is reserved"),
    ),
    (
        {"reserved": "99", "isolated": "0-15"},
        ("cpu.reserved.too-few", CRITICAL, "none of the 16 CPUs is reserved"),
    ),
    (
        {"reserved": "0", "isolated": "1-14", "offlined": "15"},
        (
            "cpu.siblings.split",
            WARNING,
            (
                "1 core is split: CPUs 0 (reserved) share cores with 8 (isolated); "
                "a whole-cores policy could hand out 13 of the 14 isolated CPUs"
            ),
        ),
    ),
    (
        {"reserved": "", "isolated": "0-15"},
        ("cpu.reserved.too-few", CRITICAL, "none of the 16 CPUs is reserved"),
    ),
    (
        {"reserved": "1,9", "isolated": "0,2-8,10-15"},
        ("cpu.reserved.cpu0", WARNING, "CPU 0 is isolated, not reserved"),
    ),
    (
        {"reserved": "1,9", "isolated": "2-7,10-15", "offlined": "0,8"},
        ("cpu.offlined.boot-cpu", CRITICAL, "CPU 0 is to be taken offline, which x86 kernels cannot do"),
    ),
    (
        {"reserved": "0,8", "isolated": "1-7,12-15", "offlined": "9-11"},
        (
            "cpu.offlined.half-core",
            WARNING,
            "3 cores keep only CPUs 1-3 online, their other threads are offlined",
        ),
    ),
    (
        {"reserved": "0,8", "isolated": "2-7,9-15", "offlined": "1"},
        ("cpu.offlined.half-core", WARNING, "1 core keeps only CPUs 9 online, their other threads are offlined"),
    ),
    (
        {"reserved": "0-1", "isolated": "2-15"},
        (
            "cpu.siblings.split",
            WARNING,
            (
                "2 cores are split: CPUs 0-1 (reserved) share cores with 8-9 (isolated); "
                "a whole-cores policy could hand out 12 of the 14 isolated CPUs"
            ),
        ),
    ),
    (
        {"reserved": "0,8", "isolated": "1-7,9-13"},
        (
            "cpu.siblings.split",
            WARNING,
            (
                "2 cores are split: CPUs 6-7 (isolated) share cores with 14-15 (in no set); "
                "a whole-cores policy could hand out 10 of the 12 isolated CPUs"
            ),
        ),
    ),
    (
        {"reserved": "0,8", "isolated": "1-6,9-15", "shared": "7"},
        (
            "cpu.siblings.split",
            WARNING,
            (
                "1 core is split: CPUs 15 (isolated) share cores with 7 (shared); "
                "a whole-cores policy could hand out 12 of the 13 isolated CPUs"
            ),
        ),
    ),
]


@pytest.mark.parametrize(("sets", "expected"), CASES, ids=[f"{case[1][0]}-{index}" for index, case in enumerate(CASES)])
def test_each_fault_is_said_with_its_numbers(sets: dict[str, Any], expected: tuple[str, Severity, str]) -> None:
    findings = judge(build_machine(8), **sets)
    assert expected in said(findings)
    for finding in findings:
        assert finding.verdict is Verdict.FAIL
        assert finding.subject == "t"
        assert finding.remedy
        assert finding.why == CHECKS[finding.id].why
        assert finding.expected != finding.actual


def ids(machine: Topology, **sets: Any) -> list[str]:
    return [one.id for one in judge(machine, **sets)]


def test_faults_that_a_split_does_not_have_are_not_said() -> None:
    assert ids(build_machine(8, 2), reserved="", isolated="0-15") == ["cpu.reserved.too-few"]
    assert ids(build_machine(1, threads=1), reserved="0") == ["cpu.isolated.empty"]
    assert ids(build_machine(8), reserved="0-1", isolated="2-15") == ["cpu.siblings.split"]
    assert ids(build_machine(8), reserved="0,8", isolated="1-7,12-15", offlined="9-11") == ["cpu.offlined.half-core"]
    assert ids(build_machine(8), reserved="0,8", isolated="1-7,9-17") == ["cpu.partition.absent"]
    assert ids(build_machine(8), reserved="1,9", isolated="2-7,10-15", offlined="0,8") == ["cpu.offlined.boot-cpu"]


def test_offline_cpus_are_named_unless_they_are_to_be_offline() -> None:
    machine = without_cpus(build_machine(8), parse("6-7,14-15"))
    assert said(judge(machine, reserved="0,8", isolated="1-7,9-15")) == [
        ("cpu.partition.offline", CRITICAL, "isolated names CPUs 6-7,14-15, offline on this machine")
    ]
    assert judge(machine, reserved="0,8", isolated="1-5,9-13", offlined="6-7,14-15") == ()


def test_second_threads_are_offline_under_disable_smt() -> None:
    machine = build_machine(8)
    assert said(judge(machine, reserved="0-1", isolated="2-8", disable_smt=True)) == [
        ("cpu.partition.offline", CRITICAL, "isolated names CPU 8, offline under disable_smt")
    ]
    assert judge(machine, reserved="0-1", isolated="2-7", disable_smt=True) == ()


def test_cpu0_may_stay_unreserved_when_the_tier_says_so() -> None:
    machine = build_machine(8)
    assert judge(machine, reserved="1,9", isolated="0,2-8,10-15", reserve_cpu0=False) == ()
    (finding,) = judge(machine, reserved="1,9", isolated="0,2-8,10-15")
    assert finding.remedy == "reserve CPUs 0,8, or set reserve_cpu0: false if this is meant"


def test_cpu0_offline_is_only_doubtful_on_other_architectures() -> None:
    machine = replace(build_machine(8), arch="aarch64")
    assert said(judge(machine, reserved="1,9", isolated="2-7,10-15", offlined="0,8")) == [
        ("cpu.offlined.boot-cpu", WARNING, "CPU 0 is to be taken offline, which not every machine can do")
    ]


WHOLE = KubeletSpec(cpu_manager_policy_options={"full-pcpus-only": "true"})
SINGLE = KubeletSpec(topology_manager_policy="single-numa-node")
SINGLE_BUT_THREADS = replace(SINGLE, cpu_manager_policy_options={"full-pcpus-only": "false"})
RESTRICTED = KubeletSpec(topology_manager_policy="restricted")


@pytest.mark.parametrize(
    ("kubelet", "allowed", "severity"),
    [
        (WHOLE, False, CRITICAL),
        (SINGLE, False, CRITICAL),
        (SINGLE_BUT_THREADS, False, WARNING),
        (RESTRICTED, False, WARNING),
        (WHOLE, True, WARNING),
        (RESTRICTED, True, INFO),
    ],
)
def test_split_cores_weigh_more_where_whole_cores_are_in_force(
    *, kubelet: KubeletSpec, allowed: bool, severity: Severity
) -> None:
    findings = judge(build_machine(8), kubelet, reserved="0-1", isolated="2-15", allow_split_cores=allowed)
    assert [(one.id, one.severity) for one in findings] == [("cpu.siblings.split", severity)]


def test_a_kubelet_config_does_not_turn_whole_cores_on() -> None:
    tier = Tier(
        "t",
        cpu=CpuSpec(reserved=parse("0-1"), isolated=parse("2-15")),
        kubelet=SINGLE,
        openshift=OpenShiftSpec(manifest=Manifest.KUBELET_CONFIG),
    )
    (finding,) = judge_partition(Partition(parse("0-1"), parse("2-15")), build_machine(8), tier)
    assert finding.severity is WARNING


def test_the_remedy_for_split_cores_completes_the_reserved_cores() -> None:
    (finding,) = judge(build_machine(8), reserved="0-1", isolated="2-15")
    assert finding.remedy == (
        "give whole cores to each set, for instance reserved 0-1,8-9; or set allow_split_cores: true"
    )
    (finding,) = judge(build_machine(8), reserved="0-1,8-9", isolated="2-7,10-14", shared="15")
    assert finding.remedy == "give whole cores to each set; or set allow_split_cores: true"
    (finding,) = judge(build_machine(8), reserved="0-7", isolated="8-15")
    assert finding.remedy == "give whole cores to each set; or set allow_split_cores: true"


def test_numa_nodes_without_reserved_or_isolated_cpus() -> None:
    machine = build_machine(8, 4, memory_only=1)
    assert said(judge(machine, reserved="0-3,8-11", isolated="4-7,12-15")) == [
        ("cpu.numa.empty", INFO, "NUMA nodes 2, 3 of 4 have no reserved CPU"),
        ("cpu.numa.empty", WARNING, "NUMA nodes 0, 1 of 4 have no isolated CPU"),
    ]
    assert said(judge(machine, reserved="0,2,4,8,10,12", isolated="1,3,5-7,9,11,13-15")) == [
        ("cpu.numa.empty", INFO, "NUMA node 3 of 4 has no reserved CPU"),
    ]
    assert judge(machine, reserved="0,2,4,6,8,10,12,14", isolated="1,3,5,7,9,11,13,15") == ()


def test_a_numa_node_whose_isolated_cpus_are_offlined_has_none() -> None:
    findings = judge(build_machine(8, 2), reserved="0,4,8,12", isolated="1-3,9-11", offlined="5-7,13-15")
    assert said(findings) == [("cpu.numa.empty", WARNING, "NUMA node 1 of 2 has no isolated CPU")]


@pytest.mark.parametrize(
    ("policy", "option", "nodes", "complains"),
    [
        ("restricted", "", 9, True),
        ("best-effort", "", 8, False),
        ("none", "", 9, False),
        ("", "", 9, False),
        ("restricted", "9", 9, False),
        ("restricted", "16", 10, False),
        ("restricted", "9", 10, True),
        ("restricted", "4", 8, False),
        ("restricted", "many", 9, True),
    ],
)
def test_numa_nodes_beyond_what_the_topology_manager_takes(
    *, policy: str, option: str, nodes: int, complains: bool
) -> None:
    kubelet = KubeletSpec(
        topology_manager_policy=policy,
        topology_manager_policy_options={"max-allowable-numa-nodes": option} if option else {},
    )
    # Memory-only nodes count too.
    machine = build_machine(8, 4, memory_only=nodes - 4)
    findings = judge_partition(Partition(), machine, Tier("t", kubelet=kubelet))
    most = 9 if option == "9" else 8
    assert said(findings) == (
        [
            (
                "cpu.numa.too-many",
                CRITICAL,
                f"the machine has {nodes} NUMA nodes and the topology manager takes {most}: no kubelet would start",
            )
        ]
        if complains
        else []
    )


def test_core_types_are_not_mixed_among_isolated_cpus() -> None:
    machine = hybrid_machine(4, 4)
    assert said(judge(machine, reserved="0-1,8-9", isolated="2-7,10-11")) == [
        (
            "cpu.hybrid.mixed",
            WARNING,
            "isolated has 6 CPUs of performance cores (2-7) and 2 efficient ones (10-11)",
        )
    ]
    assert judge(machine, reserved="0-1,8-11", isolated="2-7") == ()
    assert judge(machine, reserved="0-7", isolated="8-11") == ()


def test_cut_caches_are_said_where_a_node_has_several() -> None:
    machine = with_cache_groups(build_machine(8), 4)
    assert said(judge(machine, reserved="0,8", isolated="1-7,9-15")) == [
        ("cpu.l3.split", INFO, "reserved CPUs 0,8 share 1 of 2 last-level caches with 6 other CPUs")
    ]
    assert judge(machine, reserved="0-3,8-11", isolated="4-7,12-15") == ()
    assert judge(with_cache_groups(build_machine(8), 8), reserved="0,8", isolated="1-7,9-15") == ()
    assert judge(with_cache_groups(build_machine(8, 2), 4), reserved="0,4,8,12", isolated="1-3,5-7,9-11,13-15") == ()


def reservations(system: str, kube: str) -> KubeletSpec:
    return KubeletSpec(
        cpu_manager_policy="static", system_reserved={"cpu": system, "memory": "1Gi"}, kube_reserved={"cpu": kube}
    )


def test_reserved_cpus_are_compared_with_the_reservations() -> None:
    machine = build_machine(8)
    listed = {"reserved": "0-1,8-9", "isolated": "2-7,10-15"}
    assert judge(machine, reservations("2", "2"), **listed) == ()
    assert said(judge(machine, reservations("2500m", "1501m"), **listed)) == [
        (
            "cpu.reserved.too-few",
            WARNING,
            "4 CPUs are reserved, but systemReserved and kubeReserved name 5; the list counts",
        )
    ]


def test_one_reserved_cpu_is_few() -> None:
    assert ("cpu.reserved.too-few", WARNING, "only CPU 0 of 4 CPUs is reserved") in said(
        judge(build_machine(4, threads=1), reserved="0", isolated="1-3")
    )


def test_a_tier_without_a_split_is_judged_by_what_the_static_manager_needs() -> None:
    machine = build_machine(8)

    def findings(kubelet: KubeletSpec) -> list[tuple[str, Severity, str]]:
        return said(judge_partition(Partition(), machine, Tier("t", kubelet=kubelet)))

    assert findings(KubeletSpec()) == []
    assert findings(reservations("4", "4")) == []
    assert findings(KubeletSpec(cpu_manager_policy="static")) == [
        (
            "cpu.reserved.too-few",
            CRITICAL,
            "the static CPU manager has no reserved CPU: no cpu.reserved, no systemReserved or kubeReserved cpu",
        )
    ]
    assert findings(reservations("8", "7500m")) == [
        ("cpu.isolated.empty", CRITICAL, "systemReserved and kubeReserved take 16 CPUs and the machine has 16")
    ]
    assert findings(reservations("8", "7")) == []


def test_a_reservation_that_is_no_quantity_is_an_input_error() -> None:
    with pytest.raises(InputError) as caught:
        judge_partition(Partition(), build_machine(2), Tier("t", kubelet=reservations("four", "1")))
    assert caught.value.problems[0].code == "TUN-2200"


def test_findings_point_at_the_line_that_asked() -> None:
    tier = Tier(
        "t",
        cpu=CpuSpec(reserved=parse("0-1"), isolated=parse("2-15")),
        origins={"cpu.reserved": Origin("t.yaml", 7, 3), "cpu": Origin("t.yaml", 5, 1)},
    )
    (finding,) = judge_partition(Partition(parse("0-1"), parse("2-15")), build_machine(8), tier)
    assert str(finding.asked_in) == "t.yaml:7:3"


SETS = st.builds(CpuSet, st.lists(st.integers(0, 30), max_size=12))


@given(topologies(), SETS, SETS, SETS, SETS)
def test_every_finding_is_documented_and_true_to_the_sets(
    machine: Topology, reserved: CpuSet, isolated: CpuSet, shared: CpuSet, offlined: CpuSet
) -> None:
    tier = Tier("t", cpu=CpuSpec(reserved=reserved, isolated=isolated, shared=shared, offlined=offlined))
    partition = Partition(reserved, isolated, shared, offlined)
    findings = judge_partition(partition, machine, tier)
    found = {one.id for one in findings}
    assert found <= set(CHECKS)
    pairs = [(reserved, isolated), (reserved, shared), (reserved, offlined)]
    pairs += [(isolated, shared), (isolated, offlined), (shared, offlined)]
    assert ("cpu.partition.overlap" in found) is any(one & other for one, other in pairs)
    named = reserved | isolated | shared | offlined
    assert ("cpu.partition.absent" in found) is (not named <= machine.present)
    assert ("cpu.partition.offline" in found) is bool((reserved | isolated | shared) & machine.offline)
    assert ("cpu.partition.gap" in found) is bool(reserved and not machine.online <= named)
    running = machine.online - offlined
    cut = [
        core & running
        for core in machine.cores
        if any(core & running & one not in (CpuSet(), core & running) for one in (reserved, isolated, shared))
    ]
    assert ("cpu.siblings.split" in found) is bool(cut)


def test_every_check_is_documented_in_full() -> None:
    for check, doc in CHECKS.items():
        assert check == check.lower()
        assert all((doc.title, doc.why, doc.remedy)), check
