# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A kubelet configuration file → the JSON data that the kubelet makes of it, with the place of every value.

Source: `sigs.k8s.io/yaml`: the first document counts, a later key beats an earlier one of the same name, numbers and
truth values are told as YAML 1.1 tells them, but for times of day and dates, which are text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NoReturn

import yaml

from ..core.kubelet.config_decode import Path

_MOST_NODES = 20_000
_DEEPEST = 50
_TAG = "tag:yaml.org,2002:"
_KNOWN_TAGS = {_TAG + kind for kind in ("str", "int", "float", "bool", "null", "timestamp", "value", "map", "seq")}
_TRUE = ("true", "yes", "on")
_BOOLEAN = re.compile(r"(?i:true|false|yes|no|on|off)\Z")
_INTEGER = re.compile(r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0o?[0-7_]*|[1-9][0-9_]*)\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_NOT_FINITE = re.compile(r"(?i:[-+]?\.inf|\.nan)\Z")
# Of the spellings in which all letters are capital or only the first, these are the ones that count.
_CASES = (str.lower, str.upper, str.capitalize)


@dataclass(frozen=True)
class ConfigText:
    """What a text says.

    Shape: `document` is JSON data, None for a text of no characters; `places` maps paths to (line, column), counted
    from 1; `fault` says why there is no document, `fault_place` where; `twice` are paths of keys that stand twice.
    """

    document: Any = None
    places: Mapping[Path, tuple[int, int]] = field(default_factory=dict)
    fault: str = ""
    fault_place: tuple[int, int] = (0, 0)
    twice: tuple[Path, ...] = ()

    def place(self, path: Path) -> tuple[int, int]:
        """Return line and column of a value or of the nearest thing around it, (0, 0) when nothing tells."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.places:
                return self.places[path[:end]]
        return (0, 0)


class _UnreadableError(Exception):
    """The text is not what the kubelet can read; carries why and where."""

    def __init__(self, why: str, mark: Any = None) -> None:
        super().__init__(why)
        self.why = why
        self.place = (mark.line + 1, mark.column + 1) if mark is not None else (0, 0)


@lru_cache(maxsize=512)
def read_config_text(text: str) -> ConfigText:
    """Return what a configuration file says; callers must not change it, equal texts share one value."""
    if not text:
        return ConfigText()
    builder = _Builder()
    try:
        document = builder.document(text)
        if text.lstrip()[:1] == "{":
            # What begins like JSON is read as JSON, and as nothing else.
            document = json.loads(text, parse_constant=_no_number)
    except _UnreadableError as error:
        return ConfigText(fault=error.why, fault_place=error.place)
    except json.JSONDecodeError as error:
        return ConfigText(fault=f"not JSON: {error.msg}", fault_place=(error.lineno, error.colno))
    except (RecursionError, ValueError, OverflowError) as error:
        return ConfigText(fault=str(error).splitlines()[0] if str(error) else "nested too deep")
    return ConfigText(document, builder.places, twice=tuple(builder.twice))


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")


class _Builder:
    """One walk over a composed document."""

    def __init__(self) -> None:
        self.places: dict[Path, tuple[int, int]] = {}
        self.twice: list[Path] = []
        self._count = 0
        self._above: set[int] = set()

    def document(self, text: str) -> Any:
        try:
            node = next(iter(yaml.compose_all(text, Loader=yaml.SafeLoader)), None)
        except yaml.MarkedYAMLError as error:
            what = error.problem or error.context or "not YAML"
            raise _UnreadableError(f"not YAML: {what}", error.problem_mark or error.context_mark) from error
        except yaml.YAMLError as error:
            raise _UnreadableError(f"not YAML: {str(error).splitlines()[0]}") from error
        # A text of comments alone says nothing: an empty map, which names no kind.
        return {} if node is None or _is_null(node) else self._value(node, ())

    def _value(self, node: yaml.Node, path: Path) -> Any:
        self._count += 1
        if self._count > _MOST_NODES or len(path) > _DEEPEST or id(node) in self._above:
            why = "the file means too much: aliases repeat or contain themselves"
            raise _UnreadableError(why, node.start_mark)
        if node.tag not in _KNOWN_TAGS:
            raise _UnreadableError(f"the tag {node.tag.replace(_TAG, '!!')} has no meaning here", node.start_mark)
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node)
        self._above.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            value: Any = []
            for index, item in enumerate(node.value):
                self._note((*path, index), item)
                value.append(self._value(item, (*path, index)))
        else:
            value = self._map(node, path)
        self._above.discard(id(node))
        return value

    def _map(self, node: yaml.Node, path: Path) -> dict[str, Any]:
        own: dict[str, Any] = {}
        inherited: dict[str, Any] = {}
        for key, item in node.value:
            if key.tag == f"{_TAG}merge":
                inherited.update(self._merged(item, path))
                continue
            if not isinstance(key, yaml.ScalarNode):
                raise _UnreadableError("a key is a collection", key.start_mark)
            name = str(key.value)
            if name in own:
                self.twice.append((*path, name))
            self._note((*path, name), item if isinstance(item, yaml.ScalarNode) else key)
            own[name] = self._value(item, (*path, name))
        return {**inherited, **own}

    def _merged(self, node: yaml.Node, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for one in reversed(node.value) if isinstance(node, yaml.SequenceNode) else (node,):
            if not isinstance(one, yaml.MappingNode):
                raise _UnreadableError("<< takes a map or a list of maps", one.start_mark)
            found.update(self._map(one, path))
        return found

    def _note(self, path: Path, node: yaml.Node) -> None:
        self.places[path] = (node.start_mark.line + 1, node.start_mark.column + 1)


def _is_null(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == f"{_TAG}null"


def _scalar(node: yaml.ScalarNode) -> Any:
    text = str(node.value)
    plain = node.style is None
    if _is_null(node):
        return None
    if node.tag == f"{_TAG}str" and (not plain or _is_tagged(node)):
        return text
    if _BOOLEAN.match(text) and any(text == spelled(text) for spelled in _CASES):
        return text.lower() in _TRUE
    if _INTEGER.match(text) and node.tag != f"{_TAG}float":
        return _whole(text.replace("_", ""), node)
    if _FLOAT.match(text):
        number = float(text.replace("_", ""))
        if not math.isfinite(number):
            raise _UnreadableError(f"{text} is no number that JSON can hold", node.start_mark)
        # The way through JSON writes 110.0 as 110.
        return int(number) if number.is_integer() and abs(number) < 10**21 else number
    if _NOT_FINITE.match(text):
        raise _UnreadableError(f"{text} is no number that JSON can hold", node.start_mark)
    return text


def _is_tagged(node: yaml.ScalarNode) -> bool:
    mark = node.start_mark
    return mark.buffer is not None and mark.buffer[mark.pointer : mark.pointer + 1] == "!"


def _whole(text: str, node: yaml.ScalarNode) -> int | str:
    sign, digits = (-1, text[1:]) if text[:1] == "-" else (1, text.lstrip("+"))
    base = {"0b": 2, "0x": 16, "0o": 8}.get(digits[:2], 8 if digits[:1] == "0" and len(digits) > 1 else 10)
    try:
        return sign * int(digits[2:] if digits[:2] in ("0b", "0x", "0o") else digits, base)
    except ValueError:
        if node.tag == f"{_TAG}int":
            raise _UnreadableError(f"{text} is no number", node.start_mark) from None
        return text
