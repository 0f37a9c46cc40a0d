"""The map of a machine as SVG, for pages and documents. Colours follow the page; letters and titles carry the facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from xml.sax.saxutils import escape

from tunectl.view.cpumap import Block, Column, CpuMap
from tunectl.view.quantities import memory_text, plural

_CELL = 15
_STEP = 16
_GROUP_GAP = 8
_PADDING = 12
_TITLE = 22
_RULER = 14
_LEFT = 14
_BLOCK_GAP = 14
_LEGEND = 26
_MOST_COLUMNS = 32

STYLE = """
.cpumap text{font:10px ui-monospace,Menlo,Consolas,monospace;fill:var(--ink,#1c2733)}
.cpumap .letter{text-anchor:middle;fill:#10202c}
.cpumap .title{font-weight:600;font-size:12px}
.cpumap .dim{opacity:.65}
.cpumap .frame{fill:none;stroke:var(--line,#b8c4cf)}
.cpumap .reserved{fill:#5ec8d8}.cpumap .isolated{fill:#8fce7e}.cpumap .shared{fill:#f0cd62}
.cpumap .ovs_dpdk{fill:#d59be0}.cpumap .offlined{fill:#cfd6dc}.cpumap .unassigned{fill:#e9edf0}
.cpumap .pod0{fill:#8fce7e}.cpumap .pod1{fill:#f0cd62}.cpumap .pod2{fill:#d59be0}
.cpumap .pod3{fill:#86b4f0}.cpumap .pod4{fill:#f2a07e}.cpumap .pod5{fill:#b9c46a}
.cpumap .split{fill:#c8322b}
""".strip()

Band = Sequence[Sequence[Column]]


def map_svg(cpu_map: CpuMap, label: str = "") -> str:
    """Return one SVG element: blocks below each other, then the legend. Scale: pixels at its natural size."""
    parts: list[str] = []
    y = 0
    width = _legend_width(cpu_map)
    for block in cpu_map.blocks:
        drawn, block_width, block_height = _block(block, y)
        parts += drawn
        y += block_height + _BLOCK_GAP
        width = max(width, block_width)
    parts += _legend(cpu_map, y)
    height = y + _LEGEND
    title = escape(label or "CPU map")
    size = f'viewBox="-1 -1 {width + 2} {height}" width="{width + 2}" height="{height}"'
    return "\n".join(
        [
            f'<svg class="cpumap" xmlns="http://www.w3.org/2000/svg" role="img" {size}>',
            f"<title>{title}</title>",
            f"<style>{STYLE}</style>",
            *parts,
            "</svg>",
        ]
    )


def _block(block: Block, top: int) -> tuple[list[str], int, int]:
    bands = list(_bands(block.groups))
    band_height = _RULER + block.threads * _STEP + (_STEP if any(column.split for column in block.columns) else 4)
    width = 2 * _LEFT + max([_band_width(band) for band in bands] + [8 * len(_title(block))])
    height = _TITLE + _PADDING + len(bands) * band_height
    parts = [
        f'<rect class="frame" x="0" y="{top}" width="{width}" height="{height}" rx="6"/>',
        f'<text class="title" x="{_LEFT}" y="{top + 17}">{escape(_title(block))}</text>',
    ]
    for index, band in enumerate(bands):
        parts += _band(band, block, top + _TITLE + 6 + index * band_height)
    return parts, width, height


def _title(block: Block) -> str:
    parts = [] if block.socket is None else [f"socket {block.socket}"]
    parts.append(f"node {block.node}")
    if block.memory_kib is not None:
        parts.append(memory_text(block.memory_kib))
    return " · ".join([*parts, *([] if block.groups else ["no CPUs"])])


def _bands(groups: Band) -> Iterator[Band]:
    columns = sum(len(group) for group in groups)
    rows = max(1, -(-columns // _MOST_COLUMNS))
    size = -(-len(groups) // rows) if groups else 1
    for start in range(0, len(groups), size):
        yield groups[start : start + size]


def _band_width(band: Band) -> int:
    return sum(len(group) for group in band) * _STEP + (len(band) - 1) * _GROUP_GAP


def _band(band: Band, block: Block, top: int) -> Iterator[str]:
    x = _LEFT
    for group, last in _with_last(band):
        first = group[0].cells[0].cpu
        yield f'<text class="dim" x="{x}" y="{top + 10}">{first}</text>'
        for column in group:
            yield from _column(column, block, x, top + _RULER)
            x += _STEP
        x += 0 if last else _GROUP_GAP


def _with_last(band: Band) -> Iterator[tuple[Sequence[Column], bool]]:
    for group, _ in pairwise([*band, ()]):
        yield group, group is band[-1]


def _column(column: Column, block: Block, x: int, top: int) -> Iterator[str]:
    for row, cell in enumerate(column.cells):
        y = top + row * _STEP
        ground = cell.role.partition(".")[0]
        yield (
            f"<g><title>CPU {cell.cpu}, node {block.node}: {escape(cell.name)}</title>"
            f'<rect class="{ground}" x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" rx="2"/>'
            f'<text class="letter" x="{x + 7.5}" y="{y + 11}">{cell.letter}</text></g>'
        )
    if column.split:
        y = top + block.threads * _STEP
        threads = ", ".join(str(cell.cpu) for cell in column.cells)
        yield (
            f'<path class="split" d="M{x + 3} {y + 10}l4.5 -7l4.5 7z">'
            f"<title>CPUs {threads} share a core and have different roles</title></path>"
        )


def _legend(cpu_map: CpuMap, top: int) -> Iterator[str]:
    x = 0
    for role, words in _legend_items(cpu_map):
        if role == "split":
            yield f'<path class="split" d="M{x + 3} {top + 13}l4.5 -7l4.5 7z"/>'
        else:
            ground = role.partition(".")[0]
            yield f'<rect class="{ground}" x="{x}" y="{top + 2}" width="{_CELL}" height="{_CELL}" rx="2"/>'
            yield f'<text class="letter" x="{x + 7.5}" y="{top + 13}">{cpu_map.legend[role][0]}</text>'
        yield f'<text x="{x + 20}" y="{top + 13}">{escape(words)}</text>'
        x += _item_width(words)


def _legend_items(cpu_map: CpuMap) -> list[tuple[str, str]]:
    items = [(role, f"{cpu_map.legend[role][1]} {count}") for role, count in cpu_map.counts().items()]
    if cpu_map.split_cores:
        items.append(("split", f"{plural(cpu_map.split_cores, 'core')} split between roles"))
    return items


def _legend_width(cpu_map: CpuMap) -> int:
    return sum(_item_width(words) for _, words in _legend_items(cpu_map))


def _item_width(words: str) -> int:
    return 20 + round(6.4 * len(words)) + 16
