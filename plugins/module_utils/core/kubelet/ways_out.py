# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The smallest changes that would admit a refused pod, each of them tried before it is offered."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from .other_nodes import other_nodes
from .other_pods import other_pods, two_changes
from .planned_node import PlannedNode
from .pod import Pod
from .refused import Refused


@dataclass(frozen=True)
class WayOut:
    """A change that admits the pod: in the pod or in the tier.

    Shape: `text` is for people; `pod` is the pod to submit and `planned` the node to submit it on, as they are after
    the change: at least one of the two differs from what was refused.
    """

    text: str
    pod: Pod
    planned: PlannedNode


def ways_out(refused: Refused) -> Iterator[WayOut]:
    """Yield the changes that admit the pod: those of the pod first, the smallest of each kind.

    Where no single change does, two together are tried: two of the pod, or one of the tier and one of the pod.
    """
    single = [*_of_the_pod(refused), *_of_the_tier(refused)]
    yield from single or _pairs(refused)


def _of_the_pod(refused: Refused) -> Iterator[WayOut]:
    for text, pod in other_pods(refused):
        yield WayOut(f"pod: {text}", pod, refused.planned)


def _of_the_tier(refused: Refused) -> Iterator[WayOut]:
    done: set[str] = set()
    for other in other_nodes(refused.planned, refused):
        there = None if other.field in done else refused.on(str(other), other.planned)
        if there is not None and there.admits(refused.pod):
            done.add(other.field)
            yield WayOut(f"tier: {other}", refused.pod, other.planned)


def _pairs(refused: Refused) -> Iterator[WayOut]:
    """Yield one way of two changes of the pod, and one for each field of the tier, each with a change of the pod."""
    for text, pod in itertools.islice(two_changes(refused), 1):
        yield WayOut(f"pod: {text}", pod, refused.planned)
    done: set[str] = set()
    for other in other_nodes(refused.planned, refused):
        there = None if other.field in done else refused.on(str(other), other.planned)
        for text, pod in itertools.islice(other_pods(there), 1) if there is not None else ():
            done.add(other.field)
            yield WayOut(f"tier: {other} and pod: {text}", pod, other.planned)
