# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The kubelet settings that a tier means.

A tier with a partition gets what the node tuning operator derives from a PerformanceProfile, on every platform.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .desire_context import DesireContext, Wanted, plain
from .desired import Area, Impact, Platform, Setting
from .findings import Finding
from .kubelet_fields import (
    CPU_MANAGER_OPTIONS,
    DEFAULT_EVICTION,
    TOPOLOGY_MANAGER_OPTIONS,
    PolicyOption,
    Version,
    option_gate,
)
from .kubelet_judge import judge_kubelet
from .reserved_memory import (
    MemoryBalance,
    computed_reservation,
    judge_reservation,
    memory_balance,
    whole_reservation,
)

DOCUMENT = "KubeletConfiguration v1beta1"
# The operator writes all of the defaults but this one.
_NOT_BY_OPERATOR = "imagefs.inodesFree"
_OPERATOR_RESERVATION = "500Mi"
_OPERATOR_RECONCILE = "5s"
_NUMA_LIMIT = 8
NUMA_OPTION = "max-allowable-numa-nodes"
_NUMA_OPTION_SINCE: Version = (1, 31)
_NEWEST_KNOWN: Version = (1, 36)

_WHY = {
    "cpuManagerPolicy": "Guaranteed containers with whole CPUs get those CPUs for themselves.",
    "cpuManagerPolicyOptions": "They decide which CPUs the static CPU manager hands out together.",
    "cpuManagerReconcilePeriod": "The CPU sets of containers are put right this often.",
    "reservedSystemCPUs": "These CPUs are kept for the operating system, the kubelet and interrupts.",
    "topologyManagerPolicy": "It decides whether a pod must get CPUs, memory and devices of the same NUMA nodes.",
    "topologyManagerScope": "It decides whether alignment counts for each container or for the pod as a whole.",
    "topologyManagerPolicyOptions": "They refine how the topology manager chooses among NUMA nodes.",
    "memoryManagerPolicy": "Guaranteed pods get memory of the NUMA nodes that their CPUs are on.",
    "reservedMemory": "The memory manager keeps exactly what the system reserves, on the NUMA nodes that use it.",
    "systemReserved": "The operating system's daemons keep these resources whatever pods ask for.",
    "kubeReserved": "The kubelet and the container runtime keep these resources whatever pods ask for.",
    "evictionHard": "Pods are evicted before the node runs out; a map that misses a signal would switch it off.",
    "evictionSoft": "Pods are evicted gracefully when a signal stays below its threshold.",
    "evictionSoftGracePeriod": "This long a soft threshold must be crossed before pods are evicted.",
    "maxPods": "No more pods than this are scheduled to the node.",
    "featureGates": "These switch on what the tier's other kubelet settings need.",
    "memoryThrottlingFactor": "Between request and limit, containers are slowed down from this point on.",
    "memorySwap": "It decides whether containers may use swap.",
    "failSwapOn": "The kubelet starts although swap is on.",
}
_WHY_OF_VALUE = {
    ("cpuManagerPolicy", "none"): "All containers share all CPUs that their limits allow.",
    ("topologyManagerPolicy", "none"): "Pods take CPUs, memory and devices wherever they are free.",
    ("topologyManagerPolicy", "best-effort"): "Pods get CPUs and memory of the same NUMA nodes where that is possible.",
    ("topologyManagerPolicy", "restricted"): "A pod starts only on the fewest NUMA nodes that can hold it.",
    ("topologyManagerPolicy", "single-numa-node"): "A pod starts only where one NUMA node holds all of it.",
    ("memoryManagerPolicy", "None"): "Memory of pods comes from any NUMA node.",
}
_PATHS = {
    "reservedSystemCPUs": "cpu.reserved",
    "featureGates": "kubelet",
    "memorySwap": "kubelet.swap_behavior",
    "failSwapOn": "memory.swap",
}


