"""Tiers whose fields are right one by one and wrong together; each rule, and the nearest tier that keeps it."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import pytest
from support.tiers import load_body, place_of, problems_of

from tunectl.core.codes import CODES
from tunectl.core.tier_rules import ROLES, TIER_RULES
from tunectl.core.tier_rules_config import CONFIG_RULES
from tunectl.core.tier_rules_kubelet import KUBELET_RULES


class Clash(NamedTuple):
    """A body that breaks one rule, where that is told, and a body like it that breaks none."""

    code: str
    path: str
    body: str
    says: str
    right: str


RESERVED = 'cpu: {reserved: "0-3"}\n'
STATIC_MEMORY = "memory_manager_policy: Static"
SUMS = "system_reserved: {memory: 1Gi}, kube_reserved: {memory: 1Gi}"

CLASHES = [
    Clash(
        "TUN-1401",
        "cpu.isolated",
        'cpu: {reserved: "0-5", isolated: "4-7"}\n',
        "reserved and isolated both name CPU 4-5",
        'cpu: {reserved: "0-3", isolated: "4-7"}\n',
    ),
    Clash(
        "TUN-1401",
        "cpu.offlined",
        'cpu: {reserved: {count: 2, include: "0"}, offlined: "0,9"}\n',
        "both name CPU 0",
        'cpu: {reserved: {count: 2, include: "0"}, offlined: "9"}\n',
    ),
    Clash(
        "TUN-1402",
        "workload_hints.real_time",
        "kernel: {realtime: true}\nworkload_hints: {real_time: false}\n",
        "real_time is false with kernel.realtime: true",
        "kernel: {realtime: true}\nworkload_hints: {}\n",
    ),
    Clash(
        "TUN-1403",
        "workload_hints.per_pod_power_management",
        "workload_hints: {high_power_consumption: true, per_pod_power_management: true}\n",
        "exclude each other",
        "workload_hints: {high_power_consumption: true}\n",
    ),
    Clash(
        "TUN-1404",
        "workload_hints.mixed_cpus",
        RESERVED + "workload_hints: {mixed_cpus: true}\n",
        "needs cpu.shared",
        'cpu: {reserved: "0-3", shared: "4"}\nworkload_hints: {mixed_cpus: true}\n',
    ),
    Clash(
        "TUN-1405",
        "hugepages.pages",
        "hugepages: {pages: [{size: 1G, count: 4}]}\n",
        "default_size: 1G",
        "hugepages: {default_size: 1G, pages: [{size: 1G, count: 4}]}\n",
    ),
    Clash(
        "TUN-1406",
        "hugepages.pages.1",
        "hugepages: {default_size: 1G, pages: [{size: 1G, count: 4, node: 0}, {size: 1G, count: 4, node: 0}]}\n",
        "1G pages on node 0 are asked for twice",
        "hugepages: {default_size: 1G, pages: [{size: 1G, count: 4, node: 0}, {size: 1G, count: 4}]}\n",
    ),
    Clash(
        "TUN-1407",
        "hugepages",
        "hugepages: {default_size: 1G, pages: [{size: 512M, count: 1}]}\n",
        "no machine has hugepages of 1G, 512M together",
        "hugepages: {default_size: 2M, pages: [{size: 512M, count: 1}]}\n",
    ),
    Clash(
        "TUN-1407",
        "hugepages",
        "kernel: {page_size: 64k}\nhugepages: {default_size: 1G}\n",
        "arm64 with 64k pages: 16G, 2M, 512M",
        "kernel: {page_size: 4k}\nhugepages: {default_size: 1G}\n",
    ),
    Clash(
        "TUN-1408",
        "frequency.reserved_khz",
        "frequency: {reserved_khz: 2000000}\n",
        "reserved_khz needs isolated_khz",
        "frequency: {reserved_khz: 2000000, isolated_khz: 2500000}\n",
    ),
    Clash(
        "TUN-1409",
        "kernel.page_size",
        "kernel: {page_size: 64k, realtime: true}\n",
        "no real-time kernel",
        "kernel: {page_size: 4k, realtime: true}\n",
    ),
    Clash(
        "TUN-1410",
        "kubelet.cpu_manager_policy_options",
        "kubelet: {cpu_manager_policy_options: {full-pcpus-only: true}}\n",
        "not set, which means none",
        RESERVED + "kubelet: {cpu_manager_policy_options: {full-pcpus-only: true}}\n",
    ),
    Clash(
        "TUN-1410",
        "kubelet.topology_manager_policy_options",
        "kubelet: {topology_manager_policy: none, topology_manager_policy_options: {max-allowable-numa-nodes: 9}}\n",
        "the kubelet would ignore them",
        RESERVED + "kubelet: {topology_manager_policy_options: {max-allowable-numa-nodes: 8}}\n",
    ),
    Clash(
        "TUN-1411",
        "kubelet.cpu_manager_policy_options.distribute-cpus-across-cores",
        RESERVED
        + "kubelet: {cpu_manager_policy_options: {distribute-cpus-across-cores: true, full-pcpus-only: true}}\n",
        "excludes full-pcpus-only",
        RESERVED
        + "kubelet: {cpu_manager_policy_options: {distribute-cpus-across-cores: true, full-pcpus-only: false}}\n",
    ),
    Clash(
        "TUN-1411",
        "kubelet.cpu_manager_policy_options.align-by-socket",
        RESERVED
        + "kubelet: {topology_manager_policy: single-numa-node, cpu_manager_policy_options: {align-by-socket: true}}\n",
        "excludes topology_manager_policy single-numa-node",
        RESERVED
        + "kubelet: {topology_manager_policy: restricted, cpu_manager_policy_options: {align-by-socket: true}}\n",
    ),
    Clash(
        "TUN-1412",
        "kubelet.cpu_manager_policy",
        'kubelet: {cpu_manager_policy: static, kube_reserved: {cpu: "0", memory: 1Gi}}\n',
        "needs a CPU reservation",
        "kubelet: {cpu_manager_policy: static, kube_reserved: {cpu: 500m}}\n",
    ),
    Clash(
        "TUN-1413",
        "kubelet.eviction_hard.memory.available",
        f"kubelet: {{{STATIC_MEMORY}, eviction_hard: {{memory.available: 5%}}}}\n",
        "the eviction threshold 5%",
        f"kubelet: {{{STATIC_MEMORY}, eviction_hard: {{memory.available: 5Gi}}}}\n",
    ),
    Clash(
        "TUN-1413",
        "kubelet.eviction_hard.memory.available",
        RESERVED + "kubelet: {topology_manager_policy: restricted, eviction_hard: {memory.available: 5%}}\n",
        "exact to the byte",
        RESERVED + "kubelet: {topology_manager_policy: best-effort, eviction_hard: {memory.available: 5%}}\n",
    ),
    Clash(
        "TUN-1414",
        "kubelet.reserved_memory",
        "kubelet: {reserved_memory: [{numa_node: 0, limits: {memory: 1Gi}}]}\n",
        "Static memory manager only",
        f"kubelet: {{{STATIC_MEMORY}, reserved_memory: [{{numa_node: 0, limits: {{memory: 1Gi}}}}]}}\n",
    ),
    Clash(
        "TUN-1414",
        "kubelet.reserved_memory",
        f"kubelet: {{{STATIC_MEMORY}, {SUMS}, reserved_memory: [{{numa_node: 0, limits: {{memory: 2Gi}}}}]}}\n",
        "kube 1Gi + system 1Gi + eviction 100Mi; the difference is -104857600 bytes",
        f"kubelet: {{{STATIC_MEMORY}, {SUMS}, reserved_memory: [{{numa_node: 0, limits: {{memory: 2148Mi}}}}]}}\n",
    ),
    Clash(
        "TUN-1414",
        "kubelet.reserved_memory.1",
        f"kubelet: {{{STATIC_MEMORY}, reserved_memory: "
        "[{numa_node: 1, limits: {memory: 1Gi}}, {numa_node: 1, limits: {memory: 1Gi}}]}\n",
        "NUMA node 1 stands there twice",
        f"kubelet: {{{STATIC_MEMORY}, reserved_memory: "
        "[{numa_node: 1, limits: {memory: 1Gi}}, {numa_node: 0, limits: {memory: 1Gi}}]}\n",
    ),
    Clash(
        "TUN-1415",
        "kubelet.eviction_soft.memory.available",
        "kubelet: {eviction_soft: {memory.available: 3Gi}}\n",
        "no grace period",
        "kubelet: {eviction_soft: {memory.available: 3Gi}, eviction_soft_grace_period: {memory.available: 1m}}\n",
    ),
    Clash(
        "TUN-1415",
        "kubelet.eviction_soft_grace_period.pid.available",
        "kubelet: {eviction_soft_grace_period: {pid.available: 1m}}\n",
        "no soft threshold",
        "kubelet: {eviction_soft: {pid.available: 10%}, eviction_soft_grace_period: {pid.available: 1m}}\n",
    ),
    Clash(
        "TUN-1416",
        "cpu.reserved",
        RESERVED + "openshift: {manifest: kubelet-config}\n",
        "cpu.enforce_isolation: false",
        'cpu: {reserved: "0-3", enforce_isolation: false}\nopenshift: {manifest: kubelet-config}\n',
    ),
    Clash(
        "TUN-1416",
        "irq.balance_isolated",
        "irq: {balance_isolated: false}\nopenshift: {manifest: kubelet-config}\n",
        "a KubeletConfig cannot carry this",
        "irq: {balance_isolated: true}\nopenshift: {manifest: kubelet-config}\n",
    ),
    Clash(
        "TUN-1416",
        "workload_hints",
        "workload_hints: {}\nopenshift: {manifest: kubelet-config}\n",
        "or leave workload_hints out",
        "workload_hints: null\nopenshift: {manifest: kubelet-config}\n",
    ),
    Clash(
        "TUN-1417",
        "openshift.manifest",
        "openshift: {manifest: performance-profile}\n",
        "needs cpu.reserved",
        RESERVED + "openshift: {manifest: performance-profile}\n",
    ),
    Clash(
        "TUN-1418",
        "openshift.node_selector",
        RESERVED + 'openshift: {node_selector: {a/b: "", c/d: ""}}\n',
        "it has 2 labels",
        RESERVED + 'openshift: {node_selector: {a/b: ""}}\n',
    ),
    Clash(
        "TUN-1419",
        "net.user_level_networking",
        "net: {user_level_networking: true}\n",
        "no CPU is reserved",
        RESERVED + "net: {user_level_networking: true}\n",
    ),
    Clash(
        "TUN-1419",
        "net.devices.0",
        'net: {devices: [{device_id: "0x1000"}]}\n',
        "needs vendor_id",
        'net: {devices: [{device_id: "0x1000", vendor_id: "0x8086"}]}\n',
    ),
    Clash(
        "TUN-1419",
        "net.devices.0",
        "net: {devices: [{}]}\n",
        "no property",
        "net: {devices: [{interface_name: eth0}]}\n",
    ),
    Clash(
        "TUN-1420",
        "cpu.otherwise",
        "cpu: {reserved: {count: 4}, otherwise: {count: 8}}\n",
        "there is no list",
        'cpu: {reserved: "0-3", otherwise: {count: 8}}\n',
    ),
    Clash(
        "TUN-1421",
        "placement.taints.1",
        "placement: {taints: ['a=b:NoSchedule', 'a=c:NoSchedule']}\n",
        "two of the taint a:NoSchedule",
        "placement: {taints: ['a=b:NoSchedule', 'a=c:NoExecute']}\n",
    ),
    Clash(
        "TUN-1421",
        "resctrl.1",
        "resctrl: [{name: a}, {name: a}]\n",
        "two of the class a",
        "resctrl: [{name: a}, {name: b}]\n",
    ),
    Clash(
        "TUN-1422",
        "sysctl.vm.nr_hugepages",
        "hugepages: {default_size: 2M, pages: [{size: 2M, count: 4}]}\nsysctl: {vm.nr_hugepages: 4}\n",
        "set the same pool",
        "sysctl: {vm.nr_hugepages: 4}\n",
    ),
    Clash(
        "TUN-1422",
        "kubelet.swap_behavior",
        "kubelet: {swap_behavior: LimitedSwap}\nmemory: {swap: false}\n",
        "LimitedSwap needs swap",
        "kubelet: {swap_behavior: LimitedSwap}\nmemory: {swap: true}\n",
    ),
    Clash(
        "TUN-1423",
        "sysctl.kernel.sched_rt_runtime_us",
        "sysctl: {kernel.sched_rt_runtime_us: -1}\n",
        "without any limit",
        "kernel: {realtime: true}\nsysctl: {kernel.sched_rt_runtime_us: -1}\n",
    ),
    Clash(
        "TUN-1423",
        "sysctl.kernel.sched_rt_runtime_us",
        "workload_hints: {real_time: false}\nsysctl: {kernel.sched_rt_runtime_us: -1}\n",
        "which brings stalld",
        "workload_hints: {}\nsysctl: {kernel.sched_rt_runtime_us: -1}\n",
    ),
    Clash(
        "TUN-1424",
        "kubelet.config.systemReservedCgroup",
        RESERVED + "kubelet: {config: {systemReservedCgroup: /system.slice}}\n",
        "does not go with cpu.reserved",
        "kubelet: {config: {systemReservedCgroup: /system.slice}}\n",
    ),
    Clash(
        "TUN-1424",
        "kubelet.config.kubeReservedCgroup",
        "kubelet: {config: {kubeReservedCgroup: /kubelet.service}}\n",
        "name a .slice",
        "kubelet: {config: {kubeReservedCgroup: /kubelet.slice}}\n",
    ),
    Clash(
        "TUN-1424",
        "kubelet.config.enforceNodeAllocatable.1",
        "kubelet: {config: {enforceNodeAllocatable: [pods, system-reserved-compressible]}}\n",
        "without systemReservedCgroup",
        "kubelet: {config: {enforceNodeAllocatable: [pods, system-reserved], systemReservedCgroup: /a.slice}}\n",
    ),
    Clash(
        "TUN-1425",
        "kubelet.config.featureGates.PodLevelResourceManagers",
        "kubelet: {config: {featureGates: {PodLevelResourceManagers: true}}}\n",
        "loses CPUs",
        "kubelet: {config: {featureGates: {PodLevelResourceManagers: false}}}\n",
    ),
    Clash(
        "TUN-1425",
        "kubelet.config.featureGates.MemoryQoS",
        "kubelet: {config: {featureGates: {MemoryQoS: true}}}\n",
        "memory_qos: true",
        "kubelet: {memory_qos: true, config: {featureGates: {KubeletPSI: true}}}\n",
    ),
    Clash(
        "TUN-1426",
        "resctrl.0.cpus",
        "resctrl: [{name: a, cpus: shared}]\n",
        "set cpu.shared",
        RESERVED + "resctrl: [{name: a, cpus: isolated}]\n",
    ),
    Clash(
        "TUN-1426",
        "resctrl.1.cpus",
        RESERVED + "resctrl: [{name: a, cpus: reserved}, {name: b, cpus: reserved}]\n",
        "two classes want the reserved CPUs",
        RESERVED + "resctrl: [{name: a, cpus: reserved}, {name: b}, {name: c}]\n",
    ),
]
# Field (or two, or one below a map) of KubeletConfiguration: a wrong value, what is said, a right value.
CONFIG = [
    ("oomScoreAdj", "-1001", "allowed: -1000 to 1000", "-999"),
    ("imageGCHighThresholdPercent", "80", "must be below the high one", "81"),
    ("imageGCLowThresholdPercent", "85", "85 and 85", "84"),
    ("containerLogMaxFiles", "1", "allowed: 2 to", "2"),
    ("cpuCFSQuotaPeriod", "2s", "allowed: 1ms to 1s", "5ms"),
    ("containerLogMonitorInterval", "2.5s", "allowed: 3s or more", "3s"),
    ("shutdownGracePeriodCriticalPods", "10s", "more time than the whole shutdown", "0s"),
    ("runOnce", "true", "refuses runOnce", "false"),
    ("maxParallelImagePulls", "3, serializeImagePulls: true", "one after the other", "3"),
    ("evictionMinimumReclaim", "{memory.available: -1Mi}", "cannot be reclaimed", "{memory.available: 1Mi}"),
    ("evictionMinimumReclaim", "{nodefs.available: 0%}", "cannot be reclaimed", "{nodefs.available: 1%}"),
    ("evictionMinimumReclaim", "{memory.avail: 1Mi}", "'memory.available'", "{memory.available: 0}"),
    ("qosReserved", "{memory: 150%}", "0% to 100%", "{memory: 100%}"),
    ("qosReserved", "{cpu: 50%}", "only memory can", "{}"),
    ("memoryReservationPolicy", "Hard", "one of: None", "None"),
    ("memoryReservationPolicy", "TieredReservation", "memory_qos: true", "None"),
    ("userNamespaces", "{idsPerPod: 1024}", "a multiple of 65536", "{idsPerPod: 131072}"),
    ("enforceNodeAllocatable", "[node]", "'node' cannot be enforced", "[pods]"),
    ("enforceNodeAllocatable", "[pods, pods]", "stands there twice", "[none]"),
    ("enforceNodeAllocatable", "[pods, none]", "none stands alone", "[]"),
    (
        "enforceNodeAllocatable",
        "[kube-reserved, kube-reserved-compressible], kubeReservedCgroup: /a.slice",
        "already covers",
        "[kube-reserved-compressible], kubeReservedCgroup: /a.slice",
    ),
    ("cgroupsPerQOS", "false", "enforcement needs cgroupsPerQOS", "true"),
    ("featureGates", "{KubeletPSI: 1}", "no value of a feature gate", "{KubeletPSI: true}"),
    ("featureGates", "{CPUManager: true}", "no gate CPUManager any more", "{}"),
]
CLASHES += [
    Clash(
        "TUN-1427",
        f"kubelet.config.{field}",
        f"kubelet: {{config: {{{field}: {wrong}}}}}\n",
        says,
        f"kubelet: {{config: {{{field}: {right}}}}}\n",
    )
    for field, wrong, says, right in CONFIG
]
IDS = [f"{clash.code}-{number}" for number, clash in enumerate(CLASHES)]


@pytest.mark.parametrize("clash", CLASHES, ids=IDS)
def test_a_contradiction_is_told_with_its_reason(clash: Clash, tmp_path: Path) -> None:
    (problem,) = problems_of(tmp_path, clash.body)
    assert problem.code == clash.code
    assert problem.path == clash.path or (clash.code == "TUN-1427" and problem.path.startswith(clash.path + "."))
    assert clash.says in f"{problem.what} {problem.why} {problem.fix}"
    assert int(place_of(problem).split(":")[0]) >= 4


@pytest.mark.parametrize("clash", CLASHES, ids=IDS)
def test_the_nearest_right_tier_is_taken(clash: Clash, tmp_path: Path) -> None:
    right, wrong = load_body(tmp_path, clash.right), clash.body
    assert right.name == "mine"
    assert right != load_body(tmp_path, "")
    assert clash.right != wrong


@pytest.mark.parametrize(("one", "other"), list(combinations(ROLES, 2)))
def test_no_two_roles_share_a_cpu(one: str, other: str, tmp_path: Path) -> None:
    reserved = "" if one == "reserved" else 'reserved: "0", '
    (problem,) = problems_of(tmp_path, f'cpu: {{{reserved}{one}: "4-6", {other}: "6-7"}}\n')
    assert (problem.code, problem.path) == ("TUN-1401", f"cpu.{other}")
    assert problem.what == f"{one} and {other} both name CPU 6"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("cpu.isolated", 'cpu: {isolated: "4-7"}'),
        ("cpu.shared", 'cpu: {shared: "4-7"}'),
        ("cpu.offlined", 'cpu: {offlined: "4-7"}'),
        ("cpu.ovs_dpdk", 'cpu: {ovs_dpdk: "4-7"}'),
        ("cpu.balance_isolated", "cpu: {balance_isolated: false}"),
        ("workload_hints", "workload_hints: {}"),
        ("irq.balance_isolated", "irq: {balance_isolated: false}"),
        ("irq.rps", "irq: {rps: true}"),
        (
            "net.user_level_networking",
            'cpu: {reserved: "0", enforce_isolation: false}\nnet: {user_level_networking: true}',
        ),
        ("frequency", "frequency: {isolated_khz: 5, reserved_khz: 5}"),
        ("openshift.annotations", ""),
    ],
)
def test_a_kubelet_config_carries_nothing_of_a_profile(path: str, body: str, tmp_path: Path) -> None:
    annotations = "" if body else ", annotations: {a/b: c}"
    (problem,) = problems_of(tmp_path, f"{body}\nopenshift: {{manifest: kubelet-config{annotations}}}\n")
    assert (problem.code, problem.path) == ("TUN-1416", path)
    carried = load_body(tmp_path, f"{body}\n")
    assert (carried == load_body(tmp_path, "")) is (body == "")


@pytest.mark.parametrize("threshold", ["0%", "100%"])
def test_thresholds_that_switch_the_signal_off_are_exact(threshold: str, tmp_path: Path) -> None:
    body = f"kubelet: {{{STATIC_MEMORY}, {SUMS}, eviction_hard: {{memory.available: {threshold}}}, reserved_memory: "
    tier = load_body(tmp_path, body + "[{numa_node: 0, limits: {memory: 2Gi}}]}\n")
    assert dict(tier.kubelet.eviction_hard or {}) == {"memory.available": threshold}
    assert len(tier.kubelet.reserved_memory or ()) == 1


@pytest.mark.parametrize(("amount", "difference"), [("2149Mi", "+1048576"), ("2147Mi", "-1048576")])
def test_reserved_memory_is_wrong_in_both_directions(amount: str, difference: str, tmp_path: Path) -> None:
    body = f"kubelet: {{{STATIC_MEMORY}, {SUMS}, reserved_memory: [{{numa_node: 0, limits: {{memory: {amount}}}}}]}}\n"
    (problem,) = problems_of(tmp_path, body)
    assert f"the difference is {difference} bytes" in problem.why


def test_every_rule_is_broken_by_a_case_and_explained() -> None:
    codes = {rule.code for rule in (*TIER_RULES, *KUBELET_RULES, *CONFIG_RULES)}
    assert codes == {clash.code for clash in CLASHES}
    assert codes <= set(CODES)


def test_a_rule_about_a_field_that_is_not_understood_stays_silent(tmp_path: Path) -> None:
    body = "kubelet: {cpu_manager_policy: static, system_reserved: {cpu: much}}\nfrequency: {reserved_khz: 5}\n"
    problems = problems_of(tmp_path, body)
    assert [problem.code for problem in problems] == ["TUN-2200", "TUN-1408"]


def test_half_a_tier_is_not_judged_as_a_whole(tmp_path: Path) -> None:
    body = "extends: nosuch\nkubelet: {cpu_manager_policy_options: {full-pcpus-only: true}}\n"
    assert [problem.code for problem in problems_of(tmp_path, body)] == ["TUN-1109"]
