# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether JSON has the shape of a kubelet checkpoint, as the kubelet's decoder judges it.

Source: Go `encoding/json`: names of fields in any case, unknown ones skipped, null for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any, str], Any]
_UNSIGNED, _SIGNED = 2**64 - 1, 2**63 - 1


class ShapeError(Exception):
    """A value has a type that the kubelet cannot decode; the message says where."""


def checked_cpu(data: Mapping[str, Any], *, with_pods: bool) -> dict[str, Any]:
    """Return a cpu_manager_state of the usual format, with the CPUs of pods where they count; raises `ShapeError`."""
    fields: dict[str, Check] = {**_CPU, "entries": _map_of(_map_of(_text))}
    if with_pods:
        fields["podEntries"] = _map_of(lambda value, where: _struct(value, where, {"cpuSet": _text}))
    return _struct(data, "the file", fields) or {}


def checked_oldest(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a cpu_manager_state of the oldest format, CPUs by container id; raises `ShapeError`."""
    return _struct(data, "the file", {**_CPU, "entries": _map_of(_text)}) or {}


def checked_memory(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a memory_manager_state; raises `ShapeError`."""
    fields: dict[str, Check] = {
        "policyName": _text,
        "machineState": _map_of(_node, key=_node_id),
        "entries": _map_of(_map_of(_list_of(_block))),
        "podEntries": _map_of(lambda value, _where: value),
        "checksum": _unsigned,
    }
    return _struct(data, "the file", fields) or {}


def _node(value: Any, where: str) -> dict[str, Any]:
    fields: dict[str, Check] = {
        "numberOfAssignments": _signed,
        "memoryMap": _map_of(_table),
        "cells": _list_of(_signed),
    }
    return _known(_struct(value, where, fields), where)


def _table(value: Any, where: str) -> dict[str, Any]:
    names = ("total", "systemReserved", "allocatable", "reserved", "free")
    return _known(_struct(value, where, dict.fromkeys(names, _unsigned)), where)


def _block(value: Any, where: str) -> dict[str, Any]:
    fields: dict[str, Check] = {"numaAffinity": _list_of(_signed), "type": _text, "size": _unsigned}
    return _struct(value, where, fields) or {}


def _known(value: dict[str, Any] | None, where: str) -> dict[str, Any]:
    """A pointer to nothing: the kubelet would crash on it, which is no start either."""
    if value is None:
        raise ShapeError(f"{where} is null")
    return value


def _node_id(key: str) -> None:
    if not key.lstrip("-").isdigit() or not key.isascii() or key != str(int(key)):
        raise ShapeError(f"{key!r} is no NUMA node")


def _struct(value: Any, where: str, fields: Mapping[str, Check]) -> dict[str, Any] | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise ShapeError(f"{where} is no object")
    names = {name.lower(): name for name in fields}
    found: dict[str, Any] = {}
    for key, item in value.items():
        name = key if key in fields else names.get(key.lower(), "")
        if name and item is not None:
            found[name] = fields[name](item, f"{where}.{name}")
    return found


def _map_of(check: Check, key: Callable[[str], None] | None = None) -> Check:
    def checked(value: Any, where: str) -> Any:
        if value is None:
            return None
        if not isinstance(value, dict):
            raise ShapeError(f"{where} is no map")
        for name in value:
            if key is not None:
                key(name)
        return {name: check(item, f"{where}.{name}") for name, item in value.items()}

    return checked


def _list_of(check: Check) -> Check:
    def checked(value: Any, where: str) -> Any:
        if value is None:
            return None
        if not isinstance(value, list):
            raise ShapeError(f"{where} is no list")
        return [check(item, where) for item in value]

    return checked


def _text(value: Any, where: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ShapeError(f"{where} is no text")
    return value


def _unsigned(value: Any, where: str) -> int:
    return _whole(value, where, 0, _UNSIGNED)


def _signed(value: Any, where: str) -> int:
    return _whole(value, where, -_SIGNED - 1, _SIGNED)


def _whole(value: Any, where: str, low: int, high: int) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ShapeError(f"{where} is no whole number that fits")
    return value


_CPU: dict[str, Check] = {"policyName": _text, "defaultCpuSet": _text, "checksum": _unsigned}
