"""What a text is drawn on: colours, characters and width. The one place that knows escape sequences."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

NARROWEST = 80
WIDEST = 120

_ROLES = {
    "good": "32",
    "bad": "31",
    "attention": "33",
    "dim": "2",
    "strong": "1",
}

# Black on a light ground reads on dark and light terminals alike.
_FILLS = {
    "reserved": "30;46",
    "isolated": "30;42",
    "shared": "30;43",
    "ovs_dpdk": "30;45",
    "offlined": "2;9",
    "unassigned": "2",
    "pod0": "30;42",
    "pod1": "30;43",
    "pod2": "30;45",
    "pod3": "30;44",
    "pod4": "30;41",
    "pod5": "30;47",
}

_ASCII = str.maketrans(
    {
        "✓": "+",
        "✗": "x",
        "–": "-",  # noqa: RUF001
        "—": "-",
        "…": "~",
        "│": "|",
        "┃": "|",
        "─": "-",
        "━": "=",
        "┌": "+",
        "┐": "+",
        "└": "+",
        "┘": "+",
        "├": "+",
        "┤": "+",
        "┬": "+",
        "┴": "+",
        "·": ".",
        "▸": ">",
        "▲": "^",
        "→": ">",
        "×": "x",  # noqa: RUF001
        "≥": ">",
        "≤": "<",
        "µ": "u",
    }
)


@dataclass(frozen=True)
class Screen:
    """A place for text. Scale: `width` in columns."""

    colour: bool = False
    unicode: bool = True
    width: int = NARROWEST

    def paint(self, text: str, role: str) -> str:
        """Return the text in the colour of a role, or as it is where there are no colours."""
        return f"\x1b[{_ROLES[role]}m{text}\x1b[0m" if self.colour and text else text

    def fill(self, text: str, role: str) -> str:
        """Return the text on the ground colour of a CPU role, or as it is where there are no colours."""
        code = _FILLS[role.partition(".")[0]]  # what stands behind the dot tells roles of one colour apart
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text

    def text(self, text: str) -> str:
        """Return the text in the characters that the screen has; every sign keeps its width of one column."""
        return text if self.unicode else text.translate(_ASCII)


def screen_for(stream: TextIO, colour: str, environ: Mapping[str, str] = os.environ) -> Screen:
    """Return the screen behind a stream.

    Shape: `colour` is `auto`, `always` or `never`; a flag wins over NO_COLOR, which wins over FORCE_COLOR.
    """
    return Screen(
        colour=_has_colour(stream, colour, environ), unicode=_has_unicode(stream, environ), width=_width(stream)
    )


def _has_colour(stream: TextIO, colour: str, environ: Mapping[str, str]) -> bool:
    if colour != "auto":
        return colour == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and environ.get("TERM") != "dumb"


def _has_unicode(stream: TextIO, environ: Mapping[str, str]) -> bool:
    locale = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or ""
    if locale in ("C", "POSIX"):  # Python speaks UTF-8 there, the terminal may not
        return False
    try:
        "✓─█".encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _width(stream: TextIO) -> int:
    if not stream.isatty() and "COLUMNS" not in os.environ:
        return NARROWEST
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size((NARROWEST, 24)).columns))
