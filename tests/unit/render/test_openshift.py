"""The manifests of a tier: those of the report for its two tiers, and nothing that an operator would drop or fight."""

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import yaml

from tunectl.core.cpuset import CpuSet
from tunectl.core.desire import desire
from tunectl.core.desired import DesiredState, Platform
from tunectl.core.environment import NodeEnvironment
from tunectl.core.errors import InputError, RefusedError
from tunectl.core.machine import topology_from_facts
from tunectl.core.tier import (
    CpuSpec,
    FrequencySpec,
    HugepageRequest,
    HugepagesSpec,
    IrqSpec,
    KernelSpec,
    KubeletSpec,
    Manifest,
    MemorySpec,
    NetDevice,
    NetSpec,
    OpenShiftSpec,
    ReservedMemory,
    Tier,
    WorkloadHints,
)
from tunectl.lab.machines import load_machine
from tunectl.planning.tier_file import load_tier, tier_files
from tunectl.render.openshift import render_manifests

BIG = topology_from_facts(load_machine("xeon-8358-2s32c2t"))
LISTS = CpuSpec(reserved=CpuSet.parse("0-1,64-65"), isolated=CpuSet.parse("2-63,66-127"))


def desired(tier: Tier, environment: NodeEnvironment = NodeEnvironment()) -> DesiredState:  # noqa: B008  a frozen value
    return desire(tier, BIG, environment, Platform.OPENSHIFT).desired


def manifests(tier: Tier, environment: NodeEnvironment = NodeEnvironment()) -> dict[str, Any]:  # noqa: B008
    texts = render_manifests(tier, desired(tier, environment))
    return {document["kind"]: document for document in map(yaml.safe_load, texts.values())}


def profile(**parts: Any) -> dict[str, Any]:
    document: dict[str, Any] = manifests(Tier(**{"name": "t", "cpu": LISTS, **parts}))["PerformanceProfile"]
    return document


def snippet_of(**parts: Any) -> dict[str, Any]:
    annotations = profile(**parts)["metadata"].get("annotations", {})
    found: dict[str, Any] = json.loads(annotations.get("kubeletconfig.experimental", "{}"))
    return found


def refused(tier: Tier) -> list[str]:
    with pytest.raises(RefusedError) as caught:
        manifests(tier)
    return [f"{one.code} {one.what}" for one in caught.value.problems]


@pytest.mark.parametrize("name", sorted(tier_files()))
def test_each_tier_is_written_as_it_always_was(name: str, golden: Callable[[str, str], str]) -> None:
    tier = load_tier(name)
    texts = render_manifests(tier, desired(tier))
    text = "".join(f"--- # {file}\n{text}" for file, text in texts.items())
    assert text == golden(f"openshift-{name}.yaml", text)


def test_the_standard_tier_is_the_report_s_pool_and_kubelet_config() -> None:
    assert manifests(load_tier("hpc-standard")) == {
        "MachineConfigPool": {
            "apiVersion": "machineconfiguration.openshift.io/v1",
            "kind": "MachineConfigPool",
            "metadata": {"name": "hpc-standard", "labels": {"custom-kubelet": "hpc-tuning"}},
            "spec": {
                "machineConfigSelector": {
                    "matchExpressions": [
                        {
                            "key": "machineconfiguration.openshift.io/role",
                            "operator": "In",
                            "values": ["worker", "hpc-standard"],
                        }
                    ]
                },
                "nodeSelector": {"matchLabels": {"node-role.kubernetes.io/hpc-standard": ""}},
            },
        },
        "KubeletConfig": {
            "apiVersion": "machineconfiguration.openshift.io/v1",
            "kind": "KubeletConfig",
            "metadata": {"name": "hpc-tuning-app"},
            "spec": {
                "machineConfigPoolSelector": {"matchLabels": {"custom-kubelet": "hpc-tuning"}},
                "kubeletConfig": {
                    "cpuManagerPolicy": "static",
                    "topologyManagerPolicy": "single-numa-node",
                    "systemReserved": {"cpu": "4", "memory": "8Gi"},
                    "kubeReserved": {"cpu": "4", "memory": "8Gi"},
                    "evictionHard": {"memory.available": "2Gi"},
                },
            },
        },
    }


