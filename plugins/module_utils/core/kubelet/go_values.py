# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Values read as the kubelet's language reads them: narrower here and wider there than elsewhere in tunectl."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from ..cpuset import MAX_CPU_ID, CpuSet

TRUE = ("1", "t", "T", "true", "TRUE", "True")
FALSE = ("0", "f", "F", "false", "FALSE", "False")

_INTEGER = re.compile(r"[+-]?[0-9]+\Z", re.ASCII)
_FLOAT = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?\Z", re.ASCII)
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_NANOSECONDS = {
    "ns": 1,
    "us": 1000,
    "µs": 1000,
    "μs": 1000,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_LARGEST_INT64 = 2**63 - 1
_LONGEST = 20


def go_bool(text: str) -> bool:
    """Return a truth value; raises `ValueError`. Source: Go `strconv.ParseBool`."""
    if text in TRUE:
        return True
    if text in FALSE:
        return False
    raise ValueError(f"{text!r} is neither true nor false")


def go_int(text: str) -> int:
    """Return a decimal whole number, a sign allowed; raises `ValueError`. Source: Go `strconv.Atoi`."""
    if not _INTEGER.match(text) or len(text) > _LONGEST or not -_LARGEST_INT64 - 1 <= int(text) <= _LARGEST_INT64:
        raise ValueError(f"{text[:_LONGEST]!r} is no whole number")
    return int(text)


def go_percentage(text: str) -> float:
    """Return a share from text like `12.5%`, 1 for 100%; raises `ValueError`. Source: kubelet eviction helpers."""
    digits = text.rstrip("%")
    if not _FLOAT.match(digits):
        raise ValueError(f"{text!r} is no percentage")
    return float(digits) / 100


@lru_cache(maxsize=256)
def go_duration(text: str) -> int:
    """Return a duration in nanoseconds; raises `ValueError`. Source: Go `time.ParseDuration`."""
    sign, rest = (-1, text[1:]) if text[:1] == "-" else (1, text[1:] if text[:1] == "+" else text)
    if rest == "0":
        return 0
    total, place = Fraction(0), 0
    while place < len(rest):
        match = _DURATION.match(rest, place)
        if not match:
            raise ValueError(f"{text!r} is no duration")
        total += Fraction(match.group(1).rstrip(".") or "0") * _NANOSECONDS[match.group(2)]
        place = match.end()
    if not rest or total > _LARGEST_INT64:
        raise ValueError(f"{text!r} is no duration")
    return sign * int(total)


def go_cpus(text: str) -> CpuSet:
    """Return a CPU list without blanks, strides or empty items; raises `ValueError`.

    Shape: CPUs above the largest that can be, which no machine has, count as that one.
    Source: `k8s.io/utils/cpuset`.
    """
    found = CpuSet()
    for item in text.split(",") if text else ():
        first, dash, last = item.partition("-")
        low, high = go_int(first), go_int(last if dash else first)
        if high < low:
            raise ValueError(f"{item!r} in {text!r} runs backwards")
        if low < 0:
            raise ValueError(f"{item!r} in {text!r} names a CPU below 0")
        found |= CpuSet.span(min(low, MAX_CPU_ID), min(high, MAX_CPU_ID))
    return found
