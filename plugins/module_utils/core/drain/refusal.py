# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Everything that forbids to drain a node, told before the first node is touched."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import Problem, problem
from .budget import Blocked, Budget, blocked_pods
from .pod import Consent, Fate, Pod, pods_with


def drain_problems(
    node: str, pods: Sequence[Pod], budgets: Sequence[Budget], consent: Consent, *, waits: bool
) -> tuple[Problem, ...]:
    """Return what forbids to drain `node` of `pods`, nothing when it can be drained.

    Shape: `waits` says that the user wants to wait for budgets that allow nothing now.
    TUN-3705: data in emptyDir volumes would be lost. TUN-3706: nobody makes the pod again. TUN-3707: a budget
    allows no disruption. TUN-3708: several budgets cover one pod, which the API server never evicts.
    """
    alone = pods_with(Fate.NOBODY_REPLACES, pods, consent)
    with_data = pods_with(Fate.LOSES_DATA, pods, consent)
    moving = (*pods_with(Fate.EVICTED, pods, consent), *alone, *with_data)
    blocked = blocked_pods(moving, budgets)
    return (
        *((_alone(node, alone),) if alone else ()),
        *((_with_data(node, with_data),) if with_data else ()),
        *(_blocked(node, one) for one in blocked if one.for_ever or not waits),
    )


def _alone(node: str, pods: Sequence[Pod]) -> Problem:
    return problem(
        "TUN-3706",
        f"{len(pods)} pods of {node} belong to no controller: evicted, they are gone for good",
        where=node,
        why=_names(pods),
        fix="--force evicts them all the same; or move them, or put them under a controller",
    )


def _with_data(node: str, pods: Sequence[Pod]) -> Problem:
    return problem(
        "TUN-3705",
        f"{len(pods)} pods of {node} keep data in emptyDir volumes, which a drain deletes",
        where=node,
        why=_names(pods),
        fix="--delete-emptydir-data agrees to that",
    )


def _blocked(node: str, blocked: Blocked) -> Problem:
    names = ", ".join(f"{one.namespace}/{one.name}" for one in blocked.budgets)
    if blocked.for_ever:
        return problem(
            "TUN-3708",
            f"several PodDisruptionBudgets cover {blocked.pod.path}, which therefore can never be evicted",
            where=node,
            why=f"{names}; the API server evicts a pod of at most one budget",
            fix="narrow the selectors until one budget covers the pod",
        )
    allowed = ", ".join(str(one.allowed) for one in blocked.budgets)
    return problem(
        "TUN-3707",
        f"{blocked.pod.path} cannot be evicted: its PodDisruptionBudget allows no disruption",
        where=node,
        why=f"{names} allows {allowed} now",
        fix="add a replica or loosen the budget; --drain-timeout 600 waits that many seconds for room",
    )


def _names(pods: Sequence[Pod]) -> str:
    return ", ".join(pod.path for pod in pods)
