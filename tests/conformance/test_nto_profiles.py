"""A recorded PerformanceProfile, read as a tier, is rendered as the same profile, and means the same kubelet."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.oracles import oracle_dir, oracle_files

from tunectl.core.cpuset import CpuSet
from tunectl.core.desire import desire
from tunectl.core.desired import Platform
from tunectl.core.environment import NodeEnvironment
from tunectl.core.kubelet_fields import MANAGED_FIELDS, OTHER_FIELDS
from tunectl.core.machine import topology_from_facts
from tunectl.core.tier import (
    CpuSpec,
    FrequencySpec,
    HugepageRequest,
    HugepagesSpec,
    IrqSpec,
    KernelSpec,
    KubeletSpec,
    NetDevice,
    NetSpec,
    OpenShiftSpec,
    ReservedMemory,
    Tier,
    WorkloadHints,
)
from tunectl.core.topology import Topology
from tunectl.render.openshift import render_manifests

FILES = oracle_files("nto-render", "*.json")
SNIPPET = "kubeletconfig.experimental"
RPS = "performance.openshift.io/enable-rps"
ON = ("true", "enable")
# The operator overwrites these in a snippet without a word; a tier that asks for others is refused instead.
_FROM_SPEC = ("cpuManagerPolicy", "cpuManagerReconcilePeriod", "reservedSystemCPUs", "topologyManagerPolicy")
# The managers are switched off by an annotation of the user's own; what a profile means else does not count then.
SWITCHES_OFF = "performance.openshift.io/dra-resource-management"


def test_there_are_recorded_profiles() -> None:
    assert list(oracle_dir("nto-render").glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_profile_survives_the_way_through_a_tier(path: Path) -> None:
    case = json.loads(path.read_text(encoding="utf-8"))
    if case["input"] is None:
        return
    tier = tier_of(case["input"])
    state = desire(tier, topology_of(case["node"]), NodeEnvironment(), Platform.OPENSHIFT).desired
    if any('"' in argument for argument in tier.kernel.args):
        # Quotes in kernel arguments are refused on every platform; all else of the profile must hold.
        args = tuple(argument for argument in tier.kernel.args if '"' not in argument)
        tier = tier_of(case["input"], args)
        state = desire(tier, topology_of(case["node"]), NodeEnvironment(), Platform.OPENSHIFT).desired
        case["input"]["spec"]["additionalKernelArgs"] = list(args)
    manifest = yaml.safe_load(render_manifests(tier, state)["20-performanceprofile.yaml"])
    assert effective(manifest["spec"]) == effective(case["input"]["spec"])
    annotations, recorded = (one["metadata"].get("annotations", {}) for one in (manifest, case["input"]))
    assert others(annotations) == others(recorded)
    assert (annotations.get(RPS) in ON) == (recorded.get(RPS) in ON)
    if SWITCHES_OFF in annotations:
        return
    kubelet = operator_kubelet(manifest["spec"], json.loads(annotations.get(SNIPPET, "{}")))
    expected = {name: value for name, value in case["expected"]["kubelet"].items() if name not in _FROM_SPEC}
    assert kubelet == expected


def others(annotations: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in annotations.items() if name not in (SNIPPET, RPS)}


def operator_kubelet(spec: Mapping[str, Any], snippet: Mapping[str, Any]) -> dict[str, Any]:
    """What the operator fills in around a snippet, as it is documented; its own fields left out."""
    found = dict(snippet)
    assert not set(found) & set(_FROM_SPEC)
    defaults = {"memory.available": "100Mi", "nodefs.available": "10%", "imagefs.available": "15%"}
    found["evictionHard"] = {**defaults, "nodefs.inodesFree": "5%", **found.get("evictionHard", {})}
    for name in ("kubeReserved", "systemReserved"):
        found[name] = {"memory": "500Mi", **found.get(name, {})}
    policy = spec.get("numa", {}).get("topologyPolicy", "best-effort")
    if policy in ("restricted", "single-numa-node"):
        found["memoryManagerPolicy"] = "Static"
        sizes = (found["kubeReserved"]["memory"], found["systemReserved"]["memory"])
        total = sum(mebibytes(size) for size in (*sizes, found["evictionHard"]["memory.available"]))
        text = f"{total // 1024}Gi" if total % 1024 == 0 else f"{total}Mi"
        found.setdefault("reservedMemory", [{"numaNode": 0, "limits": {"memory": text}}])
    if policy == "single-numa-node":
        found["cpuManagerPolicyOptions"] = {"full-pcpus-only": "true", **found.get("cpuManagerPolicyOptions", {})}
    return found


def mebibytes(text: str) -> int:
    return int(text[:-2]) * {"Mi": 1, "Gi": 1024}[text[-2:]]


def effective(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A profile with the values that an absent field means; lists of CPUs as sets."""
    hints = {"realTime": True, "highPowerConsumption": False, "perPodPowerManagement": False, "mixedCpus": False}
    cpu = {name: value if isinstance(value, bool) else CpuSet.parse(value) for name, value in spec["cpu"].items()}
    role = next(iter(spec["nodeSelector"])).rpartition("/")[2]
    built_in = f"pools.operator.machineconfiguration.openshift.io/{role}"
    own = {built_in: ""} if role in ("master", "worker") else {"machineconfiguration.openshift.io/role": role}
    labels = spec.get("machineConfigPoolSelector") or own
    return {
        "kernelPageSize": "4k",
        "globallyDisableIrqLoadBalancing": False,
        "additionalKernelArgs": [],
        **spec,
        "cpu": {"balanceIsolated": True, **cpu},
        "machineConfigPoolSelector": labels,
        "realTimeKernel": {"enabled": False, **spec.get("realTimeKernel", {})},
        "workloadHints": {**hints, **spec.get("workloadHints", {})},
    }


