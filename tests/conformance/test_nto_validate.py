"""What the operator's admission check refuses of a profile, a tier that says the same is refused for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml
from support.oracles import oracle_dir, oracle_files

from tunectl.core.errors import InputError
from tunectl.core.tier_schema import decode_tier
from tunectl.planning.yaml_tree import read_tree

# The code of a tier's mistake for each rule of the operator.
CODES = {
    "cpu_missing": {"TUN-1417"},
    "reserved_missing": {"TUN-1417"},
    "reserved_empty": {"TUN-1201"},
    "isolated_empty": {"TUN-1201"},
    "cpu_set_syntax": {"TUN-1201"},
    "overlap": {"TUN-1401"},
    "default_hugepage_size_missing": {"TUN-1405"},
    "default_hugepage_size_unsupported": {"TUN-1209", "TUN-1407"},
    "hugepage_size_unsupported": {"TUN-1209", "TUN-1407"},
    "hugepage_duplicate": {"TUN-1406"},
    "hugepage_duplicate_on_node": {"TUN-1406"},
    "kernel_page_size_unsupported": {"TUN-1102"},
    "kernel_page_size_with_rt": {"TUN-1409"},
    "topology_policy_unknown": {"TUN-1102"},
    "device_name_empty": {"TUN-1212"},
    "vendor_id_format": {"TUN-1212"},
    "device_id_format": {"TUN-1212"},
    "device_id_without_vendor": {"TUN-1419"},
    "rt_kernel_with_rt_hint_off": {"TUN-1402"},
    "power_hints_conflict": {"TUN-1403"},
    "mixed_cpus_without_shared": {"TUN-1404", "TUN-1201"},
    "isolated_freq_zero": {"TUN-1210"},
    "reserved_freq_zero": {"TUN-1210"},
    "isolated_freq_missing": {"TUN-1408"},
    "reserved_freq_missing": {"TUN-1408"},
    "too_many_node_selectors": {"TUN-1418"},
}
# A tier takes these and means the same list; the renderer writes the operator's spelling.
WIDER_SPELLING = (" ", "\t", ":")
# Known only with the machine: which sizes and page sizes its architecture has.
BY_MACHINE = ("hugepage_size_unsupported", "default_hugepage_size_unsupported", "kernel_page_size_unsupported")


def cases() -> Iterator[dict[str, Any]]:
    for path in oracle_files("nto-validate", "*.json"):
        yield from json.loads(path.read_text(encoding="utf-8"))


CASES = list(cases())


def body_of(profile: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tier document that says what the profile says."""
    spec = profile["spec"]
    cpu = spec.get("cpu", {})
    hugepages = spec.get("hugepages", {})
    tuning = spec.get("hardwareTuning", {})
    hints = spec.get("workloadHints")
    net = spec.get("net", {})
    sections = {
        "cpu": renamed(cpu, ovsDpdk="ovs_dpdk", balanceIsolated="balance_isolated"),
        "kubelet": renamed(spec.get("numa", {}), topologyPolicy="topology_manager_policy"),
        "kernel": {
            **renamed(spec.get("realTimeKernel", {}), enabled="realtime"),
            **({"page_size": spec["kernelPageSize"]} if "kernelPageSize" in spec else {}),
        },
        "hugepages": renamed(hugepages, defaultHugepagesSize="default_size"),
        "frequency": renamed(tuning, isolatedCpuFreq="isolated_khz", reservedCpuFreq="reserved_khz"),
        "net": {
            **renamed(
                {name: value for name, value in net.items() if name != "devices"},
                userLevelNetworking="user_level_networking",
            ),
            **({"devices": [device_of(one) for one in net["devices"]]} if "devices" in net else {}),
        },
        "openshift": {"manifest": "performance-profile", "node_selector": spec.get("nodeSelector", {})},
    }
    names = {
        "realTime": "real_time",
        "highPowerConsumption": "high_power_consumption",
        "perPodPowerManagement": "per_pod_power_management",
        "mixedCpus": "mixed_cpus",
    }
    given = {"workload_hints": renamed(hints, **names)} if hints is not None else {}
    return {"apiVersion": "tunectl.io/v1alpha1", "kind": "Tier", "name": "mine", **sections, **given}


def renamed(section: Mapping[str, Any], **names: str) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in section.items()}


def device_of(device: Mapping[str, Any]) -> dict[str, Any]:
    return renamed(device, interfaceName="interface_name", vendorID="vendor_id", deviceID="device_id")


def codes_of(document: dict[str, Any]) -> set[str]:
    """Return the codes of all mistakes of a tier document."""
    tree, faults = read_tree(yaml.safe_dump(document), "t.yaml")
    try:
        decode_tier(tree, tuple(faults))
    except InputError as error:
        return {problem.code for problem in error.problems}
    return set()


def is_about_the_tier(case: Mapping[str, Any]) -> bool:
    """Whether the verdict follows from the profile alone, in words that a tier has."""
    rules = {one["rule"] for one in case["expected"].get("violations", [])}
    lists = [text for text in case["input"]["spec"].get("cpu", {}).values() if isinstance(text, str)]
    spelled = "cpu_set_syntax" in rules and any(mark in text for text in lists for mark in WIDER_SPELLING)
    return case["compare"] == "exact" and rules <= set(CODES) and not spelled


def test_there_are_recorded_verdicts() -> None:
    assert list(oracle_dir("nto-validate").glob("*.json"))
    assert sum(is_about_the_tier(case) for case in CASES) > len(CASES) // 2


@pytest.mark.parametrize("case", [one for one in CASES if is_about_the_tier(one)], ids=lambda case: case["id"])
def test_a_tier_is_refused_for_what_the_operator_refuses(case: dict[str, Any]) -> None:
    rules = {one["rule"] for one in case["expected"].get("violations", [])}
    codes = codes_of(body_of(case["input"]))
    if rules <= set(BY_MACHINE) and case["nodes"] and not codes:
        return  # right for other machines: the planner looks at this one
    for rule in rules:
        assert codes & CODES[rule], rule
    assert codes <= set().union(*(CODES[rule] for rule in rules))


def test_what_the_operator_takes_and_should_not_is_refused_where_a_tier_shows_it() -> None:
    weak = {
        "validate-hp-negative-node": "TUN-1210",
        "validate-kps-bad-no-nodes": "TUN-1102",
        "validate-net-vendor-short": "TUN-1212",
        "validate-net-without-cpu": "TUN-1417",
        "validate-hints-mixed-without-cpu": "TUN-1404",
    }
    found = {case["id"]: case for case in CASES if case["id"] in weak}
    assert {name: weak[name] in codes_of(body_of(case["input"])) for name, case in found.items()} == dict.fromkeys(
        found, True
    )
