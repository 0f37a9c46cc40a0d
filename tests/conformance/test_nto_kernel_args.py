"""The kernel arguments are those of the node tuning operator, on every recorded profile and node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.nto_profiles import partition_of, tier_of
from support.oracles import oracle_dir, oracle_files

from tunectl.core.cpuset import CpuSet
from tunectl.core.operator_args import OTHER, BootFacts, cpu_vendor, operator_args

FILES = oracle_files("nto-render", "*.json")


def test_there_are_recorded_profiles() -> None:
    assert list(oracle_dir("nto-render").glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_arguments_are_the_operators(path: Path) -> None:
    case = json.loads(path.read_text(encoding="utf-8"))
    if case["input"] is None:
        assert "kernel_args" not in case["expected"]
        return
    tier, partition = tier_of(case["input"]["spec"]), partition_of(case["input"]["spec"])
    nodes = [(case["node"], case["expected"]), *((other["node"], other) for other in case.get("other_nodes", ()))]
    for node, expected in nodes:
        facts = BootFacts(
            vendor=cpu_vendor(node["arch"], node["vendor"]),
            online=CpuSet.parse(node["online_cpus"]),
            pmu_name=node["pmu_name"],
        )
        if expected.get("tuned_fails"):
            assert facts.vendor == OTHER
            continue
        assert comparable(operator_args(tier, partition, facts)) == comparable(expected["kernel_args"])


def comparable(arguments: Any) -> list[object]:
    """CPU by CPU lists compare as sets: their order is not stable in the recorded ones."""
    return [
        (name, frozenset(value.split(","))) if name == "systemd.cpu_affinity" else argument
        for argument in arguments
        for name, _equals, value in [argument.partition("=")]
    ]
