from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.topologies import topologies
from support.tuning import NODE, machine, profile_tier

from tunectl.core.check_catalogue import CHECKS
from tunectl.core.cpuset import CpuSet
from tunectl.core.desire import Desire, desire
from tunectl.core.desire_kernel import shortened
from tunectl.core.desired import Area, Impact, Partition, Platform
from tunectl.core.environment import NodeEnvironment
from tunectl.core.findings import Origin, Severity
from tunectl.core.quantity import parse_bytes
from tunectl.core.tier import (
    CpuIntent,
    CpuSpec,
    FrequencySpec,
    HugepageRequest,
    HugepagesSpec,
    IrqSpec,
    KernelSpec,
    KubeletSpec,
    Manifest,
    MemorySpec,
    OpenShiftSpec,
    PlacementSpec,
    ReservedMemory,
    Tier,
    WorkloadHints,
)
from tunectl.core.topology import Topology


def wanted(
    tier: Tier | None = None,
    topology: Topology | None = None,
    environment: NodeEnvironment = NODE,
    platform: Platform = Platform.KUBEADM,
) -> Desire:
    return desire(tier or profile_tier(), topology or machine(), environment, platform)


def value(result: Desire, setting: str) -> Any:
    found = result.desired.get(setting)
    return None if found is None else found.value


def ids(result: Desire) -> list[str]:
    return [finding.id for finding in result.findings]


def arguments(result: Desire) -> list[str]:
    return [
        setting.name if setting.value is None else f"{setting.name}={setting.value}"
        for setting in result.desired.of(Area.CMDLINE)
    ]


