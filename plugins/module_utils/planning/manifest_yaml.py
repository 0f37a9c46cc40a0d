# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""YAML of manifests as Kubernetes reads it: several documents, anchors, no dates, no key twice; with places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from ..core.findings import Origin

_INT, _FLOAT, _TIME = (f"tag:yaml.org,2002:{name}" for name in ("int", "float", "timestamp"))
_MERGE = "tag:yaml.org,2002:merge"
_DEEPEST = 200


class ManifestYamlError(Exception):
    """The text is not YAML: where, and why."""

    def __init__(self, origin: Origin, why: str) -> None:
        """Keep the parts."""
        super().__init__(why)
        self.origin = origin
        self.why = why


class _Loader(yaml.SafeLoader):
    """Scalars as Kubernetes reads them: text that looks like a date or like 12:30 is text."""


_RESOLVERS = {
    letter: [(tag, pattern) for tag, pattern in resolvers if tag not in (_INT, _FLOAT, _TIME)]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.yaml_implicit_resolvers = _RESOLVERS
_Loader.add_implicit_resolver(
    _INT,
    re.compile(r"^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?0x[0-9a-fA-F_]+|[-+]?(?:0|[1-9][0-9_]*))$"),
    [*"-+0123456789"],
)
_Loader.add_implicit_resolver(
    _FLOAT,
    re.compile(r"^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?)$"),
    [*"-+0123456789."],
)


@dataclass(frozen=True)
class Document:
    """JSON data with the place where it begins; the places of what is inside are in the node."""

    data: Any
    origin: Origin
    node: yaml.Node

    def items(self) -> list[Document] | None:
        """Return the members of `items` of a map, None when that is no list."""
        values = self.data.get("items")
        if values is None:
            return []
        if not isinstance(values, list):
            return None
        node = _value(self.node, "items")
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [self.node] * len(values)
        return [Document(data, _origin(one, self.origin.file), one) for data, one in zip(values, nodes)]


def read_documents(text: str, file: str) -> Iterator[Document]:
    """Yield the documents of a text, in order; an empty one has the data None.

    Raises `ManifestYamlError` with file, line and column.
    """
    try:
        loader = _Loader(text)
        while loader.check_node():
            node = loader.get_node()
            if node is None:
                return
            _check_keys(node, file)
            yield Document(loader.construct_document(node), _origin(node, file), node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Origin(file, mark.line + 1, mark.column + 1) if mark else Origin(file)
        raise ManifestYamlError(place, _because(error)) from error
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        place = Origin(file, before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)
        raise ManifestYamlError(place, f"the character U+{ord(text[error.position]):04X} cannot stand in it") from error
    except (yaml.YAMLError, RecursionError, ValueError, OverflowError) as error:
        raise ManifestYamlError(Origin(file, 1, 1), _first_line(error)) from error


def _because(error: yaml.MarkedYAMLError) -> str:
    parts = [str(part) for part in (error.context, error.problem) if part]
    if "\\t" in (error.problem or ""):
        parts.append("YAML is indented with blanks, never with tabs")
    return ": ".join(parts) or "it cannot be parsed"


def _first_line(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deep to be read"
    return (str(error).splitlines() or [type(error).__name__])[0]


def _origin(node: yaml.Node, file: str) -> Origin:
    return Origin(file, node.start_mark.line + 1, node.start_mark.column + 1)


def _value(node: yaml.Node, name: str) -> yaml.Node | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next((value for key, value in pairs if key.value == name), None)


def _check_keys(root: yaml.Node, file: str) -> None:
    """Raise when a key stands twice in one map: one of the values would silently win."""
    seen: set[int] = set()
    below: list[tuple[yaml.Node, int]] = [(root, 0)]
    while below:
        node, depth = below.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if depth > _DEEPEST:
            raise ManifestYamlError(_origin(node, file), "it is nested too deep to be read")
        if isinstance(node, yaml.SequenceNode):
            below += [(one, depth + 1) for one in node.value]
        elif isinstance(node, yaml.MappingNode):
            _check_map(node, file)
            below += [(value, depth + 1) for _, value in node.value]


def _check_map(node: yaml.MappingNode, file: str) -> None:
    first: dict[str, int] = {}
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.tag == _MERGE:
            continue
        if key.value in first:
            why = f"the key {key.value!r} stands twice in one map, first in line {first[key.value]}"
            raise ManifestYamlError(_origin(key, file), why)
        first[key.value] = key.start_mark.line + 1
