"""Values set over a tier: typed, placed and judged like those of a tier file."""

from __future__ import annotations

import pytest

from tunectl.core.cpuset import CpuSet
from tunectl.core.errors import InputError
from tunectl.core.tier import CpuIntent
from tunectl.planning.tier_file import load_tier
from tunectl.planning.tier_override import load_tier_with


def test_without_values_the_tier_is_the_same() -> None:
    assert load_tier_with("hpc-massive", {}) == load_tier("hpc-massive")


def test_values_replace_those_of_the_file_and_know_their_place() -> None:
    tier = load_tier_with("hpc-massive", {"cpu.reserved": "0-18,64-82", "cpu.isolated": "19-63,83-127"})
    assert tier.cpu.reserved == CpuSet.parse("0-18,64-82")
    assert str(tier.origin("cpu.reserved")) == "--set cpu.reserved"
    assert tier.openshift == load_tier("hpc-massive").openshift


def test_an_intent_takes_the_place_of_a_list() -> None:
    tier = load_tier_with("hpc-massive", {"cpu.reserved.count": "8", "cpu.isolated": "rest", "cpu.otherwise": "null"})
    assert tier.cpu.reserved == CpuIntent(count=8)
    assert tier.cpu.isolated is None


@pytest.mark.parametrize(
    ("path", "text", "key", "field"),
    [
        ("sysctl.vm.stat_interval", "10", "vm.stat_interval", "sysctl"),
        ("placement.labels.example.com/tier", "hpc", "example.com/tier", "placement.labels"),
    ],
)
def test_maps_with_free_keys_take_the_rest_of_the_path(path: str, text: str, key: str, field: str) -> None:
    value: object = load_tier_with("hpc-standard", {path: text})
    for name in field.split("."):
        value = getattr(value, name)
    assert isinstance(value, dict)
    assert value[key] == text


def test_one_threshold_of_a_map_is_set_and_the_others_stay() -> None:
    before = load_tier("hpc-standard").kubelet.eviction_hard
    after = load_tier_with("hpc-standard", {"kubelet.eviction_hard.memory.available": "3Gi"}).kubelet.eviction_hard
    assert after == {**before, "memory.available": "3Gi"}


def test_lists_are_written_in_the_short_form() -> None:
    tier = load_tier_with("hpc-standard", {"kernel.args": "[quiet, mitigations=off]"})
    assert tier.kernel.args == ("quiet", "mitigations=off")


@pytest.mark.parametrize(
    ("path", "text", "code"),
    [
        ("cpu.resrved", "0-3", "TUN-1104"),
        ("cpu.reserved", "0-x", "TUN-1201"),
        ("cpu.disable_smt", "perhaps", "TUN-1103"),
        ("name", "other", "TUN-1005"),
        ("kernel.args", "[a", "TUN-1005"),
    ],
)
def test_mistakes_are_those_of_a_tier_file(path: str, text: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        load_tier_with("hpc-standard", {path: text})
    assert [one.code for one in caught.value.problems] == [code]
    assert caught.value.problems[0].where.startswith(f"--set {path}")
