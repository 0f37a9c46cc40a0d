# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Controller side of node_runtime: decides what becomes of containerd's configuration, and judges the daemon's dump."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase  # type: ignore[import-untyped]
from ansible_collections.tunectl.node.plugins.module_utils.core.bootstrap.containerd import (
    config_mistakes,
    plan_runtime,
)
from ansible_collections.tunectl.node.plugins.module_utils.core.bootstrap.places import CONTAINERD_CONFIG
from ansible_collections.tunectl.node.plugins.module_utils.core.bootstrap.version import Version, version_in
from ansible_collections.tunectl.node.plugins.module_utils.core.errors import FailedError, RefusedError, problem
from ansible_collections.tunectl.node.plugins.module_utils.edge import failure
from ansible_collections.tunectl.node.plugins.plugin_utils.toml_text import parse_toml

_MODULE = "tunectl.node.node_runtime"


class ActionModule(ActionBase):  # type: ignore[misc]
    """Makes one host ready for containers."""

    _supports_check_mode = True
    _VALID_ARGS = frozenset({"task", "config", "socket", "overwrite"})

    def run(self, tmp: None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return what was changed; failed with `tunectl_errors` when the runtime cannot be what a kubelet needs."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        host = str((task_vars or {}).get("inventory_hostname", ""))
        try:
            result.update(self._prepared(host, task_vars or {}))
        except Exception as error:  # noqa: BLE001 - nothing may reach the user as a traceback
            result.update(failure(error))
        return result

    def _prepared(self, host: str, task_vars: dict[str, Any]) -> dict[str, Any]:
        args = self._task.args
        seen: dict[str, Any] = self._execute_module(_MODULE, module_args={"task": "look"}, task_vars=task_vars)
        if seen.get("failed") or args.get("task") == "look":
            return seen
        version = version_in(str(seen["version"]))
        plan = plan_runtime(seen["config"], parse_toml, version, overwrite=bool(args.get("overwrite")))
        if plan.refusal:
            raise RefusedError((_not_ours(host, plan.refusal),))
        module_args = {"task": "prepare", "config": plan.text, "socket": args.get("socket")}
        done: dict[str, Any] = self._execute_module(
            _MODULE, module_args={key: value for key, value in module_args.items() if value}, task_vars=task_vars
        )
        if not done.get("failed") and not self._task.check_mode:
            _refuse_dump(host, str(done.pop("dump", "")), version)
        return {**done, "version": seen["version"]}


def _not_ours(host: str, why: str) -> Any:
    return problem(
        "TUN-3733",
        "containerd's configuration cannot be completed",
        where=f"{host}: {CONTAINERD_CONFIG}",
        why=why,
        fix="correct the file, or set tunectl_kube_overwrite: true; the file is kept",
    )


def _refuse_dump(host: str, text: str, version: Version | None) -> None:
    """Raise `FailedError` TUN-4740 when the daemon has not read what was written."""
    dump = parse_toml(text)
    mistakes = ["its dump is not TOML"] if dump is None else config_mistakes(dump, version)
    if mistakes:
        raise FailedError(
            (
                problem(
                    "TUN-4740",
                    "containerd does not run with what a kubelet needs",
                    where=f"{host}: containerd config dump",
                    why="; ".join(mistakes),
                    fix=f"see which file it reads (containerd --config) and what {CONTAINERD_CONFIG} imports",
                ),
            ),
            "The files are written.",
        )
