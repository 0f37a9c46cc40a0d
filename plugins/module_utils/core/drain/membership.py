# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether a node must be drained before a change: what the change costs, and whether the node is in a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..desired import Impact
from ..errors import Problem, problem

# The kubelet's own credentials, where kubeadm, OpenShift and its certificate rotation keep them. A kubelet without any
# of them runs static pods only and is in no cluster.
LOOK = (
    "for f in {root}/etc/kubernetes/kubelet.conf {root}/var/lib/kubelet/kubeconfig"
    " {root}/var/lib/kubelet/pki/kubelet-client-current.pem;"
    ' do if [ -e "$f" ]; then echo tunectl-member; fi; done;'
    ' echo "tunectl-boot $(cat /proc/sys/kernel/random/boot_id 2>/dev/null)";'
    ' echo "tunectl-name $(uname -n)"; echo tunectl-looked'
)


@dataclass(frozen=True)
class Looked:
    """What a node says of itself: whether its kubelet has credentials of a cluster, its boot, its host names."""

    member: bool
    boot_id: str
    names: tuple[str, ...]


def read_look(text: str) -> Looked | None:
    """Return what a node said to `LOOK`, whatever a login banner prints around it; None when it did not finish."""
    lines = [line.strip() for line in text.splitlines()]
    if "tunectl-looked" not in lines:
        return None
    boot = _after("tunectl-boot", lines)
    return Looked("tunectl-member" in lines, boot[0] if boot else "", _after("tunectl-name", lines))


def needs_drain(changes: Iterable[Mapping[str, Any]], reboot: str) -> bool:
    """Return whether changes end pods: one with the price drain, or a reboot that will be done (`reboot` auto)."""
    prices = {str(change.get("impact")) for change in changes}
    return Impact.DRAIN.value in prices or (Impact.REBOOT.value in prices and reboot == "auto")


def no_cluster(host: str) -> Problem:
    """Return the refusal of a change that ends pods of a node in a cluster that nobody named."""
    return problem(
        "TUN-3700",
        f"{host} must be drained first, and no kubeconfig was named",
        where=host,
        why="its kubelet has credentials of a cluster, and the change restarts or moves its pods",
        fix="--kubeconfig FILE; or --drain never, which ends pods without notice: exclusive CPUs that running pods hold"
        " may then keep the kubelet from starting",
    )


def unknown_membership(host: str, why: str) -> Problem:
    """Return the problem of a node that does not say whether it is in a cluster."""
    return problem(
        "TUN-5701",
        f"nobody knows whether {host} is in a cluster",
        where=host,
        why=" ".join(why.split()) or "it did not answer to the end",
        fix="a shell must work on the node with the rights that tunectl has there",
    )


def _after(mark: str, lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(line.partition(" ")[2] for line in lines if line.startswith(f"{mark} ") and line.partition(" ")[2])
