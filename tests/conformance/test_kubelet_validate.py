"""What the kubelet refuses of a configuration, a tier that says the same is refused for, as far as a tier shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml
from support.oracles import oracle_dir, oracle_files

from tunectl.core.errors import InputError
from tunectl.core.kubelet_fields import MANAGED_FIELDS
from tunectl.core.tier_schema import decode_tier
from tunectl.planning.yaml_tree import read_tree

# The kubelet's reasons that need the machine, the host or the release, or that the writer of its files rules out.
BEYOND_A_TIER = {
    "align-by-socket-more-sockets-than-nodes",
    "cannot-reserve-requested-cpus",
    "cpu-alpha-options-gate-off",
    "cpu-beta-options-gate-off",
    "cpuCFSQuotaPeriod: needs gate CustomCPUCFSQuotaPeriod",
    "failCgroupV1: host runs cgroup v1",
    "failSwapOn: swap is on",
    "featureGates: gate is locked",
    "featureGates: unknown gate",
    "memorySwap.swapBehavior: LimitedSwap needs cgroup v2",
    "no-numa-distances",
    "reservation-exceeds-capacity",
    "reserved-cpus-not-online",
    "reserved-memory-sum-mismatch",
    "reserved-memory-unknown-node",
    "reservedSystemCPUs: not a CPU list",
    "singleProcessOOMKill: false needs cgroup v2",
    "too-many-numa-nodes",
    "wrong type or unparsable value",
}
# Where a tier asks for more than the kubelet does: no typing errors, one spelling, nothing without effect, exact sums.
STRICTER = {"TUN-1210", "TUN-1211", "TUN-1213", "TUN-1413", "TUN-1414"}
OWN_KEYS = {name: path.split(".")[1] for name, path in MANAGED_FIELDS.items() if path.startswith("kubelet.")}


def cases() -> Iterator[dict[str, Any]]:
    for path in oracle_files("kubelet-validation", "cases*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            if isinstance(case["config"], dict) and not {"apiVersion", "kind"} & set(case["config"]):
                yield case


CASES = list(cases())


def document_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tier document that says what the configuration says."""
    kubelet: dict[str, Any] = {"config": {}}
    document = {"apiVersion": "tunectl.io/v1alpha1", "kind": "Tier", "name": "mine", "kubelet": kubelet}
    for name, value in config.items():
        if name == "reservedSystemCPUs":
            document["cpu"] = {"reserved": value or None, "enforce_isolation": False}
        elif name == "memorySwap":
            kubelet["swap_behavior"] = value.get("swapBehavior") or None
        elif name == "failSwapOn":
            document["memory"] = {"swap": None if value else True}
        elif name == "reservedMemory":
            kubelet["reserved_memory"] = [
                {"numa_node": one["numaNode"], "limits": one.get("limits", {})} for one in value
            ]
        elif name == "featureGates":
            kubelet["memory_qos"] = value.get("MemoryQoS", False)
            kubelet["config"][name] = {gate: state for gate, state in value.items() if gate != "MemoryQoS"}
        elif name in OWN_KEYS:
            kubelet[OWN_KEYS[name]] = value
        else:
            kubelet["config"][name] = value
    return {**document, "openshift": {"manifest": "kubelet-config"}}


def codes_of(config: Mapping[str, Any]) -> set[str]:
    """Return the codes of all mistakes of the tier."""
    tree, faults = read_tree(yaml.safe_dump(document_of(config)), "t.yaml")
    try:
        decode_tier(tree, tuple(faults))
    except InputError as error:
        return {problem.code for problem in error.problems}
    return set()


def is_about_the_tier(case: Mapping[str, Any]) -> bool:
    return case["verdict"] == "accept" or not set(case["reasons"]) <= BEYOND_A_TIER


def test_there_are_recorded_verdicts() -> None:
    assert list(oracle_dir("kubelet-validation").glob("cases*.jsonl"))
    refused = [case for case in CASES if case["verdict"] == "reject"]
    assert sum(is_about_the_tier(case) for case in refused) > len(refused) // 2


@pytest.mark.parametrize("case", [one for one in CASES if is_about_the_tier(one)], ids=lambda case: case["id"])
def test_a_tier_is_refused_where_the_kubelet_would_not_start(case: dict[str, Any]) -> None:
    codes = codes_of(case["config"])
    if case["verdict"] == "accept":
        assert codes <= STRICTER, case["note"]
    else:
        assert codes, (case["note"], case["reasons"])
