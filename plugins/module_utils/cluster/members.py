# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The nodes of a cluster and their pods: what is read before a drain, and whether it may happen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..core.drain.budget import read_budget
from ..core.drain.node import ClusterNode, find_node, read_node
from ..core.drain.pod import Consent, Fate, Pod, fate_of, read_pod
from ..core.drain.refusal import drain_problems
from ..core.errors import Problem, RefusedError, UnknownError, problem
from .api import Api

NODES = "/api/v1/nodes"
_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
# verb, group, resource, subresource: everything that a drain and an uncordon ask for
_NEEDED = (
    ("list", "", "nodes", ""),
    ("get", "", "nodes", ""),
    ("patch", "", "nodes", ""),
    ("list", "", "pods", ""),
    ("get", "", "pods", ""),
    ("create", "", "pods", "eviction"),
    ("list", "policy", "poddisruptionbudgets", ""),
    ("get", "coordination.k8s.io", "leases", ""),
)


@dataclass(frozen=True)
class Host:
    """A host of the inventory: its name, what else it is called, the boot it runs, the Node the user named."""

    name: str
    known_as: tuple[str, ...] = ()
    boot_id: str = ""
    node_name: str = ""


@dataclass(frozen=True)
class DrainRequest:
    """How a node is drained: by which run, what may be lost, how long it may take.

    Scale: `timeout_s` seconds. `waits` says that budgets without room are waited for, up to that time.
    """

    run: str
    consent: Consent = Consent()
    timeout_s: float = 600.0
    waits: bool = False


def check_drain(api: Api, host: Host, request: DrainRequest) -> tuple[str, int]:
    """Return the Node of a host and how many pods a drain would move; changes nothing.

    Sad paths: `RefusedError` TUN-3701 to TUN-3708, all that are known at once; those of `Api`.
    """
    refuse_missing_rights(api)
    nodes = [read_node(one) for one in api.items(NODES)]
    name = find_node(host.name, host.known_as, host.boot_id, host.node_name, nodes)
    pods = pods_of(api, name)
    budgets = [read_budget(one) for one in api.items("/apis/policy/v1/poddisruptionbudgets")]
    found = drain_problems(name, pods, budgets, request.consent, waits=request.waits)
    if found:
        raise RefusedError(found)
    return name, sum(1 for pod in pods if fate_of(pod, request.consent) is Fate.EVICTED)


def pods_of(api: Api, node: str) -> list[Pod]:
    """Return the pods that are bound to a Node."""
    return [read_pod(one) for one in api.items("/api/v1/pods", fieldSelector=f"spec.nodeName={node}")]


def node_of(api: Api, name: str) -> ClusterNode:
    """Return a Node; raises `UnknownError` TUN-5702 when it is gone."""
    found = api.get(f"{NODES}/{name}")
    if found is None:
        gone = problem(
            "TUN-5702",
            f"the Node {name} is gone from the cluster",
            where=api.address,
            why="the API server knows no Node of that name any more",
            fix="find out who removed it; the kubelet makes it again when it starts",
        )
        raise UnknownError((gone,), "")
    return read_node(found)


def refuse_missing_rights(api: Api) -> None:
    """Raise `RefusedError` TUN-3704 naming everything that the user of the kubeconfig may not do and a drain needs."""
    denied = [one for one in _NEEDED if not _allowed(api, *one)]
    if denied:
        raise RefusedError((_denied(api, denied),))


def _allowed(api: Api, verb: str, group: str, resource: str, subresource: str) -> bool:
    asked = {"verb": verb, "group": group, "resource": resource, "subresource": subresource}
    spec = {"resourceAttributes": {key: value for key, value in asked.items() if value}}
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": spec}
    answer = api.request("POST", _REVIEWS, body)
    return bool((answer.body.get("status") or {}).get("allowed"))


def _denied(api: Api, denied: Sequence[tuple[str, str, str, str]]) -> Problem:
    rights = ", ".join(f"{verb} {'/'.join(filter(None, (name, sub)))}" for verb, _group, name, sub in denied)
    return problem(
        "TUN-3704",
        "the user of the kubeconfig may not do what a drain needs",
        where=api.address,
        why=f"not allowed: {rights}",
        fix="bind the ClusterRole of docs/how-to/drain-and-reboot.md to that user",
    )
