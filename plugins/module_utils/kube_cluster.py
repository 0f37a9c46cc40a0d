# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Speaks to a new cluster through kubectl on its control plane: network manifests, labels and taints, node states."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from .bootstrap_programs import must, run
from .core.bootstrap.documents import taint_of
from .core.bootstrap.places import ADMIN_CONF
from .core.errors import FailedError, problem

_KUBECTL = ("kubectl", "--kubeconfig", ADMIN_CONF)
_MANAGER = ("--server-side", "--field-manager", "tunectl")
_PAUSE_S = 3
_READ_FAILED = "the cluster does not answer"


def apply_manifest(text: str, *, dry: bool = False) -> bool:
    """Make the cluster hold the objects of a manifest and return whether something was another.

    Shape: applied by the server, as objects of plug-ins may be too large for an annotation. Where the difference
    cannot be told, as for objects whose definition is in the same manifest, it is applied.
    Sad paths: `FailedError` TUN-4741.
    """
    told = run([*_KUBECTL, "diff", *_MANAGER, "-f", "-"], text=text)
    if told.code == 0:
        return False
    if not dry:
        must([*_KUBECTL, "apply", *_MANAGER, "-f", "-"], "TUN-4741", "the cluster refuses a manifest", text=text)
    return True


def read_nodes() -> list[dict[str, Any]]:
    """Return the nodes of the cluster: name, whether ready and why not, version, labels, taints; raises TUN-4741."""
    done = must([*_KUBECTL, "get", "nodes", "-o", "json"], "TUN-4741", _READ_FAILED)
    return [_node(item) for item in json.loads(done.out)["items"]]


def read_kubelet_map() -> str:
    """Return the KubeletConfiguration that the cluster gives to every node that joins; raises TUN-4741."""
    command = [*_KUBECTL, "get", "configmap", "kubelet-config", "--namespace", "kube-system", "-o", "json"]
    return str(json.loads(must(command, "TUN-4741", _READ_FAILED).out)["data"]["kubelet"])


def place_nodes(wanted: Sequence[Mapping[str, Any]], *, dry: bool = False) -> list[str]:
    """Give nodes the labels and taints of their pools and return what was changed, as `NODE: WHAT`.

    Shape: `wanted` has `name`, `labels` and `taints` (`key=value:Effect`); labels and taints that it does not name
    are left alone.
    Sad paths: `FailedError` TUN-4742 for a node that the cluster does not have, TUN-4741 when it refuses.
    """
    there = {node["name"]: node for node in read_nodes()}
    missing = [str(one["name"]) for one in wanted if one["name"] not in there]
    if missing:
        raise FailedError(
            (
                problem(
                    "TUN-4742",
                    f"the cluster has no node {', '.join(missing)}",
                    where="kubectl get nodes",
                    why=f"it has {', '.join(sorted(there)) or 'none'}",
                    fix="run the phase workers first",
                ),
            )
        )
    changed = []
    for one in wanted:
        changed += _place(one, there[str(one["name"])], dry=dry)
    return changed


def _place(one: Mapping[str, Any], node: Mapping[str, Any], *, dry: bool) -> list[str]:
    name, labels = str(one["name"]), dict(one.get("labels") or {})
    pairs = [f"{key}={value}" for key, value in labels.items() if node["labels"].get(key) != value]
    held = [(taint["key"], taint.get("value", ""), taint["effect"]) for taint in node["taints"]]
    taints = [text for text in one.get("taints") or () if _parts(str(text)) not in held]
    if not dry and pairs:
        must([*_KUBECTL, "label", "node", name, "--overwrite", *pairs], "TUN-4741", f"{name} takes no labels")
    if not dry and taints:
        must([*_KUBECTL, "taint", "node", name, "--overwrite", *taints], "TUN-4741", f"{name} takes no taints")
    return [f"{name}: {what}" for what in (*pairs, *taints)]


def _parts(text: str) -> tuple[str, str, str]:
    taint = taint_of(text)
    return taint["key"], taint.get("value", ""), taint["effect"]


def wait_ready(names: Sequence[str], limit_s: float) -> list[dict[str, Any]]:
    """Return the nodes of these names when all are ready, or as they are when the time is over."""
    end = time.monotonic() + limit_s
    while True:
        nodes = [node for node in read_nodes() if node["name"] in names]
        if (len(nodes) == len(names) and all(node["ready"] for node in nodes)) or time.monotonic() >= end:
            return nodes
        time.sleep(_PAUSE_S)


def _node(item: Mapping[str, Any]) -> dict[str, Any]:
    status = item.get("status", {})
    ready: Mapping[str, Any] = next((one for one in status.get("conditions", ()) if one.get("type") == "Ready"), {})
    return {
        "name": item["metadata"]["name"],
        "ready": ready.get("status") == "True",
        "why": str(ready.get("message") or ready.get("reason") or "it has not reported yet"),
        "version": str(status.get("nodeInfo", {}).get("kubeletVersion", "")),
        "labels": dict(item["metadata"].get("labels") or {}),
        "taints": list(item.get("spec", {}).get("taints") or ()),
    }
