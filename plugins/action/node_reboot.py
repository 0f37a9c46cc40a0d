# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Reboots a node after a generation where that is needed and allowed: one task whatever kind of node it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.plugins.action import ActionBase  # type: ignore[import-untyped]

# Ansible loads this plugin once and forks a worker a node: what is imported here, no worker imports again.
from ansible_collections.tunectl.node.plugins.action import lab_reboot  # noqa: F401

_MACHINE = "ansible.builtin.reboot"
_SIMULATED = "tunectl.node.lab_reboot"


class ActionModule(ActionBase):  # type: ignore[misc]
    """Hands on to the reboot of machines, or to that of simulated nodes."""

    _supports_check_mode = True

    def run(self, tmp: None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the result of the reboot; `skipped_node` is true for a node that stays up."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _validated, args = self.validate_argument_spec(
            argument_spec={
                "generation": {"type": "dict", "required": True},
                "reboot": {"type": "str", "choices": ["auto", "never"], "default": "auto"},
                "root": {"type": "path", "default": "/"},
                "simulated": {"type": "bool", "default": False},
                "timeout": {"type": "int", "default": 1800},
            }
        )
        generation = args["generation"]
        wanted = bool(generation.get("needs_reboot")) and args["reboot"] == "auto"
        if args["simulated"]:
            result.update(self._simulated(args, generation, task_vars, wanted=wanted))
        elif wanted:
            result.update(self._hand_on(_MACHINE, {"reboot_timeout": args["timeout"]}, task_vars))
        return {"changed": False, "skipped_node": not wanted, **result}

    def _simulated(
        self, args: Mapping[str, Any], generation: Mapping[str, Any], task_vars: Any, *, wanted: bool
    ) -> dict[str, Any]:
        if not (wanted or generation.get("changed")):
            return {}
        restart = "kubelet-restart" in generation.get("actions", ())
        given = {"root": args["root"], "reboot": wanted, "restart_kubelet": restart}
        return self._hand_on(_SIMULATED, given, task_vars)

    def _hand_on(self, name: str, args: Mapping[str, Any], task_vars: Any) -> dict[str, Any]:
        task = self._task.copy()
        task.args = dict(args)
        plugin = self._shared_loader_obj.action_loader.get(
            name,
            task=task,
            connection=self._connection,
            play_context=self._play_context,
            loader=self._loader,
            templar=self._templar,
            shared_loader_obj=self._shared_loader_obj,
        )
        return dict(plugin.run(task_vars=task_vars))
