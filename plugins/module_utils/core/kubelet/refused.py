# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A pod at the moment of its refusal, and what would become of it otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .admission import Rejection, StartError
from .node import KubeletNode
from .planned_node import PlannedNode, Scheduler
from .pod import Pod


@dataclass(frozen=True)
class Refused:
    """A pod at the moment of its refusal.

    Shape: `node` and `scheduler` are as before the pod, `before` are the pods admitted earlier, in order; `container`
    is the one at which it happened, empty when the pod as a whole was refused.
    """

    planned: PlannedNode
    node: KubeletNode
    scheduler: Scheduler
    before: Sequence[Pod]
    pod: Pod
    container: str = ""

    def admits(self, pod: Pod) -> bool:
        """Return whether a changed pod is admitted in place of the refused one."""
        if self.scheduler.lacking(pod):
            return False
        try:
            self.node.fork().attempt(pod)
        except Rejection:
            return False
        return True

    def admits_on(self, planned: PlannedNode) -> bool:
        """Return whether a changed node admits the earlier pods, and then the refused one."""
        there = self.on(planned)
        return there is not None and there.admits(self.pod)

    def on(self, planned: PlannedNode) -> Refused | None:
        """Return the same pod before a changed node that runs the earlier pods, None when it does not admit those."""
        try:
            node = planned.boot()
        except StartError:
            return None
        scheduler = planned.scheduler()
        for pod in self.before:
            if scheduler.lacking(pod):
                return None
            scheduler.take(pod)
            try:
                node.admit(pod)
            except Rejection:
                return None
        return replace(self, planned=planned, node=node, scheduler=scheduler)
