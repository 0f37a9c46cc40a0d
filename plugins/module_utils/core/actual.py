# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What was found where a setting belongs."""

from __future__ import annotations

from dataclasses import dataclass

from .findings import Evidence


@dataclass(frozen=True)
class Actual:
    """A value of a node, with the place where it was read.

    Shape: `value` is text in normal form, JSON for the kubelet, `""` for a bare kernel argument, None when it is not
    set; `unknown` is the reason when nobody could look, and then `value` says nothing.
    """

    value: str | None = None
    evidence: tuple[Evidence, ...] = ()
    unknown: str = ""
