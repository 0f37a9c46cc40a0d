"""Judge nodes from their snapshots: the one place where a plan's desired state meets what was read."""

from __future__ import annotations

from collections.abc import Sequence

from tunectl.core.checks.node import verify_node
from tunectl.core.findings import Finding
from tunectl.core.observed import observe
from tunectl.core.plan import PoolPlan
from tunectl.core.snapshot import Snapshot
from tunectl.planning.documents import snapshot_documents


def judge_nodes(plan: PoolPlan, snapshots: Sequence[Snapshot]) -> tuple[Finding, ...]:
    """Return the findings of every node of the plan that has a snapshot, in the order of the plan."""
    by_node = {snapshot.node: snapshot for snapshot in snapshots}
    findings: list[Finding] = []
    for node in plan.nodes:
        snapshot = by_node.get(node.node)
        if snapshot is not None:
            findings += verify_node(node.desired, observe(snapshot, snapshot_documents(snapshot)))
    return tuple(findings)
