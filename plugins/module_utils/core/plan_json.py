# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The published JSON form of a pool's plan, there and back.

Nodes that are alike share one target (desired state, files, runtime values), so that a plan of a thousand nodes stays
small; `sha256` covers everything else in the document, so that a plan is done as it was read, or not at all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from .cpuset import CpuSet
from .desired import Area, DesiredState, Impact, Partition, Platform, Setting
from .errors import InputError, problem
from .findings import Evidence, Finding, Origin, Severity, Verdict
from .jsonform import canonical, digest, to_json
from .plan import Change, ChangeKind, NodeFile, NodePlan, PoolPlan, RuntimeValue

PLAN_API_VERSION = "tunectl.io/v1alpha1"
PLAN_KIND = "Plan"
_SETS = ("reserved", "isolated", "shared", "offlined", "ovs_dpdk")


def pool_plan_to_json(plan: PoolPlan) -> dict[str, Any]:
    """Return the published form (schema `plan`); equal plans give equal documents."""
    targets: dict[str, dict[str, Any]] = {}
    known: dict[tuple[int, int, int], str] = {}
    nodes = [_node_to_json(node, _target_of(node, targets, known)) for node in plan.nodes]
    document = {
        "apiVersion": PLAN_API_VERSION,
        "kind": PLAN_KIND,
        "id": plan.id,
        "tier": plan.tier,
        "pool": plan.pool,
        "simulated": any(node.simulated for node in plan.nodes),
        "targets": targets,
        "nodes": nodes,
        "findings": to_json(plan.findings),
        "manifests": dict(plan.manifests),
        "tier_document": to_json(plan.tier_document),
    }
    return {**document, "sha256": content_digest(document)}


def content_digest(document: Mapping[str, Any]) -> str:
    """Return the SHA-256, as hex, of a plan document without its own `sha256`."""
    text = canonical({key: value for key, value in document.items() if key != "sha256"})
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _target_of(node: NodePlan, targets: dict[str, dict[str, Any]], known: dict[tuple[int, int, int], str]) -> str:
    # Nodes planned together share the very same objects; identity saves the work of comparing content.
    identity = (id(node.desired), id(node.files), id(node.runtime))
    if identity not in known:
        target = target_to_json(node)
        known[identity] = digest(target)[:12]
        targets[known[identity]] = target
    return known[identity]


def target_to_json(node: NodePlan) -> dict[str, Any]:
    """Return the part of a node's plan that nodes of the same build share."""
    return {
        "desired": to_json(node.desired),
        "files": [{**to_json(item), "mode": f"{item.mode:04o}"} for item in node.files],
        "runtime": to_json(node.runtime),
    }


def _node_to_json(node: NodePlan, target: str) -> dict[str, Any]:
    return {"node": node.node, "target": target, **own_part(node)}


def own_part(node: NodePlan) -> dict[str, Any]:
    """Return the part of a node's plan that is its own."""
    return {
        "fingerprint": node.fingerprint,
        "simulated": node.simulated,
        "matching": node.matching,
        "changes": to_json(node.changes),
        "actions": list(node.actions),
        "findings": to_json(node.findings),
        "basis": node.basis,
        "observed": dict(node.observed),
    }


def node_plan_to_json(plan: PoolPlan, node: NodePlan) -> dict[str, Any]:
    """Return all that one node is sent: its own part and its target in one document."""
    return {
        "apiVersion": PLAN_API_VERSION,
        "kind": "NodePlan",
        "plan_id": plan.id,
        "tier": plan.tier,
        "pool": plan.pool,
        "node": node.node,
        **target_to_json(node),
        **own_part(node),
    }


