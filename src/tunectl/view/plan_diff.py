"""What a plan changes in each file, as unified differences; nodes with the same change share one."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from tunectl.app.plan import FileChange, Planned, file_changes
from tunectl.view.screen import Screen

_ROLES = {"+": "good", "-": "bad", "@": "dim"}
_MOST_NAMES = 3


def plan_diff(planned: Planned, screen: Screen) -> str:
    """Return the differences of all files; an empty text when no file changes."""
    lines = [line for change in file_changes(planned.plan, planned.snapshots) for line in _lines(change, screen)]
    return "".join(line + "\n" for line in lines)


def _lines(change: FileChange, screen: Screen) -> Iterator[str]:
    nodes = _names(change.nodes)
    before, after = (_text_lines(text) for text in (change.before, change.after))
    head = (f"{nodes}:{change.path}{' (absent)' if change.before is None else ''}", f"{nodes}:{change.path}")
    for line in difflib.unified_diff(before, after, *head, lineterm=""):
        role = "strong" if line.startswith(("+++", "---")) else _ROLES.get(line[:1], "")
        yield screen.paint(line, role) if role else line


def _text_lines(text: str | None) -> list[str]:
    if text is None:
        return []
    lines = text.splitlines()
    if lines and not text.endswith("\n"):
        lines[-1] += " (no newline at the end)"
    return lines


def _names(nodes: tuple[str, ...]) -> str:
    return ",".join(nodes) if len(nodes) <= _MOST_NAMES else f"{nodes[0]},{nodes[1]},... ({len(nodes)} nodes)"