def test_the_massive_tier_is_the_report_s_profile() -> None:
    found = manifests(load_tier("hpc-massive"))
    assert set(found) == {"MachineConfigPool", "PerformanceProfile"}
    assert found["PerformanceProfile"] == {
        "apiVersion": "performance.openshift.io/v2",
        "kind": "PerformanceProfile",
        "metadata": {"name": "hpc-massive-profile"},
        "spec": {
            "cpu": {"reserved": "0-18,32-50", "isolated": "19-31,51-127"},
            "numa": {"topologyPolicy": "restricted"},
            "nodeSelector": {"node-role.kubernetes.io/hpc-massive": ""},
            "realTimeKernel": {"enabled": False},
        },
    }
    # Both operators find a pool by its own labels; without any the profile is Degraded.
    assert found["MachineConfigPool"]["metadata"]["labels"] == {"machineconfiguration.openshift.io/role": "hpc-massive"}


def test_files_are_named_in_the_order_to_apply() -> None:
    tier = Tier(name="t", cpu=LISTS, sysctl={"vm.swappiness": "10"}, kernel=KernelSpec(modules={"kvm": {"a": "1"}}))
    assert list(render_manifests(tier, desired(tier))) == [
        "10-machineconfigpool.yaml",
        "20-performanceprofile.yaml",
        "30-tuned.yaml",
        "40-machineconfig.yaml",
    ]


def test_a_profile_says_everything_that_a_tier_can_ask_for() -> None:
    found = profile(
        cpu=replace(
            LISTS,
            isolated=CpuSet.parse("8-63,72-127"),
            shared=CpuSet.parse("2-3,66-67"),
            offlined=CpuSet.parse("4-5,68-69"),
            ovs_dpdk=CpuSet.parse("6-7,70-71"),
            balance_isolated=False,
            disable_smt=False,
        ),
        kernel=KernelSpec(realtime=True, page_size="4k", args=("audit=0", "quiet")),
        hugepages=HugepagesSpec("1G", (HugepageRequest("1G", 4), HugepageRequest("2M", 128, 0))),
        irq=IrqSpec(balance_isolated=False, rps=True),
        net=NetSpec(user_level_networking=True, devices=(NetDevice("ens5*"), NetDevice("", "0x8086", "0x1593"))),
        frequency=FrequencySpec(isolated_khz=2500000, reserved_khz=2800000),
        workload_hints=WorkloadHints(real_time=True, per_pod_power_management=True, mixed_cpus=True),
        kubelet=KubeletSpec(topology_manager_policy="best-effort"),
        openshift=OpenShiftSpec(name="fast", annotations={"performance.openshift.io/exec-cpu-affinity": "disable"}),
    )
    assert found["metadata"] == {
        "name": "fast",
        "annotations": {
            "performance.openshift.io/enable-rps": "enable",
            "performance.openshift.io/exec-cpu-affinity": "disable",
        },
    }
    assert found["spec"] == {
        "additionalKernelArgs": ["audit=0", "quiet"],
        "cpu": {
            "balanceIsolated": False,
            "isolated": "8-63,72-127",
            "offlined": "4-5,68-69",
            "ovsDpdk": "6-7,70-71",
            "reserved": "0-1,64-65",
            "shared": "2-3,66-67",
        },
        "globallyDisableIrqLoadBalancing": True,
        "hardwareTuning": {"isolatedCpuFreq": 2500000, "reservedCpuFreq": 2800000},
        "hugepages": {
            "defaultHugepagesSize": "1G",
            "pages": [{"count": 4, "size": "1G"}, {"count": 128, "node": 0, "size": "2M"}],
        },
        "kernelPageSize": "4k",
        "net": {
            "devices": [{"interfaceName": "ens5*"}, {"deviceID": "0x1593", "vendorID": "0x8086"}],
            "userLevelNetworking": True,
        },
        "nodeSelector": {"node-role.kubernetes.io/t": ""},
        "numa": {"topologyPolicy": "best-effort"},
        "realTimeKernel": {"enabled": True},
        "workloadHints": {"mixedCpus": True, "perPodPowerManagement": True, "realTime": True},
    }


def test_hints_that_are_off_are_said_to_be_off() -> None:
    assert profile(workload_hints=WorkloadHints(real_time=False, high_power_consumption=True))["spec"][
        "workloadHints"
    ] == {"highPowerConsumption": True, "realTime": False}


def test_smt_off_is_the_argument_that_the_profile_creator_writes() -> None:
    found = profile(cpu=CpuSpec(reserved=CpuSet.parse("0-1"), isolated=CpuSet.parse("2-63"), disable_smt=True))
    assert found["spec"]["additionalKernelArgs"] == ["nosmt"]