class TestKubelet:
    def test_a_partition_gets_what_the_operator_derives(self) -> None:
        result = wanted(profile_tier(kubelet=KubeletSpec(topology_manager_policy="restricted")))
        assert value(result, "kubelet.cpuManagerPolicy") == "static"
        assert value(result, "kubelet.cpuManagerReconcilePeriod") == "5s"
        assert value(result, "kubelet.reservedSystemCPUs") == "0-1,8-9"
        assert value(result, "kubelet.topologyManagerPolicy") == "restricted"
        assert value(result, "kubelet.memoryManagerPolicy") == "Static"
        assert value(result, "kubelet.systemReserved") == {"memory": "500Mi"}
        assert value(result, "kubelet.kubeReserved") == {"memory": "500Mi"}
        assert value(result, "kubelet.reservedMemory") == [
            {"numaNode": 0, "limits": {"memory": "550Mi"}},
            {"numaNode": 1, "limits": {"memory": "550Mi"}},
        ]
        assert value(result, "kubelet.cpuManagerPolicyOptions") is None
        assert ids(result) == []

    def test_best_effort_is_the_default_and_needs_no_memory_manager(self) -> None:
        result = wanted()
        assert value(result, "kubelet.topologyManagerPolicy") == "best-effort"
        assert value(result, "kubelet.memoryManagerPolicy") is None
        assert value(result, "kubelet.reservedMemory") is None

    def test_whole_cores_come_with_single_numa_node_and_may_be_refused(self) -> None:
        policy = KubeletSpec(topology_manager_policy="single-numa-node")
        assert value(wanted(profile_tier(kubelet=policy)), "kubelet.cpuManagerPolicyOptions") == {
            "full-pcpus-only": "true"
        }
        off = replace(policy, cpu_manager_policy_options={"full-pcpus-only": "false"})
        assert value(wanted(profile_tier(kubelet=off)), "kubelet.cpuManagerPolicyOptions") == {
            "full-pcpus-only": "false"
        }

    def test_poll_threads_and_mixed_cpus_are_hidden_from_the_kubelet(self) -> None:
        cpu = CpuSpec(
            reserved=CpuSet.parse("0"),
            isolated=CpuSet.parse("3-15"),
            shared=CpuSet.parse("1"),
            ovs_dpdk=CpuSet.parse("2"),
        )
        assert value(wanted(Tier("t", cpu=cpu)), "kubelet.reservedSystemCPUs") == "0,2"
        mixed = Tier("t", cpu=cpu, workload_hints=WorkloadHints(mixed_cpus=True))
        assert value(wanted(mixed), "kubelet.reservedSystemCPUs") == "0-2"
        assert "kubelet.ovs-dpdk.shared" in ids(wanted(mixed))
        strict = KubeletSpec(cpu_manager_policy_options={"strict-cpu-reservation": "true"})
        assert "kubelet.ovs-dpdk.shared" not in ids(wanted(replace(mixed, kubelet=strict)))

    def test_all_signals_are_written_when_one_is_asked_for(self) -> None:
        result = wanted(Tier("t", kubelet=KubeletSpec(eviction_hard={"memory.available": "2Gi"})))
        assert value(result, "kubelet.evictionHard") == {
            "memory.available": "2Gi",
            "nodefs.available": "10%",
            "nodefs.inodesFree": "5%",
            "imagefs.available": "15%",
            "imagefs.inodesFree": "5%",
        }

    def test_a_kubelet_config_says_what_its_author_wrote_and_the_loss_is_told(self) -> None:
        tier = Tier("t", kubelet=KubeletSpec(eviction_hard={"memory.available": "2Gi"}))
        result = wanted(tier, platform=Platform.OPENSHIFT)
        assert value(result, "kubelet.evictionHard") == {"memory.available": "2Gi"}
        assert ids(result) == ["kubelet.eviction.partial"]

    def test_a_tier_without_kubelet_wishes_leaves_the_kubelet_alone(self) -> None:
        result = wanted(Tier("t", sysctl={"vm.swappiness": "10"}))
        assert list(result.desired.of(Area.KUBELET)) == []
        assert value(result, "sysctl.vm.swappiness") == "10"

    def test_the_static_policy_needs_a_reservation(self) -> None:
        static = KubeletSpec(cpu_manager_policy="static", kube_reserved={"memory": "1Gi"})
        assert ids(wanted(Tier("t", kubelet=static))) == ["kubelet.static-without-reservation"]
        enough = replace(static, system_reserved={"cpu": "500m"}, kube_reserved={"cpu": "500m"})
        assert ids(wanted(Tier("t", kubelet=enough))) == []
        fraction = replace(static, system_reserved={"cpu": "1500m"}, kube_reserved={"cpu": "1"})
        result = wanted(Tier("t", kubelet=fraction))
        assert [(one.id, one.severity, one.expected) for one in result.findings] == [
            ("kubelet.reservation.rounded", Severity.INFO, "3 CPUs")
        ]

    def test_reserved_cpus_exclude_reserved_cgroups(self) -> None:
        tier = profile_tier(kubelet=KubeletSpec(config={"systemReservedCgroup": "/system.slice"}))
        assert ids(wanted(tier)) == ["kubelet.reserved-cpus.cgroup"]

    def test_memory_of_the_static_manager_is_exact_on_any_reservation(self) -> None:
        kubelet = KubeletSpec(
            memory_manager_policy="Static",
            system_reserved={"memory": "1Gi", "cpu": "1"},
            kube_reserved={"memory": "100001"},
            eviction_hard={"memory.available": "2G"},
        )
        result = wanted(Tier("t", kubelet=kubelet))
        entries = value(result, "kubelet.reservedMemory")
        assert sum(parse_bytes(entry["limits"]["memory"]) for entry in entries) == 2**30 + 100001 + 2 * 10**9
        assert ids(result) == []

    def test_a_given_reservation_is_written_as_it_is_and_judged(self) -> None:
        kubelet = KubeletSpec(
            topology_manager_policy="restricted", reserved_memory=(ReservedMemory(1, {"memory": "1Gi"}),)
        )
        result = wanted(profile_tier(kubelet=kubelet))
        assert value(result, "kubelet.reservedMemory") == [{"numaNode": 1, "limits": {"memory": "1Gi"}}]
        assert ids(result) == ["kubelet.reserved-memory.sum"]
        assert "76Mi missing" in result.findings[0].message

    def test_a_percentage_is_refused_with_the_static_memory_manager(self) -> None:
        kubelet = KubeletSpec(topology_manager_policy="restricted", eviction_hard={"memory.available": "5%"})
        assert "kubelet.reserved-memory.percent" in ids(wanted(profile_tier(kubelet=kubelet)))

    def test_a_machine_without_room_for_the_reservation_is_refused(self) -> None:
        kubelet = KubeletSpec(topology_manager_policy="restricted")
        pages = HugepagesSpec("2M", (HugepageRequest("2M", 1024),))
        result = wanted(profile_tier(kubelet=kubelet, hugepages=pages), machine(memory_gib=1))
        assert "kubelet.reserved-memory.room" in ids(result)
        assert any(finding.blocks for finding in result.findings)

    def test_reservations_above_the_memory_are_refused(self) -> None:
        tier = Tier("t", kubelet=KubeletSpec(system_reserved={"memory": "128Gi"}))
        assert ids(wanted(tier)) == ["kubelet.reservation.too-much"]

    def test_alpha_options_get_their_gate_and_old_kubelets_are_named(self) -> None:
        kubelet = KubeletSpec(cpu_manager_policy_options={"distribute-cpus-across-numa": "true"})
        tier = profile_tier(kubelet=kubelet)
        gate = "CPUManagerPolicyAlphaOptions"
        assert value(wanted(tier), "kubelet.featureGates") is None
        old = replace(NODE, kubelet_version=(1, 30))
        assert value(wanted(tier, environment=old), "kubelet.featureGates") == {gate: True}
        older = replace(NODE, kubelet_version=(1, 22))
        assert "kubelet.option.version" in ids(wanted(tier, environment=older))
        unknown = replace(NODE, kubelet_version=(0, 0))
        socket = profile_tier(kubelet=KubeletSpec(cpu_manager_policy_options={"align-by-socket": "true"}))
        assert value(wanted(socket, environment=unknown), "kubelet.featureGates") == {gate: True}

    def test_options_that_exclude_each_other_are_found(self) -> None:
        options = {"distribute-cpus-across-cores": "true", "full-pcpus-only": "true"}
        tier = profile_tier(kubelet=KubeletSpec(cpu_manager_policy_options=options))
        assert "kubelet.option.conflict" in ids(wanted(tier))
        socket = KubeletSpec(
            topology_manager_policy="single-numa-node", cpu_manager_policy_options={"align-by-socket": "true"}
        )
        assert "kubelet.option.conflict" in ids(wanted(profile_tier(kubelet=socket)))
        one_node = machine()
        nodes = (replace(one_node.numa_nodes[0], cpus=one_node.online),)
        cpus = tuple(replace(cpu, numa=0) for cpu in one_node.cpus)
        both = replace(socket, topology_manager_policy="restricted")
        result = wanted(profile_tier(kubelet=both), replace(one_node, numa_nodes=nodes, cpus=cpus))
        assert [one.message for one in result.findings if one.id == "kubelet.option.conflict"] == [
            "align-by-socket cannot be combined with 2 sockets on 1 NUMA nodes"
        ]

    def test_options_without_the_static_policy_are_refused(self) -> None:
        kubelet = KubeletSpec(cpu_manager_policy_options={"full-pcpus-only": "true"})
        assert ids(wanted(Tier("t", kubelet=kubelet))) == ["kubelet.option.policy"]

    def test_many_numa_nodes_get_the_option_that_lets_the_kubelet_start(self) -> None:
        intent = CpuSpec(reserved=CpuIntent(count=9))
        tier = Tier("t", cpu=intent, kubelet=KubeletSpec(topology_manager_policy="restricted"))
        result = wanted(tier, machine(numa=9, cpus_per_node=2))
        assert value(result, "kubelet.topologyManagerPolicyOptions") == {"max-allowable-numa-nodes": "9"}
        assert "cpu.numa.too-many" not in ids(result)
        old = replace(NODE, kubelet_version=(1, 30))
        assert "cpu.numa.too-many" in ids(wanted(tier, machine(numa=9, cpus_per_node=2), old))

    def test_swap_and_memory_qos(self) -> None:
        tier = Tier(
            "t",
            memory=MemorySpec(swap=True),
            kubelet=KubeletSpec(swap_behavior="LimitedSwap", memory_qos=True, memory_throttling_factor="0.8"),
        )
        result = wanted(tier)
        assert value(result, "kubelet.memorySwap") == {"swapBehavior": "LimitedSwap"}
        assert value(result, "kubelet.failSwapOn") is False
        assert value(result, "kubelet.featureGates") == {"MemoryQoS": True}
        assert value(result, "kubelet.memoryThrottlingFactor") == 0.8
        assert ids(result) == []
        old = replace(NODE, cgroup_version=1)
        assert ids(wanted(tier, environment=old)) == ["kubelet.swap.cgroup", "kubelet.memory-qos.cgroup"]

    def test_swap_that_contradicts_itself_is_found(self) -> None:
        refused = Tier("t", memory=MemorySpec(swap=True), kubelet=KubeletSpec(config={"failSwapOn": True}))
        assert ids(wanted(refused)) == ["kubelet.swap.refused"]
        unused = Tier("t", memory=MemorySpec(swap=False), kubelet=KubeletSpec(swap_behavior="LimitedSwap"))
        result = wanted(unused)
        assert ids(result) == ["kubelet.swap.unused"]
        assert value(result, "kubelet.failSwapOn") is None
        assert value(result, "swap.devices") == "off"

    def test_further_fields_pass_and_gates_merge(self) -> None:
        kubelet = KubeletSpec(
            memory_qos=True,
            max_pods=500,
            eviction_soft={"memory.available": "3Gi"},
            eviction_soft_grace_period={"memory.available": "90s"},
            config={"containerLogMaxSize": "50Mi", "featureGates": {"QOSReserved": True}},
        )
        result = wanted(Tier("t", kubelet=kubelet))
        assert value(result, "kubelet.maxPods") == 500
        assert value(result, "kubelet.evictionSoft") == {"memory.available": "3Gi"}
        assert value(result, "kubelet.evictionSoftGracePeriod") == {"memory.available": "90s"}
        assert value(result, "kubelet.containerLogMaxSize") == "50Mi"
        assert value(result, "kubelet.featureGates") == {"QOSReserved": True, "MemoryQoS": True}

    @pytest.mark.parametrize(
        ("setting", "impact"),
        [
            ("kubelet.cpuManagerPolicy", Impact.DRAIN),
            ("kubelet.reservedSystemCPUs", Impact.DRAIN),
            ("kubelet.memoryManagerPolicy", Impact.DRAIN),
            ("kubelet.reservedMemory", Impact.DRAIN),
            ("kubelet.systemReserved", Impact.DRAIN),
            ("kubelet.topologyManagerPolicy", Impact.DRAIN),
            ("kubelet.cpuManagerPolicyOptions", Impact.RESTART),
            ("kubelet.cpuManagerReconcilePeriod", Impact.RESTART),
            ("kubelet.evictionHard", Impact.RESTART),
        ],
    )
    def test_prices(self, setting: str, impact: Impact) -> None:
        result = wanted(profile_tier(kubelet=KubeletSpec(topology_manager_policy="single-numa-node")))
        found = result.desired.get(setting)
        assert found is not None
        assert found.impact is impact

    def test_strict_reservation_changes_the_checkpoint(self) -> None:
        kubelet = KubeletSpec(cpu_manager_policy_options={"strict-cpu-reservation": "true"})
        found = wanted(profile_tier(kubelet=kubelet)).desired.get("kubelet.cpuManagerPolicyOptions")
        assert found is not None
        assert found.impact is Impact.DRAIN


