# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether a node has what a setting wants: by meaning, not by spelling."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .actual import Actual
from .cpuset import CpuSet
from .desired import Area, Setting
from .errors import InputError
from .jsonform import canonical
from .quantity import parse_quantity
from .sysctl import canonical_value, same_value

_CPU_LISTS = ("nohz_full", "rcu_nocbs", "isolcpus", "irqaffinity", "systemd.cpu_affinity", "kthread_cpus")
_MASKS = ("smp_affinity", "cpumask", "cpumask_isolated", "rps_cpus", "xps_cpus", "rps_default_mask", "non_isolcpus")
_LISTS = ("affinity_list", "cpulist", "watchdog_cpumask")
# Maps of the kubelet whose texts are quantities.
_QUANTITIES = ("systemReserved", "kubeReserved", "evictionHard", "evictionSoft", "reservedMemory")
_TRUTH = {"y": "1", "1": "1", "n": "0", "0": "0"}


def wanted_text(setting: Setting) -> str:
    """Return the wanted value in the form of `Actual.value`."""
    if setting.area is Area.KUBELET:
        return canonical(setting.value)
    return "" if setting.value is None else canonical_value(str(setting.value))


def holds(setting: Setting, actual: Actual) -> bool:
    """Return whether the actual value means what the setting wants; an unknown one never does.

    Shape: CPU lists, masks, numbers and switches compare by what they say.
    """
    if actual.unknown or actual.value is None:
        return False
    wanted = wanted_text(setting)
    if wanted == actual.value:
        return True
    if setting.area is Area.KUBELET:
        return _same_field(setting.name, wanted, actual.value)
    if setting.area is Area.CMDLINE:
        return _same_argument(setting.name, wanted, actual.value)
    if setting.area is Area.MODULE:
        return wanted.lower() in _TRUTH and _TRUTH[wanted.lower()] == _TRUTH.get(actual.value.lower())
    leaf = setting.name.replace("/", ".").rpartition(".")[2]
    if leaf.endswith(_LISTS):
        return _same_cpus(wanted, actual.value)
    if leaf.endswith(_MASKS):
        return _same_mask(wanted, actual.value)
    return setting.area in (Area.SYSCTL, Area.RUNTIME) and same_value(wanted, actual.value)


def shown(value: Any, wanted: Any) -> Any:
    """Return what a setting asks about: of a map only the wanted keys, at every depth; all else as it is."""
    if isinstance(value, Mapping) and isinstance(wanted, Mapping):
        return {key: shown(value[key], wanted[key]) for key in wanted if key in value}
    return value


def _same_field(name: str, wanted: str, actual: str) -> bool:
    left, right = json.loads(wanted), json.loads(actual)
    if name == "reservedSystemCPUs":
        return _same_cpus(str(left), str(right))
    if name == "reservedMemory":
        left, right = _by_node(left), _by_node(right)
    return name in _QUANTITIES and bool(_same_amounts(left, right))


def _by_node(entries: Any) -> Any:
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        return entries
    return {str(entry.get("numaNode")): entry.get("limits") for entry in entries}


def _same_amounts(left: Any, right: Any) -> bool:
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same_amounts(left[key], right[key]) for key in left)
    if left == right:
        return True
    try:
        return parse_quantity(str(left)) == parse_quantity(str(right))
    except InputError:
        return False


def _same_argument(name: str, wanted: str, actual: str) -> bool:
    if name.endswith(_MASKS):
        return _same_mask(wanted, actual)
    if name not in _CPU_LISTS:
        return False
    flags, cpus = _split_flags(wanted)
    other_flags, other_cpus = _split_flags(actual)
    return flags == other_flags and _same_cpus(cpus, other_cpus)


def _split_flags(text: str) -> tuple[frozenset[str], str]:
    """Return the leading words of an isolcpus value and its CPUs."""
    items = text.split(",")
    words = [item for item in items if item and not item[0].isdigit()]
    return frozenset(words), ",".join(item for item in items if item not in words)


def _same_cpus(left: str, right: str) -> bool:
    try:
        return CpuSet.parse(left.replace(" ", ",")) == CpuSet.parse(right.replace(" ", ","))
    except ValueError:
        return False


def _same_mask(left: str, right: str) -> bool:
    try:
        return CpuSet.parse_mask(left) == CpuSet.parse_mask(right)
    except ValueError:
        return False