def desire_kubelet(context: DesireContext) -> Wanted:
    """Return the kubelet settings, in the order of the fields' topics, and the findings about them."""
    balance, maps = _reservations(context)
    fields: dict[str, Any] = {
        **_cpu_manager(context),
        **_topology_manager(context),
        **({"memoryManagerPolicy": context.memory_policy} if context.memory_policy else {}),
        **maps,
    }
    findings = list(judge_kubelet(context, fields))
    if context.memory_policy == "Static":
        entries, more = _reserved_memory(context, balance)
        fields["reservedMemory"] = entries
        findings += more
    fields |= _other_fields(context)
    gates = _gates(context, fields)
    if gates:
        fields["featureGates"] = gates
    settings = tuple(_setting(context, name, value) for name, value in fields.items())
    return Wanted(settings, tuple(findings))


def _cpu_manager(context: DesireContext) -> dict[str, Any]:
    kubelet = context.tier.kubelet
    fields: dict[str, Any] = {}
    if context.cpu_policy:
        fields["cpuManagerPolicy"] = context.cpu_policy
    options = dict(kubelet.cpu_manager_policy_options)
    if context.is_profile and context.topology_policy == "single-numa-node":
        options.setdefault("full-pcpus-only", "true")
    if options:
        fields["cpuManagerPolicyOptions"] = options
    period = kubelet.cpu_manager_reconcile_period or (_OPERATOR_RECONCILE if context.is_profile else "")
    if period:
        fields["cpuManagerReconcilePeriod"] = period
    reserved = context.partition.reserved | context.partition.ovs_dpdk
    if context.hints.mixed_cpus:
        reserved |= context.partition.shared
    if context.is_partitioned and reserved:
        fields["reservedSystemCPUs"] = reserved.format()
    return fields


def _topology_manager(context: DesireContext) -> dict[str, Any]:
    kubelet = context.tier.kubelet
    fields: dict[str, Any] = {}
    if context.topology_policy:
        fields["topologyManagerPolicy"] = context.topology_policy
    if kubelet.topology_manager_scope:
        fields["topologyManagerScope"] = kubelet.topology_manager_scope
    options = dict(kubelet.topology_manager_policy_options)
    if _needs_numa_option(context):
        options.setdefault(NUMA_OPTION, str(len(context.topology.numa_nodes)))
    if options:
        fields["topologyManagerPolicyOptions"] = options
    return fields


def _needs_numa_option(context: DesireContext) -> bool:
    """Whether the machine has more NUMA nodes than the topology manager starts with, and the kubelet can be told."""
    version = context.environment.kubelet_version
    knows_option = version == (0, 0) or version >= _NUMA_OPTION_SINCE
    is_on = context.topology_policy not in ("", "none")
    return is_on and knows_option and context.on_node and len(context.topology.numa_nodes) > _NUMA_LIMIT


def _reservations(context: DesireContext) -> tuple[MemoryBalance, dict[str, Any]]:
    """Return the memory balance, and the maps systemReserved, kubeReserved and evictionHard as they are written."""
    kubelet = context.tier.kubelet
    system, kube = dict(kubelet.system_reserved), dict(kubelet.kube_reserved)
    if context.is_profile or context.memory_policy == "Static":
        # Unwritten, another file of the node could add to the sum that reservedMemory must match.
        system.setdefault("memory", _OPERATOR_RESERVATION)
        kube.setdefault("memory", _OPERATOR_RESERVATION)
    eviction = _eviction(context)
    in_force = {**DEFAULT_EVICTION, **eviction} if context.on_node or not eviction else eviction
    maps = {"systemReserved": system, "kubeReserved": kube, "evictionHard": eviction}
    return memory_balance(kube, system, in_force), {name: value for name, value in maps.items() if value}


def _eviction(context: DesireContext) -> dict[str, str]:
    asked = dict(context.tier.kubelet.eviction_hard)
    if context.is_operated:
        return {signal: value for signal, value in DEFAULT_EVICTION.items() if signal != _NOT_BY_OPERATOR} | asked
    if context.platform is Platform.OPENSHIFT:
        # A KubeletConfig says what its author wrote; judge_kubelet warns about the signals that it drops.
        return asked
    return {**DEFAULT_EVICTION, **asked} if asked or context.is_profile or context.memory_policy == "Static" else {}


