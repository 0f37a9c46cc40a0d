# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""TOML as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tomllib


def parse_toml(text: str) -> Mapping[str, Any] | None:
    """Return what a TOML text says, None where it is none."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