def test_a_pool_that_is_not_named_like_its_role_is_told_to_the_operator() -> None:
    found = manifests(
        Tier(
            name="t",
            pool="special",
            cpu=LISTS,
            openshift=OpenShiftSpec(node_selector={"example.com/fast": ""}, pool_labels={"b": "1", "a": "2"}),
        )
    )
    spec = found["PerformanceProfile"]["spec"]
    assert spec["machineConfigLabel"] == {"machineconfiguration.openshift.io/role": "special"}
    assert spec["machineConfigPoolSelector"] == {"a": "2"}
    assert spec["nodeSelector"] == {"example.com/fast": ""}
    assert found["MachineConfigPool"]["spec"]["nodeSelector"]["matchLabels"] == {"example.com/fast": ""}


def test_a_tier_without_more_needs_no_snippet() -> None:
    for policy in ("", "none", "best-effort", "restricted", "single-numa-node"):
        assert snippet_of(kubelet=KubeletSpec(topology_manager_policy=policy)) == {}


def test_the_snippet_holds_what_a_profile_has_no_field_for() -> None:
    kubelet = KubeletSpec(
        cpu_manager_policy="static",
        cpu_manager_policy_options={"distribute-cpus-across-numa": "true"},
        topology_manager_policy="single-numa-node",
        topology_manager_scope="pod",
        system_reserved={"cpu": "4", "memory": "8Gi"},
        kube_reserved={"memory": "500Mi"},
        eviction_hard={"memory.available": "2Gi", "nodefs.available": "10%"},
        max_pods=40,
        config={"allowedUnsafeSysctls": ["net.core.somaxconn"]},
    )
    found = snippet_of(kubelet=kubelet)
    assert found == {
        "allowedUnsafeSysctls": ["net.core.somaxconn"],
        "cpuManagerPolicyOptions": {"distribute-cpus-across-numa": "true"},
        "evictionHard": {"memory.available": "2Gi"},
        "maxPods": 40,
        "systemReserved": {"cpu": "4", "memory": "8Gi"},
        "topologyManagerScope": "pod",
    }


def test_an_option_that_the_operator_sets_can_be_switched_off() -> None:
    options = {"full-pcpus-only": "false"}
    kubelet = KubeletSpec(topology_manager_policy="single-numa-node", cpu_manager_policy_options=options)
    assert snippet_of(kubelet=kubelet) == {"cpuManagerPolicyOptions": options}


def test_reserved_memory_of_the_tier_s_own_reaches_the_snippet() -> None:
    entries = (ReservedMemory(0, {"memory": "600Mi"}), ReservedMemory(1, {"memory": "500Mi"}))
    kubelet = KubeletSpec(topology_manager_policy="restricted", reserved_memory=entries)
    assert snippet_of(kubelet=kubelet) == {
        "reservedMemory": [
            {"limits": {"memory": "600Mi"}, "numaNode": 0},
            {"limits": {"memory": "500Mi"}, "numaNode": 1},
        ]
    }
    # The operator computes no reservation without an aligning policy: everything is the tier's there.
    loose = snippet_of(kubelet=KubeletSpec(memory_manager_policy="Static"))
    assert loose["memoryManagerPolicy"] == "Static"
    assert loose["reservedMemory"] == [{"limits": {"memory": "1100Mi"}, "numaNode": 0}]


@pytest.mark.parametrize(
    ("kubelet", "field"),
    [
        (KubeletSpec(cpu_manager_policy="none"), "cpuManagerPolicy to none"),
        (KubeletSpec(cpu_manager_reconcile_period="10s"), "cpuManagerReconcilePeriod to 10s"),
        (
            KubeletSpec(topology_manager_policy="restricted", memory_manager_policy="None"),
            "memoryManagerPolicy to None",
        ),
    ],
)
def test_what_the_operator_would_overwrite_is_refused(kubelet: KubeletSpec, field: str) -> None:
    assert refused(Tier(name="t", cpu=LISTS, kubelet=kubelet)) == [f"TUN-2242 a PerformanceProfile cannot set {field}"]


@pytest.mark.parametrize("manifest", list(Manifest))
def test_what_no_kubelet_config_may_hold_is_refused(manifest: Manifest) -> None:
    kubelet = KubeletSpec(memory_qos=True, config={"clusterDomain": "x"}, swap_behavior="NoSwap")
    tier = Tier(name="t", cpu=LISTS, kubelet=kubelet, openshift=OpenShiftSpec(manifest=manifest))
    assert refused(tier) == [
        f"TUN-2242 a KubeletConfig must not set {field}" for field in ("clusterDomain", "featureGates", "memorySwap")
    ]


