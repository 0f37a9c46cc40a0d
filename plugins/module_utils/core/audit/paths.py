# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Places inside an object, and careful steps along them: manifests may hold anything anywhere."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Union

Path = tuple[Union[str, int], ...]

_WORD = re.compile(r"[A-Za-z_][\w-]*\Z", re.ASCII)


def path_text(path: Path) -> str:
    """Return a path as kubectl writes it: `spec.containers[0].resources`, keys with dots in brackets."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _WORD.match(step):
            text += f".{step}" if text else step
        else:
            text += f"[{step!r}]"
    return text


def as_map(value: Any) -> Mapping[str, Any]:
    """Return the value when it is a map, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: Any) -> Sequence[Any]:
    """Return the value when it is a list, else an empty one."""
    return value if isinstance(value, (list, tuple)) else ()


def as_text(value: Any) -> str:
    """Return a scalar as text, as Kubernetes would write it; nothing for collections and null."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int, float)) else ""


def at(value: Any, path: Path) -> Any:
    """Return what stands at a path, None where nothing does."""
    for step in path:
        if isinstance(step, int):
            items = as_list(value)
            value = items[step] if step < len(items) else None
        else:
            value = as_map(value).get(step)
    return value