def _cpu_sets(cpu: Mapping[str, Any]) -> dict[str, Any]:
    names = ("reserved", "isolated", "shared", "offlined")
    fields = {**dict(zip(names, names, strict=True)), "ovs_dpdk": "ovsDpdk"}
    return {field: CpuSet.parse(cpu.get(name, "")) or None for field, name in fields.items()}


def tier_of(document: Mapping[str, Any], args: tuple[str, ...] | None = None) -> Tier:
    spec, annotations = document["spec"], dict(document["metadata"].get("annotations", {}))
    snippet = json.loads(annotations.pop(SNIPPET, "{}"))
    rps = annotations.pop(RPS, "") in ON
    selector = spec["nodeSelector"]
    huge, tuning, net = (spec.get(name, {}) for name in ("hugepages", "hardwareTuning", "net"))
    return Tier(
        name="t",
        pool=next(iter(selector)).rpartition("/")[2],
        cpu=CpuSpec(
            **_cpu_sets(spec["cpu"]),
            balance_isolated=spec["cpu"].get("balanceIsolated", True),
        ),
        kubelet=kubelet_of(snippet, spec.get("numa", {}).get("topologyPolicy", "")),
        workload_hints=hints_of(spec.get("workloadHints")),
        kernel=KernelSpec(
            realtime=spec.get("realTimeKernel", {}).get("enabled", False),
            page_size=spec.get("kernelPageSize", ""),
            args=tuple(spec.get("additionalKernelArgs", ())) if args is None else args,
        ),
        hugepages=HugepagesSpec(
            huge.get("defaultHugepagesSize", ""),
            tuple(HugepageRequest(page["size"], page["count"], page.get("node")) for page in huge.get("pages", ())),
        ),
        irq=IrqSpec(balance_isolated=not spec.get("globallyDisableIrqLoadBalancing", False), rps=rps),
        net=NetSpec(
            net.get("userLevelNetworking", False),
            tuple(
                NetDevice(one.get("interfaceName", ""), one.get("vendorID", ""), one.get("deviceID", ""))
                for one in net.get("devices", ())
            ),
        ),
        frequency=FrequencySpec(tuning.get("isolatedCpuFreq", 0), tuning.get("reservedCpuFreq", 0)),
        openshift=OpenShiftSpec(name=document["metadata"]["name"], node_selector=selector, annotations=annotations),
    )


def hints_of(hints: Mapping[str, bool] | None) -> WorkloadHints | None:
    if hints is None:
        return None
    return WorkloadHints(
        real_time=hints.get("realTime", True),
        high_power_consumption=hints.get("highPowerConsumption", False),
        per_pod_power_management=hints.get("perPodPowerManagement", False),
        mixed_cpus=hints.get("mixedCpus", False),
    )


def kubelet_of(snippet: Mapping[str, Any], policy: str) -> KubeletSpec:
    # Names that the kubelet does not know are dropped by the operator.
    known = {*MANAGED_FIELDS, *OTHER_FIELDS} - set(_FROM_SPEC)
    rest = {name: value for name, value in snippet.items() if name in known}
    memory = rest.pop("memoryManagerPolicy", "")
    return KubeletSpec(
        topology_manager_policy=policy,
        cpu_manager_policy_options=rest.pop("cpuManagerPolicyOptions", {}),
        memory_manager_policy="" if policy in ("restricted", "single-numa-node") else memory,
        topology_manager_scope=rest.pop("topologyManagerScope", ""),
        system_reserved=rest.pop("systemReserved", {}),
        kube_reserved=rest.pop("kubeReserved", {}),
        eviction_hard=rest.pop("evictionHard", {}),
        reserved_memory=tuple(
            ReservedMemory(entry["numaNode"], entry["limits"]) for entry in rest.pop("reservedMemory", ())
        ),
        config=rest,
    )


def topology_of(node: Mapping[str, Any]) -> Topology:
    online = CpuSet.parse(node["online_cpus"])
    return topology_from_facts(
        {
            "arch": node["arch"],
            "vendor": {"intel": "GenuineIntel", "amd": "AuthenticAMD"}.get(node["vendor"], node["vendor"]),
            "cpus": [
                {"cpu": cpu, "socket": 0, "core": cpu, "numa": 0, "thread_siblings": str(cpu)}
                if cpu in online
                else {"cpu": cpu, "online": False}
                for cpu in CpuSet.parse(node["present_cpus"])
            ],
            "numa_nodes": [{"id": 0, "mem_total_kb": 512 * 2**20}],
        }
    )
