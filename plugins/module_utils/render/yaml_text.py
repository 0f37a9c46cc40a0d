# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""YAML as text: block style, stable bytes, quotes wherever some reader could take a string for something else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

# Plain only what no version of YAML reads as a number, date, boolean, null, anchor, tag or comment.
_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./=,-]*\Z", re.ASCII)
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_BLOCK_LINE = re.compile(r"[\x20-\x7e]*\Z")
_LAST_BMP = 0xFFFF
_LAST_LATIN = 0xFF


def yaml_text(document: Any) -> str:
    """Return one document, without `---`, ending with a newline; mappings keep their order.

    Shape: mappings, sequences, text, numbers, booleans and None; YAML 1.1 and 1.2 readers give back equal data.
    Sad paths: `TypeError` for any other value.
    Source: YAML 1.1 and 1.2, "Core Schema"; strings such as `0-18`, `off`, `4` and `1e3` are read differently by both.
    """
    return "\n".join(_lines(document)) + "\n"


def yaml_stream(documents: Iterable[str]) -> str:
    """Return texts of documents as one stream for `kubectl apply -f -`."""
    return "".join(f"---\n{text}" for text in documents)


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _entry(f"{_scalar(key)}:", item)
    elif isinstance(value, (list, tuple)) and value:
        for item in value:
            yield from _item(item)
    elif _is_block(value):
        yield from _block(value)
    else:
        yield _flow(value)


def _entry(lead: str, item: Any) -> Iterator[str]:
    if _is_block(item):
        first, *rest = _block(item)
        yield f"{lead} {first}"
        yield from rest
    elif isinstance(item, (Mapping, list, tuple)) and item:
        yield lead
        # The items of a sequence stand below their key, indented, as kubectl's readers expect in hand-written files.
        yield from (f"  {line}" if line else line for line in _lines(item))
    else:
        yield f"{lead} {_flow(item)}"


def _item(item: Any) -> Iterator[str]:
    first, *rest = _lines(item)
    yield f"- {first}"
    yield from (f"  {line}" if line else line for line in rest)


def _is_block(value: Any) -> bool:
    """Whether a text reads best as a literal block and survives in one."""
    if not isinstance(value, str) or "\n" not in value.rstrip("\n") or value.endswith("\n\n"):
        return False
    lines = value.split("\n")
    # A first line with leading blanks would need an indentation indicator, trailing blanks are easily lost.
    return (
        bool(lines[0])
        and all(_BLOCK_LINE.match(line) and line == line.rstrip() for line in lines)
        and (not lines[0].startswith(" "))
    )


def _block(text: str) -> list[str]:
    keeps_end = text.endswith("\n")
    body = text[:-1] if keeps_end else text
    return ["|" if keeps_end else "|-", *(f"  {line}" if line else "" for line in body.split("\n"))]


def _flow(value: Any) -> str:
    if isinstance(value, Mapping) and not value:
        return "{}"
    if isinstance(value, Sequence) and not isinstance(value, str) and not value:
        return "[]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, str):
        return value if _PLAIN.match(value) and value.lower() not in _WORDS else _quoted(value)
    raise TypeError(f"{type(value).__name__} has no YAML form")


def _float(value: float) -> str:
    if value != value:  # noqa: PLR0124  the definition of not-a-number
        return ".nan"
    if value in (float("inf"), float("-inf")):
        return ".inf" if value > 0 else "-.inf"
    mantissa, exponent, power = repr(value).partition("e")
    # YAML 1.1 reads 1e+20 as text: its floats have a point.
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}{exponent}{power}"


def _quoted(text: str) -> str:
    return '"' + "".join(_ESCAPES.get(character) or _escaped(character) for character in text) + '"'


def _escaped(character: str) -> str:
    code = ord(character)
    if character.isprintable():
        return character
    if code <= _LAST_LATIN:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= _LAST_BMP else f"\\U{code:08x}"
