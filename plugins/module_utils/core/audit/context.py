# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What pods are audited against: the tiers they may run on, and the machines of these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..desired import Platform
from ..findings import Origin
from ..kubelet.hints import TopologyPolicy
from ..kubelet.planned_node import PlannedNode
from ..kubelet.settings import ManagerSettings
from ..pools import Taint
from ..tier import Tier

HEAVY_CPUS = 4
_NODE_ROLE = "node-role.kubernetes.io/"
_FULL_CORES = "full-pcpus-only"


@dataclass(frozen=True)
class Machine:
    """A machine of a tier as it will be planned.

    Shape: `trouble` says why its kubelet does not start, empty when it does; `kubelet_version` is (0, 0) when nobody
    knows it.
    """

    name: str
    planned: PlannedNode
    trouble: str = ""
    kubelet_version: tuple[int, int] = (0, 0)

    @property
    def memory(self) -> int:
        """The machine's memory in bytes, as the kubelet sees it."""
        return sum(node.memory for node in self.planned.machine.nodes)

    @property
    def threads(self) -> int:
        """Threads a core, as the kubelet counts them."""
        return self.planned.machine.cpus_per_core


@dataclass(frozen=True)
class AuditTier:
    """What a tier promises to pods and asks of them.

    Shape: `labels` and `taints` are those of its nodes; `settings` are the resource managers' as far as the tier says
    them, those of the machines are complete; `runtime_class` is the one that the tier's profile makes, else empty.
    """

    name: str
    settings: ManagerSettings = ManagerSettings()
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    runtime_class: str = ""
    origin: Origin = Origin()
    machines: tuple[Machine, ...] = ()

    @property
    def pins(self) -> bool:
        """Whether Guaranteed pods get CPUs of their own here."""
        return self.in_force.is_static

    @property
    def whole_cores(self) -> bool:
        """Whether exclusive CPUs come as whole cores only."""
        return self.in_force.cpu_options.get(_FULL_CORES) == "true"

    @property
    def one_numa_node(self) -> bool:
        """Whether pods that do not fit into one NUMA node are refused."""
        return self.in_force.topology_policy is TopologyPolicy.SINGLE_NUMA_NODE

    @property
    def in_force(self) -> ManagerSettings:
        """The settings of a machine where one is known, else what the tier says."""
        return next((one.planned.settings for one in self.machines if not one.trouble), self.settings)


@dataclass(frozen=True)
class AuditContext:
    """Everything that is given besides the pods.

    Shape: `node_memory` is a machine's memory in bytes, 0 when unknown; `heavy_cpus` is from how many CPUs a pod
    counts as heavy; `runtime_classes` are those that the manifests define.
    """

    tiers: tuple[AuditTier, ...] = ()
    node_memory: int = 0
    heavy_cpus: int = HEAVY_CPUS
    runtime_classes: frozenset[str] = frozenset()


def audit_tier(tier: Tier, platform: Platform, machines: Sequence[Machine] = ()) -> AuditTier:
    """Return a tier as pods meet it.

    On OpenShift, nodes of a tier without labels of its own are found by the selector of their pool.
    """
    labels = dict(tier.placement.labels)
    is_openshift = platform is Platform.OPENSHIFT
    if is_openshift and not labels:
        labels = dict(tier.openshift.node_selector) or {f"{_NODE_ROLE}{tier.pool_name}": ""}
    profile = tier.openshift.name or tier.name
    return AuditTier(
        name=tier.name,
        settings=_settings(tier),
        labels=labels,
        taints=tuple(_taints(tier.placement.taints)),
        runtime_class=f"performance-{profile}" if is_openshift and tier.is_profile else "",
        origin=tier.origin("placement"),
        machines=tuple(machines),
    )


def _settings(tier: Tier) -> ManagerSettings:
    kubelet = tier.kubelet
    topology = kubelet.topology_manager_policy or ("best-effort" if tier.is_profile else "none")
    options = dict(kubelet.cpu_manager_policy_options)
    if tier.is_profile and topology == TopologyPolicy.SINGLE_NUMA_NODE.value:
        options.setdefault(_FULL_CORES, "true")
    return ManagerSettings(
        cpu_policy=kubelet.cpu_manager_policy or ("static" if tier.is_profile else "none"),
        cpu_options=options,
        topology_policy=TopologyPolicy(topology),
        topology_scope=kubelet.topology_manager_scope or "container",
    )


def _taints(texts: Iterable[str]) -> Iterable[Taint]:
    for text in texts:
        pair, _, effect = text.rpartition(":")
        key, _, value = pair.partition("=")
        yield Taint(key, value, effect)