def pool_plan_from_json(data: Any, where: str = "") -> PoolPlan:
    """Return the plan of the published form; `where` names the document in errors.

    Sad paths: `InputError` TUN-2301 when it is no plan, TUN-2302 when it was changed after it was written, TUN-2303
    naming the key that is missing or wrong.
    """
    if not isinstance(data, Mapping) or data.get("apiVersion") != PLAN_API_VERSION or data.get("kind") != PLAN_KIND:
        raise _refused("TUN-2301", "this is not a plan", where, f"expected apiVersion {PLAN_API_VERSION}, kind Plan")
    if data.get("sha256") != _digest_of(data):
        raise _refused("TUN-2302", "the plan was changed after it was written", where, "its content has another sha256")
    try:
        return _pool_plan(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        why = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise _refused("TUN-2303", "the plan cannot be read", where, why) from error


def _digest_of(data: Mapping[str, Any]) -> str:
    try:
        return content_digest(data)
    except (TypeError, ValueError):
        return ""


def _refused(code: str, what: str, where: str, why: str) -> InputError:
    return InputError((problem(code, what, where=where, why=why, fix="make it again with tunectl plan"),))


def _pool_plan(data: Mapping[str, Any]) -> PoolPlan:
    targets = {
        name: (
            _desired(target["desired"]),
            tuple(_file(item) for item in target["files"]),
            tuple(_runtime(item) for item in target["runtime"]),
        )
        for name, target in data["targets"].items()
    }
    return PoolPlan(
        id=_text(data["id"]),
        tier=_text(data["tier"]),
        pool=_text(data["pool"]),
        nodes=tuple(_node(item, targets) for item in data["nodes"]),
        findings=tuple(_finding(item) for item in data["findings"]),
        manifests={_text(name): _text(text) for name, text in data["manifests"].items()},
        tier_document=dict(data["tier_document"]),
    )


def _node(data: Mapping[str, Any], targets: Mapping[str, Any]) -> NodePlan:
    if data["target"] not in targets:
        raise ValueError(f"node {data['node']} refers to target {data['target']!r}, which is not there")
    desired, files, runtime = targets[data["target"]]
    return NodePlan(
        node=_text(data["node"]),
        fingerprint=_text(data["fingerprint"]),
        desired=desired,
        changes=tuple(_change(item) for item in data["changes"]),
        files=files,
        runtime=runtime,
        actions=tuple(_text(item) for item in data["actions"]),
        findings=tuple(_finding(item) for item in data["findings"]),
        matching=int(data["matching"]),
        basis=_text(data["basis"]),
        simulated=bool(data["simulated"]),
        observed={_text(key): _optional(value) for key, value in data["observed"].items()},
    )


def _desired(data: Mapping[str, Any]) -> DesiredState:
    return DesiredState(
        tier=_text(data["tier"]),
        pool=_text(data["pool"]),
        platform=Platform(data["platform"]),
        partition=_partition(data["partition"]),
        settings=tuple(_setting(item) for item in data["settings"]),
        labels={_text(key): _text(value) for key, value in data["labels"].items()},
        taints=tuple(_text(item) for item in data["taints"]),
    )


def _partition(data: Mapping[str, Any]) -> Partition:
    reserved, isolated, shared, offlined, ovs_dpdk = (CpuSet.parse(_text(data[name])) for name in _SETS)
    return Partition(reserved, isolated, shared, offlined, ovs_dpdk, tuple(_text(item) for item in data["reasons"]))


def _setting(data: Mapping[str, Any]) -> Setting:
    return Setting(
        id=_text(data["id"]),
        area=Area(data["area"]),
        name=_text(data["name"]),
        value=data["value"],
        impact=Impact(data["impact"]),
        why=_text(data["why"]),
        source=_text(data["source"]),
        asked_in=_origin(data["asked_in"]),
    )


def _change(data: Mapping[str, Any]) -> Change:
    return Change(
        setting=_text(data["setting"]),
        kind=ChangeKind(data["kind"]),
        now=_optional(data["now"]),
        wanted=_optional(data["wanted"]),
        impact=Impact(data["impact"]),
        why=_text(data["why"]),
        asked_in=_origin(data["asked_in"]),
    )


def _finding(data: Mapping[str, Any]) -> Finding:
    return Finding(
        id=_text(data["id"]),
        verdict=Verdict(data["verdict"]),
        severity=Severity(data["severity"]),
        evidence=tuple(Evidence(_text(item["file"]), _text(item["text"])) for item in data["evidence"]),
        asked_in=_origin(data["asked_in"]),
        **{
            name: _text(data[name]) for name in ("subject", "message", "expected", "actual", "why", "remedy", "setting")
        },
    )


def _file(data: Mapping[str, Any]) -> NodeFile:
    return NodeFile(_text(data["path"]), _text(data["content"]), int(_text(data["mode"]), 8), _text(data["why"]))


def _runtime(data: Mapping[str, Any]) -> RuntimeValue:
    return RuntimeValue(_text(data["path"]), _text(data["value"]), bool(data["optional"]))


def _origin(data: Mapping[str, Any]) -> Origin:
    return Origin(_text(data["file"]), int(data["line"]), int(data["column"]))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a text")
    return value


def _optional(value: Any) -> str | None:
    return None if value is None else _text(value)
