# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Plan a pool: a tier and snapshots in, the changes of every node out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.changes import ChangePlanner, Changes
from ..core.checks.files import check_foreign_files
from ..core.desire import Desire, desire
from ..core.desired import Area, DesiredState, Platform
from ..core.environment import NodeEnvironment, environment
from ..core.findings import Verdict
from ..core.fingerprint import hardware_fingerprint
from ..core.hardware import pool_findings
from ..core.jsonform import digest, to_json
from ..core.node_guard import guard_node
from ..core.observed import ObservedState, observe
from ..core.plan import NodePlan, PoolPlan
from ..core.plan_json import node_plan_to_json
from ..core.snapshot import Snapshot
from ..core.sysfs import read_topology
from ..core.tier import Manifest, Tier
from ..core.topology import Topology
from ..render.node import NodeArtefacts, render_node
from ..render.openshift import render_manifests
from ..render.pool import manifest_of
from .documents import snapshot_documents
from .kubelet_plan import Planned, StartGuard
from .stale import node_facts, stale_reasons

__all__ = ["Planner", "node_plan_document", "plan_pool", "stale_reasons"]

_ID_DIGITS = 8


def plan_pool(
    tier: Tier,
    snapshots: Sequence[Snapshot],
    platform: Platform = Platform.KUBEADM,
    *,
    plan_id: str | None = None,
    machine_only: bool = False,
) -> PoolPlan:
    """Return the plan of a tier for the nodes whose snapshots these are, in their order.

    Shape: computed once for each hardware and software; equal arguments give an equal plan with an equal id.
    Critical findings are part of the plan, which is then `blocked`. With `machine_only` the kubelet is left out, for
    machines that are no nodes yet: they get its settings with their first start.
    Sad paths: `RefusedError` TUN-21xx when no partition can be computed, `InputError` TUN-2200 to TUN-2205 for values
    that no file can hold; on OpenShift those of `render_manifests`.
    """
    planner = Planner(tier, platform, machine_only)
    nodes = tuple(planner.plan_node(snapshot) for snapshot in snapshots)
    one_profile = platform is Platform.OPENSHIFT and manifest_of(tier) is Manifest.PERFORMANCE_PROFILE
    return PoolPlan(
        id=plan_id or _plan_id(tier, platform, nodes),
        tier=tier.name,
        pool=tier.pool_name,
        nodes=nodes,
        findings=pool_findings(planner.topologies, pool=tier.pool_name, one_profile=one_profile),
        manifests=_manifests(tier, planner) if platform is Platform.OPENSHIFT else {},
        tier_document=to_json(replace(tier, origins={})),
    )


def _manifests(tier: Tier, planner: Planner) -> Mapping[str, str]:
    """Return the pool's objects; none where its nodes would need different ones, which a finding then says."""
    texts = [render_manifests(tier, desired) for desired in planner.desired_states]
    return texts[0] if texts and all(one == texts[0] for one in texts) else {}


def node_plan_document(plan: PoolPlan, node: NodePlan) -> dict[str, Any]:
    """Return the document that a node is sent: everything about it, nothing about the others."""
    return node_plan_to_json(plan, node)


@dataclass(frozen=True)
class _Target:
    """What nodes of one hardware and software become, and what a plan for them rests on beside their settings."""

    wanted: Desire
    artefacts: NodeArtefacts
    facts: Mapping[str, str | None]
    changes: ChangePlanner


