# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Numbers of a tier as forms: CPU lists and counts, quantities, thresholds, durations, sizes, policy options."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .cpuset import CpuSet
from .errors import InputError
from .quantity import is_percentage, parse_quantity
from .tier_forms import TEXT_KINDS, Refusal, Scalar, choice, matched, or_number, pattern

HUGEPAGE_SIZES = ("64k", "2M", "32M", "512M", "1G", "16G")

_DURATION = r"(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+)"
_QUANTITY = r"[+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+|[KMGTPE]i|[numkMGTPE])?"
_CPU_ITEM = r"[0-9]+(-[0-9]+(:[0-9]+/[0-9]+)?)?"
_CPU_LIST = rf" *{_CPU_ITEM} *(, *{_CPU_ITEM} *)*"
_HUNDRED = 100


def borrowed(check: Callable[[], Any]) -> Any:
    """Return what a check of another part of the core returns; its refusal becomes ours, with its own code."""
    try:
        return check()
    except InputError as error:
        first = error.problems[0]
        raise Refusal(first.what, first.why, code=first.code) from None


def _parse_cpus(text: str) -> CpuSet:
    try:
        cpus = CpuSet.parse(text)
    except ValueError as error:
        why = str(error).partition(":")[0] if "," in text or "-" in text else ""
        raise Refusal(f"{text!r} is not a CPU list", why, "write like 0-3,8 (kernel numbering)") from None
    if not cpus:
        raise Refusal("the CPU list is empty", "a list names at least one CPU", "leave the key out")
    return cpus


_CPU_TEXT = Scalar(
    "a CPU list",
    "TUN-1201",
    _parse_cpus,
    pattern(_CPU_LIST),
    ("str",),
    "a kernel CPU list such as 0-3,8",
    CpuSet.format,
)
CPU_LIST = or_number(_CPU_TEXT, "int")


def _parse_count(text: str) -> int | str:
    if re.fullmatch(r"([1-9][0-9]?|100)%", text):
        return text
    if re.fullmatch(r"[1-9][0-9]{0,4}", text):
        return int(text)
    raise Refusal(f"{text!r} is not a number of CPUs", "a whole number such as 8, or a share such as 30%")


CPU_COUNT = Scalar(
    "a number of CPUs",
    "TUN-1202",
    _parse_count,
    {
        "type": ["string", "integer"],
        "pattern": "^([1-9][0-9]{0,4}|([1-9][0-9]?|100)%)$",
        "minimum": 1,
        "maximum": 99999,
    },
    ("str", "int"),
    "a whole number, or a share such as 30%",
)


def _parse_amount(text: str) -> str:
    if borrowed(lambda: parse_quantity(text)) < 0:
        raise Refusal(f"{text!r} is negative", "zero or more", code="TUN-1210")
    return text


def _parse_some(text: str) -> str:
    if borrowed(lambda: parse_quantity(text)) <= 0:
        raise Refusal(f"{text!r} is nothing", "more than zero", code="TUN-1210")
    return text


def _parse_threshold(text: str) -> str:
    if not is_percentage(text):
        return _parse_some(text)
    if float(text[:-1]) > _HUNDRED:
        raise Refusal(f"{text!r} is more than everything", "0% to 100%", code="TUN-1210")
    return text


def _quantity(parse: Callable[[str], str], more: str, allowed: str) -> Scalar:
    text = Scalar("a Kubernetes quantity", "TUN-2200", parse, pattern(f"({_QUANTITY}{more})"), ("str",), allowed)
    return or_number(text, "int", "float")


QUANTITY = _quantity(_parse_amount, "", "a Kubernetes quantity such as 8Gi or 500m")
POSITIVE_QUANTITY = _quantity(_parse_some, "", "a quantity above zero, such as 8Gi")
THRESHOLD = _quantity(
    _parse_threshold,
    r"|([0-9]+(\.[0-9]*)?|\.[0-9]+)%",
    "a quantity such as 2Gi, or a percentage; 0% and 100% switch the signal off",
)
DURATION = matched("a duration", "TUN-1203", _DURATION, "a number with ns, us, ms, s, m or h, such as 10s or 1m30s")
_NANOSECONDS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}


def duration_ns(text: str) -> int:
    """Return a duration in nanoseconds, rounded down; the text must be right."""
    parts = re.findall(r"([0-9.]+)(ns|us|µs|ms|s|m|h)", text)
    return int(sum(Fraction(number.rstrip(".")) * _NANOSECONDS[unit] for number, unit in parts))


HUGEPAGE_SIZE = choice("a hugepage size", HUGEPAGE_SIZES, "TUN-1209")
MAX_UNAVAILABLE = or_number(
    matched(
        "a number of nodes",
        "TUN-1210",
        r"([1-9][0-9]{0,4}|([1-9][0-9]?|100)%)",
        "a number such as 1, or a percentage such as 10%",
    ),
    "int",
)


def _parse_factor(text: str) -> str:
    if not re.fullmatch(r"[01]?(\.[0-9]*)?", text) or text in ("", ".") or not 0 < float(text) <= 1:
        raise Refusal(f"{text!r} is not a factor", "above 0, at most 1, such as 0.9")
    return text


FACTOR = Scalar(
    "a factor",
    "TUN-1210",
    _parse_factor,
    {
        "type": ["string", "integer", "number"],
        "pattern": r"^[01]?(\.[0-9]*)?$",
        "exclusiveMinimum": 0,
        "maximum": 1,
    },
    TEXT_KINDS,
    "above 0, at most 1",
)


def policy_option(name: str, minimum: int, *, is_number: bool) -> Scalar:
    """Return the form of a policy option's value; it is held as text because the kubelet wants text."""
    if not is_number:
        return Scalar(
            "true or false",
            "TUN-1211",
            lambda text: _parse_flag(name, text),
            {"enum": [True, False, "true", "false"]},
            ("str", "bool"),
            "true or false",
        )
    return Scalar(
        "a whole number",
        "TUN-1211",
        lambda text: _parse_number(name, text, minimum),
        {"type": ["string", "integer"], "pattern": "^[1-9][0-9]*$", "minimum": minimum},
        ("str", "int"),
        f"a whole number, {minimum} or more",
    )


def _parse_flag(name: str, text: str) -> str:
    if text.lower() not in ("true", "false"):
        raise Refusal(f"{text!r} is no value of {name}", "true or false")
    return text.lower()


def _parse_number(name: str, text: str, minimum: int) -> str:
    if not re.fullmatch(r"[1-9][0-9]{0,5}", text) or int(text) < minimum:
        raise Refusal(f"{text!r} is no value of {name}", f"a whole number, {minimum} or more")
    return text
