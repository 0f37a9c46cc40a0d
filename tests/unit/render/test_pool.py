"""Two tiers in one cluster keep apart, or are refused with the reason."""

import pytest

from tunectl.core.cpuset import CpuSet
from tunectl.core.findings import Origin
from tunectl.core.tier import CpuSpec, KubeletSpec, Manifest, OpenShiftSpec, Tier
from tunectl.planning.tier_file import load_tier, tier_files
from tunectl.render.pool import check_pools, manifest_of

STANDARD = Tier(name="standard", pool="hpc", kubelet=KubeletSpec(topology_manager_policy="single-numa-node"))
MASSIVE = Tier(
    name="massive",
    pool="hpc",
    cpu=CpuSpec(reserved=CpuSet.parse("0"), isolated=CpuSet.parse("1-3")),
    kubelet=KubeletSpec(topology_manager_policy="restricted"),
    origins={"pool": Origin("massive.yaml", 4, 1)},
)


def test_the_shipped_tiers_live_side_by_side() -> None:
    assert check_pools(load_tier(name) for name in sorted(tier_files())) == ()


def test_a_kubelet_config_and_a_profile_on_one_pool_are_refused_with_the_reason() -> None:
    (problem,) = check_pools((STANDARD, MASSIVE))
    assert problem.code == "TUN-2240"
    assert problem.what == "tiers standard and massive are both for pool hpc"
    assert problem.where == "massive.yaml:4:1"
    assert "`single-numa-node` KubeletConfig and a `restricted` PerformanceProfile on one pool fight" in problem.why
    assert problem.fix == "give each tier a pool of its own: set pool: massive in tier massive"


def test_two_of_a_kind_on_one_pool_are_refused_too() -> None:
    other = Tier(name="other", pool="hpc")
    (problem,) = check_pools((STANDARD, other))
    assert problem.why == "a pool takes one of them: `single-numa-node` KubeletConfig or KubeletConfig"


@pytest.mark.parametrize(
    ("first", "second", "clash"),
    [
        ({"x/a": ""}, {"x/a": ""}, True),
        ({"x/a": ""}, {"x/a": "", "x/b": ""}, True),
        ({"x/a": ""}, {"x/b": ""}, False),
        ({"x/a": "1"}, {"x/a": "2"}, False),
    ],
)
def test_pools_that_one_node_can_match_are_refused(
    first: dict[str, str], second: dict[str, str], *, clash: bool
) -> None:
    tiers = [
        Tier(name=name, openshift=OpenShiftSpec(node_selector=selector))
        for name, selector in (("one", first), ("two", second))
    ]
    assert [problem.code for problem in check_pools(tiers)] == (["TUN-2241"] if clash else [])


def test_pools_with_the_same_label_are_refused() -> None:
    tiers = [Tier(name=name, openshift=OpenShiftSpec(pool_labels={"tuned": "yes"})) for name in ("one", "two")]
    (problem,) = check_pools(tiers)
    assert problem.code == "TUN-2241"
    assert problem.what == "pools one and two carry the same label"
    assert "tuned=yes" in problem.why


def test_each_pair_is_looked_at() -> None:
    tiers = [Tier(name=name, pool="p") for name in ("a", "b", "c")]
    assert len(check_pools(tiers)) == 3


def test_the_manifest_follows_the_cpus_unless_the_tier_says() -> None:
    assert manifest_of(STANDARD) is Manifest.KUBELET_CONFIG
    assert manifest_of(MASSIVE) is Manifest.PERFORMANCE_PROFILE
    isolated = Tier(name="t", cpu=CpuSpec(isolated=CpuSet.parse("1-3")))
    assert manifest_of(isolated) is Manifest.PERFORMANCE_PROFILE
    said = Tier(name="t", openshift=OpenShiftSpec(manifest=Manifest.PERFORMANCE_PROFILE))
    assert manifest_of(said) is Manifest.PERFORMANCE_PROFILE
