"""Recorded PerformanceProfiles as tiers and partitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tunectl.core.cpuset import CpuSet
from tunectl.core.desired import Partition
from tunectl.core.tier import (
    CpuSpec,
    FrequencySpec,
    HugepageRequest,
    HugepagesSpec,
    KernelSpec,
    Tier,
    WorkloadHints,
)


def tier_of(spec: Mapping[str, Any]) -> Tier:
    """Return what a profile's spec asks for, but for its CPU lists and the kubelet."""
    hints = spec.get("workloadHints")
    huge = spec.get("hugepages", {})
    tuning = spec.get("hardwareTuning", {})
    return Tier(
        name="t",
        cpu=CpuSpec(balance_isolated=spec["cpu"].get("balanceIsolated", True)),
        workload_hints=None
        if hints is None
        else WorkloadHints(
            real_time=hints.get("realTime", True),
            high_power_consumption=hints.get("highPowerConsumption", False),
            per_pod_power_management=hints.get("perPodPowerManagement", False),
        ),
        hugepages=HugepagesSpec(
            default_size=huge.get("defaultHugepagesSize", ""),
            pages=tuple(
                HugepageRequest(page["size"], page["count"], page.get("node")) for page in huge.get("pages", ())
            ),
        ),
        kernel=KernelSpec(args=tuple(spec.get("additionalKernelArgs", ()))),
        frequency=FrequencySpec(tuning.get("isolatedCpuFreq", 0), tuning.get("reservedCpuFreq", 0)),
    )


def partition_of(spec: Mapping[str, Any]) -> Partition:
    """Return the CPU sets of a profile's spec."""
    cpu = spec["cpu"]
    return Partition(
        reserved=CpuSet.parse(cpu["reserved"]),
        isolated=CpuSet.parse(cpu["isolated"]),
        shared=CpuSet.parse(cpu.get("shared", "")),
        offlined=CpuSet.parse(cpu.get("offlined", "")),
        ovs_dpdk=CpuSet.parse(cpu.get("ovsDpdk", "")),
    )
