# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Corrections written into the text of a manifest: comments, order and everything else stay as they are.

A correction is made where the parser says that the field stands. Afterwards the text is read again, and only what
gives exactly the corrected object is kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import yaml

from ..core.audit.edits import Edit, edited
from ..render.yaml_text import yaml_text
from .manifest_source import child
from .manifest_yaml import Document, ManifestYamlError, read_documents

_PLAIN_NUMBER = re.compile(r"[0-9][0-9A-Za-z.]*\Z", re.ASCII)
_PLAIN_WORD = re.compile(r"[A-Za-z][A-Za-z0-9./_-]*\Z", re.ASCII)
# Some readers of YAML 1.1 take these for truth values, PyYAML does not.
_TRUTHS = ("y", "n")
_BLOCK_STYLES = ("|", ">")

# A part of the text, from and to as indices, and what is written instead.
_Piece = tuple[int, int, str]


@dataclass(frozen=True)
class Change:
    """One correction of one object in a text; `start` is where the object begins, as an index into the text."""

    start: int
    edit: Edit


class NotInPlaceError(Exception):
    """The text does not have the form in which this correction can be written; the message says why."""


def edited_text(text: str, changes: Iterable[Change]) -> tuple[str, list[tuple[Change, str]]]:
    """Return the text with the corrections made, and those that could not be made, each with the reason.

    Shape: the starts of all changes are places in the text as it is given. Of one object, one correction is made after
    the other, for what one adds may be where the next belongs; different objects are corrected together.
    """
    state = _State(text, _objects(text))
    numbers = {one.node.start_mark.index: number for number, one in enumerate(state.objects)}
    queues: dict[int, list[Change]] = {}
    for change in changes:
        queues.setdefault(numbers[change.start], []).append(change)
    left: list[tuple[Change, str]] = []
    for turn in range(max(map(len, queues.values()), default=0)):
        batch = {number: queue[turn] for number, queue in queues.items() if turn < len(queue)}
        try:
            state = _corrected(state, {number: change.edit for number, change in batch.items()})
        except NotInPlaceError:  # find out which of them
            state, failed = _one_by_one(state, batch)
            left += failed
    return state.text, left


@dataclass(frozen=True)
class _State:
    """A text and the objects it means."""

    text: str
    objects: list[Document]


def _one_by_one(state: _State, batch: Mapping[int, Change]) -> tuple[_State, list[tuple[Change, str]]]:
    failed: list[tuple[Change, str]] = []
    for number, change in batch.items():
        try:
            state = _corrected(state, {number: change.edit})
        except NotInPlaceError as error:  # noqa: PERF203  each correction stands for itself
            failed.append((change, str(error)))
    return state, failed


def _corrected(state: _State, edits: Mapping[int, Edit]) -> _State:
    """Return the text with one correction of each object; raises unless it means that and nothing else changed."""
    text = state.text
    pieces = [_piece(text, state.objects[number].node, edit) for number, edit in edits.items()]
    for start, end, words in sorted(pieces, reverse=True):
        text = text[:start] + words + text[end:]
    try:
        after = _objects(text)
    except ManifestYamlError as error:
        raise NotInPlaceError(f"the text could not be corrected in place: {error.why}") from error
    if len(after) != len(state.objects) or not all(
        _is_meant(one.data, before.data, edits.get(number))
        for number, (one, before) in enumerate(zip(after, state.objects))
    ):
        raise NotInPlaceError("a correction in place would change other fields too")
    return _State(text, after)


def _is_meant(data: Any, before: Any, edit: Edit | None) -> bool:
    if edit is None:
        return bool(data == before)
    return any(data == edited(before, reading) for reading in _readings(edit))


def _readings(edit: Edit) -> Iterator[Edit]:
    """Yield the edit; a quantity may be written as a number too."""
    yield edit
    if _is_quantity(edit) and _PLAIN_NUMBER.match(str(edit.value)):
        yield replace(edit, value=yaml.safe_load(str(edit.value)))


def _is_quantity(edit: Edit) -> bool:
    return "resources" in edit.path


def _objects(text: str) -> list[Document]:
    """Return the documents of a text with the members of lists in their place."""
    return [one for document in read_documents(text, "") for one in _flat(document)]


def _flat(document: Document) -> Iterator[Document]:
    is_list = isinstance(document.data, dict) and str(document.data.get("kind", "")).endswith("List")
    items = document.items() if is_list else None
    if items is None:
        yield document
        return
    for item in items:
        yield from _flat(item)


def _piece(text: str, node: yaml.Node, edit: Edit) -> _Piece:
    """Return what is written for a correction: at the deepest node of its path that exists."""
    path = list(edit.path)
    _check_own(text, node, None)
    while path:
        _, below = child(node, path[0])
        if below is None:
            break
        _check_own(text, below, node)
        node, path = below, path[1:]
    value = [edit.value] if edit.append else edit.value
    for step in reversed(path[1:]):
        if isinstance(step, int):
            raise NotInPlaceError("the list does not have that item")
        value = {step: value}
    writer = _Writer(text, node, is_quantity=_is_quantity(edit))
    if path:
        return writer.entry(path[0], value)
    return writer.item(edit.value) if edit.append else writer.replaced(edit.value)


