# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""PodDisruptionBudgets, and which evictions the API server will turn down.

Source: Kubernetes API policy/v1, and the eviction subresource of kube-apiserver (pkg/registry/core/pod/storage/
eviction.go, v1.31).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .pod import Pod


@dataclass(frozen=True)
class Requirement:
    """One expression of a label selector; `operator` is In, NotIn, Exists or DoesNotExist."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Return whether labels satisfy it; an operator that is not known is satisfied by none."""
        if self.operator == "In":
            return labels.get(self.key) in self.values
        if self.operator == "NotIn":
            return labels.get(self.key) not in self.values
        if self.operator == "Exists":
            return self.key in labels
        return self.operator == "DoesNotExist" and self.key not in labels


@dataclass(frozen=True)
class Budget:
    """A PodDisruptionBudget.

    Shape: `selector` None selects no pod, an empty one every pod of the namespace; `allowed` is how many more pods
    may be away now; `healthy_enough` says that as many pods are healthy as the budget wants;
    `current` is false while its controller has not looked at the newest wish.
    """

    namespace: str
    name: str
    selector: tuple[Requirement, ...] | None = ()
    allowed: int = 0
    healthy_enough: bool = False
    always_allows_unhealthy: bool = False
    current: bool = True

    def covers(self, pod: Pod) -> bool:
        """Return whether the budget counts the pod."""
        return (
            self.selector is not None
            and pod.namespace == self.namespace
            and all(requirement.holds(pod.labels) for requirement in self.selector)
        )


@dataclass(frozen=True)
class Blocked:
    """A pod that cannot be evicted now; more than one budget can never be evicted at all."""

    pod: Pod
    budgets: tuple[Budget, ...]

    @property
    def for_ever(self) -> bool:
        """Whether waiting cannot help."""
        return len(self.budgets) > 1


def read_budget(document: Mapping[str, Any]) -> Budget:
    """Return the budget that the API describes; without a status it allows nothing."""
    meta, spec, status = (document.get(key) or {} for key in ("metadata", "spec", "status"))
    wanted = int(status.get("desiredHealthy") or 0)
    return Budget(
        namespace=str(meta.get("namespace") or "default"),
        name=str(meta.get("name") or ""),
        selector=_selector(spec.get("selector")),
        allowed=int(status.get("disruptionsAllowed") or 0),
        healthy_enough=wanted > 0 and int(status.get("currentHealthy") or 0) >= wanted,
        always_allows_unhealthy=spec.get("unhealthyPodEvictionPolicy") == "AlwaysAllow",
        current=int(status.get("observedGeneration") or 0) >= int(meta.get("generation") or 0),
    )


def blocked_pods(pods: Sequence[Pod], budgets: Sequence[Budget]) -> tuple[Blocked, ...]:
    """Return which of the pods that shall be evicted would be turned down, and by which budgets."""
    found = (Blocked(pod, tuple(one for one in budgets if one.covers(pod))) for pod in pods if _counts(pod))
    return tuple(one for one in found if one.for_ever or any(not _allows(budget, one.pod) for budget in one.budgets))


def _counts(pod: Pod) -> bool:
    # a pod that ended, never ran or leaves already takes nothing from a budget
    return not (pod.is_finished or pod.is_leaving or pod.phase == "Pending")


def _allows(budget: Budget, pod: Pod) -> bool:
    if not pod.ready and (budget.always_allows_unhealthy or budget.healthy_enough):
        return True
    return budget.current and budget.allowed > 0


def _selector(document: Mapping[str, Any] | None) -> tuple[Requirement, ...] | None:
    if document is None:
        return None
    labels = document.get("matchLabels") or {}
    rows = document.get("matchExpressions") or ()
    return (
        *(Requirement(str(key), "In", (str(value),)) for key, value in labels.items()),
        *(Requirement(str(one["key"]), str(one["operator"]), tuple(map(str, one.get("values") or ()))) for one in rows),
    )
