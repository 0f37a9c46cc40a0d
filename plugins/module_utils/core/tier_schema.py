# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Tree → Tier: every value checked against its form, all mistakes collected, every value's place kept."""

from __future__ import annotations

from typing import Any

from .errors import InputError
from .findings import Origin
from .tier import TIER_API_VERSION, CpuIntent, Tier
from .tier_fields import TIER, key_elsewhere
from .tier_forms import Choices, Cpus, Form, Json, Record, Refusal, Scalar, Sequence, Table, did_you_mean
from .tier_grammar import DURATION
from .tier_json import JSON_TYPES, json_value
from .tier_names import sysctl_name
from .tier_rules import broken_rules
from .tier_tree import IDENTITY, Entries, Entry, Fault, Items, Leaf, Node, Path, find, in_file_order, without

_MISSING = object()
_MOST_SHOWN = 60


def same_key(path: Path, key: str) -> str:
    """Return the form by which two keys of one map are the same; kernel parameters have two spellings."""
    return sysctl_name(key) if path == ("sysctl",) else key


def decode_tier(tree: Node, faults: tuple[Fault, ...] = ()) -> Tier:
    """Return the tier that a (merged) tree describes.

    Shape: `faults` are mistakes found while reading, reported together with those found here.
    Sad paths: `InputError` with one problem for each mistake, in the order of the file (TUN-11xx to TUN-13xx).
    """
    decoder = _Decoder(list(faults))
    tier = decoder.tier(tree)
    if decoder.faults or tier is None:
        problems = tuple(fault.to_problem() for fault in in_file_order(decoder.faults))
        raise InputError(problems, state="Nothing was contacted.")
    return tier


def header_faults(tree: Entries) -> list[Fault]:
    """Return what is wrong with the keys that every tier file must have itself: apiVersion, kind and name."""
    faults = []
    for key, wanted in (("apiVersion", TIER_API_VERSION), ("kind", "Tier")):
        entry = find(tree, key)
        if entry is None:
            faults.append(Fault(tree.origin, key, "TUN-1108", f"the file has no {key}", fix=f"add {key}: {wanted}"))
        elif not (isinstance(entry.node, Leaf) and entry.node.text == wanted):
            shown = entry.node.text if isinstance(entry.node, Leaf) else "a collection"
            faults.append(
                Fault(entry.node.origin, key, "TUN-1108", f"{_shown(shown)} is not {wanted}", fix=f"{key}: {wanted}")
            )
    return faults


