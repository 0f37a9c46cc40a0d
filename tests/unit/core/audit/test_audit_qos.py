"""Quality of service in an audit: the culprit field, helpers that spoil the class, meshes."""

from __future__ import annotations

from typing import Any

import pytest
from support.audits import audit_objects, deployment, fixed, found, ids, loose, pod, tier

from tunectl.app.audit import AuditRequest
from tunectl.core.audit.qos import culprits
from tunectl.core.findings import Severity

_PINNED = AuditRequest((tier("latency-sensitive"),))
_BATCH = AuditRequest((tier("batch"),))


def _container(requests: dict[str, str] | None, limits: dict[str, str] | None) -> dict[str, Any]:
    parts = {"requests": requests, "limits": limits}
    return {"name": "c", "resources": {key: value for key, value in parts.items() if value is not None}}


@pytest.mark.parametrize(
    ("requests", "limits", "blamed"),
    [
        (None, {"cpu": "2", "memory": "1Gi"}, []),
        ({"cpu": "2000m", "memory": "1024Mi"}, {"cpu": "2", "memory": "1Gi"}, []),
        ({"cpu": "2e0"}, {"cpu": "2.0", "memory": "1Gi"}, []),
        ({"cpu": "1"}, {"cpu": "2", "memory": "1Gi"}, ["requests.cpu"]),
        ({"cpu": "2", "memory": "1Gi"}, {"cpu": "2"}, ["no limits.memory"]),
        ({"cpu": "2", "memory": "1Gi"}, None, ["no limits.cpu", "no limits.memory"]),
        ({"memory": "1G"}, {"cpu": "2", "memory": "1Gi"}, ["requests.memory"]),
        (None, {"cpu": "2"}, ["no limits.memory"]),
        (None, {"cpu": "0", "memory": "1Gi"}, ["no limits.cpu"]),
    ],
)
def test_the_culprit_is_the_field_that_differs(
    requests: dict[str, str] | None, limits: dict[str, str] | None, blamed: list[str]
) -> None:
    audited = audit_objects(pod(_container(requests, limits))).pods[0]
    assert [one.short for one in audited.containers[0].culprits] == blamed
    assert (audited.subject.pod.qos.value == "Guaranteed") == (not blamed)


def test_culprits_are_where_they_are_written() -> None:
    text_of = audit_objects(pod(_container({"cpu": "1"}, {"cpu": "2", "memory": "1Gi"}))).pods[0]
    (culprit,) = culprits(text_of.subject)
    assert culprit.path == ("spec", "containers", 0, "resources", "requests", "cpu")
    (one,) = found(audit_objects(pod(_container({"cpu": "1"}, {"cpu": "2", "memory": "1Gi"}))), "pod.qos")
    assert one.setting == "spec.containers[0].resources.requests.cpu"
    assert one.asked_in.line > 1


def test_a_burstable_pod_is_a_fault_where_cpus_are_given_to_guaranteed_ones() -> None:
    burstable = pod(_container({"cpu": "1", "memory": "1Gi"}, {"cpu": "2", "memory": "1Gi"}))
    (pinned,) = found(audit_objects(burstable, request=_PINNED), "pod.qos")
    (anywhere,) = found(audit_objects(burstable), "pod.qos")
    assert (pinned.severity, anywhere.severity) == (Severity.WARNING, Severity.INFO)
    assert [edit.value for edit in pinned.edits] == ["2"]
    assert anywhere.edits == ()
    assert found(audit_objects(burstable, request=_BATCH), "pod.qos") == []


