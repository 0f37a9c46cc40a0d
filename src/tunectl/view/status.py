"""The fleet at a glance, for people."""

from __future__ import annotations

from collections.abc import Sequence

from tunectl.app.status import NodeStatus
from tunectl.core.findings import Verdict
from tunectl.view.run import SIMULATED
from tunectl.view.screen import Screen

_SIGNS = {"in tier": "✓", "drifted": "✗", "reboot pending": "▸", "unknown": "?", "untuned": "·"}
_ROLES = {"in tier": "good", "drifted": "bad", "reboot pending": "attention", "unknown": "attention", "untuned": "dim"}


def status_text(nodes: Sequence[NodeStatus], screen: Screen) -> str:
    """Return one line a node, what drifted below it, and the totals."""
    if not nodes:
        return "no nodes\n"
    width = max(len("NODE"), *(len(node.node) for node in nodes))
    header = f"    {'NODE':<{width}}  {'TIER':<18} {'GEN':>3}  {'SINCE':<20}  {'CHECKS':<9} STATE"
    lines = [screen.paint(header, "dim")]
    for node in nodes:
        lines += _node_lines(node, width, screen)
    states = [node.state for node in nodes]
    totals = ", ".join(f"{states.count(state)} {state}" for state in _SIGNS if state in states)
    lines += ["", f"{len(nodes)} nodes: {totals}"]
    if any(node.simulated for node in nodes):
        lines.append(screen.paint(SIMULATED, "dim"))
    return screen.text("\n".join(lines)) + "\n"


def _node_lines(node: NodeStatus, width: int, screen: Screen) -> list[str]:
    total = node.passed + node.failed + node.unknown
    checks = f"{node.passed}/{total}" if total else "-"
    generation = str(node.generation.number or "-")
    sign = screen.paint(_SIGNS[node.state], _ROLES[node.state])
    line = (
        f"  {sign} {node.node:<{width}}  {node.generation.tier or '-':<18} {generation:>3}  "
        f"{node.generation.since or '-':<20}  {checks:<9} " + screen.paint(node.state, _ROLES[node.state])
    )
    drift = [
        f"      {one.id}: {one.actual or 'unset'}, wanted {one.expected}"
        for one in node.findings
        if one.verdict is Verdict.FAIL
    ]
    return [line, *drift[:5], *([f"      and {len(drift) - 5} more"] if len(drift) > 5 else [])]  # noqa: PLR2004  a screenful
