# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Pools of OpenShift: which nodes belong to one, and the label that selects it alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .errors import problem
from .profile_creator import RequestRefusedError

_MASTER, _WORKER = "master", "worker"
_OS_LABEL = "kubernetes.io/os"


@dataclass(frozen=True)
class Taint:
    """A taint of a node."""

    key: str
    value: str = ""
    effect: str = ""


@dataclass(frozen=True)
class PoolNode:
    """A node as the cluster knows it."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()


@dataclass(frozen=True)
class NodePool:
    """A MachineConfigPool: its own labels and the labels of its nodes."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    node_selector: Mapping[str, str] = field(default_factory=dict)

    def selects(self, node: PoolNode) -> bool:
        """Return whether the pool's selector matches the node; an empty selector matches none."""
        return bool(self.node_selector) and self.node_selector.items() <= node.labels.items()


def pool_named(name: str | None, pools: Iterable[NodePool]) -> NodePool:
    """Return the pool of that name; raises `RequestRefusedError` TUN-2105 when none is named or known."""
    known = {pool.name: pool for pool in pools}
    if not name:
        raise _refused(
            "no_pool_named", "no pool is named", "a request is about one pool", f"name one of {_list(known)}"
        )
    if name not in known:
        raise _refused("unknown_pool", f"there is no pool {name!r}", f"known are {_list(known)}", "name one of these")
    return known[name]


def pool_of(node: PoolNode, pools: Iterable[NodePool]) -> NodePool | None:
    """Return the one pool that a node belongs to, or None when it belongs to none or to too many.

    Shape: a pool other than master and worker wins over worker; master wins over worker; a node with two such pools,
    or with one and master, belongs to none. Windows nodes and nodes whose NoSchedule taint is the label by which their
    pool selects them are in none.
    Source: the OpenShift machine-config operator and profile creator.
    """
    if node.labels.get(_OS_LABEL, "linux").lower() == "windows":
        return None
    matching = {pool.name: pool for pool in pools if pool.selects(node)}
    custom = [pool for name, pool in matching.items() if name not in (_MASTER, _WORKER)]
    if len(custom) > 1 or (custom and _MASTER in matching):
        return None
    pool = custom[0] if custom else matching.get(_MASTER, matching.get(_WORKER))
    return None if pool is None or _is_kept_free(node, pool) else pool


def _is_kept_free(node: PoolNode, pool: NodePool) -> bool:
    return any(
        taint.effect == "NoSchedule" and pool.node_selector.get(taint.key, None) == taint.value for taint in node.taints
    )


def nodes_of(pool: NodePool, nodes: Iterable[PoolNode], pools: Iterable[NodePool]) -> tuple[PoolNode, ...]:
    """Return the nodes that belong to the pool, in the given order."""
    everyone = tuple(pools)
    return tuple(node for node in nodes if pool_of(node, everyone) == pool)


def own_label(pool: NodePool, pools: Iterable[NodePool]) -> dict[str, str]:
    """Return one label that no other pool has: one whose key ends in the pool's name, else the first by key.

    Sad paths: `RequestRefusedError` TUN-2105 when every label of the pool is on another pool too.
    Source: the OpenShift profile creator, which takes any where this takes the first.
    """
    others = [one for one in pools if one.name != pool.name]
    own = sorted(
        (key, value)
        for key, value in pool.labels.items()
        if not any(key in one.labels and one.labels[key] == value for one in others)
    )
    if not own:
        raise _refused(
            "no_unique_label",
            f"pool {pool.name} cannot be selected alone",
            f"each of its labels ({_list(pool.labels) or 'none'}) is on another pool too",
            f"label it: oc label machineconfigpool {pool.name} machineconfiguration.openshift.io/role={pool.name}",
        )
    key, value = next(((key, value) for key, value in own if key.endswith(pool.name)), own[0])
    return {key: value}


def _refused(reason: str, what: str, why: str, fix: str) -> RequestRefusedError:
    return RequestRefusedError((problem("TUN-2105", what, where="profile request", why=why, fix=fix),), reason=reason)


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
