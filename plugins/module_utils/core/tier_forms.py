# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The forms that values of a tier file take. Decoder, JSON schema, reference and writer all follow them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Union

TEXT_KINDS = ("str", "int", "float")
NUMBER_KINDS = ("int",)
# Longer numbers are out of every range here; Python refuses to convert very long ones.
_LONGEST_NUMBER = 20


class Refusal(ValueError):  # noqa: N818  it reads as what it is
    """Why a text does not fit its form: what is wrong with it, what is allowed, what to write instead."""

    def __init__(self, what: str, why: str = "", fix: str = "", code: str = "") -> None:
        """Keep the parts; `code` replaces the code of the form."""
        super().__init__(what)
        self.what, self.why, self.fix, self.code = what, why, fix, code


def as_is(value: Any) -> Any:
    """Return the value: most values are written as they are held."""
    return value


@dataclass(frozen=True)
class Scalar:
    """One value in one place.

    Shape: `noun` completes "is not …"; `parse` turns the text into the held value or raises `Refusal`; `kinds` are
    the YAML kinds it may have; `schema` is its JSON schema; `allowed` says in a few words what may stand there;
    `write` gives the plain data that `parse` would read back.
    """

    noun: str
    code: str
    parse: Callable[[str], Any]
    schema: Mapping[str, Any]
    kinds: tuple[str, ...] = TEXT_KINDS
    allowed: str = ""
    write: Callable[[Any], Any] = as_is


@dataclass(frozen=True)
class Record:
    """A map with fixed keys that becomes a value of the class `of`; `required` keys must be given."""

    of: type
    fields: Mapping[str, Form]
    required: tuple[str, ...] = ()


@dataclass(frozen=True)
class Choices:
    """A map with a closed set of optional keys that stays a map, such as policy options."""

    noun: str
    code: str
    fields: Mapping[str, Form]
    hints: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """A map with free keys; `check` gives the value of a pair its last word or raises `Refusal`."""

    key: Scalar
    value: Form
    check: Callable[[str, Any], Any] | None = None


@dataclass(frozen=True)
class Sequence:
    """A list of values of one form; `noun` names one item."""

    item: Form


@dataclass(frozen=True)
class Cpus:
    """CPUs as a kernel list, or as an intent (a record); with `may_be_rest` also the word rest."""

    text: Scalar
    intent: Record
    may_be_rest: bool = False


@dataclass(frozen=True)
class Json:
    """Free JSON data below keys from a closed set.

    Shape: `keys` gives the type of each key's value: bool, int, duration, text, list or map. `hints` answer keys that
    are known but do not belong here.
    """

    noun: str
    code: str
    keys: Mapping[str, str]
    hints: Mapping[str, str] = field(default_factory=dict)


Form = Union[Scalar, Record, Choices, Table, Sequence, Cpus, Json]


def nearest(word: str, names: Iterable[str]) -> str:
    """Return the name most like the word, whatever its case, dashes and underscores; "" when none is near."""
    plain: dict[str, str] = {}
    for name in names:
        plain.setdefault(plain_name(name), name)
    found = difflib.get_close_matches(plain_name(word), list(plain), n=1, cutoff=0.6)
    return plain[found[0]] if found else ""


def plain_name(word: str) -> str:
    """Return a name without case, dashes and underscores, in which people differ most."""
    return word.lower().replace("_", "").replace("-", "")


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return the hint that names the nearest name, "" when none is near."""
    name = nearest(word, names)
    return f"did you mean {name!r}?" if name else ""


def choice(noun: str, names: tuple[str, ...], code: str = "TUN-1102") -> Scalar:
    """Return the form of a closed set of exact spellings."""
    listed = ", ".join(names)

    def parse(text: str) -> str:
        if text in names:
            return text
        raise Refusal(f"{text!r} is not {noun}", f"one of: {listed}", did_you_mean(text, names))

    return Scalar(noun, code, parse, {"type": "string", "enum": list(names)}, ("str",), listed)


def whole_number(least: int, most: int, noun: str = "a whole number") -> Scalar:
    """Return the form of a decimal whole number within bounds, both included."""
    span = f"{least} or more" if most >= 2**31 - 1 else f"{least} to {most}"

    def parse(text: str) -> int:
        digits = text[1:] if text[:1] == "-" else text
        if not (digits.isascii() and digits.isdigit()) or (len(digits) > 1 and digits[0] == "0"):
            raise Refusal(f"{text!r} is not {noun}", "digits only, no leading zero", code="TUN-1103")
        value = int(text[:_LONGEST_NUMBER])
        if not least <= value <= most:
            raise Refusal(f"{text} is out of range", f"allowed: {span}", code="TUN-1210")
        return value

    schema = {"type": "integer", "minimum": least, "maximum": most}
    return Scalar(noun, "TUN-1103", parse, schema, NUMBER_KINDS, span)


def truth() -> Scalar:
    """Return the form of true and false; yes, no, on and off are refused because YAML readers disagree on them."""

    def parse(text: str) -> bool:
        if text.lower() not in ("true", "false"):
            raise Refusal(f"{text!r} is not read the same way by every YAML reader", "write true or false")
        return text.lower() == "true"

    return Scalar("true or false", "TUN-1103", parse, {"type": "boolean"}, ("bool",), "true or false")


def pattern(text: str) -> dict[str, Any]:
    """Return the JSON schema of texts that match a pattern as a whole."""
    return {"type": "string", "pattern": f"^{text}$"}


def matched(noun: str, code: str, text: str, why: str, longest: int = 0) -> Scalar:
    """Return the form of texts that match a pattern as a whole, with at most `longest` characters where given."""
    compiled = re.compile(text)

    def parse(value: str) -> str:
        if not compiled.fullmatch(value):
            raise Refusal(f"{value!r} is not {noun}", why)
        if longest and len(value) > longest:
            raise Refusal(f"{value!r} is too long", f"{len(value)} characters, at most {longest}")
        return value

    schema = {**pattern(f"({text})"), "maxLength": longest} if longest else pattern(f"({text})")
    return Scalar(noun, code, parse, schema, ("str",), why)


def or_number(form: Scalar, *kinds: str) -> Scalar:
    """Return the form, open to numbers (`int`, `float`) that YAML makes of unquoted digits."""
    names = {"int": "integer", "float": "number"}
    schema = {**form.schema, "type": ["string", *(names[kind] for kind in kinds)]}
    return replace(form, kinds=("str", *kinds), schema=schema)
