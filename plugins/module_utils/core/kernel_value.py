# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Values that the kernel shows in its files: what they mean, and how a choice among words is shown."""

from __future__ import annotations

import re
from collections.abc import Callable

from .cpuset import CpuSet

_MASK_FILES = ("affinity", "cpumask", "rps_cpus", "xps_cpus", "_mask")
# The last is called a mask and shows a list.
_LIST_FILES = ("affinity_list", "cpulist", "cpus_list", "watchdog_cpumask")
_MODULES = "/sys/module/"
_SWITCHES = {"y": "1", "n": "0"}


def same_kernel_value(path: str, left: str, right: str) -> bool:
    """Return whether two texts mean the same in the file `path`.

    Shape: of a choice (`always [madvise] never`) the chosen word counts; CPU lists and masks count as sets, switches of
    modules as Y = 1 and N = 0, numbers by what they count, blanks not at all.
    Source: kernel admin-guide/sysctl, core-api/irq/irq-affinity, admin-guide/mm/transhuge, moduleparam.
    """
    one, other = chosen(left), chosen(right)
    if path.endswith(_LIST_FILES):
        return _same_set(CpuSet.parse, one, other)
    if path.endswith(_MASK_FILES):
        return _same_set(CpuSet.parse_mask, one, other)
    if path.startswith(_MODULES):
        one, other = (_SWITCHES.get(text.lower(), text) for text in (one, other))
    return same_value(one, other)


def same_value(left: str, right: str) -> bool:
    """Return whether two values mean the same: blanks aside, and numbers by what they count (`010` is not `10`)."""
    first, second = left.split(), right.split()
    return len(first) == len(second) and all(_same_word(*pair) for pair in zip(first, second))


def _same_word(left: str, right: str) -> bool:
    if left == right:
        return True
    numbers = [_number(word) for word in (left, right)]
    return numbers[0] is not None and numbers[0] == numbers[1]


def _number(word: str) -> int | None:
    # The kernel reads 0x as hexadecimal and a leading zero as octal (kstrtol with base 0).
    for pattern, base in ((r"[+-]?0[xX][0-9a-fA-F]+", 16), (r"[+-]?0[0-7]+", 8), (r"[+-]?\d+", 10)):
        if re.fullmatch(pattern, word, re.ASCII):
            return int(word, base)
    return None


def _same_set(parse: Callable[[str], CpuSet], left: str, right: str) -> bool:
    try:
        return parse(left) == parse(right)
    except ValueError:
        return same_value(left, right)


def chosen(text: str) -> str:
    """Return the chosen word of `always [madvise] never`, any other text stripped."""
    words = text.split()
    marked = [word[1:-1] for word in words if word[0] == "[" and word[-1] == "]" and word[1:-1]]
    return marked[0] if len(marked) == 1 and len(words) > 1 else text.strip()


def with_choice(text: str, choice: str) -> str | None:
    """Return `text` with another word chosen; None when it offers no choice.

    Sad paths: `ValueError` naming the words when `choice` is not among them.
    """
    if chosen(text) == text.strip():
        return None
    words = [word.strip("[]") for word in text.split()]
    if choice not in words:
        raise ValueError(f"{choice!r} is not among {' '.join(words)}")
    return " ".join(f"[{word}]" if word == choice else word for word in words) + text[len(text.rstrip()) :]