class TestWhereItIsWritten:
    def test_a_kubelet_without_drop_ins_is_refused_with_the_remedy(self) -> None:
        result = wanted(environment=replace(NODE, kubelet_config_dir=""))
        assert ids(result) == ["kubelet.config-dir"]
        assert result.findings[0].blocks
        assert "--config-dir=/etc/kubernetes/kubelet.conf.d" in result.findings[0].remedy
        old = wanted(environment=replace(NODE, kubelet_config_dir="", kubelet_version=(1, 27)))
        assert "upgrade the kubelet" in old.findings[0].remedy

    def test_without_kubelet_settings_it_does_not_matter(self) -> None:
        tier = Tier("t", sysctl={"vm.swappiness": "10"})
        assert ids(wanted(tier, environment=replace(NODE, kubelet_config_dir=""))) == []
        assert ids(wanted(tier, environment=replace(NODE, has_kubelet=False))) == []

    def test_a_missing_kubelet_is_said(self) -> None:
        result = wanted(environment=replace(NODE, has_kubelet=False))
        assert [(one.id, one.blocks) for one in result.findings] == [("kubelet.absent", False)]

    @pytest.mark.parametrize("loader", ["systemd-boot", "unknown"])
    def test_other_boot_loaders_are_refused_when_there_are_arguments(self, loader: str) -> None:
        environment = replace(NODE, boot_loader=loader)
        result = wanted(environment=environment)
        assert ids(result) == ["boot.loader.unsupported"]
        assert result.findings[0].blocks
        assert result.findings[0].remedy
        assert ids(wanted(Tier("t", sysctl={"vm.swappiness": "10"}), environment=environment)) == []
        assert ids(wanted(environment=environment, platform=Platform.OPENSHIFT)) == []

    def test_nothing_is_judged_that_nobody_looked_at(self) -> None:
        assert ids(wanted(environment=NodeEnvironment())) == []


