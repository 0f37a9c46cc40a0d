# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A pod as a drain sees it, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

_MIRROR = "kubernetes.io/config.mirror"


@dataclass(frozen=True)
class Pod:
    """A pod of a node.

    Shape: `owner` is the kind of its controller, empty for a pod that nobody replaces; `phase` as the API writes it;
    `ready` is the condition of that name. Source: Kubernetes API, core/v1 Pod.
    """

    namespace: str
    name: str
    uid: str = ""
    owner: str = ""
    phase: str = "Running"
    is_mirror: bool = False
    has_empty_dir: bool = False
    is_leaving: bool = False
    ready: bool = True
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """Namespace and name, as people write them."""
        return f"{self.namespace}/{self.name}"

    @property
    def is_finished(self) -> bool:
        """Whether its containers have ended for good."""
        return self.phase in ("Succeeded", "Failed")


@dataclass(frozen=True)
class Consent:
    """What the user agreed to lose: data in emptyDir volumes, and pods that nobody makes again."""

    delete_emptydir_data: bool = False
    force: bool = False


class Fate(Enum):
    """What a drain does with a pod."""

    STAYS = "stays"
    EVICTED = "evicted"
    LEAVING = "leaving"
    LOSES_DATA = "loses data"
    NOBODY_REPLACES = "nobody replaces it"

    @property
    def forbids(self) -> bool:
        """Whether the pod forbids the drain until the user agrees."""
        return self in (Fate.LOSES_DATA, Fate.NOBODY_REPLACES)


def read_pod(document: Mapping[str, Any]) -> Pod:
    """Return the pod that the API describes; what is absent counts as not there."""
    meta, spec, status = (document.get(key) or {} for key in ("metadata", "spec", "status"))
    return Pod(
        namespace=str(meta.get("namespace") or "default"),
        name=str(meta.get("name") or ""),
        uid=str(meta.get("uid") or ""),
        owner=next((str(one.get("kind")) for one in meta.get("ownerReferences") or () if one.get("controller")), ""),
        phase=str(status.get("phase") or "Pending"),
        is_mirror=_MIRROR in (meta.get("annotations") or {}),
        has_empty_dir=any("emptyDir" in volume for volume in spec.get("volumes") or ()),
        is_leaving=bool(meta.get("deletionTimestamp")),
        ready=any(one.get("type") == "Ready" and one.get("status") == "True" for one in status.get("conditions") or ()),
        labels=dict(meta.get("labels") or {}),
    )


def fate_of(pod: Pod, consent: Consent) -> Fate:
    """Return what becomes of a pod.

    Pods of DaemonSets stay whatever state they are in: their controller would put them back at once. Mirror pods stand
    for static pods, which only the kubelet ends. Finished pods lose nothing.
    Source: kubectl drain, filters of k8s.io/kubectl/pkg/drain (v1.31), which deletes finished pods of DaemonSets too.
    """
    if pod.is_mirror or pod.owner == "DaemonSet":
        return Fate.STAYS
    if pod.is_leaving:
        return Fate.LEAVING
    if pod.is_finished:
        return Fate.EVICTED
    if not pod.owner and not consent.force:
        return Fate.NOBODY_REPLACES
    if pod.has_empty_dir and not consent.delete_emptydir_data:
        return Fate.LOSES_DATA
    return Fate.EVICTED


def pods_with(fate: Fate, pods: Sequence[Pod], consent: Consent) -> tuple[Pod, ...]:
    """Return the pods that have a fate, in their order."""
    return tuple(pod for pod in pods if fate_of(pod, consent) is fate)
