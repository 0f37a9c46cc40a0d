# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a tier file may say: the JSON schema for editors, and one row of reference for each field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from .kubelet_fields import CPU_MANAGER_OPTIONS, TOPOLOGY_MANAGER_OPTIONS, PolicyOption
from .tier import TIER_API_VERSION
from .tier_fields import TIER
from .tier_forms import Choices, Cpus, Form, Json, Record, Scalar, Sequence, Table
from .tier_json import JSON_TYPES

SCHEMA_ID = "https://tunectl.io/schemas/v1alpha1/tier.json"

_OPTIONS = {option.name: option for option in (*CPU_MANAGER_OPTIONS, *TOPOLOGY_MANAGER_OPTIONS)}
_HEADER = {
    "apiVersion": ("Version of the tier format.", TIER_API_VERSION),
    "kind": ("What the document is.", "Tier"),
}
_EXTENDS = "A built-in tier's name, or a file relative to this one; its values hold where this file says nothing."


@dataclass(frozen=True)
class FieldDoc:
    """One field of a tier: dotted path (`[]` stands for each item), type, meaning, and what may stand there."""

    path: str
    type: str
    doc: str
    unit: str = ""
    source: str = ""
    allowed: str = ""
    default: str = ""
    since: str = ""


def describe_fields() -> list[FieldDoc]:
    """Return the reference of all fields, in the order of the file."""
    head = [FieldDoc(name, "text", text, allowed=value) for name, (text, value) in _HEADER.items()]
    extends = FieldDoc("extends", "text", _EXTENDS, allowed="a tier's name, or a path")
    return [*head, extends, *_record_rows(TIER, "")]


def _record_rows(form: Record, path: str) -> Iterator[FieldDoc]:
    for item in fields(form.of):
        if item.name in form.fields:
            here = f"{path}.{item.name}" if path else item.name
            yield from _rows(form.fields[item.name], here, item.metadata, _default(item.default))


def _default(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int)):
        return str(value or "")
    return str(getattr(value, "value", ""))


def _rows(form: Form, path: str, metadata: Mapping[str, Any], default: str) -> Iterator[FieldDoc]:
    yield FieldDoc(
        path,
        _type(form),
        metadata.get("doc") or _first_line(form),
        metadata.get("unit", ""),
        metadata.get("source", ""),
        _allowed(form),
        default,
        metadata.get("since", ""),
    )
    yield from _inner_rows(form, path)


def _first_line(form: Form) -> str:
    """Return what the class behind a form says about itself; a section has no other words."""
    item = form.item if isinstance(form, Sequence) else form
    text = (item.of.__doc__ or "") if isinstance(item, Record) else ""
    return text.split("\n")[0]


def _inner_rows(form: Form, path: str) -> Iterator[FieldDoc]:
    if isinstance(form, Record):
        yield from _record_rows(form, path)
    elif isinstance(form, Cpus):
        yield from _record_rows(form.intent, path)
    elif isinstance(form, Sequence) and isinstance(form.item, Record):
        yield from _record_rows(form.item, f"{path}[]")
    elif isinstance(form, Choices):
        for name, item in form.fields.items():
            option = _OPTIONS.get(name)
            if option is not None:
                yield _option_row(f"{path}.{name}", option, item)


def _option_row(path: str, option: PolicyOption, form: Form) -> FieldDoc:
    stages = [
        f"{stage} {version[0]}.{version[1]}"
        for stage, version in (("alpha", option.alpha), ("beta", option.beta), ("stable", option.stable))
        if version
    ]
    text = option.meaning[:1].upper() + option.meaning[1:] + "."
    return FieldDoc(path, _type(form), text, allowed=_allowed(form), since=f"kubelet: {', '.join(stages)}")


def _type(form: Form) -> str:
    if isinstance(form, Scalar):
        return {"int": "number", "bool": "true or false"}.get(form.kinds[0], "text")
    names = {Record: "map", Choices: "map", Table: "map", Sequence: "list", Cpus: "CPUs", Json: "map"}
    return names[type(form)]


def _allowed(form: Form) -> str:
    if isinstance(form, Scalar):
        return form.allowed
    if isinstance(form, Cpus):
        rest = ", rest" if form.may_be_rest else ""
        return f"{form.text.allowed}{rest}, or a map with {', '.join(form.intent.fields)}"
    if isinstance(form, Sequence):
        return f"a list of: {_allowed(form.item)}"
    if isinstance(form, Table):
        inner = _allowed(form.value)
        return f"{form.key.allowed}: {inner}"
    if isinstance(form, Choices):
        return ", ".join(form.fields)
    if isinstance(form, Json):
        return "fields of KubeletConfiguration that have no key of their own here"
    return ", ".join(form.fields)


def tier_json_schema() -> dict[str, Any]:
    """Return the JSON schema of a tier file. Source: JSON Schema 2020-12."""
    schema = _schema(TIER)
    head = {name: {"description": text, "const": value} for name, (text, value) in _HEADER.items()}
    extends = {"description": _EXTENDS, "type": ["string", "null"], "minLength": 1}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "Tier",
        "description": _first_line(TIER),
        **schema,
        "properties": {**head, "extends": extends, **schema["properties"]},
        "required": [*_HEADER, *TIER.required],
    }


def _schema(form: Form) -> dict[str, Any]:
    """Return the schema of a value in its place. null is allowed everywhere: it stands for the default."""
    if isinstance(form, Scalar):
        return dict(form.schema)
    if isinstance(form, Record):
        return _record_schema(form)
    if isinstance(form, Choices):
        return _closed({name: _nullable(_schema(item)) for name, item in form.fields.items()})
    if isinstance(form, Table):
        keys = {name: value for name, value in form.key.schema.items() if name != "type"}
        return {
            "type": "object",
            "propertyNames": keys,
            "additionalProperties": _nullable(_schema(form.value)),
        }
    if isinstance(form, Sequence):
        return {"type": "array", "items": _schema(form.item)}
    if isinstance(form, Cpus):
        text = dict(form.text.schema)
        if form.may_be_rest:
            text["pattern"] = f"({text['pattern']})|^rest$"
        # Without `required`: a file may change one key of the intent that it inherits.
        intent = {name: value for name, value in _record_schema(form.intent).items() if name != "required"}
        return {"anyOf": [text, intent]}
    return _closed({name: _nullable(dict(JSON_TYPES[kind].schema)) for name, kind in form.keys.items()})


def _record_schema(form: Record) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for item in fields(form.of):
        if item.name in form.fields:
            schema = _schema(form.fields[item.name])
            if item.name not in form.required:
                schema = _nullable(schema)
            text = _description(item.metadata) or _first_line(form.fields[item.name])
            properties[item.name] = {"description": text, **schema} if text else schema
    closed = _closed(properties)
    return {**closed, "required": list(form.required)} if form.required else closed


def _description(metadata: Mapping[str, Any]) -> str:
    text = str(metadata.get("doc", ""))
    return f"{text} Unit: {metadata['unit']}." if metadata.get("unit") else text


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    if "anyOf" in schema:
        return {**schema, "anyOf": [*schema["anyOf"], {"type": "null"}]}
    if "enum" in schema:
        rest = {name: value for name, value in schema.items() if name != "type"}
        return {**rest, "enum": [*schema["enum"], None]}
    kinds = schema.get("type")
    if kinds is None:
        return schema
    return {**schema, "type": [*(kinds if isinstance(kinds, list) else [kinds]), "null"]}
