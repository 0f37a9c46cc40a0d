# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A Node of the API: which machine it is, who cordoned it, and when it may take pods again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import RefusedError, problem

CORDONED_BY = "tunectl.io/cordoned-by"
RESOURCES_BEFORE = "tunectl.io/resources-before"


@dataclass(frozen=True)
class ClusterNode:
    """A Node.

    Shape: `boot_id` is the boot that its kubelet reported; `extended` is resource -> how many the node offers, of the
    resources that device plugins bring (a name with a domain outside of kubernetes.io).
    """

    name: str
    version: str = ""
    cordoned: bool = False
    ready: bool = False
    boot_id: str = ""
    names: frozenset[str] = frozenset()
    extended: Mapping[str, int] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def cordoned_by_us(self) -> bool:
        """Whether a run of tunectl cordoned it."""
        return self.cordoned and CORDONED_BY in self.annotations

    @property
    def resources_before(self) -> Mapping[str, int]:
        """What the node offered when it was cordoned; empty when nobody wrote it down, or it cannot be read."""
        try:
            found = json.loads(self.annotations.get(RESOURCES_BEFORE) or "{}")
            return {str(key): int(value) for key, value in found.items()}
        except (ValueError, TypeError, AttributeError):
            return {}


def read_node(document: Mapping[str, Any]) -> ClusterNode:
    """Return the Node that the API describes. `names` holds its name, host name and addresses."""
    meta, spec, status = (document.get(key) or {} for key in ("metadata", "spec", "status"))
    name = str(meta.get("name") or "")
    label = str((meta.get("labels") or {}).get("kubernetes.io/hostname") or name)
    addresses = (str(one.get("address")) for one in status.get("addresses") or ())
    return ClusterNode(
        name=name,
        version=str(meta.get("resourceVersion") or ""),
        cordoned=bool(spec.get("unschedulable")),
        ready=any(one.get("type") == "Ready" and one.get("status") == "True" for one in status.get("conditions") or ()),
        boot_id=str((status.get("nodeInfo") or {}).get("bootID") or ""),
        names=frozenset((name, label, *addresses)),
        extended=_extended(status.get("allocatable") or {}),
        annotations=dict(meta.get("annotations") or {}),
    )


def find_node(host: str, known_as: Sequence[str], boot_id: str, wanted: str, nodes: Sequence[ClusterNode]) -> str:
    """Return the name of the Node that a host of the inventory is.

    Shape: `known_as` are the host's names and addresses; `boot_id` is the boot it runs, empty when not known;
    `wanted` is the Node that the user named for it, empty when none.
    Sad paths: `RefusedError` TUN-3701 for no Node, TUN-3702 for several, TUN-3703 for a Node of another machine.
    """
    asked = {wanted} if wanted else {one for one in (host, *known_as) if one}
    if wanted:
        found = [node for node in nodes if node.name == wanted]
    else:
        same_boot = [node for node in nodes if boot_id and node.boot_id == boot_id]
        found = same_boot or [node for node in nodes if node.names & asked]
    if len(found) != 1:
        raise RefusedError((_not_one(host, asked, found),))
    if boot_id and found[0].boot_id and found[0].boot_id != boot_id:
        raise RefusedError(
            (
                problem(
                    "TUN-3703",
                    f"the Node {found[0].name} is another machine than {host}, or has not reported since its boot",
                    where=host,
                    why=f"{host} runs boot {boot_id}, the Node reports boot {found[0].boot_id}",
                    fix="name the kubeconfig of the cluster that the host is in, or tunectl_node_name in the inventory",
                ),
            )
        )
    return found[0].name


def cordon_patch(node: ClusterNode, run: str) -> dict[str, Any] | None:
    """Return the merge patch that cordons a node and says who did; None for one that is cordoned already.

    It holds the version that was read, so that nobody else's cordon is ever taken for ours.
    """
    if node.cordoned:
        return None
    marks = {CORDONED_BY: run, RESOURCES_BEFORE: json.dumps(dict(sorted(node.extended.items())))}
    return {"metadata": {"resourceVersion": node.version, "annotations": marks}, "spec": {"unschedulable": True}}


def uncordon_patch(node: ClusterNode) -> dict[str, Any] | None:
    """Return the merge patch that takes our cordon and marks away; None for a node that somebody else cordoned."""
    if not node.cordoned_by_us:
        return None
    marks = {CORDONED_BY: None, RESOURCES_BEFORE: None}
    return {"metadata": {"resourceVersion": node.version, "annotations": marks}, "spec": {"unschedulable": None}}


def not_ready_reasons(node: ClusterNode, boot_id: str) -> tuple[str, ...]:
    """Return why a node may not take pods yet, nothing when it may; `boot_id` is the boot it must have reported."""
    missing = {key: count for key, count in node.resources_before.items() if node.extended.get(key, 0) < count}
    return (
        *(() if node.ready else ("its condition Ready is not True",)),
        *(("its kubelet has not reported since the reboot",) if boot_id and node.boot_id != boot_id else ()),
        *(f"{key}: {node.extended.get(key, 0)} of {count} are back" for key, count in sorted(missing.items())),
    )


def _extended(allocatable: Mapping[str, Any]) -> dict[str, int]:
    plugins = {key: str(value) for key, value in allocatable.items() if "/" in key and "kubernetes.io/" not in key}
    return {key: int(value) for key, value in plugins.items() if value.isdigit() and int(value) > 0}


def _not_one(host: str, asked: set[str], found: Sequence[ClusterNode]) -> Any:
    fix = f"set tunectl_node_name of {host} in the inventory to the name that kubectl get nodes shows"
    if found:
        names = ", ".join(sorted(node.name for node in found))
        return problem("TUN-3702", f"several Nodes could be {host}", where=host, why=f"{names} match", fix=fix)
    why = f"none has the name or address {', '.join(sorted(asked))}"
    return problem("TUN-3701", f"the cluster has no Node for {host}", where=host, why=why, fix=fix)
