# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Empties a node of its pods through evictions, and gives it back when it is well."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..core.drain.node import ClusterNode, cordon_patch, not_ready_reasons, uncordon_patch
from ..core.drain.pod import Consent, Fate, Pod, fate_of
from ..core.errors import FailedError, TunectlError, UndoneError, problem
from .api import Api
from .members import NODES, DrainRequest, node_of, pods_of

_CONFLICT, _GONE, _TOO_MANY = 409, 404, 429
_PATCH_ATTEMPTS = 5
_LOOK_EVERY_S = 2.0
_EVICT_EVERY_S = 5.0


@dataclass
class Drain:
    """Drains and gives back nodes of one cluster. `clock` returns seconds that never run backwards."""

    api: Api
    clock: Callable[[], float] = time.monotonic

    def drain(self, node: str, request: DrainRequest) -> tuple[str, int]:
        """Cordon a Node and evict its pods; return whose cordon it is (ours or another's) and how many pods left.

        Sad paths: `UndoneError` TUN-4700 when pods are still there at the end of the time, TUN-4703 when somebody
        keeps changing the Node; our cordon is taken back then, because nothing was done to the machine yet.
        """
        try:
            ours = self._patched(node, lambda found: cordon_patch(found, request.run))
            moved = self._emptied(node, request)
        except TunectlError as error:
            raise self._given_back(node, error) from error
        return ("ours" if ours or node_of(self.api, node).cordoned_by_us else "another's"), moved

    def uncordon(self, node: str, boot_id: str, timeout_s: float, stable_s: float) -> bool:
        """Give a Node back when it is well; return False for one that somebody else cordoned, which stays so.

        Well means: Ready without a break for `stable_s` seconds, in which its kubelet renewed its lease; every resource
        of device plugins is back; the boot that it reports is `boot_id` (empty: any). Sad path: `FailedError` TUN-4701
        when that does not come true in `timeout_s` seconds; the Node stays cordoned.
        """
        if not node_of(self.api, node).cordoned_by_us:
            return False
        self._wait_until_well(node, boot_id, timeout_s, stable_s)
        return self._patched(node, uncordon_patch)

    def _patched(self, node: str, patch_of: Callable[[ClusterNode], Mapping[str, Any] | None]) -> bool:
        for _attempt in range(_PATCH_ATTEMPTS):
            patch = patch_of(node_of(self.api, node))
            if patch is None:
                return False
            if self.api.request("PATCH", f"{NODES}/{node}", patch, expected=(_CONFLICT,)).status != _CONFLICT:
                return True
            self.api.sleep(1.0)
        raise FailedError(
            (
                problem(
                    "TUN-4703",
                    f"{node} could not be cordoned or uncordoned: somebody changes it all the time",
                    where=node,
                    why=f"{_PATCH_ATTEMPTS} patches met a newer version of the Node",
                    fix="kubectl get node -o yaml --show-managed-fields shows who; then run tunectl again",
                ),
            ),
            "",
        )

    def _emptied(self, node: str, request: DrainRequest) -> int:
        end = self.clock() + request.timeout_s
        asked: dict[str, Pod] = {}
        held: dict[str, str] = {}
        next_ask = 0.0
        while True:
            here = [pod for pod in pods_of(self.api, node) if fate_of(pod, request.consent) is not Fate.STAYS]
            if not here:
                return len(asked)
            self._refuse_newcomers(node, here, request.consent)
            if self.clock() >= end:
                raise _timed_out(node, here, held, request.timeout_s)
            if self.clock() >= next_ask:
                held = self._evicted(here, asked)
                next_ask = self.clock() + _EVICT_EVERY_S
            self.api.sleep(_LOOK_EVERY_S)

    def _evicted(self, pods: list[Pod], asked: dict[str, Pod]) -> dict[str, str]:
        """Ask for the eviction of every pod that does not leave yet; return why some are held back, by uid."""
        held: dict[str, str] = {}
        for pod in pods:
            if pod.is_leaving:
                asked[pod.uid] = pod
                continue
            path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}/eviction"
            # a pod of the same name that was made since is another pod
            body = {
                "apiVersion": "policy/v1",
                "kind": "Eviction",
                "metadata": {"name": pod.name, "namespace": pod.namespace},
                "deleteOptions": {"preconditions": {"uid": pod.uid}},
            }
            answer = self.api.request("POST", path, body, expected=(_GONE, _CONFLICT, _TOO_MANY))
            if answer.status == _TOO_MANY:
                held[pod.uid] = answer.said
            else:
                asked[pod.uid] = pod
        return held

    def _refuse_newcomers(self, node: str, here: list[Pod], consent: Consent) -> None:
        """Raise for a pod that came between the question and the cordon and would be lost."""
        lost = [pod.path for pod in here if fate_of(pod, consent).forbids]
        if lost:
            found = problem(
                "TUN-4705",
                f"pods came to {node} that a drain would destroy",
                where=node,
                why=", ".join(lost),
                fix="--delete-emptydir-data or --force agrees to that; else move them and run tunectl again",
            )
            raise FailedError((found,), "")

    def _given_back(self, node: str, error: TunectlError) -> TunectlError:
        try:
            self._patched(node, uncordon_patch)
        except TunectlError as second:
            state = f"Nothing was changed on {node}. It may still be cordoned: kubectl uncordon {node}"
            return FailedError((*error.problems, *second.problems), state)
        return UndoneError(error.problems, f"Nothing was changed on {node}; our cordon was taken back.")

    def _wait_until_well(self, node: str, boot_id: str, timeout_s: float, stable_s: float) -> None:
        end = self.clock() + timeout_s
        since: float | None = None
        first_lease = ""
        while True:
            reasons = list(not_ready_reasons(node_of(self.api, node), boot_id))
            now, lease = self.clock(), self._lease(node)
            if reasons:
                since = None
            elif since is None:
                since, first_lease = now, lease
            if since is not None:
                if now - since >= stable_s and lease != first_lease:
                    return
                reasons = [f"Ready for {now - since:.0f} s, and {stable_s:.0f} s and a renewed lease are wanted"]
            if now >= end:
                raise _not_well(node, reasons, timeout_s)
            self.api.sleep(_LOOK_EVERY_S)

    def _lease(self, node: str) -> str:
        path = f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{node}"
        return str(((self.api.get(path) or {}).get("spec") or {}).get("renewTime") or "")


def _timed_out(node: str, here: list[Pod], held: Mapping[str, str], timeout_s: float) -> FailedError:
    lines = (f"{pod.path}: {held.get(pod.uid) or 'it was told to leave and has not ended'}" for pod in here)
    found = problem(
        "TUN-4700",
        f"{len(here)} pods are still on {node} after {timeout_s:.0f} s",
        where=node,
        why="; ".join(lines),
        fix="make room for them, or wait longer with --drain-timeout; then run tunectl again",
    )
    return FailedError((found,), "")


def _not_well(node: str, reasons: list[str], timeout_s: float) -> FailedError:
    found = problem(
        "TUN-4701",
        f"{node} was not well again after {timeout_s:.0f} s and stays cordoned",
        where=node,
        why="; ".join(reasons),
        fix=f"journalctl -u kubelet on the node; kubectl uncordon {node} when it is well, or tunectl rollback",
    )
    return FailedError((found,), f"{node} is cordoned.")
