# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Controller side of node_generation: gives a node its plan, and spares nodes that have nothing to do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase  # type: ignore[import-untyped]
from ansible_collections.tunectl.node.plugins.module_utils.core.errors import InputError, problem
from ansible_collections.tunectl.node.plugins.module_utils.edge import failure

_MODULE = "tunectl.node.node_generation"
_HERE = ("plan_file", "plan_dir", "stop_file")


class ActionModule(ActionBase):  # type: ignore[misc]
    """Runs the module on the node, or says why not."""

    _supports_check_mode = True

    def run(self, tmp: None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the module's result; `skipped_node` is true for a node that was not contacted on purpose."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        variables = task_vars or {}
        try:
            args, reason = self._arguments(variables)
        except InputError as error:
            return {**result, **failure(error)}
        simulated = bool(self._variable(variables, "tunectl_simulated", default=False))
        if reason:
            return {**result, "changed": False, "skipped_node": True, "note": reason, "simulated": simulated}
        result.update(self._execute_module(module_name=_MODULE, module_args=args, task_vars=variables))
        # the parameters hold whole files; they belong into no log
        result.pop("invocation", None)
        result["simulated"] = simulated
        return result

    def _arguments(self, variables: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
        """Return the module's parameters, and instead the reason for which the node is not contacted."""
        args = {key: value for key, value in self._task.args.items() if key not in _HERE}
        args["root"] = args.get("root") or self._variable(variables, "tunectl_root", default="/")
        stop = self._task.args.get("stop_file")
        if stop and Path(stop).exists():
            return {}, "the run was stopped before this node"
        path = self._plan_path(variables)
        if path is None or args.get("state", "present") != "present":
            return args, ""
        if not path.exists() and not self._task.args.get("plan_file"):
            return {}, "there is no plan for this node"
        plan = read_plan(path)
        if not plan["changes"]:
            return {}, "its plan has no changes"
        return {**args, **_from_plan(plan)}, ""

    def _plan_path(self, variables: Mapping[str, Any]) -> Path | None:
        if self._task.args.get("plan_file"):
            return Path(self._task.args["plan_file"])
        directory = self._task.args.get("plan_dir") or self._variable(variables, "tunectl_plan_dir", default="")
        return Path(directory) / f"{variables['inventory_hostname']}.json" if directory else None

    def _variable(self, variables: Mapping[str, Any], name: str, *, default: Any) -> Any:
        return self._templar.template(variables[name]) if name in variables else default


def read_plan(path: Path) -> dict[str, Any]:
    """Return the node plan in a file; raises `InputError` (TUN-1504) when it is none."""
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _no_plan(path, error.strerror or str(error)) from error
    except ValueError as error:
        raise _no_plan(path, f"it is not JSON: {error}") from error
    missing = [key for key in ("node", "changes", "files", "runtime", "actions") if key not in plan]
    if missing:
        raise _no_plan(path, f"it has no {', '.join(missing)}")
    return dict(plan)


def _no_plan(path: Path, why: str) -> InputError:
    fix = "make it anew: tunectl plan, or the role tunectl.node.node_plan"
    return InputError((problem("TUN-1504", "the plan of the node cannot be used", where=str(path), why=why, fix=fix),))


def _from_plan(plan: Mapping[str, Any]) -> dict[str, Any]:
    desired = plan.get("desired") or {}
    return {
        "files": [{key: item[key] for key in ("path", "content", "mode") if key in item} for item in plan["files"]],
        "runtime": list(plan["runtime"]),
        "actions": list(plan["actions"]),
        "tier": str(plan.get("tier") or desired.get("tier") or ""),
        "plan_id": str(plan.get("plan_id") or plan.get("id") or ""),
    }
