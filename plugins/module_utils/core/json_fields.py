# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Fields of decoded JSON objects, taken with their type checked; `where` is the place of the object in its document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .cpuset import CpuSet

# As the default: the key must be there.
REQUIRED: Any = object()


def object_list(
    data: Mapping[str, Any], key: str, where: str, default: Any = REQUIRED
) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """Return the objects of a list, each with its place (`cpus[3]`); raises `ValueError` naming the key."""
    value = data.get(key, default)
    if value is REQUIRED:
        raise ValueError(f"{where}: missing")
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, Mapping) for item in value):
        raise ValueError(f"{where}: not a list of objects")
    return [(f"{where}[{index}]", item) for index, item in enumerate(value)]


def mapping(data: Mapping[str, Any], key: str, where: str, default: Any = REQUIRED) -> Mapping[str, Any]:
    """Return an object; raises `ValueError` naming its place."""
    value = data.get(key, default)
    if not isinstance(value, Mapping):
        raise ValueError(f"{where}: not an object")
    return value


def is_count(value: Any) -> bool:
    """Return whether the value is a whole number that is not negative."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def integer(data: Mapping[str, Any], key: str, where: str, default: Any = REQUIRED) -> int:
    """Return a whole number; raises `ValueError` naming the key."""
    value = data.get(key, default)
    if value is REQUIRED:
        raise ValueError(f"{where}.{key}: missing")
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{where}.{key}: {value!r} is not a whole number")
    return value


def count(data: Mapping[str, Any], key: str, where: str, default: int) -> int:
    """Return a whole number that is not negative; raises `ValueError` naming the key."""
    value = integer(data, key, where, default)
    if value < 0:
        raise ValueError(f"{where}.{key}: {value} is negative")
    return value


def text(data: Mapping[str, Any], key: str, default: Any, where: str = "") -> str:
    """Return a text; raises `ValueError` naming the key."""
    value = data.get(key, default)
    name = f"{where}.{key}" if where else key
    if value is REQUIRED:
        raise ValueError(f"{name}: missing")
    if not isinstance(value, str):
        raise ValueError(f"{name}: {value!r} is not text")
    return value


def cpu_list(data: Mapping[str, Any], key: str, where: str, default: Any) -> CpuSet:
    """Return a CPU list; raises `ValueError` naming the key."""
    try:
        return CpuSet.parse(text(data, key, default, where))
    except ValueError as error:
        message = str(error)
        raise ValueError(message if message.startswith(where) else f"{where}.{key}: {message}") from None
