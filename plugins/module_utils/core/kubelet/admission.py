# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Why a kubelet turns a pod away or does not start."""

from __future__ import annotations


class Rejection(Exception):  # noqa: N818  a verdict, not a fault
    """A pod is turned away.

    Shape: `reason` as in the pod's status, `code` finer (tunectl's own vocabulary), `message` with the numbers;
    `container` is the one that was being admitted, empty when it concerns the whole pod.
    """

    def __init__(self, reason: str, code: str, message: str, container: str = "") -> None:
        """Keep the parts."""
        super().__init__(message)
        self.reason = reason
        self.code = code
        self.message = message
        self.container = container

    def at(self, container: str) -> Rejection:
        """Return the same verdict with the container it happened at."""
        return Rejection(self.reason, self.code, self.message, container)


class StartError(Exception):
    """The kubelet does not start.

    Shape: `stage` is reserved-cpus, topology-manager-create, cpu-manager-create, cpu-manager-start,
    memory-manager-create or memory-manager-start; `code` names the rule; `message` has the values.
    """

    def __init__(self, stage: str, code: str, message: str) -> None:
        """Keep the parts."""
        super().__init__(message)
        self.stage = stage
        self.code = code
        self.message = message
