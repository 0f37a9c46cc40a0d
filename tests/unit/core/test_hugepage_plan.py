from __future__ import annotations

from dataclasses import replace

import pytest
from support.tuning import NODE, context, machine, profile_tier, with_hugepages

from tunectl.core.desired import Platform
from tunectl.core.findings import Severity
from tunectl.core.hugepage_plan import hugepage_bytes, judge_hugepages, size_text
from tunectl.core.tier import HugepageRequest, HugepagesSpec, KernelSpec, Tier

GIB = 2**30
MIB = 2**20


def tier(*pages: HugepageRequest, default: str = "2M", **fields: object) -> Tier:
    return profile_tier(hugepages=HugepagesSpec(default_size=default, pages=pages), **fields)


def ids(asked: Tier, **fields: object) -> list[str]:
    return [finding.id for finding in judge_hugepages(context(asked, **fields))]  # type: ignore[arg-type]


def test_pages_without_a_node_are_spread_and_those_with_one_stay_there() -> None:
    asked = tier(HugepageRequest("2M", 5), HugepageRequest("1G", 2, 1))
    assert hugepage_bytes(context(asked)) == {0: 6 * MIB, 1: 4 * MIB + 2 * GIB}


def test_pages_without_a_node_go_to_nodes_with_memory() -> None:
    topology = machine()
    first, second = topology.numa_nodes
    topology = replace(topology, numa_nodes=(replace(first, memory_kib=0), second))
    assert hugepage_bytes(context(tier(HugepageRequest("2M", 4)), topology)) == {0: 0, 1: 8 * MIB}


def test_pools_that_the_tier_does_not_mention_stay() -> None:
    topology = with_hugepages(machine(), 1, 1048576, 3)
    assert hugepage_bytes(context(tier(HugepageRequest("2M", 2)), topology)) == {0: 2 * MIB, 1: 2 * MIB + 3 * GIB}
    assert hugepage_bytes(context(tier(HugepageRequest("1G", 2)), topology)) == {0: GIB, 1: GIB}


@pytest.mark.parametrize(
    ("arch", "page", "good", "bad"),
    [
        ("x86_64", "", ["2M", "1G", "2048k"], ["4M", "64k", "16G", "many"]),
        ("aarch64", "4k", ["64k", "2M", "32M", "1G"], ["512M", "16G"]),
        ("aarch64", "64k", ["2M", "512M", "16G"], ["64k", "1G", "32M"]),
    ],
)
def test_sizes_follow_architecture_and_base_page(arch: str, page: str, good: list[str], bad: list[str]) -> None:
    topology = machine(arch=arch)
    for size in good:
        asked = tier(HugepageRequest(size, 1, 0), default=size, kernel=KernelSpec(page_size=page))
        assert ids(asked, topology=topology) == []
    for size in bad:
        asked = tier(HugepageRequest(size, 0, 0), default=good[0], kernel=KernelSpec(page_size=page))
        assert ids(asked, topology=topology) == ["hugepages.size"]
        asked = tier(default=size, kernel=KernelSpec(page_size=page))
        assert ids(asked, topology=topology) == ["hugepages.size"]


def test_the_running_kernels_page_counts_where_the_tier_names_none() -> None:
    asked = tier(HugepageRequest("512M", 1, 0), default="512M")
    assert ids(asked, topology=machine(arch="aarch64"), environment=replace(NODE, page_kib=64)) == []
    assert ids(asked, topology=machine(arch="aarch64"))


def test_an_unknown_architecture_is_not_judged() -> None:
    assert ids(tier(HugepageRequest("16M", 1), default="16M"), topology=machine(arch="ppc64le")) == []


def test_too_many_pages_are_found_on_the_node_that_lacks_them() -> None:
    findings = judge_hugepages(context(tier(HugepageRequest("1G", 65, 1))))
    assert [finding.id for finding in findings] == ["hugepages.memory"]
    assert findings[0].blocks
    assert "NUMA node 1" in findings[0].message
    assert "1.0 GiB are missing" in findings[0].why
    assert ids(tier(HugepageRequest("1G", 128))) == []
    assert ids(tier(HugepageRequest("1G", 129))) == ["hugepages.memory"]


def test_without_memory_in_the_description_nothing_is_too_much() -> None:
    assert ids(tier(HugepageRequest("1G", 65, 1)), topology=machine(memory_gib=0)) == []


def test_nodes_that_do_not_exist_are_found() -> None:
    findings = judge_hugepages(context(tier(HugepageRequest("1G", 1, 2))))
    assert [finding.id for finding in findings] == ["hugepages.node"]
    assert findings[0].expected == "one of 0, 1"


def test_the_same_size_in_the_same_place_twice_is_found() -> None:
    assert ids(tier(HugepageRequest("2M", 1), HugepageRequest("2048k", 1))) == ["hugepages.duplicate"]
    assert ids(tier(HugepageRequest("2M", 1), HugepageRequest("2M", 1, 0))) == []
    assert ids(tier(HugepageRequest("2M", 1, 0), HugepageRequest("2M", 1, 0))) == ["hugepages.duplicate"]


def test_the_operator_wants_a_default_size() -> None:
    asked = tier(HugepageRequest("2M", 1), default="")
    assert ids(asked) == []
    findings = judge_hugepages(context(asked, platform=Platform.OPENSHIFT))
    assert [(finding.id, finding.severity) for finding in findings] == [("hugepages.default", Severity.CRITICAL)]


def test_sizes_have_one_spelling() -> None:
    assert [size_text(kib) for kib in (64, 2048, 32768, 1048576, 16777216)] == ["64k", "2M", "32M", "1G", "16G"]
