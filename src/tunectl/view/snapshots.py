"""Saved snapshots and their differences, for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tunectl.app.snapshots import Difference
from tunectl.view.quantities import memory_text, plural
from tunectl.view.screen import Screen

_WIDEST_VALUE = 60


def snapshots_text(rows: Sequence[Mapping[str, Any]], screen: Screen) -> str:
    """Return one line a node."""
    width = max((len(str(row["node"])) for row in rows), default=0)
    lines = [_row(row, width) for row in rows]
    return screen.text("\n".join(lines or ["no snapshots"])) + "\n"


def _row(row: Mapping[str, Any], width: int) -> str:
    numa = plural(row["numa_nodes"], "NUMA node")
    parts = [
        str(row["node"]).ljust(width),
        f"{row['cores']} cores, {row['cpus']} CPUs, {numa}, {memory_text(row['memory_kib'])}",
        str(row["fingerprint"]),
    ]
    return "  ".join(parts) + ("  simulated" if row["simulated"] else "")


def differences_text(found: Sequence[Difference], screen: Screen) -> str:
    """Return the differences, one path a block."""
    if not found:
        return "no differences\n"
    lines: list[str] = []
    for one in found:
        lines.append(screen.paint(f"{one.node}:{one.path}", "strong"))
        lines += [f"  - {_short(one.before)}", f"  + {_short(one.after)}"]
    return screen.text("\n".join(lines)) + "\n"


def _short(value: str | None) -> str:
    if value is None:
        return "(absent)"
    text = " ".join(value.split())
    return text if len(text) <= _WIDEST_VALUE else text[: _WIDEST_VALUE - 1] + "…"