class TestKernel:
    def test_isolation_is_shortened_without_a_change_of_meaning(self) -> None:
        assert arguments(wanted()) == [
            "skew_tick=1",
            "tsc=reliable",
            "rcupdate.rcu_normal_after_boot=1",
            "nohz=on",
            "rcu_nocbs=2-7,10-15",
            "tuned.non_isolcpus=00000303",
            "systemd.cpu_affinity=0-1,8-9",
            "intel_iommu=on",
            "iommu=pt",
            "nmi_watchdog=0",
            "mce=off",
            "intel_pstate=active",
            "nohz_full=2-7,10-15",
            "isolcpus=managed_irq,2-7,10-15",
            "nosoftlockup",
            "rcutree.kthread_prio=11",
        ]

    def test_the_operators_arguments_are_kept_as_they_are(self) -> None:
        result = wanted(platform=Platform.OPENSHIFT)
        assert arguments(result).count("tsc=reliable") == 2
        assert "systemd.cpu_affinity=0,1,8,9" in arguments(result)
        assert result.desired.get("cmdline.tsc#2") is not None

    def test_static_isolation_adds_domain(self) -> None:
        cpu = replace(profile_tier().cpu, balance_isolated=False)
        assert value(wanted(Tier("t", cpu=cpu)), "cmdline.isolcpus") == "domain,managed_irq,2-7,10-15"

    def test_without_enforcement_only_the_tiers_own_arguments_are_set(self) -> None:
        cpu = replace(profile_tier().cpu, enforce_isolation=False, disable_smt=True)
        tier = Tier("t", cpu=cpu, kernel=KernelSpec(args=("audit=0", "quiet")))
        result = wanted(tier)
        assert arguments(result) == ["nosmt", "audit=0", "quiet"]
        assert value(result, "kubelet.reservedSystemCPUs") == "0-1,8-9"

    def test_a_kubelet_config_tier_isolates_nothing(self) -> None:
        tier = profile_tier(openshift=OpenShiftSpec(manifest=Manifest.KUBELET_CONFIG))
        assert arguments(wanted(tier)) == []

    def test_an_empty_list_never_reaches_the_command_line(self) -> None:
        tier = Tier("t", cpu=CpuSpec(reserved=CpuSet.span(0, 15), isolated=CpuSet()))
        assert arguments(desire(tier, machine(), NODE, Platform.KUBEADM, Partition(reserved=CpuSet.span(0, 15)))) == []

    def test_hugepages_stay_pairs_and_have_ids_of_their_own(self) -> None:
        pages = (HugepageRequest("1G", 4), HugepageRequest("2M", 512), HugepageRequest("2M", 9, 1))
        result = wanted(Tier("t", hugepages=HugepagesSpec("1G", pages)))
        assert arguments(result) == [
            "default_hugepagesz=1G",
            "hugepagesz=1G",
            "hugepages=4",
            "hugepagesz=2M",
            "hugepages=512",
        ]
        assert [setting.id for setting in result.desired.of(Area.CMDLINE)] == [
            "cmdline.default_hugepagesz",
            "cmdline.hugepagesz.1G",
            "cmdline.hugepages.1G",
            "cmdline.hugepagesz.2M",
            "cmdline.hugepages.2M",
        ]
        path = "/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages"
        assert value(result, f"runtime.{path}") == "9"

    def test_equal_counts_of_different_sizes_both_stay(self) -> None:
        pages = (HugepageRequest("1G", 4), HugepageRequest("2M", 4))
        result = wanted(profile_tier(hugepages=HugepagesSpec("1G", pages)))
        assert [argument for argument in arguments(result) if argument.startswith("hugepages=")] == ["hugepages=4"] * 2

    def test_offlined_cpus_are_computed_once(self) -> None:
        cpu = CpuSpec(reserved=CpuSet.parse("0-1"), isolated=CpuSet.parse("2-13"), offlined=CpuSet.parse("14-15"))
        result = wanted(Tier("t", cpu=cpu))
        assert value(result, "cmdline.systemd.cpu_affinity") == "0-1"
        assert value(result, "runtime./sys/devices/system/cpu/cpu15/online") == "0"
        operated = wanted(Tier("t", cpu=cpu), platform=Platform.OPENSHIFT)
        assert value(operated, "cmdline.systemd.cpu_affinity") == "0,1,14,15"

    def test_competing_arguments_are_found(self) -> None:
        tier = profile_tier(kernel=KernelSpec(args=("isolcpus=4-5", "nmi_watchdog=0", "mce=on", "quiet")))
        found = {one.actual: one.severity for one in wanted(tier).findings if one.id == "kernel.args.managed"}
        assert found == {"isolcpus=4-5": Severity.CRITICAL, "mce=on": Severity.WARNING}

    def test_own_arguments_may_repeat(self) -> None:
        tier = Tier("t", kernel=KernelSpec(args=("console=tty0", "console=ttyS0", "console=tty0")))
        result = wanted(tier)
        assert arguments(result) == ["console=tty0", "console=ttyS0", "console=tty0"]
        assert [one.id for one in result.desired.settings] == [
            "cmdline.console",
            "cmdline.console#2",
            "cmdline.console#3",
        ]

    def test_unknown_vendors_are_told_apart(self) -> None:
        topology = machine(vendor="HygonGenuine")
        alone = wanted(topology=topology)
        assert [(one.id, one.severity) for one in alone.findings] == [("kernel.args.vendor", Severity.INFO)]
        assert "iommu=pt" not in arguments(alone)
        operated = wanted(topology=topology, platform=Platform.OPENSHIFT)
        assert [(one.id, one.severity) for one in operated.findings] == [("kernel.args.vendor", Severity.CRITICAL)]

    @pytest.mark.parametrize(
        ("release", "realtime", "found"),
        [
            ("6.8.0-45-generic", None, True),
            ("5.14.0-570.1.1.el9_6.x86_64+rt", None, False),
            ("6.1.0-18-rt-amd64", None, False),
            ("5.15.96-rt61", None, False),
            ("6.8.0-virtual", None, True),
            ("6.12.0-custom", True, False),
            ("6.1.0-rt5", False, True),
        ],
    )
    def test_a_real_time_tier_needs_a_real_time_kernel(self, release: str, realtime: Any, found: Any) -> None:
        environment = replace(NODE, kernel_release=release, realtime=realtime)
        tier = Tier("t", kernel=KernelSpec(realtime=True))
        assert ids(wanted(tier, environment=environment)) == (["kernel.realtime.missing"] if found else [])
        assert ids(wanted(tier, environment=environment, platform=Platform.OPENSHIFT)) == []

    def test_the_page_size_of_the_kernel_is_judged(self) -> None:
        tier = Tier("t", kernel=KernelSpec(page_size="64k"))
        topology = machine(arch="aarch64")
        assert ids(wanted(tier, topology, replace(NODE, page_kib=4))) == ["kernel.page-size"]
        assert ids(wanted(tier, topology, replace(NODE, page_kib=64))) == []
        assert ids(wanted(tier, topology, NODE)) == []

    def test_modules(self) -> None:
        tier = Tier("t", kernel=KernelSpec(modules={"kvm": {"nx_huge_pages": "0"}}))
        result = wanted(tier)
        assert value(result, "module.kvm.nx_huge_pages") == "0"


