"""The kubelet settings of a PerformanceProfile are those that the node tuning operator derives."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.nto_profiles import partition_of, tier_of
from support.oracles import oracle_dir, oracle_files
from support.tuning import NODE, machine

from tunectl.core.cpuset import CpuSet
from tunectl.core.desire import desire
from tunectl.core.desired import Area, Platform
from tunectl.core.kubelet_fields import MANAGED_FIELDS
from tunectl.core.tier import KubeletSpec, OpenShiftSpec, ReservedMemory, Tier, WorkloadHints

FILES = [path for path in oracle_files("nto-render", "*.json") if json.loads(path.read_text())["input"]]
DRA = "performance.openshift.io/dra-resource-management"
SNIPPET = "kubeletconfig.experimental"
# A misspelled field in a recorded snippet; the operator drops it and a tier refuses it.
NO_FIELD = ("nonesuch",)


def test_there_are_recorded_profiles() -> None:
    assert list(oracle_dir("nto-render").glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_settings_are_the_operators(path: Path) -> None:
    case = json.loads(path.read_text(encoding="utf-8"))
    annotations = case["input"]["metadata"].get("annotations") or {}
    if annotations.get(DRA) == "true":
        assert case["expected"]["kubelet"]["cpuManagerPolicy"] == "none"
        return
    tier = full_tier(case["input"]["spec"], json.loads(annotations.get(SNIPPET, "{}")))
    node = case["node"]
    count = CpuSet.parse(node["online_cpus"]).last + 1
    topology = machine(numa=2, cpus_per_node=count // 2 + count % 2)
    result = desire(
        tier,
        topology,
        replace(NODE, pmu_name=node["pmu_name"], kubelet_version=(1, 36)),
        Platform.OPENSHIFT,
        partition_of(case["input"]["spec"]),
    )
    settings = {setting.name: setting.value for setting in result.desired.of(Area.KUBELET)}
    assert settings == case["expected"]["kubelet"]


def full_tier(spec: Mapping[str, Any], snippet: Mapping[str, Any]) -> Tier:
    """Return the tier that asks for what a profile and its snippet say; fields that a profile overrides give way."""
    base = tier_of(spec)
    hints = spec.get("workloadHints", {})
    return replace(
        base,
        cpu=replace(
            base.cpu, reserved=CpuSet.parse(spec["cpu"]["reserved"]), isolated=CpuSet.parse(spec["cpu"]["isolated"])
        ),
        workload_hints=replace(base.workload_hints or WorkloadHints(), mixed_cpus=hints.get("mixedCpus", False)),
        openshift=OpenShiftSpec(),
        kubelet=KubeletSpec(
            topology_manager_policy=spec.get("numa", {}).get("topologyPolicy", ""),
            topology_manager_scope=snippet.get("topologyManagerScope", ""),
            cpu_manager_policy_options=snippet.get("cpuManagerPolicyOptions", {}),
            system_reserved=snippet.get("systemReserved", {}),
            kube_reserved=snippet.get("kubeReserved", {}),
            eviction_hard=snippet.get("evictionHard", {}),
            reserved_memory=tuple(
                ReservedMemory(entry["numaNode"], entry["limits"]) for entry in snippet.get("reservedMemory", ())
            ),
            config={
                name: value for name, value in snippet.items() if name not in MANAGED_FIELDS and name not in NO_FIELD
            },
        ),
    )
