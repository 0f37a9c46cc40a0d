# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Kubernetes quantities and eviction thresholds as exact numbers."""

from __future__ import annotations

import re
import struct
from fractions import Fraction

from .errors import InputError, problem

_QUANTITY = re.compile(r"([+-]?)(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+|[KMGTPE]i|[numkMGTPE])?\Z", re.ASCII)
_PERCENT = re.compile(r"(\d+(?:\.\d*)?|\.\d+)%\Z", re.ASCII)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_NANO = 10**9
_LARGEST = 2**63 - 1
_LONGEST_EXPONENT = 4
_HUNDRED = 100


def parse_quantity(text: str, where: str = "") -> Fraction:
    """Return the exact number that a Kubernetes quantity names.

    Shape: rounded away from zero to a whole number of nano units and capped at 2^63-1, as the API machinery does.
    Scale: the unit of the resource: bytes of memory, cores of cpu.
    Sad paths: `TUN-2200` for text that is no quantity (blanks, unknown suffix, no digits).
    Source: Kubernetes API reference, `Quantity` serialization format.
    """
    match = _QUANTITY.match(text)
    if not match or len((match.group(3) or "").lstrip("eE+-0")) > _LONGEST_EXPONENT:
        raise InputError(
            (
                problem(
                    "TUN-2200",
                    f"{text!r} is not a Kubernetes quantity",
                    where=where,
                    why="a quantity is a number with an optional suffix: 500m, 2, 1.5, 2e3, 8Gi, 500M",
                    fix="write for instance 8Gi for memory or 500m for half a core",
                ),
            )
        )
    exact = Fraction(match.group(2).rstrip(".") or "0") * _suffix_factor(match.group(3) or "")
    rounded = min(Fraction(-(-exact.numerator * _NANO // exact.denominator), _NANO), Fraction(_LARGEST))
    return -rounded if match.group(1) == "-" else rounded


def _suffix_factor(suffix: str) -> Fraction:
    if suffix in _BINARY:
        return Fraction(1024 ** (_BINARY.index(suffix) + 1))
    exponent = _DECIMAL[suffix] if suffix in _DECIMAL else int(suffix[1:] or "0")
    return Fraction(10) ** exponent


def round_up(value: Fraction) -> int:
    """Return the smallest whole number that is not below the value: how Kubernetes reads a quantity as an integer."""
    return -(-value.numerator // value.denominator)


def parse_bytes(text: str, where: str = "") -> int:
    """Return a memory quantity in bytes, rounded up; raises as `parse_quantity`."""
    return round_up(parse_quantity(text, where))


def cpu_millis(text: str, where: str = "") -> int:
    """Return a cpu quantity in thousandths of a core, rounded up; raises as `parse_quantity`."""
    return round_up(parse_quantity(text, where) * 1000)


def format_bytes(count: int) -> str:
    """Return the shortest exact binary spelling of a number of bytes (`11Gi`, `1100Mi`, `4097`).

    `parse_bytes` gives the same number back.
    """
    suffix = ""
    for larger in _BINARY:
        if count == 0 or count % 1024:
            break
        count //= 1024
        suffix = larger
    return f"{count}{suffix}"


def format_quantity(value: Fraction) -> str:
    """Return the plain decimal spelling of a quantity, in milli, micro or nano units where it is not whole.

    Shape: `parse_quantity` gives the same number back for every value that is a whole number of nano units.
    """
    for suffix, factor in (("", 1), ("m", 10**3), ("u", 10**6), ("n", _NANO)):
        scaled = value * factor
        if scaled.denominator == 1:
            return f"{scaled.numerator}{suffix}"
    return f"{round_up(value * _NANO)}n"


def is_percentage(text: str) -> bool:
    """Return whether an eviction threshold is a share of the capacity (`10%`)."""
    return _PERCENT.match(text) is not None


def threshold_bytes(text: str, capacity: int, where: str = "") -> int:
    """Return what an eviction threshold means on a machine with `capacity` bytes.

    Shape: `0%` and `100%` switch the signal off and count as 0. A percentage goes through a 32-bit float, because
    the kubelet computes it so: 5% of 64Gi is 3435973888, not 3435973836.
    Sad paths: `TUN-2200` for text that is neither a quantity nor a percentage up to 100.
    Source: kubelet eviction signals and thresholds; measured on the kubelet.
    """
    match = _PERCENT.match(text)
    if not match:
        return parse_bytes(text, where)
    if text in ("0%", "100%"):
        return 0
    percent = float(match.group(1))
    if percent > _HUNDRED:
        return parse_bytes(text, where)
    share = _float32(_float32(percent) / _float32(_HUNDRED))
    return int(float(capacity) * share)


def _float32(value: float) -> float:
    return float(struct.unpack("<f", struct.pack("<f", value))[0])
