# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Reboots or settles a simulated node. Everything happens on the controller, where the node's tree is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean  # type: ignore[import-untyped]
from ansible.plugins.action import ActionBase  # type: ignore[import-untyped]
from ansible_collections.tunectl.node.plugins.module_utils.core.errors import InputError, problem
from ansible_collections.tunectl.node.plugins.module_utils.edge import failure
from ansible_collections.tunectl.node.plugins.module_utils.lab.node import load_node
from ansible_collections.tunectl.node.plugins.module_utils.lab.reboot import Outcome, reboot, settle


class ActionModule(ActionBase):  # type: ignore[misc]
    """Stands for the kernel, the boot loader and systemd of a simulated node."""

    _requires_connection = False
    _supports_check_mode = True
    _VALID_ARGS = frozenset({"root", "reboot", "restart_kubelet"})

    def run(self, tmp: None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return what was simulated; failed with `tunectl_errors` for a root that is no simulated node."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        result["simulated"] = True
        try:
            result.update(self._run(task_vars or {}))
        except Exception as error:  # noqa: BLE001 - nothing may reach the user as a traceback
            result.update(failure(error))
        return result

    def _run(self, variables: Mapping[str, Any]) -> dict[str, Any]:
        args = self._task.args
        root = str(args.get("root") or variables.get("tunectl_root") or "")
        if not root or Path(root).resolve() == Path("/"):
            why = "the root of the controller itself is never a simulated node"
            raise InputError(
                (problem("TUN-1603", "this directory is not a simulated node", where=root or "/", why=why),)
            )
        tree = Path(root).resolve()
        wants_reboot = boolean(args.get("reboot", True))
        if self._task.check_mode:
            load_node(tree)
            return {"changed": wants_reboot, "rebooted": False, "note": "simulated reboot" if wants_reboot else ""}
        if wants_reboot:
            return _result(reboot(tree), rebooted=True)
        outcome = settle(tree, restart_kubelet=boolean(args.get("restart_kubelet", False)))
        return _result(outcome, rebooted=False)


def _result(outcome: Outcome, *, rebooted: bool) -> dict[str, Any]:
    kubelet = outcome.kubelet
    result: dict[str, Any] = {
        "changed": outcome.changed,
        "rebooted": rebooted,
        "note": "simulated reboot" if rebooted else "simulated kernel and kubelet",
        "cmdline": outcome.cmdline,
        "refused": list(outcome.refused),
        "log": list(outcome.log),
        "kubelet": {"state": kubelet.state, "reason": kubelet.reason} if kubelet else {},
    }
    if kubelet and kubelet.reason:
        result["warnings"] = [f"simulated kubelet: {kubelet.state}: {kubelet.reason}"]
    return result
