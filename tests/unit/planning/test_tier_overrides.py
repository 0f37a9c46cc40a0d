"""Values set over a tier by path: placed, judged and refused like those of a tier file."""

from __future__ import annotations

import pytest

from tunectl.core.cpuset import CpuSet
from tunectl.core.errors import InputError
from tunectl.core.tier import CpuIntent
from tunectl.core.tier_overrides import split_path
from tunectl.planning.tier_file import load_tier


def test_without_values_the_tier_is_the_same() -> None:
    assert load_tier("hpc-massive", overrides={}) == load_tier("hpc-massive")


def test_values_replace_those_of_the_file_and_know_their_place() -> None:
    tier = load_tier("hpc-massive", overrides={"cpu.reserved": "0-18,64-82", "cpu.isolated": "19-63,83-127"})
    assert tier.cpu.reserved == CpuSet.parse("0-18,64-82")
    assert str(tier.origin("cpu.reserved")) == "--set cpu.reserved"
    assert tier.origin("openshift.name").file == "tiers/hpc-massive.yaml"
    assert tier.openshift == load_tier("hpc-massive").openshift


def test_an_intent_takes_the_place_of_a_list_and_null_of_a_default() -> None:
    overrides = {"cpu.reserved.count": 8, "cpu.isolated": "rest", "cpu.otherwise": None}
    cpu = load_tier("hpc-massive", overrides=overrides).cpu
    assert (cpu.reserved, cpu.isolated, cpu.otherwise) == (CpuIntent(count=8), None, None)


@pytest.mark.parametrize(
    ("path", "keys"),
    [
        ("cpu.reserved", ("cpu", "reserved")),
        ("cpu.reserved.count", ("cpu", "reserved", "count")),
        ("sysctl.vm.stat_interval", ("sysctl", "vm.stat_interval")),
        ("placement.labels.example.com/tier", ("placement", "labels", "example.com/tier")),
        ("kubelet.eviction_hard.memory.available", ("kubelet", "eviction_hard", "memory.available")),
        ("kubelet.eviction_hard.no.such", ("kubelet", "eviction_hard", "no.such")),
        ("kernel.modules.kvm.nx_huge_pages", ("kernel", "modules", "kvm", "nx_huge_pages")),
        ("kubelet.config.featureGates.KubeletPSI", ("kubelet", "config", "featureGates", "KubeletPSI")),
        ("no.such.path", ("no", "such", "path")),
    ],
)
def test_paths_go_through_the_forms_of_the_tier(path: str, keys: tuple[str, ...]) -> None:
    assert split_path(path) == keys


def test_one_threshold_of_a_map_is_set_and_the_others_stay() -> None:
    before = load_tier("hpc-standard").kubelet
    after = load_tier("hpc-standard", overrides={"kubelet.system_reserved.memory": "9Gi"}).kubelet
    assert after.system_reserved == {**before.system_reserved, "memory": "9Gi"}


def test_lists_and_maps_are_taken_as_a_whole() -> None:
    overrides = {"kernel.args": ["quiet", "mitigations=off"], "kernel.modules": {"kvm": {"halt_poll_ns": 0}}}
    kernel = load_tier("hpc-standard", overrides=overrides).kernel
    assert kernel.args == ("quiet", "mitigations=off")
    assert kernel.modules == {"kvm": {"halt_poll_ns": "0"}}


def test_two_values_below_one_field_are_both_set() -> None:
    overrides = {
        "kernel.realtime": True,
        "kernel.page_size": "4k",
        "sysctl.vm.swappiness": 1,
        "sysctl.vm.stat_interval": 9,
    }
    tier = load_tier("batch", overrides=overrides)
    assert (tier.kernel.realtime, tier.kernel.page_size) == (True, "4k")
    assert tier.sysctl == {"vm.swappiness": "1", "vm.stat_interval": "9"}


@pytest.mark.parametrize(
    ("path", "value", "code", "fix"),
    [
        ("cpu.resrved", "0-3", "TUN-1104", "did you mean 'reserved'?"),
        ("cpu.reserved", "0-x", "TUN-1201", "write like 0-3,8 (kernel numbering)"),
        ("cpu.disable_smt", "perhaps", "TUN-1103", ""),
        ("kernel.args", 5, "TUN-1103", ""),
        ("name", "Other", "TUN-1212", ""),
    ],
)
def test_mistakes_are_those_of_a_tier_file(path: str, value: object, code: str, fix: str) -> None:
    with pytest.raises(InputError) as caught:
        load_tier("hpc-standard", overrides={path: value})
    problem = caught.value.problems[0]
    assert (problem.code, problem.where, problem.path, problem.fix) == (code, f"--set {path}", path, fix)
