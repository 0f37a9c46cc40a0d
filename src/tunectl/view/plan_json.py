"""A plan for programs: schema `plan-report`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tunectl.app.plan import Planned
from tunectl.core.desired import highest
from tunectl.core.jsonform import to_json
from tunectl.core.plan import NodePlan
from tunectl.view.envelope import Result
from tunectl.view.plan import alternative_command


def plan_result(planned: Planned, file: Path, sha256: str, exit_code: int) -> Result:
    """Return the machine form: one item a node; the plan itself is in `file`."""
    plan = planned.plan
    return Result(
        "PlanReport",
        exit_code=exit_code,
        summary={
            "plan": plan.id,
            "file": str(file),
            "sha256": sha256,
            "tier": plan.tier,
            "pool": plan.pool,
            "nodes": len(plan.nodes),
            "changed": len(plan.changed),
            "impact": highest([node.impact for node in plan.nodes]).value,
            "blocked": plan.blocked,
            "findings": to_json(plan.findings),
            "alternatives": [
                {
                    "nodes": [node.node for node in alike.nodes],
                    **to_json(alternative),
                    "command": alternative_command(alternative, plan.tier),
                }
                for alike in planned.alike
                for alternative in alike.alternatives
            ],
        },
        items=[_item(node) for node in plan.nodes],
        simulated=planned.simulated,
    )


def _item(node: NodePlan) -> dict[str, Any]:
    return {
        "node": node.node,
        "simulated": node.simulated,
        "fingerprint": node.fingerprint,
        "impact": node.impact.value,
        "partition": to_json(node.desired.partition),
        "changes": to_json(node.changes),
        "actions": list(node.actions),
        "matching": node.matching,
        "settings": len(node.desired.settings),
        "findings": to_json(node.findings),
    }
