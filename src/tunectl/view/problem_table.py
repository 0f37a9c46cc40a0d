"""The mistakes of a file as one list: place, field, what is wrong, code."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from tunectl.core.errors import Problem
from tunectl.view.screen import Screen

_PLACE = re.compile(r"(?P<file>.+?)(?::(?P<place>\d+(?::\d+)?))?\Z", re.DOTALL)
_GAP = "   "


def mistakes_text(problems: Sequence[Problem], state: str, screen: Screen) -> str:
    """Return the mistakes by file, in their order. Shape: each problem is about a field (`path`) of a file."""
    files = dict.fromkeys(_split(problem.where)[0] for problem in problems)
    blocks = [
        _file_lines(file, [problem for problem in problems if _split(problem.where)[0] == file], screen)
        for file in files
    ]
    closing = f"More: tunectl explain {problems[0].code}"
    lines = [line for block in blocks for line in block]
    return "\n".join([*lines, closing, *([state] if state else [])]) + "\n"


def _split(where: str) -> tuple[str, str]:
    match = _PLACE.match(where)
    return (match["file"], match["place"] or "") if match else (where, "")


def _file_lines(file: str, problems: Sequence[Problem], screen: Screen) -> list[str]:
    count = f"{len(problems)} error{'' if len(problems) == 1 else 's'}"
    rows = [(_split(problem.where)[1], screen.text(problem.path), problem) for problem in problems]
    place_width = max(len(place) for place, _, _ in rows)
    path_width = max(len(path) for _, path, _ in rows)
    heads = [f"  {place.ljust(place_width)}{_GAP}{path.ljust(path_width)}" for place, path, _ in rows]
    bodies = [screen.text(sentence(problem)) for problem in problems]
    width = max(map(len, bodies))
    if len(heads[0]) + len(_GAP) + width + len(_GAP) + max(len(problem.code) for problem in problems) <= screen.width:
        lines = [
            f"{head}{_GAP}{body.ljust(width)}{_GAP}{screen.paint(row[2].code, 'dim')}"
            for head, body, row in zip(heads, bodies, rows, strict=True)
        ]
    else:
        lines = [line for row, body in zip(rows, bodies, strict=True) for line in _tall(row, body, place_width, screen)]
    title = screen.paint(screen.text(file), "strong") + " has " + screen.paint(count, "bad")
    return [f"{title}.", "", *lines, ""]


def _tall(row: tuple[str, str, Problem], body: str, place_width: int, screen: Screen) -> list[str]:
    """Return a mistake on several lines, for narrow screens and long sentences."""
    place, path, problem = row
    head = f"  {place.ljust(place_width)}{_GAP}{path}"
    blanks = max(len(_GAP), screen.width - len(head) - len(problem.code))
    left = " " * (2 + place_width + len(_GAP))
    wrapped = textwrap.wrap(body, screen.width - len(left), break_long_words=False, break_on_hyphens=False)
    return [head + " " * blanks + screen.paint(problem.code, "dim"), *(left + line for line in wrapped)]


def sentence(problem: Problem) -> str:
    """Return what is wrong, what is allowed and what to write, as sentences."""
    parts = [part for part in (problem.what, problem.why, problem.fix) if part]
    return " ".join(_closed(part) for part in parts)


def _closed(part: str) -> str:
    text = part[:1].upper() + part[1:] if _is_prose(part) else part
    return text if text.endswith((".", "?", "!")) else text + "."


def _is_prose(part: str) -> bool:
    """Whether the text begins with a plain word; names of fields, commands and files keep their case."""
    return re.match(r"(?!tunectl )([a-z]+[ ,]|allowed:)", part) is not None
