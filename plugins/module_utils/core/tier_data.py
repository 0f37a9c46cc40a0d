# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Tier → plain data as a tier file would hold it; the opposite of decoding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from typing import Any

from .tier import TIER_API_VERSION, CpuIntent, Tier
from .tier_fields import TIER
from .tier_forms import Choices, Cpus, Form, Record, Scalar, Sequence, Table


def tier_data(tier: Tier) -> dict[str, Any]:
    """Return the tier as a file that extends nothing would hold it.

    Shape: JSON data in the order of the fields; values that nobody set and that are the defaults are left out.
    Decoding the result gives an equal tier.
    """
    return {"apiVersion": TIER_API_VERSION, "kind": "Tier", **_record(TIER, tier, "", tier)}


def tier_values(tier: Tier) -> dict[str, Any]:
    """Return every value of the tier by dotted path, maps taken apart, lists as one value."""
    return dict(_flat(_record(TIER, tier, "", tier), ""))


def _record(form: Record, value: Any, path: str, tier: Tier) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for field in fields(form.of):
        if field.name not in form.fields:
            continue
        here = f"{path}.{field.name}" if path else field.name
        held = getattr(value, field.name)
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        if held != default or field.name in form.required or here in tier.origins:
            written = _write(form.fields[field.name], held, here, tier)
            if written is not None:
                data[field.name] = written
    return data


def _write(form: Form, value: Any, path: str, tier: Tier) -> Any:
    """Return the plain data of a value, None for one that is absent."""
    if isinstance(form, Cpus):
        return _cpus(form, value, path, tier)
    if value is None:
        return None
    if isinstance(form, Scalar):
        return form.write(value)
    if isinstance(form, Record):
        return _record(form, value, path, tier)
    if isinstance(form, Sequence):
        return [_write(form.item, item, f"{path}.{position}", tier) for position, item in enumerate(value)]
    if isinstance(form, Choices):
        return {key: _write(form.fields[key], item, f"{path}.{key}", tier) for key, item in value.items()}
    if isinstance(form, Table):
        return {key: _write(form.value, item, f"{path}.{key}", tier) for key, item in value.items()}
    return _plain(value)


def _cpus(form: Cpus, value: Any, path: str, tier: Tier) -> Any:
    if value is None:
        return "rest" if form.may_be_rest and path in tier.origins else None
    if not isinstance(value, CpuIntent):
        return form.text.write(value)
    count = f"{value.percent}%" if value.percent else value.count
    data: dict[str, Any] = {"count": count, "spread": value.spread.value}
    if value.near:
        data["near"] = value.near
    if value.include:
        data["include"] = value.include.format()
    return data


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _flat(data: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield path and value of everything that is no map."""
    if not isinstance(data, Mapping):
        yield path, data
        return
    for key, item in data.items():
        yield from _flat(item, f"{path}.{key}" if path else key)