@given(st.lists(st.sampled_from(["a=1", "a=2", "b", "hugepagesz=1G", "hugepages=4"]), max_size=12))
def test_shortening_keeps_first_occurrences_and_pairs(given_arguments: list[str]) -> None:
    kept = shortened(tuple(given_arguments))
    pairs = [argument for argument in given_arguments if argument.startswith("hugepages")]
    assert [argument for argument in kept if argument.startswith("hugepages")] == pairs
    others = [argument for argument in given_arguments if not argument.startswith("hugepages")]
    assert [argument for argument in kept if not argument.startswith("hugepages")] == list(dict.fromkeys(others))


class TestRuntime:
    def test_parameters_are_translated_to_this_kernel(self) -> None:
        tier = Tier("t", sysctl={"kernel.sched_min_granularity_ns": "10000000", "vm/swappiness": " 10 "})
        result = wanted(tier)
        assert value(result, "sysctl.vm.swappiness") == "10"
        assert value(result, "runtime./sys/kernel/debug/sched/base_slice_ns") == "10000000"
        assert ids(result) == ["sysctl.meaning"]
        locked = wanted(tier, environment=replace(NODE, lockdown="integrity"))
        assert ids(locked) == ["sysctl.unreachable"]
        assert [one.id for one in locked.desired.settings] == ["sysctl.vm.swappiness"]

    def test_a_parameter_that_the_node_lacks_is_left_out_and_located(self) -> None:
        origin = Origin("t.yaml", 4, 3)
        tier = Tier("t", sysctl={"vm.nonesuch": "1"}, origins={"sysctl.vm.nonesuch": origin})
        result = wanted(tier, environment=replace(NODE, sysctls=frozenset(("vm.swappiness",))))
        assert result.desired.settings == ()
        assert [(one.id, one.asked_in) for one in result.findings] == [("sysctl.absent", origin)]

    def test_unlimited_real_time_tasks_are_warned_about_on_other_kernels(self) -> None:
        sysctl = {"kernel.sched_rt_runtime_us": "-1"}
        assert ids(wanted(Tier("t", sysctl=sysctl))) == ["sysctl.rt-throttling"]
        realtime = Tier("t", sysctl=sysctl, kernel=KernelSpec(realtime=True))
        assert ids(wanted(realtime, environment=replace(NODE, realtime=True))) == []

    def test_what_the_kubelet_sets_itself_is_not_the_tiers(self) -> None:
        assert ids(wanted(Tier("t", sysctl={"vm.overcommit_memory": "1", "kernel.panic": "010"}))) == ["sysctl.kubelet"]
        tier = Tier("t", sysctl={"vm.overcommit_memory": "0"})
        (finding,) = wanted(tier).findings
        assert (finding.id, finding.severity, finding.expected) == ("sysctl.kubelet", Severity.WARNING, "1")
        insists = replace(tier, kubelet=KubeletSpec(config={"protectKernelDefaults": True}))
        assert wanted(insists).findings[0].blocks

    def test_pods_keep_their_network(self) -> None:
        for name in ("net.ipv4.ip_forward", "net.bridge.bridge-nf-call-iptables"):
            assert ids(wanted(Tier("t", sysctl={name: "1"}))) == []
            (finding,) = wanted(Tier("t", sysctl={name: "0"})).findings
            assert (finding.id, finding.blocks) == ("sysctl.network", True)
        (finding,) = wanted(Tier("t", sysctl={"net.ipv4.conf.all.rp_filter": "1"})).findings
        assert (finding.id, finding.severity) == ("sysctl.network", Severity.WARNING)
        assert ids(wanted(Tier("t", sysctl={"net.ipv4.conf.all.rp_filter": "2"}))) == []
        assert ids(wanted(Tier("t", sysctl={"net.netfilter.nf_conntrack_max": "9"}))) == ["sysctl.conntrack"]

    def test_memory_knobs(self) -> None:
        memory = MemorySpec(
            transparent_hugepages="never", thp_defrag="madvise", thp_shmem="advise", khugepaged_defrag=False, ksm=False
        )
        result = wanted(Tier("t", memory=memory))
        assert value(result, "runtime./sys/kernel/mm/transparent_hugepage/enabled") == "never"
        assert value(result, "runtime./sys/kernel/mm/transparent_hugepage/defrag") == "madvise"
        assert value(result, "runtime./sys/kernel/mm/transparent_hugepage/shmem_enabled") == "advise"
        assert value(result, "runtime./sys/kernel/mm/transparent_hugepage/khugepaged/defrag") == "0"
        assert value(result, "runtime./sys/kernel/mm/ksm/run") == "0"

    def test_interrupts_keep_off_isolated_cpus_when_asked(self) -> None:
        result = wanted(profile_tier(irq=IrqSpec(balance_isolated=False)))
        assert value(result, "runtime./proc/irq/default_smp_affinity") == "00000303"
        assert value(wanted(), "runtime./proc/irq/default_smp_affinity") is None

    def test_packet_steering_uses_the_reserved_cpus(self) -> None:
        result = wanted(profile_tier(irq=IrqSpec(rps=True)))
        assert value(result, "sysctl.net.core.rps_default_mask") == "00000303"

    def test_frequencies_are_written_through_each_cpus_own_link(self) -> None:
        result = wanted(profile_tier(frequency=FrequencySpec(isolated_khz=2500000, reserved_khz=2800000)))
        path = "runtime./sys/devices/system/cpu/cpu{}/cpufreq/scaling_max_freq"
        assert value(result, path.format(2)) == "2500000"
        assert value(result, path.format(0)) == "2800000"

    def test_hugepages_of_a_node_cost_a_drain_under_a_static_memory_manager(self) -> None:
        pages = HugepagesSpec("2M", (HugepageRequest("2M", 8, 0),))
        setting = "runtime./sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages"
        found = wanted(Tier("t", hugepages=pages)).desired.get(setting)
        assert found is not None
        assert found.impact is Impact.RESTART
        static = profile_tier(hugepages=pages, kubelet=KubeletSpec(topology_manager_policy="restricted"))
        found = wanted(static).desired.get(setting)
        assert found is not None
        assert found.impact is Impact.DRAIN


