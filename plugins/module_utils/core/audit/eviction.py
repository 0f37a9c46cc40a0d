# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Who is evicted first when memory runs out: the kubelet's own ranking, over pods that use all they may."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..kubelet.pod import SYSTEM_CRITICAL_PRIORITY, Container, Pod, aggregate_requests
from ..quantity import round_up


@dataclass(frozen=True)
class Claim:
    """What the ranking looks at. Scale: bytes; `usage` is None for a pod that nothing bounds."""

    request: int
    usage: int | None
    priority: int = 0
    never: bool = False

    @property
    def is_over(self) -> bool:
        """Whether the pod uses more than it requested."""
        return self.usage is None or self.usage > self.request

    def key(self) -> tuple[int, int, int, int]:
        """Return the sort key: over its request first, then lower priority, then more bytes over the request.

        Source: kubelet eviction, `rankMemoryPressure`; quality of service is no key of it.
        """
        excess = 0 if self.usage is None else self.usage - self.request
        return (0 if self.is_over else 1, self.priority, 0 if self.usage is None else 1, -excess)


def claim_of(pod: Pod, overhead: int = 0) -> Claim:
    """Return what a pod claims when it uses all memory that its limits allow; without a limit, all there is.

    Pods of at least system priority and static pods are never evicted.
    """
    return Claim(
        _request(pod) + overhead,
        _most(pod, overhead),
        pod.priority,
        pod.is_static or pod.priority >= SYSTEM_CRITICAL_PRIORITY,
    )


def eviction_ranks(claims: Sequence[Claim]) -> list[int | None]:
    """Return the place of each claim in the order of eviction, from 1; equal ones share it, None is never evicted."""
    keys = sorted({claim.key() for claim in claims if not claim.never})
    return [None if claim.never else keys.index(claim.key()) + 1 for claim in claims]


def _request(pod: Pod) -> int:
    return _bytes({**aggregate_requests(pod.init, pod.app), **pod.requests}.get("memory"))


def _most(pod: Pod, overhead: int) -> int | None:
    if pod.limits.get("memory"):
        return _bytes(pod.limits["memory"]) + overhead
    running: Iterable[Container] = (*pod.app, *(one for one in pod.init if one.is_sidecar))
    total = overhead
    for one in running:
        if not one.limits.get("memory"):
            return None
        total += _bytes(one.limits["memory"])
    return total


def _bytes(value: Fraction | None) -> int:
    return round_up(value or Fraction(0))
