# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How a kernel takes a value written to one of its files: what the file shows afterwards, or a refusal."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..core.cpuset import CpuSet

_CHOICE = re.compile(r"[\[(]([^\s\])]+)[\])]")
# Whole ranges that the kernel enforces. Source: kernel/sysctl.c, kernel/watchdog.c, mm/ksm.c, mm/khugepaged.c.
_RANGES = {
    "/proc/sys/kernel/nmi_watchdog": (0, 1),
    "/proc/sys/kernel/numa_balancing": (0, 4),
    "/proc/sys/kernel/sched_autogroup_enabled": (0, 1),
    "/proc/sys/kernel/soft_watchdog": (0, 1),
    "/proc/sys/kernel/timer_migration": (0, 1),
    "/proc/sys/kernel/watchdog": (0, 1),
    "/proc/sys/kernel/watchdog_thresh": (0, 60),
    "/proc/sys/vm/compact_unevictable_allowed": (0, 1),
    "/proc/sys/vm/compaction_proactiveness": (0, 100),
    "/proc/sys/vm/dirty_background_ratio": (0, 100),
    "/proc/sys/vm/dirty_ratio": (0, 100),
    "/proc/sys/vm/numa_stat": (0, 1),
    "/proc/sys/vm/overcommit_memory": (0, 2),
    "/proc/sys/vm/panic_on_oom": (0, 2),
    "/proc/sys/vm/swappiness": (0, 200),
    "/proc/sys/vm/watermark_scale_factor": (1, 3000),
    "/sys/kernel/mm/ksm/run": (0, 2),
    "/sys/kernel/mm/ksm/merge_across_nodes": (0, 1),
    "/sys/kernel/mm/transparent_hugepage/khugepaged/defrag": (0, 1),
    "/sys/kernel/mm/transparent_hugepage/use_zero_page": (0, 1),
}
_MASKS = ("/cpumask", "/rps_cpus", "/xps_cpus", "/rps_default_mask")
_LISTS = ("/watchdog_cpumask",)
_READ_ONLY = (
    "/hpage_pmd_size",
    "/osrelease",
    "/ostype",
    "/numa_zonelist_order",
    "/lockdown",
    "/current_driver",
    "/pages_shared",
    "/pages_sharing",
)


def accepted(path: str, shown: str, value: str, width: int) -> str | None:
    """Return what the file shows after the write, None when the kernel refuses it and the file stays as it is.

    Shape: `shown` is the file's text before; `width` the number of CPU ids of a mask. A value copied from what such a
    file shows, brackets and all, counts as the chosen word.
    """
    text = value.strip()
    if path.endswith(_READ_ONLY):
        return None
    if _CHOICE.search(shown):
        return _choose(shown, text)
    if path.endswith("/features"):
        return _toggle(shown, text)
    if path.endswith(_MASKS) or path.endswith(_LISTS):
        return _cpus(path, text, width)
    words = shown.split()
    if words and all(_number(word) is not None for word in words):
        return _numbers(path, words, text.split())
    return text.split("\n", maxsplit=1)[0] + "\n"


def _choose(shown: str, text: str) -> str | None:
    marked = _CHOICE.search(text)
    word = marked.group(1) if marked else text
    options = [_CHOICE.sub(r"\1", option) for option in shown.split()]
    if word not in options:
        return None
    left, right = ("(", ")") if "(" in shown else ("[", "]")
    return " ".join(f"{left}{option}{right}" if option == word else option for option in options) + "\n"


def _toggle(shown: str, text: str) -> str | None:
    features = shown.split()
    names = [feature.removeprefix("NO_") for feature in features]
    for word in text.split():
        if word.removeprefix("NO_") not in names:
            return None
        features[names.index(word.removeprefix("NO_"))] = word
    return " ".join(features) + "\n"


def _cpus(path: str, text: str, width: int) -> str | None:
    try:
        cpus = CpuSet.parse_mask(text) if path.endswith(_MASKS) else CpuSet.parse(text)
    except ValueError:
        return None
    return (cpus.mask(width) if path.endswith(_MASKS) else cpus.format()) + "\n"


def _numbers(path: str, shown: Sequence[str], words: Sequence[str]) -> str | None:
    numbers = [_number(word) for word in words]
    if not numbers or len(numbers) > len(shown) or None in numbers:
        return None
    low, high = _RANGES.get(path, (None, None))
    for number in numbers:
        if number is None or (low is not None and high is not None and not low <= number <= high):
            return None
    # Fewer numbers than the file holds set the first ones.
    return "\t".join([*(str(number) for number in numbers), *shown[len(numbers) :]]) + "\n"


def _number(word: str) -> int | None:
    try:
        return int(word, 0)
    except ValueError:
        return None
