# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether a node has what a setting wants: by meaning, not by spelling."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .actual import Actual
from .desired import Area, Setting
from .jsonform import canonical
from .meaning import means
from .sysctl import canonical_value


def wanted_text(setting: Setting) -> str:
    """Return the wanted value in the form of `Actual.value`."""
    if setting.area is Area.KUBELET:
        return canonical(setting.value)
    return "" if setting.value is None else canonical_value(str(setting.value))


def holds(setting: Setting, actual: Actual) -> bool:
    """Return whether the actual value means what the setting wants; an unknown one never does.

    Shape: CPU lists, masks, quantities, durations, numbers and switches compare by what they say (`meaning.means`).
    """
    if actual.unknown or actual.value is None:
        return False
    return means(setting, json.loads(actual.value) if setting.area is Area.KUBELET else actual.value)


def shown(value: Any, wanted: Any) -> Any:
    """Return what a setting asks about: of a map only the wanted keys, at every depth; all else as it is."""
    if isinstance(value, Mapping) and isinstance(wanted, Mapping):
        return {key: shown(value[key], wanted[key]) for key in wanted if key in value}
    return value
