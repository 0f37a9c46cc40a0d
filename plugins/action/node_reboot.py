# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Reboots a node after a generation where that is needed and allowed: one task whatever kind of node it is."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from ansible.errors import AnsibleError  # type: ignore[import-untyped]
from ansible.plugins.action import ActionBase  # type: ignore[import-untyped]

# Ansible loads this plugin once and forks a worker a node: what is imported here, no worker imports again.
from ansible_collections.tunectl.node.plugins.action import lab_reboot  # noqa: F401
from ansible_collections.tunectl.node.plugins.module_utils.core.errors import FailedError, Problem
from ansible_collections.tunectl.node.plugins.module_utils.core.reboot_proof import (
    BOOT_ID,
    SYSTEM_IS_UP,
    Reboot,
    boot_id_in,
    own_machine,
    reboot_problem,
    unknown_boot,
)
from ansible_collections.tunectl.node.plugins.module_utils.edge import failure

_MACHINE = "ansible.builtin.reboot"
_SIMULATED = "tunectl.node.lab_reboot"


class ActionModule(ActionBase):  # type: ignore[misc]
    """Hands on to the reboot of machines, or to that of simulated nodes, and proves that of machines."""

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
                "command": {"type": "str", "default": ""},
            }
        )
        generation = args["generation"]
        wanted = bool(generation.get("needs_reboot")) and args["reboot"] == "auto"
        if args["simulated"]:
            result.update(self._simulated(args, generation, task_vars, wanted=wanted))
        elif wanted:
            result.update(self._machine(args, generation, task_vars or {}))
        return {"changed": False, "skipped_node": not wanted, **result}

    def _simulated(
        self, args: Mapping[str, Any], generation: Mapping[str, Any], task_vars: Any, *, wanted: bool
    ) -> dict[str, Any]:
        if not (wanted or generation.get("changed")):
            return {}
        restart = "kubelet-restart" in generation.get("actions", ())
        given = {"root": args["root"], "reboot": wanted, "restart_kubelet": restart}
        return self._hand_on(_SIMULATED, given, task_vars)

    def _machine(
        self, args: Mapping[str, Any], generation: Mapping[str, Any], task_vars: Mapping[str, Any]
    ) -> dict[str, Any]:
        if self._task.check_mode:
            return {"changed": True, "rebooted": True}
        node = str(task_vars.get("inventory_hostname") or "the node")
        number = int(generation.get("generation") or 0)
        if self._connection.transport == "local":
            return _failed(own_machine(node, number))
        before, why = self._boot_id()
        if not before:
            return _failed(unknown_boot(node, number, why))
        written_in = str(generation.get("boot_id") or "")
        if written_in and written_in != before:
            # the boot began after the change was written, so that it took what was written
            note = "rebooted by somebody else since the change"
            return {"changed": False, "rebooted": False, "note": note, "boot_id": before}
        return self._rebooted(args, Reboot(node, number, before, "", _now(), args["timeout"]), task_vars)

    def _rebooted(self, args: Mapping[str, Any], asked: Reboot, task_vars: Mapping[str, Any]) -> dict[str, Any]:
        given = {"reboot_timeout": asked.limit_s, "test_command": SYSTEM_IS_UP}
        if args["command"]:
            given["reboot_command"] = args["command"]
        try:
            answer = self._hand_on(_MACHINE, given, task_vars)
        except AnsibleError as error:
            answer = {"failed": True, "msg": str(error)}
        said = " ".join(str(answer.get("msg") or "it failed without a word").split()) if answer.get("failed") else ""
        after, _why = self._boot_id()
        known = Reboot(asked.node, asked.generation, asked.before, after, asked.asked_at, asked.limit_s, said)
        found = reboot_problem(known)
        if found is not None:
            return {**_failed(found), "rebooted": bool(after) and after != asked.before}
        return {**answer, "changed": True, "rebooted": True, "boot_id": after, "before_boot_id": asked.before}

    def _boot_id(self) -> tuple[str, str]:
        """Return which boot the node runs, and why that is not known."""
        try:
            # a connection that is kept open would answer for a machine that is gone
            self._connection.reset()
            answer = self._low_level_execute_command(f"cat {BOOT_ID}")
        except AnsibleError as error:
            return "", " ".join(str(error).split())
        return boot_id_in(str(answer.get("stdout", ""))), " ".join(str(answer.get("stderr", "")).split())

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


def _now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _failed(found: Problem) -> dict[str, Any]:
    return {"changed": False, "rebooted": False, **failure(FailedError((found,), "The change is written."))}
