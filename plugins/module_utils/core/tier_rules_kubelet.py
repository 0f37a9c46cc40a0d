# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Rules across the kubelet settings of a tier: what the kubelet refuses, or takes and then ignores.

Source: kubelet configuration v1beta1, validation and start-up checks of the resource managers.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from .kubelet_fields import CPU_MANAGER_CONFLICTS
from .quantity import format_bytes, is_percentage, parse_bytes, parse_quantity
from .tier import Tier
from .tier_breach import Breach, Rule, repeated

# What the kubelet keeps free when nobody says otherwise.
_DEFAULT_EVICTION = "100Mi"
_CGROUP_KEYS = {"system-reserved": "systemReservedCgroup", "kube-reserved": "kubeReservedCgroup"}


def _is_static(tier: Tier) -> bool:
    """Whether the CPU manager gets the static policy, which a PerformanceProfile brings by itself."""
    return (tier.kubelet.cpu_manager_policy or ("static" if tier.is_profile else "")) == "static"


def _pins_memory(tier: Tier) -> bool:
    """Whether the memory manager gets the Static policy; a strict PerformanceProfile brings it by itself."""
    strict = tier.is_profile and tier.kubelet.topology_manager_policy in ("restricted", "single-numa-node")
    return (tier.kubelet.memory_manager_policy or ("Static" if strict else "")) == "Static"


def _options_without_policy(tier: Tier) -> Iterator[Breach]:
    kubelet = tier.kubelet
    if kubelet.cpu_manager_policy_options and not _is_static(tier):
        what = "options of the CPU manager need the static policy"
        why = f"cpu_manager_policy is {kubelet.cpu_manager_policy or 'not set, which means none'}"
        yield Breach("kubelet.cpu_manager_policy_options", what, why, "cpu_manager_policy: static")
    is_off = kubelet.topology_manager_policy == "none" or not (kubelet.topology_manager_policy or tier.is_profile)
    if kubelet.topology_manager_policy_options and is_off:
        what = "options of the topology manager need a policy other than none"
        yield Breach("kubelet.topology_manager_policy_options", what, "the kubelet would ignore them")


def _option_conflicts(tier: Tier) -> Iterator[Breach]:
    options = tier.kubelet.cpu_manager_policy_options
    wanted = {name for name, value in options.items() if value == "true"}
    for one, other in CPU_MANAGER_CONFLICTS:
        if {one, other} <= wanted:
            path = f"kubelet.cpu_manager_policy_options.{one}"
            yield Breach(path, f"{one} excludes {other}", "the kubelet refuses to start with both", "keep one of them")
    if "align-by-socket" in wanted and tier.kubelet.topology_manager_policy == "single-numa-node":
        why = "one aligns to sockets, the other to NUMA nodes: the kubelet refuses to start with both"
        path = "kubelet.cpu_manager_policy_options.align-by-socket"
        yield Breach(path, "align-by-socket excludes topology_manager_policy single-numa-node", why)


def _static_without_reservation(tier: Tier) -> Iterator[Breach]:
    kubelet = tier.kubelet
    if kubelet.cpu_manager_policy == "static" and not tier.is_partitioned and not _reservation(tier, "cpu"):
        why = "the kubelet refuses to start when no CPU is left for the system"
        fix = "cpu.reserved: {count: 2}, or kubelet.system_reserved.cpu"
        yield Breach("kubelet.cpu_manager_policy", "the static policy needs a CPU reservation", why, fix)


def _reservation(tier: Tier, resource: str) -> Fraction:
    """Return what systemReserved and kubeReserved keep back of a resource together."""
    maps = (tier.kubelet.system_reserved, tier.kubelet.kube_reserved)
    return sum((parse_quantity(one[resource]) for one in maps if resource in one), Fraction())


def _percent_with_static_memory(tier: Tier) -> Iterator[Breach]:
    threshold = tier.kubelet.eviction_hard.get("memory.available", "")
    # These two switch the signal off, which is exact.
    if _pins_memory(tier) and is_percentage(threshold) and threshold not in ("0%", "100%"):
        what = f"the eviction threshold {threshold} does not go with the Static memory manager"
        why = "its reservation must be exact to the byte, and a share differs from machine to machine"
        yield Breach("kubelet.eviction_hard.memory.available", what, why, "write an amount, such as 2Gi")


def _reserved_memory(tier: Tier) -> Iterator[Breach]:
    kubelet = tier.kubelet
    if kubelet.reserved_memory and not _pins_memory(tier):
        what = "reserved_memory is read by the Static memory manager only"
        yield Breach("kubelet.reserved_memory", what, "", "memory_manager_policy: Static")
        return
    for position, node in repeated(str(one.numa_node) for one in kubelet.reserved_memory):
        yield Breach(f"kubelet.reserved_memory.{position}", f"NUMA node {node} stands there twice", "", "add them up")
    yield from _reserved_memory_sum(tier)


