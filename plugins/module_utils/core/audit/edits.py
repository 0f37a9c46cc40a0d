# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Corrections of an object as data: what shall stand where. Texts follow them in the planning layer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .paths import Path, as_list, as_map


@dataclass(frozen=True)
class Edit:
    """One correction: `value` shall stand at `path`, or with `append` at the end of the list there.

    Shape: maps on the way that do not exist are made; list items on the way exist. `value` is text, a number, or maps
    and lists of them.
    """

    path: Path
    value: Any
    append: bool = False

    def touches(self, other: Edit) -> bool:
        """Return whether one edit's place is the other's, or within it; two appendices to one list do not clash."""
        if self.append and other.append and self.path == other.path:
            return bool(self.value == other.value)
        short = min(len(self.path), len(other.path))
        return self.path[:short] == other.path[:short]


def edited(value: Any, edit: Edit) -> Any:
    """Return a copy of an object with one correction made; the object itself stays as it is."""
    return _edited(value, edit.path, edit)


def _edited(value: Any, path: Path, edit: Edit) -> Any:
    if not path:
        return [*as_list(value), edit.value] if edit.append else edit.value
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        items = list(as_list(value))
        items[step] = _edited(items[step], rest, edit)
        return items
    return {**as_map(value), step: _edited(as_map(value).get(step), rest, edit)}


def compatible(edits: Iterable[Edit]) -> list[Edit]:
    """Return the edits that can be made together: of two that touch each other, the earlier one."""
    chosen: list[Edit] = []
    for edit in edits:
        if not any(edit.touches(other) for other in chosen):
            chosen.append(edit)
    return chosen
