"""What an audit says of classes, OOM scores and exclusive CPUs against recordings of the real kubelet."""

from __future__ import annotations

from typing import Any

from support.audits import audit_objects
from support.kubelet_machines import read_jsonl
from support.oracles import oracle_dir

from tunectl.app.audit import AuditRequest

_SHORT = ("requests", "limits")


def _manifest(given: dict[str, Any]) -> dict[str, Any]:
    """Return the Pod of a recorded fragment, whose containers have resources in a short form."""
    spec = {key: value for key, value in given.items() if key not in ("name", "static")}
    for key in ("containers", "initContainers"):
        if key in spec:
            spec[key] = [_container(one) for one in spec[key]]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": given["name"]}, "spec": spec}


def _container(given: dict[str, Any]) -> dict[str, Any]:
    resources = {key: given[key] for key in _SHORT if key in given}
    rest = {key: value for key, value in given.items() if key not in _SHORT}
    return {**rest, "resources": {**given.get("resources", {}), **resources}}


def _is_manifest(given: dict[str, Any]) -> bool:
    """Whether a manifest can say it: nothing there is static, and the API server gives a class its priority."""
    return not given.get("static") and not (given.get("priorityClassName") and "priority" not in given)


def test_audits_agree_with_the_kubelet() -> None:
    cases = [case for case in read_jsonl(oracle_dir("kubelet-qos") / "pods.jsonl") if _is_manifest(case["pod"])]
    assert len(cases) > 150
    wrong: list[tuple[str, object]] = []
    for case in cases:
        request = AuditRequest(node_memory=case["nodeMemoryBytes"])
        (audited,) = audit_objects(_manifest(case["pod"]), request=request).pods
        answer = (
            audited.subject.pod.qos.value,
            {one.name: one.oom_score_adj for one in audited.containers},
            {one.name: one.exclusive for one in audited.containers},
        )
        if answer != (case["qosClass"], case["oomScoreAdj"], case["exclusiveCpus"]):
            wrong.append((case["id"], answer))
        blamed = any(one.culprits for one in audited.containers)
        pod = audited.subject.pod
        if not pod.has_pod_resources and blamed == (case["qosClass"] == "Guaranteed"):
            wrong.append((case["id"], "culprits"))
    assert not wrong, f"{len(wrong)} of {len(cases)} differ, the first: {wrong[0]}"