@dataclass
class Planner:
    """Plans nodes one after the other and computes nothing twice.

    Shape: `topologies` is node -> machine, for the findings about the pool.
    """

    tier: Tier
    platform: Platform = Platform.KUBEADM
    machine_only: bool = False
    topologies: dict[str, Topology] = field(default_factory=dict)
    _machines: dict[str, Topology] = field(default_factory=dict)
    _targets: dict[tuple[str, NodeEnvironment], _Target] = field(default_factory=dict)
    _starts: StartGuard = field(init=False)
    # By identity: the changes of a target live as long as the target.
    _bases: dict[int, tuple[str, Mapping[str, str | None]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Start with no start judged."""
        self._starts = StartGuard(self.platform)

    @property
    def desired_states(self) -> tuple[DesiredState, ...]:
        """The desired states that were computed, in the order of their first nodes."""
        return tuple(target.wanted.desired for target in self._targets.values())

    def plan_node(self, snapshot: Snapshot) -> NodePlan:
        """Return the plan of one node."""
        observed = observe(snapshot, snapshot_documents(snapshot))
        fingerprint = hardware_fingerprint(snapshot)
        software = environment(observed)
        if self.machine_only:
            observed = replace(observed, kubelet=replace(observed.kubelet, present=False))
            software = replace(software, has_kubelet=True)  # there will be one: units order themselves by it
        target = self._target(snapshot, fingerprint, software)
        plan = self._node_plan(observed, fingerprint, target)
        return self._guarded(plan, observed, software, self.topologies[snapshot.node])

    def _guarded(
        self, plan: NodePlan, observed: ObservedState, software: NodeEnvironment, machine: Topology
    ) -> NodePlan:
        """Return the plan with what would keep the node's kubelet from starting, or what it would do damage with."""
        planned = Planned(self.tier, machine, plan.desired, plan.files, plan.changes, plan.actions, plan.findings)
        found = self._starts.findings(observed, software, planned)
        return replace(plan, findings=(*plan.findings, *found)) if found else plan

    def _node_plan(self, observed: ObservedState, fingerprint: str, target: _Target) -> NodePlan:
        desired, artefacts = target.wanted.desired, target.artefacts
        found = target.changes.changes_of(observed)
        basis = self._basis(target, found)
        return NodePlan(
            node=observed.node,
            fingerprint=fingerprint,
            desired=desired,
            changes=found.changes,
            files=artefacts.files,
            runtime=artefacts.runtime,
            actions=tuple(one for one in found.actions if not (self.machine_only and one.startswith("kubelet-"))),
            findings=(
                *(replace(finding, subject=observed.node) for finding in target.wanted.findings),
                *guard_node(desired, observed, artefacts.files),
                *(one for one in check_foreign_files(desired, observed) if one.verdict is Verdict.FAIL),
            ),
            matching=found.matching,
            basis=basis[0],
            simulated=observed.simulated,
            observed=basis[1],
        )

    def _basis(self, target: _Target, found: Changes) -> tuple[str, Mapping[str, str | None]]:
        """Return the digest of what a plan rests on, and that itself; nodes alike share both."""
        if id(found) not in self._bases:
            basis = {**target.facts, **found.observed}
            self._bases[id(found)] = (digest(basis), basis)
        return self._bases[id(found)]

    def _machine(self, snapshot: Snapshot, fingerprint: str) -> Topology:
        if fingerprint not in self._machines:
            self._machines[fingerprint] = read_topology(snapshot)
        self.topologies[snapshot.node] = self._machines[fingerprint]
        return self._machines[fingerprint]

    def _target(self, snapshot: Snapshot, fingerprint: str, software: NodeEnvironment) -> _Target:
        machine = self._machine(snapshot, fingerprint)
        key = (fingerprint, software)
        if key not in self._targets:
            wanted = desire(self.tier, machine, software, self.platform)
            wanted = _machine_part(wanted) if self.machine_only else wanted
            artefacts = render_node(wanted.desired, software)
            changes = ChangePlanner(wanted.desired, artefacts.files)
            self._targets[key] = _Target(wanted, artefacts, node_facts(software), changes)
        return self._targets[key]


def _machine_part(wanted: Desire) -> Desire:
    """Return what a tier wants of a machine, without what it wants of its kubelet."""
    settings = tuple(one for one in wanted.desired.settings if one.area is not Area.KUBELET)
    findings = tuple(one for one in wanted.findings if not one.id.startswith("kubelet."))
    return replace(wanted, desired=replace(wanted.desired, settings=settings), findings=findings)


def _plan_id(tier: Tier, platform: Platform, nodes: Iterable[NodePlan]) -> str:
    known: dict[int, str] = {}
    parts = []
    for node in nodes:
        target = known.get(id(node.desired))
        if target is None:
            target = known[id(node.desired)] = digest((node.desired, node.files, node.runtime))
        parts.append((node.node, node.fingerprint, node.basis, target))
    return digest((tier.name, platform.value, parts))[:_ID_DIGITS]