@pytest.mark.parametrize(
    ("parts", "what"),
    [
        ({"cpu": replace(LISTS, enforce_isolation=False)}, "cpu.enforce_isolation"),
        ({"hugepages": HugepagesSpec(pages=(HugepageRequest("1G", 1),))}, "hugepages.default_size"),
        ({"frequency": FrequencySpec(isolated_khz=1)}, "frequency"),
        ({"openshift": OpenShiftSpec(node_selector={"x/a": "", "x/b": ""})}, "openshift.node_selector"),
        (
            {
                "openshift": OpenShiftSpec(annotations={"kubeletconfig.experimental": "{}"}),
                "kubelet": KubeletSpec(max_pods=5),
            },
            "openshift.annotations",
        ),
    ],
)
def test_what_a_profile_cannot_express_is_refused(parts: dict[str, Any], what: str) -> None:
    problems = refused(Tier(**{"name": "t", "cpu": LISTS, **parts}))
    assert [problem.partition(": ")[0] for problem in problems] == [
        f"TUN-2242 a PerformanceProfile cannot express {what}"
    ]


def test_a_profile_needs_both_cpu_lists() -> None:
    tier = Tier(name="t", openshift=OpenShiftSpec(manifest=Manifest.PERFORMANCE_PROFILE))
    (problem,) = refused(tier)
    assert problem == "TUN-2243 tier t is to be a PerformanceProfile and has no reserved CPUs"
    all_reserved = Tier(name="t", cpu=CpuSpec(reserved=BIG.online, isolated=CpuSet()))
    with pytest.raises(RefusedError) as caught:
        manifests(all_reserved)
    assert "has no isolated CPUs" in caught.value.problems[0].what


def test_a_partition_without_a_profile_becomes_kubelet_fields_only() -> None:
    tier = Tier(name="t", cpu=LISTS, openshift=OpenShiftSpec(manifest=Manifest.KUBELET_CONFIG))
    found = manifests(tier)
    assert set(found) == {"MachineConfigPool", "KubeletConfig"}
    assert found["KubeletConfig"]["spec"]["kubeletConfig"]["reservedSystemCPUs"] == "0-1,64-65"


def test_kernel_arguments_without_a_profile_go_into_a_machine_config() -> None:
    tier = Tier(
        name="t",
        kernel=KernelSpec(args=("audit=0", "quiet"), realtime=True, modules={"kvm": {"halt_poll_ns": "0"}}),
        hugepages=HugepagesSpec("1G", (HugepageRequest("1G", 4),)),
    )
    found = manifests(tier)["MachineConfig"]
    assert found["metadata"] == {
        "name": "99-tunectl-t",
        "labels": {"machineconfiguration.openshift.io/role": "t"},
    }
    assert found["spec"]["kernelArguments"] == [
        *("default_hugepagesz=1G", "hugepagesz=1G", "hugepages=4", "audit=0", "quiet")
    ]
    assert found["spec"]["kernelType"] == "realtime"
    assert found["spec"]["config"]["ignition"] == {"version": "3.2.0"}
    (file,) = found["spec"]["config"]["storage"]["files"]
    assert (file["path"], file["mode"]) == ("/etc/modprobe.d/tunectl.conf", 0o644)
    content = base64.b64decode(file["contents"]["source"].partition("base64,")[2]).decode()
    assert content.endswith("\noptions kvm halt_poll_ns=0\n")


def test_next_to_a_profile_a_machine_config_holds_files_only() -> None:
    found = manifests(Tier(name="t", cpu=LISTS, kernel=KernelSpec(args=("quiet",), modules={"kvm": {"a": "1"}})))
    assert set(found["MachineConfig"]["spec"]) == {"config"}


def test_large_pages_are_a_kernel_type() -> None:
    assert manifests(Tier(name="t", kernel=KernelSpec(page_size="64k")))["MachineConfig"]["spec"] == {
        "config": {"ignition": {"version": "3.2.0"}},
        "kernelType": "64k-pages",
    }


