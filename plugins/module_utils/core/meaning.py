# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether a value that was read means what a setting wants: CPU lists as sets, quantities as numbers, blanks aside.

Plan and verify compare through this one function, so a setting that verifies is never planned again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from .cpuset import CpuSet
from .desired import Area, Setting
from .errors import InputError
from .jsonform import canonical
from .kernel_value import same_kernel_value
from .quantity import is_percentage, parse_quantity
from .sysctl import sysctl_path

# Maps of quantities, and of durations, by kubelet field.
_QUANTITY_MAPS = frozenset(
    ("systemReserved", "kubeReserved", "evictionHard", "evictionSoft", "evictionMinimumReclaim", "limits")
)
_DURATIONS = re.compile(r"(?:Period|Duration|Timeout|Interval|Frequency|Age)\Z")
_GO_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|ms|s|m|h)", re.ASCII)
_NANOSECONDS = {"ns": 1, "us": 10**3, "\u00b5s": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_CPU_LIST_ARGUMENTS = frozenset(("nohz_full", "rcu_nocbs", "irqaffinity", "systemd.cpu_affinity", "kthread_cpus"))
_MASK_ARGUMENTS = frozenset(("tuned.non_isolcpus",))
_ISOLCPUS_FLAG = re.compile(r"(?:nohz|domain|managed_irq)\Z")
_BOOLEANS = {"y": "1", "n": "0", "yes": "1", "no": "0", "on": "1", "off": "0", "true": "1", "false": "0"}


def means(setting: Setting, actual: Any) -> bool:
    """Return whether `actual`, as it was read, is what the setting wants; None is never what is wanted.

    Shape: for a bare kernel argument `actual` is `""` when it is there. Of a kubelet map the wanted keys must hold.
    """
    if actual is None:
        return False
    return _COMPARE[setting.area](setting, actual)


def text_of(value: Any) -> str | None:
    """Return a value as one line of text: text as it is, other JSON data in canonical form, None as None."""
    if value is None or isinstance(value, str):
        return value
    return canonical(value)


def _kubelet(setting: Setting, actual: Any) -> bool:
    if setting.name == "reservedSystemCPUs":
        return _same_parsed(CpuSet.parse, str(setting.value), str(actual))
    return _holds(setting.name, setting.value, actual)


def _holds(name: str, wanted: Any, actual: Any) -> bool:
    """Return whether a configuration value holds; `name` is the nearest field name and decides about units."""
    if isinstance(wanted, Mapping):
        return isinstance(actual, Mapping) and all(
            key in actual
            and _holds(name if name in _QUANTITY_MAPS or _DURATIONS.search(name) else key, item, actual[key])
            for key, item in wanted.items()
        )
    if isinstance(wanted, (list, tuple)):
        return isinstance(actual, (list, tuple)) and _same_items(name, wanted, actual)
    if isinstance(wanted, bool) or isinstance(actual, bool):
        return wanted is actual
    if isinstance(wanted, (int, float)):
        return isinstance(actual, (int, float)) and Fraction(wanted) == Fraction(actual)
    if name in _QUANTITY_MAPS:
        return _same_parsed(_quantity_or_share, str(wanted), str(actual))
    if _DURATIONS.search(name):
        return _same_parsed(_go_duration, str(wanted), str(actual))
    return bool(wanted == actual)


def _same_items(name: str, wanted: Any, actual: Any) -> bool:
    if len(wanted) != len(actual):
        return False
    if name == "reservedMemory":
        wanted, actual = (sorted(entries, key=_numa_node) for entries in (wanted, actual))
        # A reservation must match to the byte: further resources are a difference too.
        if any(set(_limits(one)) != set(_limits(other)) for one, other in zip(wanted, actual)):
            return False
    return all(_holds(name, one, other) for one, other in zip(wanted, actual))


def _numa_node(entry: Any) -> int:
    node = entry.get("numaNode", 0) if isinstance(entry, Mapping) else -1
    return node if isinstance(node, int) else -1


def _limits(entry: Any) -> Mapping[str, Any]:
    limits = entry.get("limits", {}) if isinstance(entry, Mapping) else {}
    return limits if isinstance(limits, Mapping) else {}


def _cmdline(setting: Setting, actual: Any) -> bool:
    wanted, found = setting.value or "", str(actual)
    if wanted == found:
        return True
    if setting.name in _CPU_LIST_ARGUMENTS:
        return _same_parsed(CpuSet.parse, wanted, found)
    if setting.name in _MASK_ARGUMENTS:
        return _same_parsed(CpuSet.parse_mask, wanted, found)
    if setting.name == "isolcpus":
        return _same_parsed(_isolcpus, wanted, found)
    return False


def _isolcpus(text: str) -> tuple[frozenset[str], CpuSet]:
    words = text.split(",")
    flags = frozenset(word for word in words if _ISOLCPUS_FLAG.match(word))
    # Without a flag the kernel takes `domain`.
    return flags or frozenset(("domain",)), CpuSet.parse(",".join(word for word in words if word not in flags))


def _sysctl(setting: Setting, actual: Any) -> bool:
    return same_kernel_value(sysctl_path(setting.name), str(setting.value), str(actual))


def _runtime(setting: Setting, actual: Any) -> bool:
    return same_kernel_value(setting.name, str(setting.value), str(actual))


def _module(setting: Setting, actual: Any) -> bool:
    module, _dot, option = setting.name.partition(".")
    wanted, found = (_BOOLEANS.get(text.lower(), text) for text in (str(setting.value), str(actual).strip()))
    return same_kernel_value(f"/sys/module/{module}/parameters/{option}", wanted, found)


def _text(setting: Setting, actual: Any) -> bool:
    return str(setting.value).strip() == str(actual).strip()


def _same_parsed(parse: Callable[[str], Any], wanted: str, actual: str) -> bool:
    try:
        return bool(parse(wanted) == parse(actual))
    except (ValueError, InputError):
        return wanted == actual


def _quantity_or_share(text: str) -> tuple[bool, Fraction]:
    if is_percentage(text):
        return True, Fraction(text[:-1])
    return False, parse_quantity(text)


def _go_duration(text: str) -> Fraction:
    """Return nanoseconds; raises `ValueError` for text that is no Go duration."""
    if text == "0":
        return Fraction(0)
    parts = _GO_DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"{text!r} is not a duration")
    return sum((Fraction(number.rstrip(".")) * _NANOSECONDS[unit] for number, unit in parts), Fraction(0))


_COMPARE: dict[Area, Callable[[Setting, Any], bool]] = {
    Area.KUBELET: _kubelet,
    Area.CMDLINE: _cmdline,
    Area.SYSCTL: _sysctl,
    Area.RUNTIME: _runtime,
    Area.MODULE: _module,
    Area.SERVICE: _text,
    Area.SWAP: _text,
    Area.LABEL: _text,
    Area.TAINT: _text,
}
