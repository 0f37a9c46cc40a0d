# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""YAML text → tree with the place of every value. Only the structure is read here, nothing is understood."""

from __future__ import annotations

from typing import Any

import yaml

from ..core.findings import Origin
from ..core.tier_tree import Entries, Entry, Fault, Items, Leaf, Node

_KINDS = {
    "tag:yaml.org,2002:str": "str",
    "tag:yaml.org,2002:int": "int",
    "tag:yaml.org,2002:float": "float",
    "tag:yaml.org,2002:bool": "bool",
    "tag:yaml.org,2002:null": "null",
    "tag:yaml.org,2002:timestamp": "str",
    "tag:yaml.org,2002:value": "str",
}
_MERGE = "tag:yaml.org,2002:merge"
_MAP = "tag:yaml.org,2002:map"
_LIST = "tag:yaml.org,2002:seq"
# Aliases can make a small file mean a huge one; a real tier has a few hundred values and a few levels.
_MOST_NODES = 20_000
_DEEPEST = 50


class YamlError(Exception):
    """The text is no single YAML document; carries the fault."""

    def __init__(self, fault: Fault) -> None:
        """Keep the fault."""
        super().__init__(fault.what)
        self.fault = fault


def read_tree(text: str, file: str) -> tuple[Node, list[Fault]]:
    """Return the tree of a YAML text, and the mistakes that do not keep it from being read (repeated keys, tags).

    Shape: origins name `file`; aliases are resolved and `<<` is merged, as YAML 1.1 says.
    Sad paths: `YamlError` with one fault (TUN-1105, TUN-1107, TUN-1101) when there is no tree.
    """
    try:
        documents = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        raise YamlError(_syntax(error, file)) from error
    except yaml.reader.ReaderError as error:
        raise YamlError(_unreadable(error, text, file)) from error
    except (RecursionError, ValueError) as error:
        raise YamlError(Fault(Origin(file), "", "TUN-1105", "the file is nested too deep to be read")) from error
    if len(documents) > 1:
        what = f"the file holds {len(documents)} YAML documents"
        origin = _origin(documents[1], file)
        raise YamlError(Fault(origin, "", "TUN-1107", what, "a tier file is one document", "keep one tier in a file"))
    if not documents or documents[0] is None or _is_empty(documents[0]):
        raise YamlError(Fault(Origin(file, 1, 1), "", "TUN-1101", "the file is empty", fix="tunectl tier new NAME"))
    builder = _Builder(file)
    return builder.build(documents[0], ()), builder.faults


def _is_empty(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def _origin(node: yaml.Node, file: str) -> Origin:
    return Origin(file, node.start_mark.line + 1, node.start_mark.column + 1)


def _syntax(error: yaml.MarkedYAMLError, file: str) -> Fault:
    mark = error.problem_mark or error.context_mark
    origin = Origin(file, mark.line + 1, mark.column + 1) if mark else Origin(file)
    return Fault(origin, "", "TUN-1105", f"not YAML: {error.problem or error.context}", error.context or "")


def _unreadable(error: Any, text: str, file: str) -> Fault:
    before = text[: error.position]
    origin = Origin(file, before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)
    what = f"not YAML: the character U+{ord(text[error.position]):04X} cannot stand in a YAML file"
    return Fault(origin, "", "TUN-1105", what, error.reason)


class _Builder:
    """One walk over a composed document."""

    def __init__(self, file: str) -> None:
        self.faults: list[Fault] = []
        self._file = file
        self._count = 0
        self._above: set[int] = set()

    def build(self, node: yaml.Node, path: tuple[str, ...]) -> Node:
        self._count += 1
        if self._count > _MOST_NODES or len(path) > _DEEPEST or id(node) in self._above:
            what = "the file means too much" if self._count > _MOST_NODES else "the file is nested too deep"
            why = "aliases repeat or contain themselves"
            raise YamlError(Fault(_origin(node, self._file), ".".join(path), "TUN-1105", what, why))
        self._above.add(id(node))
        built = self._collection(node, path)
        self._above.discard(id(node))
        return built

    def _collection(self, node: yaml.Node, path: tuple[str, ...]) -> Node:
        origin = _origin(node, self._file)
        if isinstance(node, yaml.SequenceNode):
            self._check_tag(node, _LIST, path)
            items = tuple(self.build(item, (*path, str(index))) for index, item in enumerate(node.value))
            return Items(items, origin)
        if isinstance(node, yaml.MappingNode):
            self._check_tag(node, _MAP, path)
            return Entries(self._entries(node, path), origin)
        kind = _KINDS.get(node.tag, "")
        if not kind:
            self._check_tag(node, "tag:yaml.org,2002:str", path)
        return Leaf(str(node.value), kind or "str", origin)

    def _check_tag(self, node: yaml.Node, wanted: str, path: tuple[str, ...]) -> None:
        if node.tag != wanted:
            what = f"the YAML tag {node.tag.replace('tag:yaml.org,2002:', '!!')} has no meaning in a tier"
            self.faults.append(Fault(_origin(node, self._file), ".".join(path), "TUN-1105", what, fix="leave it out"))

    def _entries(self, node: yaml.MappingNode, path: tuple[str, ...]) -> tuple[Entry, ...]:
        own: dict[str, Entry] = {}
        inherited: dict[str, Entry] = {}
        for key, value in node.value:
            if key.tag == _MERGE:
                for entry in self._merged(value, path):
                    inherited.setdefault(entry.key, entry)
            elif not isinstance(key, yaml.ScalarNode):
                what = "a key must be one word, not a collection"
                self.faults.append(Fault(_origin(key, self._file), ".".join(path), "TUN-1103", what))
            else:
                self._add(own, Entry(str(key.value), self.build(value, (*path, str(key.value))), self._at(key)), path)
        return (*(entry for name, entry in inherited.items() if name not in own), *own.values())

    def _at(self, key: yaml.Node) -> Origin:
        return _origin(key, self._file)

    def _add(self, own: dict[str, Entry], entry: Entry, path: tuple[str, ...]) -> None:
        if entry.key in own:
            what = f"the key {entry.key!r} stands here a second time"
            why = f"the first is in line {own[entry.key].origin.line}"
            where = ".".join((*path, entry.key))
            self.faults.append(Fault(entry.origin, where, "TUN-1106", what, why, "keep one of the two"))
            return
        own[entry.key] = entry

    def _merged(self, node: yaml.Node, path: tuple[str, ...]) -> list[Entry]:
        """Return the entries that `<<` brings in; earlier maps of a list win."""
        maps = node.value if isinstance(node, yaml.SequenceNode) else [node]
        entries: list[Entry] = []
        for one in maps:
            built = self.build(one, path)
            if isinstance(built, Entries):
                entries += built.entries
            else:
                what = "<< takes a map or a list of maps"
                self.faults.append(Fault(_origin(one, self._file), ".".join(path), "TUN-1103", what))
        return entries
