"""Tiers made in code, written as data: what a file would have to say to mean them."""

from __future__ import annotations

from tunectl.core.cpuset import CpuSet
from tunectl.core.findings import Origin
from tunectl.core.tier import (
    CpuIntent,
    CpuSpec,
    HugepageRequest,
    HugepagesSpec,
    KernelSpec,
    KubeletSpec,
    Manifest,
    MemorySpec,
    OpenShiftSpec,
    ReservedMemory,
    Spread,
    Tier,
    WorkloadHints,
)
from tunectl.core.tier_data import tier_data, tier_values

HEAD = {"apiVersion": "tunectl.io/v1alpha1", "kind": "Tier", "name": "mine"}


def test_defaults_that_nobody_set_are_left_out() -> None:
    assert tier_data(Tier("mine")) == HEAD


def test_values_are_written_as_a_file_spells_them() -> None:
    near = CpuIntent(percent=30, spread=Spread.PACKED, near="eth0", include=CpuSet.parse("0,64"))
    tier = Tier(
        "mine",
        cpu=CpuSpec(reserved=CpuSet.parse("0-3"), isolated=near, otherwise=CpuIntent(count=8), reserve_cpu0=False),
        kubelet=KubeletSpec(
            memory_manager_policy="Static",
            reserved_memory=(ReservedMemory(0, {"memory": "1Gi"}),),
            config={"clusterDNS": ("10.0.0.1",), "featureGates": {"KubeletPSI": True}},
        ),
        workload_hints=WorkloadHints(),
        kernel=KernelSpec(args=("quiet",), modules={"kvm": {"halt_poll_ns": "0"}}),
        hugepages=HugepagesSpec(pages=(HugepageRequest("1G", 0),)),
        memory=MemorySpec(ksm=False),
        openshift=OpenShiftSpec(manifest=Manifest.PERFORMANCE_PROFILE),
    )
    assert tier_data(tier) == {
        **HEAD,
        "cpu": {
            "reserved": "0-3",
            "isolated": {"count": "30%", "spread": "packed", "near": "eth0", "include": "0,64"},
            "otherwise": {"count": 8, "spread": "numa"},
            "reserve_cpu0": False,
        },
        "kubelet": {
            "memory_manager_policy": "Static",
            "reserved_memory": [{"numa_node": 0, "limits": {"memory": "1Gi"}}],
            "config": {"clusterDNS": ["10.0.0.1"], "featureGates": {"KubeletPSI": True}},
        },
        "workload_hints": {},
        "kernel": {"args": ["quiet"], "modules": {"kvm": {"halt_poll_ns": "0"}}},
        "hugepages": {"pages": [{"size": "1G", "count": 0}]},
        "memory": {"ksm": False},
        "openshift": {"manifest": "performance-profile"},
    }


def test_a_default_that_was_asked_for_is_written() -> None:
    paths = ("cpu", "cpu.isolated", "cpu.disable_smt", "cpu.shared")
    tier = Tier("mine", origins=dict.fromkeys(paths, Origin("t.yaml", 4, 1)))
    assert tier_data(tier) == {**HEAD, "cpu": {"isolated": "rest", "disable_smt": False}}


def test_values_by_path_take_maps_apart_and_keep_lists() -> None:
    tier = Tier("mine", sysctl={"vm.swappiness": "1"}, kernel=KernelSpec(args=("a", "b")))
    assert tier_values(tier) == {"name": "mine", "sysctl.vm.swappiness": "1", "kernel.args": ["a", "b"]}
