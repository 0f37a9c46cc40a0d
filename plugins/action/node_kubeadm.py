# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Controller side of node_kubeadm: renders the documents of a host from the inventory and passes nothing else on."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase  # type: ignore[import-untyped]
from ansible_collections.tunectl.node.plugins.module_utils.core.bootstrap.documents import (
    JoinSecrets,
    init_documents,
    join_documents,
)
from ansible_collections.tunectl.node.plugins.module_utils.core.errors import InputError, problem
from ansible_collections.tunectl.node.plugins.module_utils.edge import ERRORS, failure
from ansible_collections.tunectl.node.plugins.module_utils.render.yaml_text import yaml_stream, yaml_text
from ansible_collections.tunectl.node.plugins.plugin_utils.cluster_hosts import ClusterHosts, hosts_of
from ansible_collections.tunectl.node.plugins.plugin_utils.kubelet_patch import kubelet_patches

_KEY_BYTES = 32


class ActionModule(ActionBase):  # type: ignore[misc]
    """Brings one host into the cluster, or does what the cluster needs for that."""

    _supports_check_mode = True
    _VALID_ARGS = frozenset({"task", "tiers", "tier_dirs", "run_dir", "secrets", "ready", "entry"})

    def run(self, tmp: None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return what the module tells; secrets, or why there are none, are one value that is never a failure.

        A task whose result is hidden could not say why it failed: the machines that need the secrets say it.
        """
        result: dict[str, Any] = super().run(tmp, task_vars)
        args, variables = self._task.args, task_vars or {}
        task = str(args.get("task", ""))
        try:
            answer = self._answer(task, args, variables)
        except Exception as error:  # noqa: BLE001 - nothing may reach the user as a traceback
            answer = failure(error)
        if task == "secrets":
            answer = {"changed": bool(answer.get("changed")), "secrets": answer}
        result.update(answer)
        return result

    def _answer(self, task: str, args: Mapping[str, Any], variables: Mapping[str, Any]) -> dict[str, Any]:
        hosts, host = hosts_of(args, variables), str(variables["inventory_hostname"])
        given: Mapping[str, Any] = args.get("secrets") or {}
        if ERRORS in given or given.get("failed"):
            return {**given, "changed": False}
        key = secrets.token_hex(_KEY_BYTES) if task == "secrets" and host in hosts.control_planes else ""
        entry = _entry(task, args, hosts, host, key)
        module_args = {"task": task, "entry": entry}
        answer: dict[str, Any] = self._execute_module(
            "tunectl.node.node_kubeadm", module_args=module_args, task_vars=variables
        )
        answer.pop("invocation", None)
        if task == "secrets" and not answer.get("failed"):
            answer["certificate_key"] = key
        return answer


def _entry(task: str, args: Mapping[str, Any], hosts: ClusterHosts, host: str, key: str) -> dict[str, Any]:
    member = hosts.members.get(host)
    if member is None:
        raise InputError(
            (
                problem(
                    "TUN-1925",
                    f"{host} takes no part in the bootstrap",
                    where="inventory",
                    why="it is neither in kube_control_plane nor in kube_workers",
                    fix="put it into one of the groups",
                ),
            )
        )
    if task in ("probe", "revoke"):
        return {"node": member.name, "token": str((args.get("secrets") or {}).get("token", ""))}
    if task == "secrets":
        documents = init_documents(hosts.cluster, hosts.members[hosts.first], key)
        return {"config": _yaml(documents) if key else ""}
    entry = {
        "node": member.name,
        "patches_dir": hosts.cluster.patches_dir,
        "patches": kubelet_patches(hosts.tiers.get(host), Path(str(args.get("run_dir") or ".")), host),
        "is_control_plane": member.is_control_plane,
    }
    if task == "init":
        return {**entry, "config": _yaml(init_documents(hosts.cluster, member))}
    given = args.get("secrets") or {}
    joined = JoinSecrets(
        str(given.get("token", "")), (str(given.get("authority", "")),), str(given.get("certificate_key", ""))
    )
    return {
        **entry,
        "config": _yaml(join_documents(hosts.cluster, member, hosts.api_server, joined)),
        "authority": joined.ca_hashes[0],
        "is_ready": member.name in (args.get("ready") or ()),
    }


def _yaml(documents: tuple[dict[str, Any], ...]) -> str:
    return yaml_stream(yaml_text(document) for document in documents)
