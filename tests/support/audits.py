"""Audits of manifests written in a test: pods in a few words, tiers with or without a machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from tunectl.adapters.topology_files import load_topology
from tunectl.app.audit import AuditRequest, audit_manifests, tier_with_machines
from tunectl.app.simulate import target_from_topology
from tunectl.core.audit.audit import Audit
from tunectl.core.audit.context import AuditTier
from tunectl.core.audit.finding import PodFinding
from tunectl.core.desired import Platform
from tunectl.planning.manifests import manifests_of
from tunectl.planning.tier_file import load_tier

FILE = "pods.yaml"


def tier(
    name: str,
    machine: str = "",
    platform: Platform = Platform.KUBEADM,
    overrides: Mapping[str, object] | None = None,
) -> AuditTier:
    """Return a shipped tier, on a machine where one is named, with fields set over it by dotted path."""
    loaded = load_tier(name, [], overrides or {})
    targets = [target_from_topology(loaded, machine, load_topology(machine), platform)] if machine else []
    return tier_with_machines(loaded, targets, platform)


def audit_text(text: str, request: AuditRequest | None = None) -> Audit:
    """Return the audit of a manifest."""
    return audit_manifests(manifests_of([(FILE, text)]), request or AuditRequest())


def audit_objects(*objects: object, request: AuditRequest | None = None) -> Audit:
    """Return the audit of objects."""
    return audit_text(yaml.safe_dump_all(objects), request)


def found(result: Audit, check: str = "") -> list[PodFinding]:
    """Return the findings whose id begins so."""
    return [one for one in result.findings if one.id.startswith(check)]


def ids(findings: Iterable[PodFinding]) -> list[str]:
    """Return the ids of findings."""
    return [one.id for one in findings]


def pod(*containers: Mapping[str, Any], name: str = "p", **spec: Any) -> dict[str, Any]:
    """Return a Pod; `labels`, `annotations` and `namespace` go where they belong, all else into the spec."""
    lifted: dict[str, Any] = {key: spec.pop(key) for key in ("labels", "annotations", "namespace") if key in spec}
    metadata = {"name": name, **lifted}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {**spec, "containers": list(containers)}}


def deployment(*containers: Mapping[str, Any], name: str = "d", replicas: int = 3, **spec: Any) -> dict[str, Any]:
    """Return a Deployment of such pods, labelled with its name unless other labels are given."""
    given: dict[str, Any] = {"labels": {"app": name}, **spec}
    template = pod(*containers, name=name, **given)
    metadata = dict(template["metadata"])
    namespace = {"namespace": metadata.pop("namespace")} if "namespace" in metadata else {}
    metadata.pop("name")
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, **namespace},
        "spec": {"replicas": replicas, "template": {"metadata": metadata, "spec": template["spec"]}},
    }


def fixed(cpu: Any = "2", memory: str = "1Gi", name: str = "c", **more: Any) -> dict[str, Any]:
    """Return a container whose limits are its requests."""
    extra = {key: more.pop(key) for key in tuple(more) if key.startswith("hugepages")}
    pages = {key.replace("_", "-"): value for key, value in extra.items()}
    return {"name": name, "resources": {"limits": {"cpu": cpu, "memory": memory, **pages}}, **more}


def loose(name: str = "helper", cpu: str = "100m", memory: str = "64Mi") -> dict[str, Any]:
    """Return a container with requests alone."""
    return {"name": name, "resources": {"requests": {"cpu": cpu, "memory": memory}}}