def test_resources_beside_the_name_do_not_count() -> None:
    misplaced = {"name": "c", "limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "2", "memory": "1Gi"}}
    assert audit_objects(pod(misplaced)).pods[0].subject.pod.qos.value == "BestEffort"


def test_a_pod_without_resources_is_best_effort() -> None:
    (one,) = found(audit_objects(pod({"name": "a"}, {"name": "b"})), "pod.qos")
    assert (one.id, one.severity) == ("pod.qos.best-effort", Severity.WARNING)


@pytest.mark.parametrize("where", ["initContainers", "containers"])
def test_a_helper_spoils_the_class_of_a_pod_that_would_be_pinned(where: str) -> None:
    spec: dict[str, Any] = {"initContainers": [loose()]} if where == "initContainers" else {}
    containers = [fixed(4, name="app"), *([loose()] if where == "containers" else [])]
    result = audit_objects(pod(*containers, **spec))
    spoilers = found(result, "pod.sidecar.spoils-qos")
    assert [one.container for one in spoilers] == ["helper", "helper"]
    assert {edit.path[-1]: edit.value for one in spoilers for edit in one.edits} == {"cpu": "100m", "memory": "64Mi"}
    assert result.pods[0].containers[-1 if where == "initContainers" else 0].exclusive == 0


def test_who_would_be_pinned_is_named() -> None:
    result = audit_objects(pod(fixed(4, name="app"), fixed("500m", name="small"), loose()))
    assert all("; app would have CPUs of its own" in one.message for one in found(result, "pod.sidecar.spoils-qos"))


def test_no_helper_is_blamed_where_nothing_would_be_pinned() -> None:
    shared = audit_objects(pod(fixed("1500m", name="app"), loose()))
    batch = audit_objects(pod(fixed(4, name="app"), loose()), request=_BATCH)
    assert found(shared, "pod.sidecar") == found(batch, "pod.sidecar") == []


@pytest.mark.parametrize(("live", "said"), [("Guaranteed", False), ("Burstable", True), ("Nonsense", False)])
def test_a_running_pod_keeps_the_class_it_was_made_with(live: str, *, said: bool) -> None:
    result = audit_objects({**pod(fixed(2)), "status": {"qosClass": live}})
    assert bool(found(result, "pod.qos.set-otherwise")) is said


def test_requests_above_limits_are_said_once() -> None:
    result = audit_objects(pod(_container({"cpu": "3"}, {"cpu": "2", "memory": "1Gi"})), request=_PINNED)
    assert ids(found(result, "pod.resources")) == ["pod.resources.above-limit"]
    assert found(result, "pod.qos") == []


def test_resources_at_pod_level_pin_nothing() -> None:
    whole = pod(fixed(2), resources={"limits": {"cpu": "2", "memory": "1Gi"}})
    assert ids(found(audit_objects(whole, request=_PINNED), "pod.qos")) == ["pod.qos.pod-level"]
    assert found(audit_objects(whole, request=_BATCH), "pod.qos") == []


_ISTIO = {
    "sidecar.istio.io/proxyCPU": "100m",
    "sidecar.istio.io/proxyCPULimit": "0.1",
    "sidecar.istio.io/proxyMemory": "128Mi",
    "sidecar.istio.io/proxyMemoryLimit": "128Mi",
}
_SPACE = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "shop", "labels": {"istio-injection": "enabled"}},
}


@pytest.mark.parametrize(
    ("metadata", "space", "blamed"),
    [
        ({"labels": {"sidecar.istio.io/inject": "true"}}, None, True),
        ({"annotations": {"sidecar.istio.io/inject": "true"}}, None, True),
        ({"annotations": {"linkerd.io/inject": "enabled"}}, None, True),
        ({"annotations": {"linkerd.io/inject": "disabled"}}, None, False),
        ({"labels": {"sidecar.istio.io/inject": "true"}, "annotations": _ISTIO}, None, False),
        ({"labels": {"sidecar.istio.io/inject": "true"}, "annotations": {**_ISTIO, "sidecar.istio.io/proxyCPU": "50m"}},
         None, True),
        ({"namespace": "shop"}, _SPACE, True),
        ({"namespace": "shop", "labels": {"sidecar.istio.io/inject": "false"}}, _SPACE, False),
        ({"namespace": "other"}, _SPACE, False),
        ({}, None, False),
    ],
)  # fmt: skip
def test_a_mesh_that_would_make_the_pod_burstable(metadata: dict[str, Any], space: Any, *, blamed: bool) -> None:
    objects = [deployment(fixed(4), **metadata), *([space] if space else [])]
    result = audit_objects(*objects)
    assert bool(found(result, "pod.sidecar.injected")) is blamed


def test_a_mesh_that_is_already_in_the_manifest_is_judged_like_other_containers() -> None:
    proxy = loose("istio-proxy")
    result = audit_objects(deployment(fixed(4), proxy, labels={"app": "d", "sidecar.istio.io/inject": "true"}))
    assert found(result, "pod.sidecar.injected") == []
    assert all("Istio" in one.message for one in found(result, "pod.sidecar.spoils-qos"))
    assert found(result, "pod.sidecar.spoils-qos")
