# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Empties a node of its pods before a change that would end them, and gives it back afterwards."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase  # type: ignore[import-untyped]
from ansible_collections.tunectl.node.plugins.action.node_generation import read_plan
from ansible_collections.tunectl.node.plugins.module_utils.cluster.api import Api, connect
from ansible_collections.tunectl.node.plugins.module_utils.cluster.drain import Drain
from ansible_collections.tunectl.node.plugins.module_utils.cluster.members import DrainRequest, Host, check_drain
from ansible_collections.tunectl.node.plugins.module_utils.core.drain.membership import (
    LOOK,
    Looked,
    needs_drain,
    no_cluster,
    read_look,
    unknown_membership,
)
from ansible_collections.tunectl.node.plugins.module_utils.core.drain.pod import Consent
from ansible_collections.tunectl.node.plugins.module_utils.core.errors import RefusedError, TunectlError, UnknownError
from ansible_collections.tunectl.node.plugins.module_utils.edge import failure

_DEFAULT_TIMEOUT_S = 600


class ActionModule(ActionBase):  # type: ignore[misc]
    """Speaks to the cluster from the controller; asks the node only which boot it runs and whether it is a member."""

    _supports_check_mode = True
    _touched = False

    def run(self, tmp: None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return what was done; `skipped_node` is true where nothing was to be drained or given back."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _validated, args = self.validate_argument_spec(
            argument_spec={
                "state": {"type": "str", "choices": ["checked", "drained", "uncordoned"], "required": True},
                "drain": {"type": "str", "choices": ["auto", "never"], "default": "auto"},
                "kubeconfig": {"type": "path", "default": ""},
                "context": {"type": "str", "default": ""},
                "node_name": {"type": "str", "default": ""},
                "run": {"type": "str", "default": ""},
                "plan_dir": {"type": "path", "default": ""},
                "stop_file": {"type": "path", "default": ""},
                "reboot": {"type": "str", "choices": ["auto", "never"], "default": "auto"},
                "simulated": {"type": "bool", "default": False},
                "root": {"type": "path", "default": "/"},
                "drain_timeout": {"type": "int", "default": 0},
                "ready_timeout": {"type": "int", "default": 600},
                "stable": {"type": "int", "default": 10},
                "delete_emptydir_data": {"type": "bool", "default": False},
                "force": {"type": "bool", "default": False},
                "drained": {"type": "dict", "default": {}},
                "generation": {"type": "dict", "default": {}},
                "rebooted": {"type": "dict", "default": {}},
            }
        )
        try:
            done = (
                self._give_back(args)
                if args["state"] == "uncordoned"
                else self._drain(args, task_vars or {}, check=args["state"] == "checked" or self._task.check_mode)
            )
        except TunectlError as error:
            return {**result, "changed": False, **failure(error), "touched": self._touched}
        return {**result, "changed": False, "skipped_node": True, **done}

    def _drain(self, args: Mapping[str, Any], variables: Mapping[str, Any], *, check: bool) -> dict[str, Any]:
        host = str(variables["inventory_hostname"])
        why = _why_not(args, host)
        if why:
            return {"note": why, "simulated": args["simulated"]}
        looked = self._looked(args, host)
        if not looked.member:
            return {"note": "not a member of a cluster"}
        api = _cluster(args, host)
        named = str(variables.get("ansible_host") or "")
        known = tuple(one for one in (*looked.names, named) if one)
        asked = DrainRequest(
            args["run"] or "ansible",
            Consent(args["delete_emptydir_data"], args["force"]),
            float(args["drain_timeout"] or _DEFAULT_TIMEOUT_S),
            waits=args["drain_timeout"] > 0,
        )
        node, count = check_drain(api, Host(host, known, looked.boot_id, args["node_name"]), asked)
        if check:
            return {"skipped_node": False, "node": node, "pods": count, "note": f"{count} pods would move"}
        self._touched = True
        cordon, moved = Drain(api).drain(node, asked)
        note = f"{moved} pods moved"
        return {"changed": True, "skipped_node": False, "node": node, "pods": moved, "cordon": cordon, "note": note}

    def _give_back(self, args: Mapping[str, Any]) -> dict[str, Any]:
        node = str(args["drained"].get("node") or "")
        if not node or args["drained"].get("failed") or not args["drained"].get("changed"):
            return {"note": "it was not drained"}
        written, rebooted = args["generation"], args["rebooted"]
        if (written.get("failed") and not written.get("undone")) or rebooted.get("failed"):
            return {"note": f"{node} stays cordoned: the change on it failed", "node": node}
        boot_id = str(rebooted.get("boot_id") or "")
        given = Drain(_cluster(args, node)).uncordon(node, boot_id, args["ready_timeout"], args["stable"])
        note = "" if given else f"{node} was cordoned by somebody else before and stays so"
        return {"changed": given, "skipped_node": False, "node": node, "note": note}

    def _looked(self, args: Mapping[str, Any], host: str) -> Looked:
        answer = self._low_level_execute_command(LOOK.format(root=args["root"].rstrip("/")))
        found = read_look(str(answer.get("stdout", "")))
        if found is None:
            raise UnknownError((unknown_membership(host, str(answer.get("stderr", ""))),))
        return found


def _why_not(args: Mapping[str, Any], host: str) -> str:
    if args["drain"] == "never":
        return "draining was switched off"
    if args["simulated"]:
        return "a simulated node has no pods"
    if args["stop_file"] and Path(args["stop_file"]).exists():
        return "the run was stopped before this node"
    if not args["plan_dir"]:
        return ""
    path = Path(args["plan_dir"]) / f"{host}.json"
    if not path.exists():
        return "there is no plan for this node"
    return "" if needs_drain(read_plan(path)["changes"], args["reboot"]) else "its changes leave pods alone"


def _cluster(args: Mapping[str, Any], host: str) -> Api:
    kubeconfig = args["kubeconfig"] or os.environ.get("KUBECONFIG", "")
    if not kubeconfig and not os.environ.get("KUBERNETES_SERVICE_HOST"):
        raise RefusedError((no_cluster(host),))
    return connect(kubeconfig, args["context"])
