"""What Ansible reports while it works, in the few words that the rest of tunectl needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Event:
    """One thing that happened on one host. `state` is start, ok, changed, failed, unreachable, skipped or retry."""

    host: str
    action: str
    task: str
    state: str
    duration_s: float = 0.0
    result: Mapping[str, Any] = field(default_factory=dict)
    ignored: bool = False
