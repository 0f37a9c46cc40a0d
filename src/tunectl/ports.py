"""What the use cases need from outside, as types. Adapters provide it; tests may too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from tunectl.core.snapshot import Snapshot

OnEvent = Callable[[Mapping[str, Any]], None]


class NodeReader(Protocol):
    """Reads nodes. It has no way to write: whoever holds only this cannot change a node."""

    def snapshots(self, pool: str | None, patterns: Sequence[str], on_event: OnEvent | None = None) -> list[Snapshot]:
        """Return one snapshot a node of the pool that matches the patterns, in inventory order.

        Shape: `pool` None means every node; no patterns means all of them.
        Sad paths: `InputError` for an unreadable inventory or a pattern that matches nothing,
        `UnknownError` for a node that cannot be reached.
        """
        ...
