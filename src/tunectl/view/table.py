"""Tables of text: columns line up, long values are cut in the middle, nothing is wider than the screen."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from tunectl.view.quantities import middle_cut
from tunectl.view.screen import Screen

_GAP = 2


@dataclass(frozen=True)
class Cell:
    """One value, with the role that colours it."""

    text: str
    role: str = ""


@dataclass(frozen=True)
class Column:
    """A column. `elastic` ones give way when the screen is narrow, down to `least`; the others keep their width."""

    title: str
    elastic: bool = False
    right: bool = False
    least: int = 6


Row = Sequence[str | Cell]


def table_lines(columns: Sequence[Column], rows: Sequence[Row], screen: Screen, indent: int = 2) -> list[str]:
    """Return the lines of a table, the titles first. Shape: each row has one cell a column."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = column_widths(columns, [[cell.text for cell in row] for row in cells], screen.width - indent)
    titles = [Cell(column.title, "dim") for column in columns]
    return [_line(columns, row, widths, screen, indent) for row in [titles, *cells]]


def column_widths(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the width of each column: natural where all fit, else elastic columns share what is left.

    Shape: the sum with gaps is at most `width` whenever the elastic columns can give enough.
    """
    natural = [
        max(len(column.title), *(len(row[index]) for row in rows)) if rows else len(column.title)
        for index, column in enumerate(columns)
    ]
    for _ in range(sum(natural) + _GAP * (len(columns) - 1) - width):
        can_give = [index for index, column in enumerate(columns) if column.elastic and natural[index] > column.least]
        if not can_give:
            break
        natural[max(can_give, key=natural.__getitem__)] -= 1
    return natural


def _cell(value: str | Cell) -> Cell:
    return value if isinstance(value, Cell) else Cell(value)


def _line(columns: Sequence[Column], row: Sequence[Cell], widths: Sequence[int], screen: Screen, indent: int) -> str:
    parts = []
    for column, cell, width in zip(columns, row, widths, strict=True):
        text = screen.text(middle_cut(cell.text, width))
        blanks = " " * (width - len(text))
        painted = screen.paint(text, cell.role) if cell.role else text
        parts.append(blanks + painted if column.right else painted + blanks)
    return (" " * indent + (" " * _GAP).join(parts)).rstrip()


def labelled(label: str, text: str, screen: Screen, indent: int = 2, label_width: int = 9) -> list[str]:
    """Return a label with a text beside it, wrapped to the screen; only words longer than a line are broken."""
    left = indent + label_width
    lines = textwrap.wrap(screen.text(text), screen.width - left, break_on_hyphens=False)
    head = " " * indent + (screen.paint(label.ljust(label_width - 1), "dim") + " " if label else " " * label_width)
    return [head + (lines[0] if lines else ""), *(" " * left + line for line in lines[1:])]


def cpu_list(text: str) -> str:
    """Return a CPU list that may be wrapped: a blank after each comma."""
    return text.replace(",", ", ")
