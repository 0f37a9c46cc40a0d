# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The JSON form of core values, the same everywhere: sets as kernel lists, enums by value, tuples as lists."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from enum import Enum
from typing import Any

from .cpuset import CpuSet


def to_json(value: Any) -> Any:
    """Return plain JSON data for a core value; field names keep their spelling, absent stays None.

    Sad paths: `TypeError` for a type that has no JSON form.
    """
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, CpuSet):
        return value.format()
    if isinstance(value, Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: to_json(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(to_json(item) for item in value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def canonical(value: Any) -> str:
    """Return the JSON text with sorted keys and no blanks: equal values give equal bytes."""
    return json.dumps(to_json(value), sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def digest(value: Any) -> str:
    """Return the SHA-256 of the canonical JSON, as hex."""
    return hashlib.sha256(canonical(value).encode("ascii")).hexdigest()
