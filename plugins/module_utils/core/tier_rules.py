# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a tier alone can get wrong across its fields, before any machine is looked at."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from .tier import Tier
from .tier_tree import Fault


def broken_rules(tier: Tier, failed: AbstractSet[str]) -> list[Fault]:
    """Return the faults of a tier whose fields are right one by one; rules about a `failed` field are left out."""
    del tier, failed
    return []