def _reserved_memory_sum(tier: Tier) -> Iterator[Breach]:
    kubelet = tier.kubelet
    known = "memory" in kubelet.system_reserved and "memory" in kubelet.kube_reserved
    eviction = kubelet.eviction_hard.get("memory.available", _DEFAULT_EVICTION)
    eviction = "0" if eviction in ("0%", "100%") else eviction
    if not kubelet.reserved_memory or not known or is_percentage(eviction):
        return
    parts = (kubelet.kube_reserved["memory"], kubelet.system_reserved["memory"], eviction)
    needed = sum(parse_bytes(part) for part in parts)
    given = sum(parse_bytes(one.limits.get("memory", "0")) for one in kubelet.reserved_memory)
    if given != needed:
        what = f"reserved_memory adds up to {format_bytes(given)}, it must be {format_bytes(needed)}"
        why = f"kube {parts[0]} + system {parts[1]} + eviction {parts[2]}; the difference is {given - needed:+} bytes"
        yield Breach("kubelet.reserved_memory", what, why, "leave it out: the plan computes it")


def _soft_without_grace(tier: Tier) -> Iterator[Breach]:
    soft, grace = tier.kubelet.eviction_soft, tier.kubelet.eviction_soft_grace_period
    for signal in soft:
        if signal not in grace:
            why = "the kubelet refuses to start without one"
            fix = f"eviction_soft_grace_period: {{{signal}: 1m30s}}"
            yield Breach(f"kubelet.eviction_soft.{signal}", f"{signal} has no grace period", why, fix)
    for signal in grace:
        if signal not in soft:
            path = f"kubelet.eviction_soft_grace_period.{signal}"
            yield Breach(path, f"{signal} has no soft threshold", "the grace period would mean nothing")


def _swap(tier: Tier) -> Iterator[Breach]:
    if tier.kubelet.swap_behavior == "LimitedSwap" and tier.memory.swap is False:
        why = "memory.swap is false: no pod could ever swap"
        yield Breach("kubelet.swap_behavior", "LimitedSwap needs swap", why, "memory.swap: true, or NoSwap")


def _gates(tier: Tier) -> Iterator[Breach]:
    gates = tier.kubelet.config.get("featureGates", {})
    if "MemoryQoS" in gates:
        path = "kubelet.config.featureGates.MemoryQoS"
        yield Breach(path, "the gate MemoryQoS has a key of its own", "", f"memory_qos: {_yes(gates['MemoryQoS'])}")
    if gates.get("PodLevelResourceManagers") is True:
        what = "the gate PodLevelResourceManagers loses CPUs at every restart of the kubelet"
        why = "it allocates a second set for pods that already have one"
        yield Breach("kubelet.config.featureGates.PodLevelResourceManagers", what, why, "leave it off")


def _yes(value: Any) -> str:
    return "true" if value is True else "false"


def _reserved_cgroups(tier: Tier) -> Iterator[Breach]:
    config = tier.kubelet.config
    for key in _CGROUP_KEYS.values():
        if config.get(key) and tier.cpu.reserved is not None:
            what = f"{key} does not go with cpu.reserved"
            why = "the kubelet takes either a list of CPUs or a cgroup for the system, never both"
            yield Breach(f"kubelet.config.{key}", what, why, "keep one of them")
        name = config.get(key, "")
        if name.endswith((".service", ".scope")):
            what = f"{key} names a unit that is no slice"
            yield Breach(f"kubelet.config.{key}", what, "only a slice can hold others", "name a .slice")


def _enforcement(tier: Tier) -> Iterator[Breach]:
    config = tier.kubelet.config
    for position, word in enumerate(config.get("enforceNodeAllocatable", [])):
        key = _CGROUP_KEYS.get(str(word).replace("-compressible", ""))
        if key and not config.get(key):
            path = f"kubelet.config.enforceNodeAllocatable.{position}"
            yield Breach(path, f"{word} cannot be enforced without {key}", "the kubelet refuses to start", f"set {key}")


KUBELET_RULES = (
    Rule("TUN-1410", ("kubelet", "cpu", "openshift.manifest"), _options_without_policy),
    Rule("TUN-1411", ("kubelet.cpu_manager_policy_options", "kubelet.topology_manager_policy"), _option_conflicts),
    Rule("TUN-1412", ("cpu", "kubelet"), _static_without_reservation),
    Rule("TUN-1413", ("kubelet", "cpu", "openshift.manifest"), _percent_with_static_memory),
    Rule("TUN-1414", ("kubelet", "cpu", "openshift.manifest"), _reserved_memory),
    Rule("TUN-1415", ("kubelet.eviction_soft", "kubelet.eviction_soft_grace_period"), _soft_without_grace),
    Rule("TUN-1422", ("kubelet.swap_behavior", "memory.swap"), _swap),
    Rule("TUN-1424", ("kubelet.config", "cpu.reserved"), _reserved_cgroups),
    Rule("TUN-1424", ("kubelet.config",), _enforcement),
    Rule("TUN-1425", ("kubelet.config",), _gates),
)