def _check_own(text: str, node: yaml.Node, above: yaml.Node | None) -> None:
    if text[node.start_mark.index : node.start_mark.index + 1] in ("&", "!", "*"):
        raise NotInPlaceError("the field has an anchor or a tag, and may be used in other places too")
    if above is not None and not _is_within(node, above):
        raise NotInPlaceError("the field comes from an alias, and is written in another place")


def _is_within(one: yaml.Node, above: yaml.Node) -> bool:
    return bool(above.start_mark.index <= one.start_mark.index <= above.end_mark.index)


@dataclass(frozen=True)
class _Writer:
    """Writes below or over one node of a text, in the style that is there."""

    text: str
    node: yaml.Node
    is_quantity: bool = False

    @property
    def newline(self) -> str:
        """The line break of the text."""
        return "\r\n" if "\r\n" in self.text else "\n"

    @property
    def is_json(self) -> bool:
        """Whether the text is JSON, where keys and texts have quotes."""
        return self.text.lstrip()[:1] in ("{", "[")

    def replaced(self, value: Any) -> _Piece:
        """Write a single value over the one that is there."""
        node = self.node
        if not isinstance(node, yaml.ScalarNode) or isinstance(value, (dict, list)):
            raise NotInPlaceError("the field holds a collection")
        if node.style in _BLOCK_STYLES:
            raise NotInPlaceError("the field is a block of text")
        start, end = node.start_mark.index, node.end_mark.index
        return (start, end, self._in_style(node, value) if start < end else " " + self._scalar(value))

    def entry(self, key: str | int, value: Any) -> _Piece:
        """Write a new entry of a map, or the map where null stands."""
        node = self.node
        if isinstance(key, int):
            raise NotInPlaceError("the list does not have that item")
        if not isinstance(node, yaml.MappingNode):
            return self._filled({key: value})
        if node.flow_style:
            return self._in_flow([one for _, one in node.value], f"{self._scalar(key)}: {self._flow(value)}")
        own = [pair for pair in node.value if _is_within(pair[0], node)]
        if not own:
            raise NotInPlaceError("the map has only what it merges in")
        return self._below(own[-1], own[0][0].start_mark.column, yaml_text({key: value}))

    def item(self, value: Any) -> _Piece:
        """Write a new item of a list, or the list where null stands."""
        node = self.node
        if not isinstance(node, yaml.SequenceNode):
            return self._filled([value])
        if node.flow_style:
            return self._in_flow(node.value, self._flow(value))
        return self._below(node.value[-1:], node.start_mark.column, yaml_text([value]))

    def _in_style(self, node: yaml.ScalarNode, value: Any) -> str:
        text = str(value)
        if node.style == "'" and "'" not in text and text.isprintable():
            return f"'{text}'"
        if node.style is None and not self.is_json and self.is_quantity and _PLAIN_NUMBER.match(text):
            return text
        return json.dumps(value, ensure_ascii=False) if node.style == '"' else self._scalar(value)

    def _filled(self, value: Any) -> _Piece:
        node = self.node
        if not isinstance(node, yaml.ScalarNode) or node.tag != "tag:yaml.org,2002:null":
            raise NotInPlaceError("the field holds a single value where a collection belongs")
        start, end = node.start_mark.index, node.end_mark.index
        return (start, end, self._flow(value) if start < end else " " + self._flow(value))

    def _in_flow(self, items: list[yaml.Node], text: str) -> _Piece:
        node = self.node
        if any(not _is_within(one, node) for one in items):
            raise NotInPlaceError("the collection holds aliases")
        if not items:
            return (node.start_mark.index + 1, node.start_mark.index + 1, text)
        end = items[-1].end_mark.index
        return (end, end, f", {text}")

    def _below(self, last: Iterable[yaml.Node], column: int, lines: str) -> _Piece:
        """Write lines after the last member of a block, each at its column."""
        end = self._next_line(max(_last(one) for one in last))
        block = "".join(f"{' ' * column}{line}{self.newline}" for line in lines.splitlines())
        if end == len(self.text) and not self.text.endswith("\n"):
            block = self.newline + block.rstrip("\r\n")
        return (end, end, block)

    def _next_line(self, index: int) -> int:
        if index > 0 and self.text[index - 1] == "\n":
            return index
        newline = self.text.find("\n", index)
        return len(self.text) if newline < 0 else newline + 1

    def _flow(self, value: Any) -> str:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{self._scalar(key)}: {self._flow(one)}" for key, one in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(self._flow(one) for one in value) + "]"
        return self._scalar(value)

    def _scalar(self, value: Any) -> str:
        is_plain = isinstance(value, str) and not self.is_json and _PLAIN_WORD.match(value)
        if is_plain and value.lower() not in _TRUTHS and yaml.safe_load(value) == value:
            return str(value)
        return json.dumps(value, ensure_ascii=False)


def _last(node: yaml.Node) -> int:
    """Return where the text of a node ends; that of a block collection ends with its last member."""
    if isinstance(node, yaml.MappingNode) and not node.flow_style and node.value:
        return max(max(_last(value), _last(key)) for key, value in node.value)
    if isinstance(node, yaml.SequenceNode) and not node.flow_style and node.value:
        return max(_last(one) for one in node.value)
    return int(node.end_mark.index)
