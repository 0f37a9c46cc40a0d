# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""CPU sets as one immutable value, with the kernel's two spellings: lists and masks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

# The kernel's NR_CPUS tops out at 8192 on today's architectures; beyond this a list is a typing error.
MAX_CPU_ID = 65535

_ITEM = re.compile(r"(\d+)(?:-(\d+)(?::(\d+)/(\d+))?)?\Z", re.ASCII)
_MASK = re.compile(r"(?:0[xX])?[0-9a-fA-F]+(?:,[0-9a-fA-F]+)*\Z")
_MASK_WORD_DIGITS = 8


class CpuSet:
    """An immutable set of kernel logical CPU ids.

    Shape: iterates in ascending order; hashable; `|`, `&`, `-`, `^`, `<=`, `<`, `in`, `len` as `frozenset`.
    Scale: kernel logical CPU ids, 0 to `MAX_CPU_ID`.
    Source: kernel `admin-guide/cputopology` and `lib/bitmap.c` (list with stride `a-b:used/group`, comma-grouped hex).
    """

    __slots__ = ("_bits",)
    _bits: int

    def __init__(self, cpus: Iterable[int] = ()) -> None:
        """Build from ids; raises `ValueError` for a negative or too large id."""
        bits = 0
        for cpu in cpus:
            if not 0 <= cpu <= MAX_CPU_ID:
                raise ValueError(f"CPU id {cpu} is outside 0-{MAX_CPU_ID}")
            bits |= 1 << cpu
        object.__setattr__(self, "_bits", bits)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse assignment: a CPU set is a value."""
        raise AttributeError("CpuSet is immutable")

    def __delattr__(self, name: str) -> None:
        """Refuse deletion: a CPU set is a value."""
        raise AttributeError("CpuSet is immutable")

    @classmethod
    def _of(cls, bits: int) -> CpuSet:
        new = object.__new__(cls)
        object.__setattr__(new, "_bits", bits)
        return new

    @classmethod
    def parse(cls, text: str) -> CpuSet:
        """Return the set that a kernel CPU list names.

        Shape: `""` is the empty set; items may overlap and be in any order; white space around items is accepted.
        Sad paths: `ValueError` naming the item that is not `a`, `a-b` or `a-b:used/group`.
        """
        bits = 0
        stripped = text.strip()
        if not stripped:
            return cls._of(0)
        for raw in stripped.split(","):
            bits |= _item_bits(raw.strip(), text)
        return cls._of(bits)

    @classmethod
    def parse_mask(cls, text: str) -> CpuSet:
        """Return the set that a hexadecimal mask names, comma-grouped by 32 bits or plain, with or without `0x`.

        Sad paths: `ValueError` when the text is no mask, one of several groups is longer than eight digits, or a CPU
        is above `MAX_CPU_ID`.
        """
        stripped = text.strip()
        if not _MASK.match(stripped):
            raise ValueError(f"{text!r} is not a CPU mask: write hexadecimal like ff or 000000ff,ffffffff")
        groups = stripped[2:].split(",") if stripped[:2] in ("0x", "0X") else stripped.split(",")
        if len(groups) > 1 and any(len(group) > _MASK_WORD_DIGITS for group in groups):
            raise ValueError(f"{text!r} is not a CPU mask: a comma-separated group has at most 8 digits")
        bits = 0
        for group in groups:
            bits = (bits << 32) | int(group, 16) if len(groups) > 1 else int(group, 16)
        if bits >> (MAX_CPU_ID + 1):
            raise ValueError(f"{text!r} names CPUs above {MAX_CPU_ID}")
        return cls._of(bits)

    @classmethod
    def span(cls, first: int, last: int) -> CpuSet:
        """Return the CPUs `first` to `last`, both included; raises `ValueError` when they run backwards."""
        if last < first:
            raise ValueError(f"{first}-{last} runs backwards: the first CPU of a range is the smaller")
        return cls(range(first, last + 1))

    def format(self) -> str:
        """Return the canonical kernel list (`0-3,8`), `""` when empty; `parse` gives the same set back."""
        return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in self.ranges())

    def mask(self, width: int = 0) -> str:
        """Return the kernel's comma-grouped hex mask, groups of eight digits, at least `width` CPUs wide."""
        words = max(1, -(-max(self._bits.bit_length(), width) // 32))
        return ",".join(f"{(self._bits >> (32 * word)) & 0xFFFFFFFF:08x}" for word in reversed(range(words)))

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Yield maximal runs as (first, last), ascending."""
        bits, base = self._bits, 0
        while bits:
            gap = (bits & -bits).bit_length() - 1
            bits >>= gap
            base += gap
            run = (~bits & (bits + 1)).bit_length() - 1
            yield base, base + run - 1
            bits >>= run
            base += run

    @property
    def first(self) -> int:
        """The lowest CPU id; raises `ValueError` on the empty set."""
        if not self._bits:
            raise ValueError("the empty CPU set has no first CPU")
        return (self._bits & -self._bits).bit_length() - 1

    @property
    def last(self) -> int:
        """The highest CPU id; raises `ValueError` on the empty set."""
        if not self._bits:
            raise ValueError("the empty CPU set has no last CPU")
        return self._bits.bit_length() - 1

    def isdisjoint(self, other: CpuSet) -> bool:
        """Return whether no CPU is in both sets."""
        return not self._bits & other._bits

    def __iter__(self) -> Iterator[int]:
        """Yield ids in ascending order."""
        for first, last in self.ranges():
            yield from range(first, last + 1)

    def __contains__(self, cpu: object) -> bool:
        """Return whether the id is in the set."""
        return isinstance(cpu, int) and cpu >= 0 and bool(self._bits >> cpu & 1)

    def __len__(self) -> int:
        """Return the number of CPUs."""
        return bin(self._bits).count("1")

    def __bool__(self) -> bool:
        """Return whether any CPU is in the set."""
        return bool(self._bits)

    def __or__(self, other: CpuSet) -> CpuSet:
        """Return the union."""
        return CpuSet._of(self._bits | other._bits)

    def __and__(self, other: CpuSet) -> CpuSet:
        """Return the intersection."""
        return CpuSet._of(self._bits & other._bits)

    def __sub__(self, other: CpuSet) -> CpuSet:
        """Return the CPUs of this set that are not in the other."""
        return CpuSet._of(self._bits & ~other._bits)

    def __xor__(self, other: CpuSet) -> CpuSet:
        """Return the CPUs that are in exactly one of the sets."""
        return CpuSet._of(self._bits ^ other._bits)

    def __le__(self, other: CpuSet) -> bool:
        """Return whether every CPU is in the other set."""
        return not self._bits & ~other._bits

    def __lt__(self, other: CpuSet) -> bool:
        """Return whether this is a proper subset."""
        return self <= other and self._bits != other._bits

    def __ge__(self, other: CpuSet) -> bool:
        """Return whether the other set is contained in this one."""
        return other <= self

    def __gt__(self, other: CpuSet) -> bool:
        """Return whether this is a proper superset."""
        return other < self

    def __eq__(self, other: object) -> bool:
        """Return whether both hold the same CPUs."""
        return isinstance(other, CpuSet) and self._bits == other._bits

    def __hash__(self) -> int:
        """Hash by content."""
        return hash((CpuSet, self._bits))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle and copy as the list form."""
        return (CpuSet.parse, (self.format(),))

    def __str__(self) -> str:
        """Return the kernel list."""
        return self.format()

    def __repr__(self) -> str:
        """Return the set as it would be parsed."""
        return f"CpuSet.parse({self.format()!r})"


def union(sets: Iterable[CpuSet]) -> CpuSet:
    """Return the union of any number of sets."""
    result = CpuSet()
    for one in sets:
        result |= one
    return result


def _item_bits(item: str, text: str) -> int:
    match = _ITEM.match(item)
    if not match:
        raise ValueError(f"{item!r} in {text!r} is not a CPU list item: write like 0-3,8 or 0-31:2/4")
    first = int(match.group(1))
    last = first if match.group(2) is None else int(match.group(2))
    if last < first:
        raise ValueError(f"{item!r} runs backwards: the first CPU of a range is the smaller")
    if last > MAX_CPU_ID:
        raise ValueError(f"{item!r} names a CPU above {MAX_CPU_ID}")
    if match.group(3) is None:
        return ((1 << (last - first + 1)) - 1) << first
    used, group = int(match.group(3)), int(match.group(4))
    if not 0 < used <= group:
        raise ValueError(f"{item!r} has a stride that is not used/group with 0 < used <= group")
    bits = 0
    for start in range(first, last + 1, group):
        width = min(used, last - start + 1)
        bits |= ((1 << width) - 1) << start
    return bits
