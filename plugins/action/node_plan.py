# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Plans a pool on the controller, for playbooks that run without the command line."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase  # type: ignore[import-untyped]
from ansible_collections.tunectl.node.plugins.module_utils.core.desired import Platform
from ansible_collections.tunectl.node.plugins.module_utils.core.findings import Verdict
from ansible_collections.tunectl.node.plugins.module_utils.core.jsonform import to_json
from ansible_collections.tunectl.node.plugins.module_utils.core.plan import PoolPlan
from ansible_collections.tunectl.node.plugins.module_utils.edge import failure
from ansible_collections.tunectl.node.plugins.module_utils.planning.pool import node_plan_document, plan_pool
from ansible_collections.tunectl.node.plugins.module_utils.planning.tier_file import load_tier
from ansible_collections.tunectl.node.plugins.module_utils.run_directory import members, refuse, snapshots


class ActionModule(ActionBase):  # type: ignore[misc]
    """Plans once for the whole play."""

    BYPASS_HOST_LOOP = True
    _requires_connection = False
    _supports_check_mode = True
    _VALID_ARGS = frozenset({"run_dir", "tier", "tier_dirs", "platform"})

    def run(self, tmp: None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return counts for each node; failed with `tunectl_errors` when the tier or the plan is not fit to apply."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        try:
            args = self._task.args
            run_dir = Path(args["run_dir"])
            plan = planned(args, run_dir)
            refuse("TUN-3501", [one for one in plan.all_findings if one.blocks], plan.pool, "Nothing was changed.")
            _write(run_dir, plan)
            result.update(_summary(plan))
        except Exception as error:  # noqa: BLE001 - nothing may reach the user as a traceback
            result.update(failure(error))
        return result


def planned(args: Mapping[str, Any], run_dir: Path) -> PoolPlan:
    """Return the plan of the tier for the nodes whose snapshots lie in the run directory."""
    tier = load_tier(str(args["tier"]), [str(one) for one in args.get("tier_dirs") or ()])
    return plan_pool(tier, snapshots(run_dir, members(run_dir)), Platform(args.get("platform") or "kubeadm"))


def _write(run_dir: Path, plan: PoolPlan) -> None:
    plans = run_dir / "plans"
    plans.mkdir(parents=True, exist_ok=True)
    for node in plan.changed:
        document = json.dumps(node_plan_document(plan, node))
        (plans / f"{node.node}.json").write_text(document + "\n", encoding="utf-8")
    (run_dir / "plan.json").write_text(json.dumps(to_json(plan), indent=1) + "\n", encoding="utf-8")
    changed = ",".join(node.node for node in plan.changed)
    (run_dir / "changed.txt").write_text(changed or "!all", encoding="utf-8")


def _summary(plan: PoolPlan) -> dict[str, Any]:
    failed = [one for one in plan.all_findings if one.verdict is Verdict.FAIL]
    return {
        "changed": False,
        "plan_id": plan.id,
        "pool": plan.pool,
        "nodes": {node.node: {"changes": len(node.changes), "impact": node.impact.value} for node in plan.nodes},
        "impacts": dict(Counter(node.impact.value for node in plan.nodes)),
        "remarks": sorted({f"{one.id}: {one.message}" for one in failed}),
    }
