# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The kubelet fields of a desired state as every document writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.desired import Area, DesiredState, Setting


def kubelet_settings(desired: DesiredState) -> list[Setting]:
    """Return the kubelet settings, sorted by field name."""
    return sorted(desired.of(Area.KUBELET), key=lambda setting: setting.name)


def kubelet_fields(desired: DesiredState) -> dict[str, Any]:
    """Return field -> value, sorted by name at every depth: equal settings give equal bytes."""
    return {setting.name: ordered(setting.value) for setting in kubelet_settings(desired)}


def ordered(value: Any) -> Any:
    """Return JSON data with sorted keys at every depth."""
    if isinstance(value, Mapping):
        return {str(key): ordered(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [ordered(item) for item in value]
    return value