class _Decoder:
    """One walk over a tree; collects faults instead of stopping at the first."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = faults
        self.origins: dict[str, Origin] = {}

    def tier(self, tree: Node) -> Tier | None:
        if not isinstance(tree, Entries):
            self._fault(tree.origin, (), "TUN-1103", Refusal("a tier is a map of keys and values"))
            return None
        self.faults += header_faults(tree)
        hidden = tuple(key for key in IDENTITY if key != "name")
        fields = self._fields(TIER, without(tree, hidden), ())
        if "name" not in fields:
            return None
        tier = Tier(**fields, origins=self.origins)
        failed = {fault.path for fault in self.faults}
        if "extends" not in failed:  # half a tier breaks rules that the whole one keeps
            self.faults += broken_rules(tier, failed)
        return tier

    def value(self, form: Form, node: Node, path: Path) -> Any:
        """Return the value, or `_MISSING` after a fault."""
        self.origins[".".join(path)] = node.origin
        if isinstance(form, Scalar):
            return self._scalar(form, node, path)
        if isinstance(form, Cpus):
            return self._cpus(form, node, path)
        if isinstance(form, Sequence):
            return self._items(form, node, path)
        if not isinstance(node, Entries):
            return self._wrong_shape(node, path, "a map of keys and values belongs here")
        if isinstance(form, Record):
            return self._record(form, node, path)
        if isinstance(form, Choices):
            return self._choices(form, node, path)
        if isinstance(form, Table):
            return self._table(form, node, path)
        return self._json_fields(form, node, path)

    def _fault(self, origin: Origin, path: Path, code: str, refusal: Refusal) -> Any:
        """Keep a fault and return `_MISSING`; a code of the refusal's own wins."""
        where = ".".join(path)
        self.faults.append(Fault(origin, where, refusal.code or code, refusal.what, refusal.why, refusal.fix))
        return _MISSING

    def _wrong_shape(self, node: Node, path: Path, why: str, fix: str = "") -> Any:
        return self._fault(node.origin, path, "TUN-1103", Refusal(f"{_kind_of(node)} cannot stand here", why, fix))

    def _scalar(self, form: Scalar, node: Node, path: Path) -> Any:
        if not isinstance(node, Leaf):
            return self._wrong_shape(node, path, f"one value belongs here: {form.allowed or form.noun}")
        if node.kind not in form.kinds:
            return self._wrong_kind(form, node, path)
        if node.kind in ("int", "float") and any(mark in node.text for mark in "_:"):
            what = f"YAML reads {node.text} as another number"
            return self._fault(node.origin, path, "TUN-1111", Refusal(what, _allowed(form), f'quote it: "{node.text}"'))
        try:
            return form.parse(node.text)
        except Refusal as refusal:
            return self._fault(node.origin, path, form.code, refusal)

    def _wrong_kind(self, form: Scalar, node: Leaf, path: Path) -> Any:
        if node.kind == "bool":
            what = f"unquoted {node.text} is a YAML boolean, not {form.noun}"
            fix = f'quote it: "{node.text}"' + (", or write 1 or 0" if path[:1] == ("sysctl",) else "")
            return self._fault(
                node.origin, path, "TUN-1111", Refusal(what, _allowed(form), fix if "str" in form.kinds else "")
            )
        if node.kind == "null":
            return self._fault(node.origin, path, "TUN-1103", Refusal("the value is empty", _allowed(form)))
        quoted = "int" in form.kinds and node.kind == "str" and node.text.isdigit()
        fix = f"write {node.text} without quotes" if quoted else ""
        return self._fault(
            node.origin, path, "TUN-1103", Refusal(f"{_shown(node.text)} is not {form.noun}", _allowed(form), fix)
        )

    def _cpus(self, form: Cpus, node: Node, path: Path) -> Any:
        if isinstance(node, Entries):
            fields = self._fields(form.intent, node, path)
            count = fields.pop("count", _MISSING)
            if count is _MISSING:
                return _MISSING
            amount = {"percent": int(count[:-1])} if isinstance(count, str) else {"count": count}
            return CpuIntent(**amount, **fields)
        if form.may_be_rest and isinstance(node, Leaf) and node.text == "rest":
            return None
        if isinstance(node, Leaf) and node.text == "rest":
            why = "only cpu.isolated can be what is left"
            return self._fault(node.origin, path, "TUN-1201", Refusal("'rest' is not possible here", why))
        return self._scalar(form.text, node, path)

    def _items(self, form: Sequence, node: Node, path: Path) -> Any:
        if not isinstance(node, Items):
            return self._wrong_shape(node, path, "a list belongs here")
        values = [self.value(form.item, item, (*path, str(index))) for index, item in enumerate(node.items)]
        return tuple(value for value in values if value is not _MISSING)

    def _record(self, form: Record, node: Entries, path: Path) -> Any:
        fields = self._fields(form, node, path)
        return form.of(**fields) if all(name in fields for name in form.required) else _MISSING

    def _fields(self, form: Record, node: Entries, path: Path) -> dict[str, Any]:
        """Return the fields of a record that are given and right."""
        fields: dict[str, Any] = {}
        for entry in node.entries:
            if entry.key not in form.fields:
                self._unknown_key(entry, path, tuple(form.fields), "TUN-1104")
            elif not _is_null(entry.node):
                fields[entry.key] = self._entry(form.fields[entry.key], entry, path)
        for name in form.required:
            given = find(node, name)
            if given is None or _is_null(given.node):
                self._fault(node.origin, path, "TUN-1108", Refusal(f"{name} is missing", f"{_place(path)} needs it"))
        return {name: value for name, value in fields.items() if value is not _MISSING}

    def _entry(self, form: Form, entry: Entry, path: Path) -> Any:
        here = (*path, entry.key)
        value = self.value(form, entry.node, here)
        if not isinstance(entry.node, Leaf):
            self.origins[".".join(here)] = entry.origin
        return value

    def _unknown_key(self, entry: Entry, path: Path, names: tuple[str, ...], code: str, noun: str = "") -> None:
        fix = "" if noun else key_elsewhere(entry.key, ".".join(path))
        fix = fix or did_you_mean(entry.key, names)
        what = f"{_shown(entry.key)} is not {noun}" if noun else f"unknown key {_shown(entry.key)}"
        listed = not fix and len(names) <= _MOST_SHOWN
        why = f"known {'names' if noun else 'keys'}: {', '.join(names)}" if listed else ""
        self._fault(entry.origin, (*path, entry.key), code, Refusal(what, why, fix))

    def _choices(self, form: Choices, node: Entries, path: Path) -> Any:
        values: dict[str, Any] = {}
        for entry in node.entries:
            if entry.key in form.fields:
                if not _is_null(entry.node):
                    values[entry.key] = self._entry(form.fields[entry.key], entry, path)
            elif entry.key in form.hints:
                what = f"{_shown(entry.key)} is not {form.noun}"
                self._fault(entry.origin, (*path, entry.key), form.code, Refusal(what, form.hints[entry.key]))
            else:
                self._unknown_key(entry, path, tuple(form.fields), form.code, form.noun)
        return {name: value for name, value in values.items() if value is not _MISSING}

    def _table(self, form: Table, node: Entries, path: Path) -> Any:
        values: dict[str, Any] = {}
        for entry in node.entries:
            try:
                key = form.key.parse(entry.key)
            except Refusal as refusal:
                self._fault(entry.origin, (*path, entry.key), form.key.code, refusal)
                continue
            if key in values:
                what = f"{_shown(entry.key)} names {key} a second time"
                self._fault(entry.origin, (*path, key), "TUN-1106", Refusal(what, "", "keep one of the two"))
            elif not _is_null(entry.node):
                values[key] = self._pair(form, key, entry, path)
        return {name: value for name, value in values.items() if value is not _MISSING}

    def _pair(self, form: Table, key: str, entry: Entry, path: Path) -> Any:
        value = self._entry(form.value, Entry(key, entry.node, entry.origin), path)
        if value is _MISSING or form.check is None:
            return value
        try:
            return form.check(key, value)
        except Refusal as refusal:
            return self._fault(entry.node.origin, (*path, key), form.key.code, refusal)

    def _json_fields(self, form: Json, node: Entries, path: Path) -> Any:
        values: dict[str, Any] = {}
        for entry in node.entries:
            if entry.key in form.hints:
                what = f"{entry.key} cannot be set here"
                self._fault(entry.origin, (*path, entry.key), form.code, Refusal(what, form.hints[entry.key]))
            elif entry.key not in form.keys:
                self._unknown_key(entry, path, tuple(form.keys), form.code, form.noun)
            elif not _is_null(entry.node):
                self.origins[".".join((*path, entry.key))] = entry.node.origin
                values[entry.key] = self._typed_json(form.keys[entry.key], entry.node, (*path, entry.key))
        return {name: value for name, value in values.items() if value is not _MISSING}

    def _typed_json(self, kind: str, node: Node, path: Path) -> Any:
        """Return the JSON value of a field that has a type."""
        wanted = JSON_TYPES[kind]
        if not isinstance(node, wanted.shape) or (isinstance(node, Leaf) and node.kind not in wanted.kinds):
            quoted = isinstance(node, Leaf) and "str" in wanted.kinds
            fix = f'quote it: "{node.text}"' if quoted and isinstance(node, Leaf) else ""
            return self._wrong_shape(node, path, f"the kubelet wants {wanted.noun}", fix)
        if kind == "duration" and isinstance(node, Leaf):
            return self._scalar(DURATION, node, path)
        return self._json(node, path)

    def _json(self, node: Node, path: Path) -> Any:
        if isinstance(node, Items):
            return [self._json(item, (*path, str(index))) for index, item in enumerate(node.items)]
        if isinstance(node, Entries):
            return {entry.key: self._json(entry.node, (*path, entry.key)) for entry in node.entries}
        try:
            return json_value(node)
        except ValueError:
            what = f"{node.text} is not read the same way by every YAML reader"
            return self._fault(
                node.origin, path, "TUN-1111", Refusal(what, "true, false, a plain number or quoted text")
            )


def _allowed(form: Scalar) -> str:
    return f"allowed: {form.allowed}" if form.allowed not in ("", form.noun) else ""


def _is_null(node: Node) -> bool:
    return isinstance(node, Leaf) and node.kind == "null"


def _kind_of(node: Node) -> str:
    if isinstance(node, Leaf):
        return "an empty value" if node.kind == "null" else _shown(node.text)
    return "a list" if isinstance(node, Items) else "a map"


def _shown(text: str) -> str:
    short = text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "…"
    return repr(short)


def _place(path: Path) -> str:
    return ".".join(path) if path else "a tier"
