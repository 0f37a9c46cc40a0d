"""Which hosts form a pool, and the patterns that narrow it."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from ansible.inventory.manager import InventoryManager  # type: ignore[import-untyped]
from ansible.parsing.dataloader import DataLoader  # type: ignore[import-untyped]
from ansible_collections.tunectl.node.plugins.module_utils.core.errors import InputError
from ansible_collections.tunectl.node.plugins.module_utils.host_patterns import match_hosts
from ansible_collections.tunectl.node.plugins.module_utils.pool_hosts import Hosts, find_members

NAMES = ("w1", "w2", "w3", "db-1", "db-2")
GROUPS = {"all": NAMES, "web": ("w1", "w2", "w3"), "db": ("db-1", "db-2"), "old": ("w3", "db-2")}


@functools.cache
def ansible_inventory() -> Any:
    """Return Ansible's own idea of the inventory."""
    manager = InventoryManager(loader=DataLoader(), sources=",".join(NAMES))
    for group, members in GROUPS.items():
        manager.add_group(group)
        for host in members:
            manager.add_host(host, group)
    return manager


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ([], NAMES),
        (["all"], NAMES),
        (["*"], NAMES),
        (["web"], ("w1", "w2", "w3")),
        (["w*"], ("w1", "w2", "w3")),
        (["~w[12]$"], ("w1", "w2")),
        (["db-2", "w1"], ("w1", "db-2")),
        (["web:db"], NAMES),
        (["web,db-1"], ("w1", "w2", "w3", "db-1")),
        (["web:&old"], ("w3",)),
        (["web:!old"], ("w1", "w2")),
        (["!old"], ("w1", "w2", "db-1")),
        (["&old"], ("w3", "db-2")),
        (["!old", "web"], ("w1", "w2")),
        (["web[0]"], ("w1",)),
        (["web[-1]"], ("w3",)),
        (["web[1:]"], ("w2", "w3")),
        (["web[0:1]"], ("w1", "w2")),
        (["w[!2]"], ("w1", "w3")),
    ],
)
def test_patterns_mean_what_ansible_means_by_them(patterns: list[str], expected: tuple[str, ...]) -> None:
    assert match_hosts(patterns, NAMES, GROUPS) == (list(expected), [])
    if patterns:
        assert {host.name for host in ansible_inventory().get_hosts(patterns)} == set(expected)


@pytest.mark.parametrize(
    ("patterns", "unknown"),
    [
        (["web", "nope"], ["nope"]),
        (["web:!nope"], ["!nope"]),
        (["~("], ["~("]),
        (["WEB"], ["WEB"]),
        (["web[7]"], ["web[7]"]),
    ],
)
def test_patterns_that_name_nothing_are_told(patterns: list[str], unknown: list[str]) -> None:
    assert match_hosts(patterns, NAMES, GROUPS)[1] == unknown


def hosts(groups: Mapping[str, Sequence[str]], **variables: str) -> Hosts:
    names = tuple(dict.fromkeys(name for members in groups.values() for name in members))
    return Hosts(names, {"all": names, "ungrouped": (), **groups}, variables)


def test_a_pool_is_the_group_of_its_name_in_either_spelling() -> None:
    for group in ("hpc_massive", "hpc-massive"):
        inventory = hosts({"other": ["c"], group: ["b", "a"]})
        assert find_members(inventory, "hpc-massive", [], []) == {"b": "hpc-massive", "a": "hpc-massive"}


def test_without_a_pool_every_host_takes_part_and_names_its_own() -> None:
    inventory = hosts({"hpc_massive": ["a"], "infra": ["b", "c"]}, c="batch")
    assert find_members(inventory, "", [], ["hpc-massive"]) == {"a": "hpc-massive", "b": "", "c": "batch"}


def test_the_variable_of_a_host_decides_between_groups() -> None:
    inventory = hosts({"one": ["a"], "two": ["a", "b"]}, a="two")
    assert find_members(inventory, "two", [], ["one", "two"]) == {"a": "two", "b": "two"}
    with pytest.raises(InputError, match="TUN-1502"):
        find_members(inventory, "one", [], ["one", "two"])


def test_patterns_narrow_a_pool() -> None:
    inventory = hosts({"pool": ["a", "b", "c"], "rack": ["c", "x"]})
    assert list(find_members(inventory, "pool", ["rack"], [])) == ["c"]


def test_every_host_in_two_pools_is_named() -> None:
    inventory = hosts({"one": ["a", "b", "c"], "two": ["b", "c"]})
    with pytest.raises(InputError, match="TUN-1501") as caught:
        find_members(inventory, "one", [], ["one", "two"])
    assert [item.where for item in caught.value.problems] == ["b", "c"]
    assert "one and two" in caught.value.problems[0].why


def test_a_variable_against_all_groups_is_a_contradiction() -> None:
    with pytest.raises(InputError, match="TUN-1501"):
        find_members(hosts({"one": ["a"]}, a="three"), "one", [], ["one"])


def test_a_host_in_two_pools_does_not_matter_where_it_takes_no_part() -> None:
    inventory = hosts({"one": ["a", "b"], "two": ["b"]})
    assert find_members(inventory, "one", ["a"], ["one", "two"]) == {"a": "one"}
    elsewhere = hosts({"one": ["a"], "two": ["b"], "three": ["b"]})
    assert find_members(elsewhere, "one", [], ["one", "two", "three"]) == {"a": "one"}


def test_an_empty_pool_says_which_groups_there_are_and_which_is_near() -> None:
    with pytest.raises(InputError, match="TUN-1502") as caught:
        find_members(hosts({"hpc_masive": ["a"], "infra": ["b"]}), "hpc-massive", [], [])
    assert "hpc_masive, infra" in caught.value.problems[0].why
    assert caught.value.problems[0].fix == "did you mean the group 'hpc_masive'?"


def test_a_pattern_that_matches_nothing_says_what_is_near() -> None:
    with pytest.raises(InputError, match="TUN-1503") as caught:
        find_members(hosts({"pool": ["worker-01", "worker-02"]}), "pool", ["worker-03", "nope"], [])
    assert [item.code for item in caught.value.problems] == ["TUN-1503", "TUN-1503"]
    assert "'worker-0" in caught.value.problems[0].fix
