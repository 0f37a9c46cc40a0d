"""Tiers and their differences, for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tunectl.app.tiers import TierDifference, TierEntry
from tunectl.view.screen import Screen
from tunectl.view.table import Cell, Column, table_lines

_COLUMNS = (
    Column("TIER"),
    Column("POOL"),
    Column("EXTENDS"),
    Column("FILE", elastic=True),
    Column("WHAT FOR", elastic=True),
)


def tiers_text(entries: Sequence[TierEntry], screen: Screen) -> str:
    """Return one line a tier."""
    rows = [_row(entry) for entry in entries]
    # What is the same everywhere says nothing: pools named like their tiers, nothing extended, all built in.
    told = [0, *(index for index in (1, 2, 3) if any(row[index] != "-" for row in rows)), 4]
    columns = [_COLUMNS[index] for index in told]
    return "\n".join(table_lines(columns, [[row[index] for index in told] for row in rows], screen)) + "\n"


def _row(entry: TierEntry) -> list[str | Cell]:
    where = "-" if entry.builtin else entry.file
    if entry.problems:
        mistakes = f"{entry.problems} error{'s' if entry.problems > 1 else ''}: tunectl tier check {entry.name}"
        return [entry.name, "-", "-", where, Cell(mistakes, "bad")]
    pool = "-" if entry.pool == entry.name else entry.pool
    return [entry.name, pool, ", ".join(entry.extends) or "-", where, entry.summary]


def tier_differences_text(before: str, after: str, found: Sequence[TierDifference], screen: Screen) -> str:
    """Return the values that differ, a line each."""
    if not found:
        return screen.text(f"{before} and {after} mean the same\n")
    columns = (Column("FIELD", elastic=True), Column(before.upper(), elastic=True), Column(after.upper(), elastic=True))
    rows = [[one.path, _shown(one.before), _shown(one.after)] for one in found]
    return "\n".join(table_lines(columns, rows, screen)) + "\n"


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(_shown(item) for item in value) or "(empty)"
    if isinstance(value, dict):
        return " ".join(f"{key}={_shown(item)}" for key, item in value.items()) or "(empty)"
    return str(value) if value != "" else '""'
