"""Use cases of tier files: list, show, compare, begin."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.tiers import write_tier

from tunectl.app.schemas import schema_names, schema_text
from tunectl.app.tiers import (
    TierDifference,
    TierEntry,
    compare_tiers,
    list_tiers,
    new_tier,
    raw_text,
    search_dirs,
    tier_document,
)
from tunectl.core.errors import InputError
from tunectl.planning.tier_file import load_tier, tier_files


def test_tiers_lie_beside_the_inventory_then_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "inv").mkdir()
    inventory = tmp_path / "inv" / "hosts.yaml"
    inventory.touch()
    here = tmp_path / "here"
    assert search_dirs(inventory, here) == (tmp_path / "inv" / "tiers", here / "tiers")
    assert search_dirs(tmp_path / "inv", here) == search_dirs(inventory, here)
    assert search_dirs(None, here) == (here / "tiers",)
    assert search_dirs(here / "hosts", here) == (here / "tiers",)


def test_the_list_names_what_a_tier_extends_and_counts_mistakes(tmp_path: Path) -> None:
    write_tier(tmp_path, "extends: ./base.yaml\nsummary: fast\n", "fast")
    write_tier(tmp_path, "extends: batch\npool: slow\n", "base")
    write_tier(tmp_path, "irqs: {}\npool: A\n", "broken")
    entries = {entry.name: entry for entry in list_tiers([tmp_path])}
    assert list(entries) == sorted([*tier_files(), "base", "broken", "fast"])
    assert entries["fast"] == TierEntry("fast", "fast", "slow", f"{tmp_path}/fast.yaml", ("base", "batch"))
    assert (entries["broken"].problems, entries["broken"].builtin) == (2, False)
    assert (entries["batch"].builtin, entries["batch"].file) == (True, "tiers/batch.yaml")


def test_the_raw_text_is_the_file_with_its_comments() -> None:
    assert raw_text("batch", []) == tier_files()["batch"].read_text(encoding="utf-8")


def test_the_document_of_a_tier_has_the_place_of_every_value() -> None:
    document = tier_document(load_tier("hpc-massive"))
    assert document["cpu"]["otherwise"] == {"count": "30%", "spread": "numa"}
    assert document["origins"]["cpu.otherwise.count"] == "tiers/hpc-massive.yaml:16:12"


def test_a_comparison_is_by_path_and_about_what_tiers_do(tmp_path: Path) -> None:
    one = load_tier(str(write_tier(tmp_path, "summary: a\nsysctl: {vm.swappiness: 1}\nkernel: {args: [a]}\n", "one")))
    other = load_tier(
        str(write_tier(tmp_path, "summary: b\nsysctl: {vm.swappiness: 2}\ncpu: {reserved: {count: 4}}\n", "two"))
    )
    assert compare_tiers(one, other) == [
        TierDifference("kernel.args", ["a"], None),
        TierDifference("sysctl.vm.swappiness", "1", "2"),
        TierDifference("cpu.reserved.count", None, 4),
        TierDifference("cpu.reserved.spread", None, "numa"),
    ]
    assert compare_tiers(one, one) == []


def test_a_new_tier_loads_as_it_is_and_is_never_overwritten(tmp_path: Path) -> None:
    path = new_tier("fast", "", tmp_path / "tiers", [])
    assert path == tmp_path / "tiers" / "fast.yaml"
    assert load_tier("fast", [tmp_path / "tiers"]).kubelet.cpu_manager_policy == "static"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        new_tier("fast", "", tmp_path / "tiers", [])
    assert caught.value.problems[0].code == "TUN-1113"
    assert path.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("base", sorted(tier_files()))
def test_a_new_tier_that_extends_one_shares_no_object_with_it(base: str, tmp_path: Path) -> None:
    parent, tier = load_tier(base), load_tier(str(new_tier("mine", base, tmp_path, [])))
    assert tier.kubelet == parent.kubelet
    assert tier.pool_name == "mine"
    assert tier.openshift.name in ("", "mine")
    assert set(tier.openshift.pool_labels) == set(parent.openshift.pool_labels)
    assert not set(tier.openshift.pool_labels.items()) & set(parent.openshift.pool_labels.items())


def test_a_selector_of_the_base_is_replaced(tmp_path: Path) -> None:
    base = write_tier(tmp_path, 'cpu: {reserved: "0"}\nopenshift: {node_selector: {a/b: ""}}\n', "base")
    tier = load_tier(str(new_tier("mine", str(base), tmp_path / "deep" / "er", [])))
    assert tier.openshift.node_selector == {"node-role.kubernetes.io/mine": ""}
    assert tier.cpu == load_tier(str(base)).cpu


@pytest.mark.parametrize(
    ("name", "extends", "code"), [("Fast", "", "TUN-1212"), ("../x", "", "TUN-1212"), ("a", "bach", "TUN-1109")]
)
def test_a_new_tier_needs_a_right_name_and_base(name: str, extends: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        new_tier(name, extends, tmp_path / "tiers", [])
    assert caught.value.problems[0].code == code
    assert not (tmp_path / "tiers").exists()


def test_a_directory_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError) as caught:
        new_tier("fast", "", tmp_path / "file" / "tiers", [])
    assert (caught.value.problems[0].code, caught.value.problems[0].why) == ("TUN-1113", "Not a directory")


def test_schemas_are_found_by_name() -> None:
    assert "tier" in schema_names()
    assert '"title": "Tier"' in schema_text("tier")
    with pytest.raises(InputError) as caught:
        schema_text("teir")
    assert (caught.value.problems[0].code, caught.value.problems[0].fix) == ("TUN-1006", "did you mean 'tier'?")
