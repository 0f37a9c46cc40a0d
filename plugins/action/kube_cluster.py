# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Controller side of kube_cluster: works out what the cluster shall hold, and judges what it tells."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from ansible.plugins.action import ActionBase  # type: ignore[import-untyped]
from ansible_collections.tunectl.node.plugins.module_utils.core.errors import FailedError, InputError, problem
from ansible_collections.tunectl.node.plugins.module_utils.edge import failure
from ansible_collections.tunectl.node.plugins.plugin_utils.cluster_hosts import ClusterHosts, hosts_of
from ansible_collections.tunectl.node.plugins.plugin_utils.kubelet_patch import tier_fields


class ActionModule(ActionBase):  # type: ignore[misc]
    """Speaks to the cluster once for the whole play, on its first control plane."""

    _supports_check_mode = True
    _VALID_ARGS = frozenset({"task", "files", "tiers", "tier_dirs", "wait", "request"})

    def run(self, tmp: None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return what the module tells; failed with `tunectl_errors` when the cluster is not as it shall be."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        args, variables = self._task.args, task_vars or {}
        task = str(args.get("task") or "read")
        try:
            hosts = hosts_of(args, variables)
            request = _request(task, args, hosts)
            module_args = {"request": request, "wait": int(args.get("wait") or 300)}
            answer = self._execute_module("tunectl.node.kube_cluster", module_args=module_args, task_vars=variables)
            answer.pop("invocation", None)
            result.update(answer)
            if task == "verify" and not answer.get("failed"):
                refuse_tier_in_map(str(answer.get("kubelet", "")), hosts)
        except Exception as error:  # noqa: BLE001 - nothing may reach the user as a traceback
            result.update(failure(error))
        return result


def _request(task: str, args: Mapping[str, Any], hosts: ClusterHosts) -> dict[str, Any]:
    members = hosts.members.values()
    if task == "network":
        return {"manifests": {str(path): _text(str(path)) for path in args.get("files") or ()}}
    if task == "place":
        placed = [one for one in members if one.labels or one.taints]
        return {"nodes": [{"name": one.name, "labels": dict(one.labels), "taints": list(one.taints)} for one in placed]}
    return {"expect": [one.name for one in members]} if task == "verify" else {}


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(
            (
                problem(
                    "TUN-1928",
                    "a network manifest cannot be read",
                    where=path,
                    why=getattr(error, "strerror", None) or str(error),
                    fix="correct tunectl_kube_network_manifests; relative paths start where the command runs",
                ),
            )
        ) from error


def refuse_tier_in_map(text: str, hosts: ClusterHosts) -> None:
    """Raise `FailedError` TUN-4744 when fields of a tier are in the configuration that every joining node is given.

    Source: kubernetes/kubeadm issue 2860 and later: patches of the first node have been uploaded for all.
    """
    document = yaml.safe_load(text) or {}
    wanted = {field for tier in hosts.tiers.values() for field in tier_fields(tier)} - set(hosts.cluster.kubelet)
    leaked = sorted(wanted & set(document))
    if leaked:
        raise FailedError(
            (
                problem(
                    "TUN-4744",
                    "what the cluster gives to every node holds fields of a tier",
                    where="configmap kube-system/kubelet-config",
                    why=f"it has {', '.join(leaked)}, which only the nodes of a pool shall have",
                    fix="kubectl edit it and remove the fields, then kubeadm upgrade node phase kubelet-config on nodes"
                    " without a tier",
                ),
            ),
            "The cluster is up.",
        )
