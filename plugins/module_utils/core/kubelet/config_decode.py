# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A KubeletConfiguration decoded as the kubelet does: wrong types are fatal, unknown fields are skipped.

Source: `sigs.k8s.io/json` for the main file (names of fields exactly as written), Go `encoding/json` for what the
drop-ins make of it (names in any case, in the order of the alphabet).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Union

from ..errors import InputError
from ..quantity import parse_quantity
from .config_types import Kind, Type
from .go_values import go_duration

Path = tuple[Union[str, int], ...]

_RANGES = {
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint32": (0, 2**32 - 1),
}
_ZERO = {"text": "", "bool": False, "float": 0, "duration": "0s", "quantity": "0", "period": 0}


@dataclass
class Decoded:
    """What a document says.

    Shape: `values` are the known fields without nulls; `ignored` are the paths of unknown fields, `faults` (path, what
    is wrong) values that no kubelet decodes.
    """

    values: dict[str, Any] = field(default_factory=dict)
    ignored: list[Path] = field(default_factory=list)
    faults: list[tuple[Path, str]] = field(default_factory=list)


def decode(document: Mapping[str, Any], fields: Mapping[str, Type], *, folded: bool = False) -> Decoded:
    """Return the document decoded.

    Shape: `folded` reads names of fields in any case, of two spellings the last in the alphabet counts (maps and
    structs add up); otherwise another spelling is an unknown field.
    """
    found = Decoded()
    decoder = _Decoder(found, folded=folded)
    found.values = decoder.struct(document, fields, ())
    return found


def path_text(path: Path) -> str:
    """Return a path as the kubelet logs it: `reservedMemory[0].numaNode`."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in path]
    return "".join(parts).lstrip(".")


class _Decoder:
    def __init__(self, found: Decoded, *, folded: bool) -> None:
        self._found = found
        self._folded = folded

    def struct(
        self, document: Mapping[str, Any], fields: Mapping[str, Type], path: Path, have: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        values: dict[str, Any] = dict(have or {})
        for key in sorted(document) if self._folded else document:
            name = key if key in fields else self._other_spelling(key, fields)
            if not name:
                self._found.ignored.append((*path, key))
            elif document[key] is not None:
                values[name] = self._value(document[key], fields[name], (*path, key), values.get(name))
        return values

    def _other_spelling(self, key: Any, fields: Mapping[str, Type]) -> str:
        if not self._folded:
            return ""
        return next((name for name in fields if name.lower() == str(key).lower()), "")

    def _value(self, value: Any, kind: Type, path: Path, have: Any = None) -> Any:
        if isinstance(kind, Kind):
            return self._collection(value, kind, path, have)
        if isinstance(kind, str):
            return self._scalar(value, kind, path)
        if not isinstance(value, Mapping):
            self._fault(path, f"{_shown(value)} where a map of fields belongs")
            return {}
        return self.struct(value, kind, path, have if isinstance(have, Mapping) else None)

    def _collection(self, value: Any, kind: Kind, path: Path, have: Any) -> Any:
        if kind.name == "map":
            if not isinstance(value, Mapping):
                self._fault(path, f"{_shown(value)} where a map belongs")
                return {}
            own = {key: self._item(one, kind.item, (*path, key)) for key, one in value.items()}
            return {**have, **own} if isinstance(have, Mapping) else own
        if not isinstance(value, list):
            self._fault(path, f"{_shown(value)} where a list belongs")
            return []
        return [self._item(one, kind.item, (*path, index)) for index, one in enumerate(value)]

    def _item(self, value: Any, kind: Type, path: Path) -> Any:
        return _zero(kind) if value is None else self._value(value, kind, path)

    def _scalar(self, value: Any, kind: str, path: Path) -> Any:
        problem = ""
        if kind in _RANGES:
            value, problem = self._whole(value, *_RANGES[kind])
        elif kind == "bool":
            problem = "" if isinstance(value, bool) else f"{_shown(value)} where true or false belongs"
        elif kind == "float":
            problem = "" if _is_number(value) else f"{_shown(value)} where a number belongs"
        elif kind == "quantity":
            value, problem = _quantity(value)
        elif kind == "period" and _is_number(value):
            problem = ""
        elif not isinstance(value, str):
            problem = f"{_shown(value)} where text belongs: write it in quotation marks"
        elif kind in ("duration", "period"):
            problem = _duration(value)
        if problem:
            self._fault(path, problem)
        return value

    def _whole(self, value: Any, low: int, high: int) -> tuple[Any, str]:
        if self._folded and isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            return value, f"{_shown(value)} where a whole number belongs"
        return value, "" if low <= value <= high else f"{value} does not fit: it must be from {low} to {high}"

    def _fault(self, path: Path, what: str) -> None:
        self._found.faults.append((path, what))


def _zero(kind: Type) -> Any:
    if isinstance(kind, Kind):
        return [] if kind.name == "list" else {}
    return _ZERO.get(kind, 0) if isinstance(kind, str) else {}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _quantity(value: Any) -> tuple[Any, str]:
    if not isinstance(value, str) and not _is_number(value):
        return value, f"{_shown(value)} where a quantity belongs"
    text = str(value).strip()
    try:
        parse_quantity(text)
    except InputError:
        return value, f"{_shown(value)} is no quantity such as 512Mi"
    return text, ""


def _duration(text: str) -> str:
    try:
        go_duration(text)
    except ValueError:
        return f"{text!r} is no duration such as 10s"
    return ""


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dict, list)):
        return "a map" if isinstance(value, dict) else "a list"
    return repr(value) if isinstance(value, str) else str(value)