def test_kernel_values_next_to_a_profile_extend_its_tuned_profile() -> None:
    tier = Tier(
        name="t",
        cpu=replace(LISTS, offlined=CpuSet.parse("126-127"), isolated=CpuSet.parse("2-63,66-125")),
        sysctl={"vm.swappiness": "5", "kernel.sched_migration_cost_ns": "5000000"},
        memory=MemorySpec(transparent_hugepages="madvise", ksm=False),
        irq=IrqSpec(balance_isolated=False, rps=True),
        frequency=FrequencySpec(2500000, 2800000),
        hugepages=HugepagesSpec("1G", (HugepageRequest("1G", 4, 0),)),
    )
    spec = manifests(tier)["Tuned"]["spec"]
    assert spec["profile"][0]["data"].splitlines() == [
        "[main]",
        "summary=tunectl tier t",
        "include=openshift-node-performance-t-profile",
        "",
        "[sysctl]",
        "vm.swappiness=5",
        "",
        "[scheduler]",
        "sched_migration_cost_ns=5000000",
        "runtime=0",
        "",
        "[vm]",
        "transparent_hugepages=madvise",
        "",
        "[sysfs]",
        "/sys/kernel/mm/ksm/run=0",
    ]
    assert spec["recommend"] == [
        {
            "machineConfigLabels": {"machineconfiguration.openshift.io/role": "t"},
            "priority": 15,
            "profile": "tunectl-t",
        }
    ]


def test_a_scheduler_file_that_was_seen_is_written_as_such() -> None:
    environment = NodeEnvironment(
        kernel_release="6.12.0",
        kernel=(6, 12),
        sysctls=frozenset({"vm.swappiness"}),
        debugfs=True,
        debugfs_knobs=frozenset({"base_slice_ns"}),
    )
    tier = Tier(name="t", cpu=LISTS, sysctl={"kernel.sched_min_granularity_ns": "10000000"})
    data = manifests(tier, environment)["Tuned"]["spec"]["profile"][0]["data"]
    assert data.splitlines()[-2:] == ["[sysfs]", "/sys/kernel/debug/sched/base_slice_ns=10000000"]


@pytest.mark.parametrize(
    ("tier", "what"),
    [
        (Tier(name="t", sysctl={"kernel.core_pattern": "core.%p"}), "kernel.core_pattern to 'core.%p'"),
        (Tier(name="t", sysctl={"kernel.pid_max": ">100"}), "kernel.pid_max to '>100'"),
        (
            Tier(
                name="t",
                cpu=LISTS,
                irq=IrqSpec(balance_isolated=False),
                openshift=OpenShiftSpec(manifest=Manifest.KUBELET_CONFIG),
            ),
            "/proc/irq/default_smp_affinity at all",
        ),
    ],
)
def test_values_that_tuned_would_read_otherwise_are_refused(tier: Tier, what: str) -> None:
    assert refused(tier) == [f"TUN-2242 a TuneD profile cannot set {what}"]


def test_the_pools_of_the_cluster_are_left_alone() -> None:
    tier = Tier(
        name="t", pool="worker", kubelet=KubeletSpec(cpu_manager_policy="static"), sysctl={"vm.swappiness": "5"}
    )
    found = manifests(tier)
    assert set(found) == {"KubeletConfig", "Tuned"}
    assert found["KubeletConfig"]["spec"]["machineConfigPoolSelector"]["matchLabels"] == {
        "pools.operator.machineconfiguration.openshift.io/worker": ""
    }
    assert found["Tuned"]["spec"]["recommend"] == [
        {"match": [{"label": "node-role.kubernetes.io/worker"}], "priority": 30, "profile": "tunectl-worker"}
    ]


@pytest.mark.parametrize(("text", "value"), [("2", 2), ("25%", "25%")])
def test_the_pace_of_a_pool_is_a_number_or_a_percentage(text: str, value: object) -> None:
    tier = Tier(name="t", openshift=OpenShiftSpec(max_unavailable=text))
    assert manifests(tier)["MachineConfigPool"]["spec"]["maxUnavailable"] == value


def test_own_arguments_next_to_a_profile_are_checked_and_the_operator_s_are_not() -> None:
    with pytest.raises(InputError) as caught:
        manifests(Tier(name="t", cpu=LISTS, kernel=KernelSpec(args=('a="b c"',))))
    assert [one.code for one in caught.value.problems] == ["TUN-2201"]
    all_isolated = Tier(name="t", cpu=replace(LISTS, reserved=CpuSet.parse("0"), isolated=CpuSet.parse("1-127")))
    assert "PerformanceProfile" in manifests(all_isolated)


def test_values_that_no_file_can_hold_are_refused_here_too() -> None:
    with pytest.raises(InputError):
        manifests(Tier(name="t", kernel=KernelSpec(modules={"kvm": {"a": "1 2"}})))
