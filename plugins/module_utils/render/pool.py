# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The pool of a tier on OpenShift: names, labels and selectors, and why two tiers never share one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from ..core.errors import Problem, problem
from ..core.tier import Manifest, Tier

ROLE_LABEL = "machineconfiguration.openshift.io/role"
NODE_ROLE = "node-role.kubernetes.io/"
# These pools come with the cluster: their objects are not tunectl's to write.
BUILT_IN = ("master", "worker")
_BUILT_IN_LABEL = "pools.operator.machineconfiguration.openshift.io/"


@dataclass(frozen=True)
class Pool:
    """A MachineConfigPool as tunectl writes it.

    Shape: `labels` are the pool's own, never empty, because both operators find the pool by them;
    `node_selector` are the labels of its nodes; `name` is also the role of its machine configurations.
    """

    name: str
    labels: Mapping[str, str]
    node_selector: Mapping[str, str]
    max_unavailable: str = ""

    @property
    def is_built_in(self) -> bool:
        """Whether the cluster brings the pool along."""
        return self.name in BUILT_IN

    @property
    def role(self) -> dict[str, str]:
        """The label that machine configurations of this pool carry."""
        return {ROLE_LABEL: self.name}

    @property
    def has_derived_role(self) -> bool:
        """Whether the tuning operator gets the pool's role from the node selector, as its last part."""
        return [key.rpartition("/")[2] for key in self.node_selector] == [self.name]


def pool_of(tier: Tier) -> Pool:
    """Return the pool of a tier; names that the tier leaves open follow the pool's name."""
    name = tier.pool_name
    default_labels = {f"{_BUILT_IN_LABEL}{name}": ""} if name in BUILT_IN else {ROLE_LABEL: name}
    return Pool(
        name=name,
        labels=dict(tier.openshift.pool_labels) or default_labels,
        node_selector=dict(tier.openshift.node_selector) or {f"{NODE_ROLE}{name}": ""},
        max_unavailable=tier.openshift.max_unavailable,
    )


def manifest_of(tier: Tier) -> Manifest:
    """Return the object that carries the tier: as it says, else a profile exactly when CPUs are partitioned."""
    if tier.openshift.manifest is not None:
        return tier.openshift.manifest
    is_partitioned = tier.cpu.reserved is not None or tier.cpu.isolated is not None
    return Manifest.PERFORMANCE_PROFILE if is_partitioned else Manifest.KUBELET_CONFIG


def pool_document(pool: Pool) -> dict[str, object]:
    """Return the MachineConfigPool."""
    spec: dict[str, object] = {
        "machineConfigSelector": {
            "matchExpressions": [{"key": ROLE_LABEL, "operator": "In", "values": ["worker", pool.name]}]
        },
        "nodeSelector": {"matchLabels": _ordered(pool.node_selector)},
    }
    if pool.max_unavailable:
        count = pool.max_unavailable
        spec["maxUnavailable"] = int(count) if count.isascii() and count.isdigit() else count
    return {
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "MachineConfigPool",
        "metadata": {"name": pool.name, "labels": _ordered(pool.labels)},
        "spec": spec,
    }


def check_pools(tiers: Iterable[Tier]) -> tuple[Problem, ...]:
    """Return a problem for each two tiers that cannot stand in one cluster; none when all keep apart.

    Shape: `TUN-2240` the same pool; `TUN-2241` nodes or pool labels that both select.
    Source: a pool has one PerformanceProfile or KubeletConfig in force: the last in name order wins as a whole.
    """
    return tuple(one for first, second in combinations(tiers, 2) for one in _clashes(first, second))


def _clashes(first: Tier, second: Tier) -> Iterator[Problem]:
    one, other = pool_of(first), pool_of(second)
    if one.name == other.name:
        yield problem(
            "TUN-2240",
            f"tiers {first.name} and {second.name} are both for pool {one.name}",
            where=str(second.origin("pool")) or f"tier {second.name}",
            why=_why_not_together(first, second),
            fix=f"give each tier a pool of its own: set pool: {second.name} in tier {second.name}",
        )
        return
    if _covers(one.node_selector, other.node_selector):
        yield problem(
            "TUN-2241",
            f"pools {one.name} and {other.name} select the same nodes",
            where=str(second.origin("openshift.node_selector")) or f"tier {second.name}",
            why=f"{_text(one.node_selector)} and {_text(other.node_selector)} can both match one node,"
            " and a node has at most one pool of its own",
            fix=f"set openshift.node_selector of tier {second.name} to {NODE_ROLE}{other.name}",
        )
    # A pool that carries the labels of another one receives the kubelet configuration meant for that.
    if _covers(one.labels, other.labels):
        yield problem(
            "TUN-2241",
            f"pools {one.name} and {other.name} carry the same label",
            where=str(second.origin("openshift.pool_labels")) or f"tier {second.name}",
            why=f"a selector for {_text(one.labels)} or {_text(other.labels)} matches both pools",
            fix=f"set openshift.pool_labels of tier {second.name} to a label that no other pool has",
        )


def _why_not_together(first: Tier, second: Tier) -> str:
    described = [_described(tier) for tier in (first, second)]
    if {manifest_of(first), manifest_of(second)} == set(Manifest):
        return (
            f"a {described[0]} and a {described[1]} on one pool fight: each writes the whole kubelet configuration,"
            " the last in name order wins, and the settings of the other are lost without a word"
        )
    return f"a pool takes one of them: {described[0]} or {described[1]}"


def _described(tier: Tier) -> str:
    kind = "PerformanceProfile" if manifest_of(tier) is Manifest.PERFORMANCE_PROFILE else "KubeletConfig"
    policy = tier.kubelet.topology_manager_policy
    return f"`{policy}` {kind}" if policy else kind


def _covers(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether one selector is part of the other, so that something can match both."""
    return one.items() <= other.items() or other.items() <= one.items()


def _text(labels: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={labels[key]}" for key in sorted(labels))


def _ordered(labels: Mapping[str, str]) -> dict[str, str]:
    return {key: labels[key] for key in sorted(labels)}