def _reserved_memory(context: DesireContext, balance: MemoryBalance) -> tuple[list[Any], tuple[Finding, ...]]:
    given = context.tier.kubelet.reserved_memory
    entries = given or computed_reservation(context, balance)
    if entries is None:
        # The machine is too small: one entry shows the sum that does not fit, and the finding says so.
        entries = (whole_reservation(context, balance),)
    findings = tuple(judge_reservation(context, entries, balance))
    return [{"numaNode": entry.numa_node, "limits": dict(entry.limits)} for entry in entries], findings


def _other_fields(context: DesireContext) -> dict[str, Any]:
    tier = context.tier
    fields: dict[str, Any] = {
        "evictionSoft": dict(tier.kubelet.eviction_soft),
        "evictionSoftGracePeriod": dict(tier.kubelet.eviction_soft_grace_period),
        "maxPods": tier.kubelet.max_pods,
        "memoryThrottlingFactor": float(tier.kubelet.memory_throttling_factor or 0),
    }
    wanted = {name: value for name, value in fields.items() if value}
    if tier.kubelet.swap_behavior:
        wanted["memorySwap"] = {"swapBehavior": tier.kubelet.swap_behavior}
    if tier.memory.swap or (tier.kubelet.swap_behavior == "LimitedSwap" and tier.memory.swap is not False):
        wanted["failSwapOn"] = False
    passed = {name: plain(value) for name, value in tier.kubelet.config.items() if name != "featureGates"}
    return {**wanted, **passed}


def _gates(context: DesireContext, fields: Mapping[str, Any]) -> dict[str, bool]:
    gates = dict(plain(context.tier.kubelet.config.get("featureGates", {})))
    if context.tier.kubelet.memory_qos:
        gates["MemoryQoS"] = True
    for manager, field, known in (
        ("cpu", "cpuManagerPolicyOptions", CPU_MANAGER_OPTIONS),
        ("topology", "topologyManagerPolicyOptions", TOPOLOGY_MANAGER_OPTIONS),
    ):
        for option in known:
            if option.name in fields.get(field, ()):
                gate = _gate(context, manager, option)
                if gate:
                    gates.setdefault(gate, True)
    return gates


def _gate(context: DesireContext, manager: str, option: PolicyOption) -> str:
    version = context.environment.kubelet_version
    # A kubelet of unknown version is taken as the newest one: the gates of settled options are locked there.
    return option_gate(manager, option, version if version > (0, 0) else _NEWEST_KNOWN)


def _setting(context: DesireContext, name: str, value: Any) -> Setting:
    path = _PATHS.get(name) or (f"kubelet.config.{name}" if name in context.tier.kubelet.config else _field_path(name))
    return context.setting(
        Area.KUBELET,
        name,
        value,
        _impact(context, name, value),
        why=_reason(name, value),
        source=f"{DOCUMENT} {name}",
        path=path,
    )


def _reason(name: str, value: Any) -> str:
    of_value = _WHY_OF_VALUE.get((name, value)) if isinstance(value, str) else None
    return of_value or _WHY.get(name, "The tier asks for this field of the kubelet's configuration.")


def _field_path(name: str) -> str:
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return f"kubelet.{snake}"


def _impact(context: DesireContext, name: str, value: Any) -> Impact:
    """Return the price: a drain where the kubelet would refuse its checkpoint, or throw out running pods."""
    is_static = context.cpu_policy == "static"
    drains = {
        "cpuManagerPolicy": True,
        "reservedSystemCPUs": True,
        "memoryManagerPolicy": True,
        "reservedMemory": True,
        "cpuManagerPolicyOptions": "strict-cpu-reservation" in value if isinstance(value, Mapping) else False,
        "topologyManagerPolicy": value in ("restricted", "single-numa-node"),
        "systemReserved": is_static or context.memory_policy == "Static",
        "kubeReserved": is_static or context.memory_policy == "Static",
    }
    return Impact.DRAIN if drains.get(name) else Impact.RESTART
