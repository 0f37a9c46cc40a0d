# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The text of an object in a manifest: where each of its fields stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import yaml

from ..core.findings import Origin


@dataclass(frozen=True)
class Source:
    """The text that an object stands in, and the object's node in it."""

    file: str
    text: str
    node: yaml.Node

    def origin(self, path: Sequence[str | int]) -> Origin:
        """Return where a field stands; of a field that does not exist, where the nearest one above it does."""
        mark = self.node.start_mark
        node: yaml.Node | None = self.node
        for step in path:
            key, node = child(node, step)
            if node is None:
                break
            mark = (key or node).start_mark
        return Origin(self.file, mark.line + 1, mark.column + 1)


def contains_itself(node: yaml.Node) -> bool:
    """Return whether some collection holds an alias of itself: no JSON can say that."""
    above: set[int] = set()
    done: set[int] = set()
    stack: list[tuple[yaml.Node, bool]] = [(node, False)]
    while stack:
        one, is_over = stack.pop()
        if is_over:
            above.discard(id(one))
            done.add(id(one))
        elif id(one) in above:
            return True
        elif id(one) not in done and isinstance(one, yaml.CollectionNode):
            above.add(id(one))
            stack.append((one, True))
            stack += [(below, False) for below in _members(one)]
    return False


def _members(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [one for pair in node.value for one in pair]
    return list(node.value)


def child(node: yaml.Node | None, step: str | int) -> tuple[yaml.Node | None, yaml.Node | None]:
    """Return the key and the value of one step into a node, (None, None) where it leads nowhere.

    What a map merges in stands before what it says itself, once it is constructed: the last of a name counts.
    """
    if isinstance(step, int):
        items = node.value if isinstance(node, yaml.SequenceNode) else []
        return None, items[step] if step < len(items) else None
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    found = [(key, value) for key, value in pairs if isinstance(key, yaml.ScalarNode) and key.value == step]
    return found[-1] if found else (None, None)
