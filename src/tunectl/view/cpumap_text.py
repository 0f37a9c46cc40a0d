"""The map of a machine in the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from tunectl.core.topology import CoreType
from tunectl.view.cpumap import Block, Column, CpuMap
from tunectl.view.quantities import memory_text, plural
from tunectl.view.screen import Screen

_GAP = 2  # columns between two blocks of one row
_FRAME = 4  # columns of the left and right edge of a block, each with its blank
_SPLIT = "▲"

Group = Sequence[Column]
Line = tuple[str, int]  # painted text and its width in columns


@dataclass(frozen=True)
class _Layout:
    """What all blocks of one map share, so that they line up."""

    screen: Screen
    label_width: int
    with_splits: bool

    @property
    def cells_width(self) -> int:
        return self.screen.width - _FRAME - self.label_width - _GAP


def map_text(cpu_map: CpuMap, screen: Screen) -> str:
    """Return the map: blocks side by side as far as the screen goes, then the legend. Ends with a newline."""
    layout = _layout(cpu_map, screen)
    rows = _rows([_block_lines(block, layout) for block in cpu_map.blocks], screen.width)
    lines = [line for row in rows for line in row]
    if cpu_map.offline:
        lines += _offline(cpu_map, screen.width)
    return "\n".join([*lines, *_legend(cpu_map, screen)]) + "\n"


def _layout(cpu_map: CpuMap, screen: Screen) -> _Layout:
    with_splits = cpu_map.split_cores > 0
    width = len("split") if with_splits else 0
    for block in cpu_map.blocks:
        # A label is at most as long as one from the largest id to itself, with the stride of the whole row.
        largest = max((len(str(cell.cpu)) for column in block.columns for cell in column.cells), default=0)
        bound = _Layout(screen, 2 * largest + len("- by 99"), with_splits)
        labels = [label for band in _bands(block.groups, bound.cells_width) for label in _labels(band, block.threads)]
        width = max([width, *map(len, labels)])
    return _Layout(screen, width, with_splits)


def _rows(blocks: Sequence[Sequence[Line]], width: int) -> list[list[str]]:
    rows: list[list[Sequence[Line]]] = []
    used = width + 1
    for block in blocks:
        columns = block[0][1]
        if used + _GAP + columns > width:
            rows.append([])
            used = -_GAP
        rows[-1].append(block)
        used += _GAP + columns
    return [_side_by_side(row) for row in rows]


def _side_by_side(blocks: Sequence[Sequence[Line]]) -> list[str]:
    lines = []
    for index in range(max(len(block) for block in blocks)):
        parts = [block[index][0] if index < len(block) else " " * block[0][1] for block in blocks]
        lines.append((" " * _GAP).join(parts).rstrip())
    return lines


def _block_lines(block: Block, layout: _Layout) -> list[Line]:
    screen = layout.screen
    title = _title(block)
    inner = [line for band in _bands(block.groups, layout.cells_width) for line in _band_lines(band, block, layout)]
    width = max([len(title) + 1, *(columns for _, columns in inner)])
    top = screen.paint("┌ ", "dim") + screen.paint(title, "strong")
    lines = [(top + screen.paint(" " + "─" * (width - len(title)) + "┐", "dim"), width + _FRAME)]
    edge = screen.paint("│", "dim")
    lines += [(f"{edge} {text}{' ' * (width - columns)} {edge}", width + _FRAME) for text, columns in inner]
    lines.append((screen.paint("└" + "─" * (width + 2) + "┘", "dim"), width + _FRAME))
    return [(screen.text(text), columns) for text, columns in lines]


def _title(block: Block) -> str:
    parts = [] if block.socket is None else [f"socket {block.socket}"]
    parts.append(f"node {block.node}")
    if block.memory_kib is not None:
        parts.append(memory_text(block.memory_kib))
    if not block.groups:
        parts.append("no CPUs")
    return " · ".join(parts)


def _bands(groups: Sequence[Group], width: int) -> list[list[Group]]:
    """Return the groups in as few rows as fit the width, of about equal length."""
    for bands in range(1, len(groups) + 1):
        size = -(-len(groups) // bands)
        rows = [list(groups[start : start + size]) for start in range(0, len(groups), size)]
        if all(_cells_width(row) <= width for row in rows):
            return rows
    return [[group] for group in groups]


def _cells_width(groups: Sequence[Group]) -> int:
    return sum(len(group) for group in groups) + len(groups) - 1


def _band_lines(groups: Sequence[Group], block: Block, layout: _Layout) -> list[Line]:
    screen, label_width = layout.screen, layout.label_width
    width = label_width + _GAP + _cells_width(groups)
    ruler = _ruler(groups)
    lines = [(" " * (label_width + _GAP) + screen.paint(ruler, "dim"), label_width + _GAP + len(ruler))]
    for thread, label in zip(range(block.threads), _labels(groups, block.threads), strict=True):
        cells = " ".join(_cells(group, thread, screen) for group in groups)
        lines.append((f"{label.rjust(label_width)}  {cells}", width))
    if layout.with_splits:
        marks = " ".join("".join(_SPLIT if column.split else " " for column in group) for group in groups)
        label = "split" if any(column.split for column in block.columns) else ""
        lines.append((screen.paint(label.rjust(label_width), "bad") + "  " + screen.paint(marks, "bad"), width))
    return lines


def _ruler(groups: Sequence[Group]) -> str:
    """Return the CPU id over the first core of each group, with the core type where there are several kinds."""
    text = ""
    position = 0
    for group in groups:
        kind = {CoreType.PERFORMANCE: "P", CoreType.EFFICIENCY: "E"}.get(group[0].core_type, "")
        if position == 0 or len(text) < position:  # an id that runs into the next group leaves no room for its
            text = text.ljust(position) + kind + str(group[0].cells[0].cpu)
        position += len(group) + 1
    return text


def _cells(group: Group, thread: int, screen: Screen) -> str:
    cells = [column.cells[thread] if thread < len(column.cells) else None for column in group]
    text = ""
    for (role, letter), run in groupby((cell.role, cell.letter) if cell else ("", " ") for cell in cells):
        letters = letter * len(list(run))
        text += screen.fill(letters, role) if role else letters
    return text


def _labels(groups: Sequence[Group], threads: int) -> list[str]:
    rows = [
        [column.cells[thread].cpu for group in groups for column in group if thread < len(column.cells)]
        for thread in range(threads)
    ]
    return [_span(cpus) for cpus in rows]


def _span(cpus: Sequence[int]) -> str:
    """Return the ids of one row in short: `0-31`, `0-38 by 2`, or first and last."""
    steps = {after - before for before, after in pairwise(cpus)}
    if not steps:
        return "".join(str(cpu) for cpu in cpus)
    if len(steps) > 1:
        return f"{cpus[0]}…{cpus[-1]}"
    (step,) = steps
    return f"{cpus[0]}-{cpus[-1]}" if step == 1 else f"{cpus[0]}-{cpus[-1]} by {step}"


def _offline(cpu_map: CpuMap, width: int) -> list[str]:
    text = f"offline  {cpu_map.offline.format().replace(',', ', ')}  (the kernel does not say where they are)"
    return textwrap.wrap(text, width - 2, initial_indent="  ", subsequent_indent=" " * 11)


def _legend(cpu_map: CpuMap, screen: Screen) -> list[str]:
    items = [
        (f"{letter} {name} {count}", screen.fill(letter, role) + f" {name} {count}")
        for role, count in cpu_map.counts().items()
        for letter, name in [cpu_map.legend[role]]
    ]
    if cpu_map.split_cores:
        words = f"{_SPLIT} {plural(cpu_map.split_cores, 'core')} split between roles"
        items.append((words, screen.paint(words, "bad")))
    lines: list[str] = []
    used = screen.width
    for plain, painted in items:
        if used + len(plain) + 3 > screen.width:
            lines.append(" ")
            used = 1
        lines[-1] += " " + painted + "  "
        used += len(plain) + 3
    return [screen.text(line.rstrip()) for line in lines]
