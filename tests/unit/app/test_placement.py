"""Stanzas for workloads of a tier: complete, mergeable, and none where nothing is missing."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from support.audits import FILE, audit_text, deployment, fixed, found, loose, pod, tier

from tunectl.app.audit import AuditRequest
from tunectl.app.placement import Placement, place_workloads
from tunectl.core.audit.context import AuditTier
from tunectl.core.desired import Platform
from tunectl.core.errors import InputError
from tunectl.planning.manifests import manifests_of

_LATENCY = tier("latency-sensitive")


def _place(*objects: Any, to: AuditTier = _LATENCY) -> Placement:
    return place_workloads(manifests_of([(FILE, yaml.safe_dump_all(objects))]), to)


def _spec(patch: Any) -> dict[str, Any]:
    spec: dict[str, Any] = patch["spec"]["template"]["spec"]
    return spec


def test_the_merged_manifest_is_audited_clean_of_placement() -> None:
    pair = (deployment(fixed(6), name="a"), deployment(fixed(6), name="b", replicas=2), pod(loose("c"), name="p"))
    placed = _place(*pair)
    result = audit_text(placed.texts[FILE], AuditRequest((_LATENCY,)))
    for family in ("pod.toleration", "pod.selector", "pod.spread", "pod.antiaffinity"):
        assert found(result, family) == []
    assert all(not one.edits for one in place_workloads(manifests_of([(FILE, placed.texts[FILE])]), _LATENCY).placed)


def test_a_patch_names_its_object_and_nothing_else() -> None:
    (placed,) = _place(deployment(fixed(2), name="a", namespace="web")).placed
    patch = placed.patch
    assert {key: patch[key] for key in ("apiVersion", "kind", "metadata")} == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a", "namespace": "web"},
    }
    assert set(patch["spec"]) == {"template"}
    assert set(_spec(patch)) == {"nodeSelector", "tolerations", "topologySpreadConstraints"}


def test_lists_that_a_patch_replaces_are_complete() -> None:
    own = {"key": "other", "operator": "Exists"}
    constraint = {
        "maxSkew": 2,
        "topologyKey": "rack",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": "x"}},
    }
    given = deployment(fixed(2), tolerations=[own], topologySpreadConstraints=[constraint])
    spec = _spec(_place(given).placed[0].patch)
    assert [one["key"] for one in spec["tolerations"]] == ["other", "workload"]
    assert "rack" not in [one["topologyKey"] for one in spec["topologySpreadConstraints"]]


def test_nothing_is_written_where_nothing_is_missing() -> None:
    at_home: dict[str, Any] = {
        "nodeSelector": {"pool": "batch"},
        "tolerations": [{"key": "workload", "operator": "Exists"}],
    }
    placed = _place(pod(loose("c"), **at_home), to=tier("batch"))
    assert [(one.edits, one.patch) for one in placed.placed] == [((), {})]


def test_openshift_pools_are_selected_by_their_role() -> None:
    (placed,) = _place(pod(fixed(2)), to=tier("hpc-massive", platform=Platform.OPENSHIFT)).placed
    assert placed.patch["spec"] == {"nodeSelector": {"node-role.kubernetes.io/hpc-massive": ""}}


def test_workloads_of_other_nodes_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        _place(pod(fixed(2), nodeSelector={"pool": "batch"}))
    (one,) = caught.value.problems
    assert (one.code, one.where) == ("TUN-1806", f"{FILE}:12:3")


def test_stanzas_without_a_place_are_named() -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n"
        "  containers: [{name: c}]\n  nodeSelector: &all {zone: a}\n"
    )
    placed = place_workloads(manifests_of([(FILE, text)]), _LATENCY)
    assert len(placed.left) == 1
    assert "nodeSelector" in placed.left[0]
    assert placed.placed[0].patch["spec"]["nodeSelector"] == {"pool": "latency-sensitive"}
