# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Tier → the text of a tier file, every value with the place that it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from ..core.tier import Tier
from ..core.tier_data import tier_data

# Words that no YAML reader takes for anything but text. Everything else is quoted.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./+-]*\Z")
_AMBIGUOUS = re.compile(r"(y|yes|n|no|true|false|on|off|null|nan|inf)\Z", re.IGNORECASE)
_COMMENT_COLUMN = 52
_INDENT = "  "


def tier_text(tier: Tier, *, with_origins: bool = True) -> str:
    """Return the YAML text of a tier as a file that extends nothing would say it.

    Shape: loading the text gives an equal tier; with `with_origins` a comment behind each value names the file and
    line that set it.
    """
    lines = _map(tier_data(tier), "", 0, tier if with_origins else None)
    return "".join(line + "\n" for line in lines)


def _map(data: Mapping[str, Any], path: str, depth: int, tier: Tier | None) -> Iterator[str]:
    for key, value in data.items():
        here = f"{path}.{key}" if path else key
        head = f"{_INDENT * depth}{scalar(key)}:"
        if isinstance(value, Mapping) and value:
            yield head
            yield from _map(value, here, depth + 1, tier)
        elif isinstance(value, list) and value:
            yield head
            yield from _list(value, here, depth + 1, tier)
        else:
            yield _with_origin(f"{head} {scalar(value)}", here, tier)


def _list(data: list[Any], path: str, depth: int, tier: Tier | None) -> Iterator[str]:
    for position, item in enumerate(data):
        here = f"{path}.{position}"
        if isinstance(item, Mapping) and item:
            first, *others = _map(item, here, depth + 1, tier)
            yield f"{_INDENT * depth}- {first.lstrip()}"
            yield from others
        elif isinstance(item, list) and item:
            yield f"{_INDENT * depth}-"
            yield from _list(item, here, depth + 1, tier)
        else:
            yield _with_origin(f"{_INDENT * depth}- {scalar(item)}", here, tier)


def _with_origin(line: str, path: str, tier: Tier | None) -> str:
    origin = tier.origin(path) if tier is not None else None
    if origin is None or not origin.file:
        return line
    # A file name may hold anything; a comment ends with its line.
    where = "".join(character if character.isprintable() else "?" for character in origin.file)
    place = f"{where}:{origin.line}" if origin.line else where
    return f"{line:<{_COMMENT_COLUMN}} # {place}"


def scalar(value: Any) -> str:
    """Return a value on one line of YAML, text quoted wherever a reader could take it for something else."""
    if isinstance(value, str):
        if _PLAIN.match(value) and not _AMBIGUOUS.match(value):
            return value
        return str(yaml.safe_dump(value, default_style='"', width=float("inf"), allow_unicode=True)).rstrip("\n")
    if isinstance(value, (list, dict)):
        return "[]" if isinstance(value, list) else "{}"
    return str(yaml.safe_dump(value, width=float("inf"))).splitlines()[0]
