# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the kubelet knows by name: policies, policy options with the releases that have them, configuration fields.

Source: kubelet configuration v1beta1 and the resource managers of Kubernetes 1.28 to 1.36.
"""

from __future__ import annotations

from dataclasses import dataclass

from .kubelet.config_types import DEFAULT_EVICTION, FIELDS, coarse_type

__all__ = ["DEFAULT_EVICTION"]

CPU_MANAGER_POLICIES = ("none", "static")
TOPOLOGY_MANAGER_POLICIES = ("none", "best-effort", "restricted", "single-numa-node")
TOPOLOGY_MANAGER_SCOPES = ("container", "pod")
MEMORY_MANAGER_POLICIES = ("None", "Static")
SWAP_BEHAVIORS = ("NoSwap", "LimitedSwap")

# Huge pages are not among them: the kubelet refuses to reserve those.
RESERVABLE_RESOURCES = ("cpu", "memory", "ephemeral-storage", "pid")

EVICTION_SIGNALS = (
    "memory.available",
    "nodefs.available",
    "nodefs.inodesFree",
    "imagefs.available",
    "imagefs.inodesFree",
    "containerfs.available",
    "containerfs.inodesFree",
    "pid.available",
    "allocatableMemory.available",
)

Version = tuple[int, int]


@dataclass(frozen=True)
class PolicyOption:
    """One option of a kubelet manager, with the first release of each stage (None: not reached up to 1.36).

    Shape: `is_number` options take a whole number of at least `minimum`, all others true or false.
    """

    name: str
    meaning: str
    alpha: Version | None = None
    beta: Version | None = None
    stable: Version | None = None
    is_number: bool = False
    minimum: int = 0

    @property
    def since(self) -> Version:
        """The first release that knows the option."""
        return min(version for version in (self.alpha, self.beta, self.stable) if version)

    def stage_in(self, kubelet: Version) -> str:
        """Return `stable`, `beta` or `alpha`, and `absent` for a kubelet that does not know the option."""
        for stage, first in (("stable", self.stable), ("beta", self.beta), ("alpha", self.alpha)):
            if first is not None and kubelet >= first:
                return stage
        return "absent"


CPU_MANAGER_OPTIONS = (
    PolicyOption("full-pcpus-only", "give out whole cores only", (1, 22), (1, 23), (1, 33)),
    PolicyOption("distribute-cpus-across-numa", "take the CPUs evenly from several NUMA nodes", (1, 23), (1, 33)),
    PolicyOption("align-by-socket", "align to sockets instead of NUMA nodes", (1, 25)),
    PolicyOption("distribute-cpus-across-cores", "use one thread of a core before its siblings", (1, 31)),
    PolicyOption("strict-cpu-reservation", "keep all pods off the reserved CPUs", (1, 32), (1, 33), (1, 35)),
    PolicyOption(
        "prefer-align-cpus-by-uncorecache", "prefer CPUs that share a last-level cache", (1, 32), (1, 34), (1, 36)
    ),
)

TOPOLOGY_MANAGER_OPTIONS = (
    PolicyOption("prefer-closest-numa-nodes", "prefer NUMA nodes that are near each other", (1, 26), (1, 28), (1, 32)),
    PolicyOption(
        "max-allowable-numa-nodes",
        "most NUMA nodes the topology manager starts with",
        None,
        (1, 31),
        (1, 35),
        is_number=True,
        minimum=8,
    ),
)

# Options of the static CPU manager that the kubelet refuses together.
CPU_MANAGER_CONFLICTS = (
    ("distribute-cpus-across-cores", "full-pcpus-only"),
    ("distribute-cpus-across-cores", "distribute-cpus-across-numa"),
    ("distribute-cpus-across-cores", "prefer-align-cpus-by-uncorecache"),
    ("prefer-align-cpus-by-uncorecache", "distribute-cpus-across-numa"),
)

_GATES = {
    "cpu": {"alpha": "CPUManagerPolicyAlphaOptions", "beta": "CPUManagerPolicyBetaOptions"},
    "topology": {"alpha": "TopologyManagerPolicyAlphaOptions", "beta": "TopologyManagerPolicyBetaOptions"},
}
# The group gates of beta options are on by default, except the topology manager's before this release.
_TOPOLOGY_BETA_ON_SINCE: Version = (1, 28)


def option_gate(manager: str, option: PolicyOption, kubelet: Version) -> str:
    """Return the feature gate that must be switched on for an option, "" when it works as it is.

    Shape: `manager` is `cpu` or `topology`. The kubelet asks for the gate for every listed option, also one that
    is set to false.
    """
    stage = option.stage_in(kubelet)
    if stage == "alpha" or (stage == "beta" and manager == "topology" and kubelet < _TOPOLOGY_BETA_ON_SINCE):
        return _GATES[manager][stage]
    return ""


# Fields of KubeletConfiguration that a tier has keys of its own for.
MANAGED_FIELDS = {
    "apiVersion": "",
    "kind": "",
    "cpuManagerPolicy": "kubelet.cpu_manager_policy",
    "cpuManagerPolicyOptions": "kubelet.cpu_manager_policy_options",
    "cpuManagerReconcilePeriod": "kubelet.cpu_manager_reconcile_period",
    "topologyManagerPolicy": "kubelet.topology_manager_policy",
    "topologyManagerScope": "kubelet.topology_manager_scope",
    "topologyManagerPolicyOptions": "kubelet.topology_manager_policy_options",
    "memoryManagerPolicy": "kubelet.memory_manager_policy",
    "reservedMemory": "kubelet.reserved_memory",
    "reservedSystemCPUs": "cpu.reserved",
    "systemReserved": "kubelet.system_reserved",
    "kubeReserved": "kubelet.kube_reserved",
    "evictionHard": "kubelet.eviction_hard",
    "evictionSoft": "kubelet.eviction_soft",
    "evictionSoftGracePeriod": "kubelet.eviction_soft_grace_period",
    "maxPods": "kubelet.max_pods",
    "memoryThrottlingFactor": "kubelet.memory_throttling_factor",
    "memorySwap": "kubelet.swap_behavior",
    "failSwapOn": "memory.swap",
}

# All others by their JSON type; a value of another type keeps the kubelet from starting.
OTHER_FIELDS = {name: coarse_type(kind) for name, kind in sorted(FIELDS.items()) if name not in MANAGED_FIELDS}