def test_labels_and_taints_come_along() -> None:
    placement = PlacementSpec(labels={"pool": "x"}, taints=("workload=x:NoSchedule",))
    result = wanted(Tier("t", placement=placement))
    assert result.desired.labels == {"pool": "x"}
    assert result.desired.taints == ("workload=x:NoSchedule",)
    assert (result.desired.tier, result.desired.pool) == ("t", "t")


def test_every_setting_says_why_where_from_and_who_asked() -> None:
    origin = Origin("t.yaml", 2, 1)
    tier = profile_tier(
        kubelet=KubeletSpec(topology_manager_policy="single-numa-node"),
        hugepages=HugepagesSpec("1G", (HugepageRequest("1G", 1), HugepageRequest("2M", 8, 0))),
        memory=MemorySpec(transparent_hugepages="never", thp_defrag="never", ksm=True, swap=False),
        sysctl={"vm.swappiness": "10", "vm.nonesuch": "1"},
        irq=IrqSpec(balance_isolated=False, rps=True),
        kernel=KernelSpec(args=("quiet",), modules={"kvm": {"a": "1"}}),
        workload_hints=WorkloadHints(high_power_consumption=True),
        origins=dict.fromkeys(("cpu", "kubelet", "hugepages", "memory", "sysctl", "irq", "kernel"), origin),
    )
    result = wanted(tier)
    assert len(result.desired.settings) > 30
    for setting in result.desired.settings:
        assert setting.why.endswith("."), setting.id
        assert setting.source, setting.id
        assert setting.asked_in == origin, setting.id


@given(topologies(), st.sampled_from(Platform))
def test_any_machine_gets_unique_deterministic_documented_answers(topology: Topology, platform: Platform) -> None:
    tier = Tier(
        "t",
        cpu=CpuSpec(reserved=CpuIntent(count=1)),
        kubelet=KubeletSpec(topology_manager_policy="restricted"),
        hugepages=HugepagesSpec("2M", (HugepageRequest("2M", 3), HugepageRequest("1G", 1, 0))),
        sysctl={"vm.swappiness": "10"},
    )
    first = CpuSet((topology.online.first,))
    partition = Partition(reserved=first, isolated=topology.online - first)
    result = desire(tier, topology, NODE, platform, partition)
    assert result == desire(tier, topology, NODE, platform, partition)
    settings = [setting.id for setting in result.desired.settings]
    assert len(settings) == len(set(settings))
    assert all(finding.id in CHECKS and finding.subject == "t" for finding in result.findings)
    reserved = value(result, "kubelet.reservedMemory")
    assert sum(parse_bytes(entry["limits"]["memory"]) for entry in reserved) == 1100 * 2**20
