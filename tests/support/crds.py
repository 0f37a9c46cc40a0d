"""What an API server would say to a manifest: structural schemas, without pruning anything silently."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from support.oracles import missing

_REPOSITORY = Path(__file__).resolve().parents[2]
_SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
_NAME_PART = r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)"
_LABEL_KEY = rf"^({_SUBDOMAIN[1:-1]}/)?{_NAME_PART}$"
_LABELS = {
    "type": "object",
    "propertyNames": {"pattern": _LABEL_KEY},
    "additionalProperties": {"type": "string", "pattern": rf"^{_NAME_PART}?$"},
}
# Source: Kubernetes API conventions, ObjectMeta as a writer may fill it.
_METADATA = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "pattern": _SUBDOMAIN, "maxLength": 253},
        "namespace": {"type": "string", "pattern": r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "maxLength": 63},
        "labels": _LABELS,
        "annotations": {
            "type": "object",
            "propertyNames": {"pattern": _LABEL_KEY},
            "additionalProperties": {"type": "string"},
        },
    },
    "additionalProperties": False,
}
_BOUNDS = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
_KEPT = {
    *("type", "enum", "required", "pattern", "minimum", "maximum", "minLength", "maxLength"),
    *("minItems", "maxItems", "minProperties", "maxProperties", "uniqueItems"),
}
_NESTED = {"properties", "items", "additionalProperties"}
_READ = {"format", "default", "nullable"}


def crd_files() -> list[Path]:
    """Return the definitions below TUNECTL_CRDS or `<repository>/../shared/crds`, empty when there are none."""
    return sorted(_directory().glob("*.json"))


def require_crds() -> list[Path]:
    """Return the definitions; skip loudly, or fail where all parts are required, when there are none."""
    found = crd_files()
    if not found:
        missing(f"no custom resource definitions: {_directory()} has none; set TUNECTL_CRDS to their directory")
    return found


def _directory() -> Path:
    return Path(os.environ.get("TUNECTL_CRDS") or _REPOSITORY.parent / "shared" / "crds")


def documents(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON documents of a file that may hold several, with or without separators between them."""
    decoder, rest = json.JSONDecoder(), text.lstrip("\ufeff \t\r\n")
    while rest:
        document, end = decoder.raw_decode(rest)
        yield from document.get("items", [document]) if document.get("kind") == "List" else [document]
        rest = re.sub(r"\A(?:[\s,\x00]|---)+", "", rest[end:])


class Schemas:
    """The schemas of all served kinds, by (apiVersion, kind)."""

    def __init__(self, files: list[Path]) -> None:
        """Read the definitions."""
        self.scopes: dict[tuple[str, str], str] = {}
        self._schemas: dict[tuple[str, str], Mapping[str, Any]] = {}
        for file in files:
            for definition in documents(file.read_text(encoding="utf-8")):
                spec = definition["spec"]
                for version in spec["versions"]:
                    key = f"{spec['group']}/{version['name']}", spec["names"]["kind"]
                    self._schemas[key] = version["schema"]["openAPIV3Schema"]
                    self.scopes[key] = spec["scope"]

    def complaints(self, manifest: Mapping[str, Any]) -> list[str]:
        """Return what is wrong with a manifest: wrong values, missing fields, and fields that would be pruned."""
        key = manifest.get("apiVersion", ""), manifest.get("kind", "")
        if key not in self._schemas:
            return [f"no definition of {key}"]
        schema = self._schemas[key]
        validator = Draft202012Validator({**convert(schema), "properties": _top(schema)})
        found = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(manifest)]
        is_namespaced = self.scopes[key] == "Namespaced"
        if is_namespaced is not bool(manifest["metadata"].get("namespace")):
            found.append(f"$.metadata.namespace: the kind is {self.scopes[key]}")
        # Rules in CEL cannot be evaluated here; none may go unseen.
        return found + [f"{path}: has a rule that nobody evaluated" for path in _ruled(schema, manifest, "$")]


def _top(schema: Mapping[str, Any]) -> dict[str, Any]:
    converted: dict[str, Any] = convert(schema)["properties"]
    return {**converted, "metadata": _METADATA}


def convert(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a structural schema as JSON Schema in which fields that would be pruned are errors."""
    if schema.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    unknown = {name for name in schema if not name.startswith("x-")} - _KEPT - _NESTED - _READ
    if unknown:
        raise ValueError(f"schema keywords that are not converted: {sorted(unknown)}")
    found: dict[str, Any] = {name: value for name, value in schema.items() if name in _KEPT}
    if "properties" in schema:
        found["properties"] = {name: convert(part) for name, part in schema["properties"].items()}
    if "items" in schema:
        found["items"] = convert(schema["items"])
    if isinstance(schema.get("additionalProperties"), Mapping):
        found["additionalProperties"] = convert(schema["additionalProperties"])
    elif schema.get("type") == "object" and not schema.get("x-kubernetes-preserve-unknown-fields"):
        found["additionalProperties"] = False
    if schema.get("format") in _BOUNDS:
        low, high = _BOUNDS[schema["format"]]
        found = {"minimum": low, "maximum": high, **found}
    if schema.get("nullable"):
        found["type"] = [found["type"], "null"]
    return found


def _ruled(schema: Mapping[str, Any], value: Any, path: str) -> Iterator[str]:
    if "x-kubernetes-validations" in schema:
        yield path
    if isinstance(value, Mapping):
        for name, item in value.items():
            part = schema.get("properties", {}).get(name) or schema.get("additionalProperties")
            if isinstance(part, Mapping):
                yield from _ruled(part, item, f"{path}.{name}")
    elif isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        for index, item in enumerate(value):
            yield from _ruled(schema["items"], item, f"{path}[{index}]")
