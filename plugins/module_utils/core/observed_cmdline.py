# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which argument of the running kernel a setting is about."""

from __future__ import annotations

from collections.abc import Sequence

from .actual import Actual
from .cmdline import Argument, format_cmdline, hugepages, page_size_kib, values
from .desired import Setting
from .findings import Evidence

_FILE = "/proc/cmdline"
_SIZE, _COUNT = "hugepagesz", "hugepages"
# Each of these adds to the ones before it; all others are overridden by their last occurrence.
_ADD_UP = ("console", "earlycon", "rd.luks.uuid", "rd.lvm.lv", "ip", "module_blacklist", "modprobe.blacklist")


def actual_argument(args: Sequence[Argument], setting: Setting, wanted: Sequence[Setting]) -> Actual:
    """Return the value in force of a kernel argument: `""` for a bare flag, None when it is not there.

    Shape: `wanted` are all settings of that name, in order. The last occurrence is the one in force; of a name that
    shall stand n times it is the last n, in order. Hugepage pairs are found by their size.
    """
    if setting.name in (_SIZE, _COUNT):
        return _of_pair(args, setting)
    found = values(args, setting.name)
    evidence = tuple(Evidence(_FILE, _text(setting.name, value)) for value in found)
    if setting.name in _ADD_UP:
        return Actual(_plain(setting.value) if setting.value in found else None, evidence)
    places = [one.id for one in wanted]
    tail = found[-len(places) :] if places else found
    place = places.index(setting.id) if setting.id in places else len(places) - 1
    # A shorter tail lacks the first of them: kernel arguments are appended.
    index = place - (len(places) - len(tail))
    if not 0 <= index < len(tail):
        return Actual(None, evidence or (Evidence(_FILE, f"{setting.name} is not there"),))
    return Actual(_plain(tail[index]), evidence)


def _of_pair(args: Sequence[Argument], setting: Setting) -> Actual:
    """Return the size or the count of the pair that a setting's id names: `cmdline.hugepages.1G`."""
    size = setting.id.partition("#")[0].removeprefix(f"cmdline.{setting.name}").removeprefix(".")
    pairs = hugepages(args)
    evidence = tuple(Evidence(_FILE, _pair_text(*pair)) for pair in pairs)
    # The kernel ignores a second count for a size.
    count = next((count for one, count in pairs if _same_size(one, size)), None)
    if count is None:
        return Actual(None, evidence or (Evidence(_FILE, f"{setting.name} is not there"),))
    return Actual(str(setting.value) if setting.name == _SIZE else count, evidence)


def _same_size(left: str, right: str) -> bool:
    if not left or not right:
        return left == right
    try:
        return page_size_kib(left) == page_size_kib(right)
    except ValueError:
        return left == right


def _plain(value: str | None) -> str:
    return "" if value is None else str(value)


def _text(name: str, value: str | None) -> str:
    try:
        return format_cmdline([Argument(name, value)])
    except ValueError:
        return f"{name}={value}"


def _pair_text(size: str, count: str) -> str:
    return f"{_SIZE}={size} {_COUNT}={count}" if size else f"{_COUNT}={count}"
