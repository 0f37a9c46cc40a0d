"""`tunectl status`."""

from __future__ import annotations

from typing import Any

from tunectl.app.status import NodeStatus, exit_code, fleet_status
from tunectl.app.tiers import search_dirs
from tunectl.cli.options import command
from tunectl.cli.planning import platform_of, snapshots_of
from tunectl.cli.session import Session
from tunectl.core.tier import Tier
from tunectl.planning.tier_file import load_tier
from tunectl.view.envelope import Result
from tunectl.view.status import status_text


@command("status", kind="Status", options=("where", "snapshot", "platform"))
def status(session: Session) -> int:
    """Show one line a node: its tier, since when, drift, pending reboot.

    Exit code: 0 all nodes run their tier, 3 some drifted or wait for a reboot, 5 some could not be judged.
    """
    search = search_dirs(session.where.inventory)

    def load(name: str) -> Tier:
        return load_tier(name, search)

    nodes = fleet_status(snapshots_of(session, None), load, platform_of(session))
    result = Result(
        "Status",
        exit_code=exit_code(nodes),
        summary={"nodes": len(nodes), **_counts([node.state for node in nodes])},
        items=[_item(node) for node in nodes],
        simulated=any(node.simulated for node in nodes),
    )
    return session.emit(result, {"table": lambda screen: status_text(nodes, screen)})


def _counts(states: list[str]) -> dict[str, int]:
    return {state.replace(" ", "_"): states.count(state) for state in sorted(set(states))}


def _item(node: NodeStatus) -> dict[str, Any]:
    return {
        "node": node.node,
        "state": node.state,
        "tier": node.generation.tier or None,
        "generation": node.generation.number,
        "since": node.generation.since or None,
        "pass": node.passed,
        "fail": node.failed,
        "unknown": node.unknown,
        "rebootPending": node.reboot_pending,
        "trouble": node.trouble or None,
        "simulated": node.simulated,
    }
