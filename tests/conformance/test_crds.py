"""Every manifest is accepted by the definition of its kind, for all tiers, on several machines, nothing pruned."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from support.crds import Schemas, convert, documents, require_crds

from tunectl.core.cpuset import CpuSet
from tunectl.core.desire import desire
from tunectl.core.desired import Platform
from tunectl.core.environment import NodeEnvironment
from tunectl.core.machine import topology_from_facts
from tunectl.core.tier import (
    CpuSpec,
    FrequencySpec,
    HugepageRequest,
    HugepagesSpec,
    IrqSpec,
    KernelSpec,
    KubeletSpec,
    MemorySpec,
    NetDevice,
    NetSpec,
    OpenShiftSpec,
    PlacementSpec,
    Tier,
    WorkloadHints,
)
from tunectl.lab.machines import load_machine
from tunectl.planning.tier_file import load_tier, tier_files
from tunectl.render.openshift import render_manifests

MACHINES = (
    "epyc-7713-1s64c2t4n",
    "icelake-1s12c1t",
    "xeon-6130-2s16c1t",
    "xeon-6230-2s20c2t",
    "xeon-8358-2s32c2t",
)
EVERYTHING = Tier(
    name="everything",
    cpu=CpuSpec(
        reserved=CpuSet.parse("0-1"),
        isolated=CpuSet.parse("2-8"),
        shared=CpuSet.parse("9"),
        offlined=CpuSet.parse("10"),
        ovs_dpdk=CpuSet.parse("11"),
        balance_isolated=False,
    ),
    kubelet=KubeletSpec(topology_manager_policy="restricted", system_reserved={"memory": "1Gi"}, max_pods=9),
    workload_hints=WorkloadHints(mixed_cpus=True, per_pod_power_management=True),
    kernel=KernelSpec(realtime=True, page_size="4k", args=("quiet",), modules={"kvm": {"a": "1"}}),
    hugepages=HugepagesSpec("1G", (HugepageRequest("1G", 1), HugepageRequest("2M", 8, 0))),
    irq=IrqSpec(balance_isolated=False, rps=True),
    net=NetSpec(user_level_networking=True, devices=(NetDevice("ens5*", "0x8086", "0x1593"),)),
    frequency=FrequencySpec(2500000, 2800000),
    memory=MemorySpec(transparent_hugepages="never"),
    sysctl={"vm.swappiness": "5"},
    placement=PlacementSpec(labels={"pool": "x"}, taints=("a=b:NoSchedule",)),
    openshift=OpenShiftSpec(pool_labels={"a.example.com/b": "c"}, max_unavailable="25%", node_selector={"x.y/z": ""}),
)
WITHOUT_PROFILE = Tier(
    name="without-profile",
    kernel=KernelSpec(args=("audit=0",), page_size="64k", modules={"kvm": {"a": "1"}}),
    kubelet=KubeletSpec(cpu_manager_policy="static", system_reserved={"cpu": "1"}),
    memory=MemorySpec(thp_defrag="defer", ksm=False),
    openshift=OpenShiftSpec(max_unavailable="2"),
)


@pytest.fixture(scope="module")
def schemas() -> Schemas:
    return Schemas(require_crds())


def rendered(tier: Tier, machine: str) -> list[dict[str, Any]]:
    topology = topology_from_facts(load_machine(machine))
    state = desire(tier, topology, NodeEnvironment(), Platform.OPENSHIFT).desired
    return [yaml.safe_load(text) for text in render_manifests(tier, state).values()]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", sorted(tier_files()))
def test_the_manifests_of_every_tier_are_accepted(schemas: Schemas, name: str, machine: str) -> None:
    manifests = rendered(load_tier(name), machine)
    assert len(manifests) >= 2
    assert [complaint for manifest in manifests for complaint in schemas.complaints(manifest)] == []


@pytest.mark.parametrize("tier", [EVERYTHING, WITHOUT_PROFILE], ids=lambda tier: tier.name)
def test_all_that_a_tier_can_say_is_accepted(schemas: Schemas, tier: Tier) -> None:
    manifests = rendered(tier, "icelake-1s12c1t")
    assert [complaint for manifest in manifests for complaint in schemas.complaints(manifest)] == []
    kinds = {manifest["kind"] for manifest in manifests}
    assert kinds == {
        *("MachineConfigPool", "Tuned", "MachineConfig"),
        "PerformanceProfile" if tier is EVERYTHING else "KubeletConfig",
    }


@pytest.mark.parametrize(
    ("place", "value", "complaint"),
    [
        (("spec", "cpu", "isolatd"), "1", "isolatd"),
        (("spec", "cpu", "reserved"), 3, "3 is not of type 'string'"),
        (("spec", "hugepages", "pages", 0, "count"), 2**40, "greater than the maximum"),
        (("metadata", "name"), "Bad_Name", "does not match"),
        (("metadata", "namespace"), "somewhere", "Cluster"),
        (("metadata", "labels"), {"a b": "c"}, "does not match"),
        (("spec", "nodeSelector"), None, "is not of type 'object'"),
    ],
)
def test_what_an_api_server_would_refuse_or_prune_is_found(
    schemas: Schemas, place: tuple[str | int, ...], value: object, complaint: str
) -> None:
    manifest = next(one for one in rendered(EVERYTHING, "icelake-1s12c1t") if one["kind"] == "PerformanceProfile")
    holder: Any = manifest
    for step in place[:-1]:
        holder = holder[step]
    holder[place[-1]] = value
    (found,) = schemas.complaints(manifest)
    assert complaint in found


def test_a_missing_field_and_an_unknown_kind_are_found(schemas: Schemas) -> None:
    manifest = next(one for one in rendered(EVERYTHING, "icelake-1s12c1t") if one["kind"] == "PerformanceProfile")
    del manifest["spec"]["cpu"]["isolated"]
    assert schemas.complaints(manifest) == ["$.spec.cpu: 'isolated' is a required property"]
    assert schemas.complaints({"apiVersion": "x/v1", "kind": "Y"}) == ["no definition of ('x/v1', 'Y')"]


def test_a_rule_that_cannot_be_evaluated_is_not_passed_over(schemas: Schemas) -> None:
    manifest = next(one for one in rendered(EVERYTHING, "icelake-1s12c1t") if one["kind"] == "MachineConfigPool")
    manifest["spec"]["osImageStream"] = {"name": "rhel-9"}
    assert schemas.complaints(manifest) == ["$.spec.osImageStream.name: has a rule that nobody evaluated"]


def test_files_of_several_documents_and_odd_endings_are_read() -> None:
    text = '\ufeff{"a": 1}\n---\n{"b": 2}{"kind": "List", "items": [{"c": 3}]}\n\x00\n'
    assert list(documents(text)) == [{"a": 1}, {"b": 2}, {"c": 3}]


def test_schema_words_that_are_not_understood_are_no_silent_pass() -> None:
    with pytest.raises(ValueError, match="multipleOf"):
        convert({"type": "integer", "multipleOf": 2})
