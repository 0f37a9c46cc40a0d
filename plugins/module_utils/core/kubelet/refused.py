# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A pod at the moment of its refusal, and what would become of it otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from .admission import Rejection, StartError
from .node import KubeletNode
from .planned_node import PlannedNode, Scheduler
from .pod import Pod


@dataclass
class Replay:
    """Another node with the first `done` pods; `is_dead` once it did not admit one of them."""

    node: KubeletNode
    scheduler: Scheduler
    done: int = 0
    is_dead: bool = False


@dataclass
class Replays:
    """Other nodes by name, brought up to date with what was admitted since instead of made anew at each refusal."""

    kept: dict[str, Replay | None] = field(default_factory=dict)

    def up_to(self, other: str, planned: PlannedNode, pods: Sequence[Pod]) -> Replay | None:
        """Return a node with all of the pods, None when it does not start or does not admit them all."""
        if other not in self.kept:
            self.kept[other] = _booted(planned)
        replay = self.kept[other]
        if replay is None:
            return None
        for pod in pods[replay.done :]:
            replay.is_dead = replay.is_dead or not _admitted(replay, pod)
            replay.done += 1
        return None if replay.is_dead else replay


def _booted(planned: PlannedNode) -> Replay | None:
    try:
        return Replay(planned.boot(), planned.scheduler())
    except StartError:
        return None


def _admitted(replay: Replay, pod: Pod) -> bool:
    if replay.scheduler.lacking(pod):
        return False
    try:
        replay.node.admit(pod)
    except Rejection:
        return False
    replay.scheduler.take(pod)
    return True


@dataclass(frozen=True)
class Refused:
    """A pod at the moment of its refusal.

    Shape: `node` and `scheduler` are as before the pod, `before` are the pods admitted earlier, in order; `container`
    is the one at which it happened, empty when the pod as a whole was refused. `replays` are shared by the refusals of
    one simulation.
    """

    planned: PlannedNode
    node: KubeletNode
    scheduler: Scheduler
    before: Sequence[Pod]
    pod: Pod
    container: str = ""
    replays: Replays = field(default_factory=Replays)

    def admits(self, pod: Pod) -> bool:
        """Return whether a changed pod is admitted in place of the refused one."""
        if self.scheduler.lacking(pod):
            return False
        try:
            self.node.fork().attempt(pod)
        except Rejection:
            return False
        return True

    def on(self, other: str, planned: PlannedNode) -> Refused | None:
        """Return the same pod before another node that runs the earlier pods, None when it does not admit those.

        Shape: `other` names the node among all that are tried in one simulation.
        """
        replay = self.replays.up_to(other, planned, self.before)
        if replay is None:
            return None
        return replace(self, planned=planned, node=replay.node, scheduler=replay.scheduler)
