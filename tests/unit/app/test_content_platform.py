"""The shipped content platform: its tiers plan, its pods are admitted, its workloads are audited clean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from support.labs import node_tree, snapshot_of, topology_of_shape

from tunectl.app.audit import AuditRequest, audit_manifests, exit_code, tier_with_machines
from tunectl.app.placement import place_workloads
from tunectl.app.plan import make_plan
from tunectl.app.simulate import pods_of, simulate_pods, target_from_topology, targets_from_snapshots
from tunectl.app.tiers import search_dirs
from tunectl.core.audit.context import audit_tier
from tunectl.core.desired import Platform
from tunectl.core.findings import Severity, Verdict
from tunectl.core.kubelet.pod import Qos
from tunectl.core.snapshot import Snapshot
from tunectl.core.tier import Tier
from tunectl.planning.manifests import manifests_of, read_manifests
from tunectl.planning.tier_file import load_tier

_HERE = Path(__file__).parents[3] / "examples" / "content-platform"
_SHAPE = "2s8c1t"
_TIERS = ("content-latency", "batch", "shared")
_LATENCY = ("article-service.yaml", "search-api.yaml")


def _tier(name: str) -> Tier:
    return load_tier(name, search_dirs(_HERE / "hosts.yaml"))


def _files(*names: str) -> list[str]:
    return [str(_HERE / "workloads" / name) for name in names]


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Snapshot]:
    """The six nodes, by name."""
    root = tmp_path_factory.mktemp("nodes")
    return {name: snapshot_of(node_tree(root / name, _SHAPE)) for pool in _pools().values() for name in pool}


def _pools() -> dict[str, list[str]]:
    groups = yaml.safe_load((_HERE / "hosts.yaml").read_text())["all"]["children"]
    return {name.replace("_", "-"): list(group["hosts"]) for name, group in groups.items()}


def test_there_are_three_pools_on_six_nodes() -> None:
    pools = _pools()
    assert {_tier(name).pool_name for name in _TIERS} == set(pools)
    assert sorted(name for pool in pools.values() for name in pool) == [f"node-{n}.example.com" for n in range(1, 7)]


@pytest.mark.parametrize("name", _TIERS)
@pytest.mark.parametrize("platform", list(Platform))
def test_each_tier_can_be_planned(name: str, platform: Platform, nodes: dict[str, Snapshot]) -> None:
    tier = _tier(name)
    planned = make_plan(tier, [nodes[node] for node in _pools()[tier.pool_name]], platform)
    assert len(planned.plan.nodes) == 2
    assert not planned.plan.blocked
    assert [one.message for one in planned.plan.all_findings if one.verdict is Verdict.FAIL] == []


def test_one_latency_node_carries_all_of_it(nodes: dict[str, Snapshot]) -> None:
    tier = _tier("content-latency")
    pods = pods_of(read_manifests(_files(*_LATENCY)).workloads)
    (target,) = targets_from_snapshots(tier, [nodes["node-1.example.com"]], Platform.KUBEADM)
    result = simulate_pods(tier, target, pods).result
    assert [(one.pod, one.reason) for one in result.refused] == []
    placed = {one.pod: one.placements[0] for one in result.outcomes}
    assert {name: len(one.cpus) for name, one in placed.items()} == {
        "article-service-0": 4,
        "article-service-1": 4,
        "search-api-0": 2,
        "search-api-1": 2,
    }
    assert all(len(one.numa_nodes) == 1 and one.numa_nodes == one.memory_nodes for one in placed.values())


def _audit_request(fail_on: Severity = Severity.WARNING) -> AuditRequest:
    tiers = [_tier(name) for name in _TIERS]
    kubeadm, machine = Platform.KUBEADM, topology_of_shape(_SHAPE)
    return AuditRequest(
        tuple(tier_with_machines(one, [target_from_topology(one, _SHAPE, machine, kubeadm)], kubeadm) for one in tiers),
        fail_on=fail_on,
    )


def test_the_workloads_are_audited_clean() -> None:
    result = audit_manifests(read_manifests([str(_HERE / "workloads")]), _audit_request())
    assert {one.subject.name: one.tier for one in result.pods} == {
        "article-service": "content-latency",
        "search-api": "content-latency",
        "analytics": "batch",
        "indexing": "batch",
        "monitoring": "shared",
    }
    assert [one.id for one in result.findings if one.severity is not Severity.INFO] == []
    assert exit_code(result, Severity.WARNING) == 0
    pinned = {one.subject.name: [part.exclusive for part in one.containers] for one in result.pods}
    assert (pinned["article-service"], pinned["search-api"], pinned["analytics"]) == ([4], [2], [0])


def test_work_that_may_wait_is_evicted_first() -> None:
    result = audit_manifests(read_manifests([str(_HERE / "workloads")]), _audit_request())
    order = sorted(result.pods, key=lambda one: one.eviction_rank or 0)
    assert [one.subject.name for one in order][:3] == ["analytics", "indexing", "monitoring"]
    assert [one.subject.pod.qos for one in order][3:] == [Qos.GUARANTEED] * 2


@pytest.mark.parametrize("name", _TIERS)
def test_no_workload_lacks_the_stanzas_of_its_tier(name: str) -> None:
    tier = _tier(name)
    read = read_manifests([str(_HERE / "workloads")])
    pool = tier.pool_name
    mine: list[Any] = [one for one in read.workloads if one.spec["nodeSelector"]["pool"] == pool]
    assert mine
    for one in mine:
        alone = read_manifests([str(one.origin.file)])
        assert place_workloads(alone, audit_tier(tier, Platform.KUBEADM)).placed[0].edits == ()


def test_an_error_in_a_workload_is_found() -> None:
    text = Path(_files("search-api.yaml")[0]).read_text()
    broken = text.replace('cpu: "2"', 'cpu: "2500m"').replace("value: latency-sensitive", "value: latency")
    assert broken != text
    result = audit_manifests(manifests_of([("search-api.yaml", broken)]), _audit_request())
    assert {"pod.cpu.not-whole", "pod.toleration.missing"} <= {one.id for one in result.findings}
    assert exit_code(result, Severity.WARNING) == 3
