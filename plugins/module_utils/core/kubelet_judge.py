# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the kubelet would refuse, or do otherwise than its reader thinks, in the settings of a tier."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from .desire_context import DesireContext
from .findings import Finding, Severity
from .kubelet_fields import (
    CPU_MANAGER_CONFLICTS,
    CPU_MANAGER_OPTIONS,
    TOPOLOGY_MANAGER_OPTIONS,
    PolicyOption,
    Version,
)
from .quantity import format_quantity, is_percentage, parse_bytes, parse_quantity, round_up

Fields = Mapping[str, Any]
_SIGNALS = ("memory.available", "nodefs.available", "nodefs.inodesFree", "imagefs.available", "imagefs.inodesFree")
_CGROUP_V1 = 1
_KIB = 1024


def judge_kubelet(context: DesireContext, fields: Fields) -> Iterator[Finding]:
    """Yield what is wrong with the managers and reservations that `fields` (configuration field -> value) hold."""
    yield from _no_reservation(context, fields)
    yield from _two_reservations(context, fields)
    yield from _options(context, fields, "cpuManagerPolicyOptions", CPU_MANAGER_OPTIONS)
    yield from _options(context, fields, "topologyManagerPolicyOptions", TOPOLOGY_MANAGER_OPTIONS)
    yield from _conflicts(context, fields)
    yield from _percentage(context, fields)
    yield from _partial_eviction(context, fields)
    yield from _too_much(context, fields)
    yield from _poll_threads(context, fields)
    yield from _swap(context)
    yield from _memory_qos(context)


def _no_reservation(context: DesireContext, fields: Fields) -> Iterator[Finding]:
    if fields.get("cpuManagerPolicy") != "static" or fields.get("reservedSystemCPUs"):
        return
    maps = {name: fields.get(name, {}).get("cpu", "0") for name in ("kubeReserved", "systemReserved")}
    total = sum((parse_quantity(text, f"{name}.cpu") for name, text in maps.items()), Fraction(0))
    if total <= 0:
        yield context.finding(
            "kubelet.static-without-reservation",
            Severity.CRITICAL,
            "the static CPU manager has no CPUs to keep for the system",
            path="kubelet.cpu_manager_policy",
            expected="more than 0 CPUs reserved",
            actual="0",
            why="the kubelet exits when neither reservedSystemCPUs nor a cpu reservation is above zero",
            remedy="add cpu.reserved, or cpu to kubelet.system_reserved",
            setting="kubelet.cpuManagerPolicy",
        )
    elif total.denominator != 1:
        yield context.finding(
            "kubelet.reservation.rounded",
            Severity.INFO,
            f"{format_quantity(total)} CPUs are reserved, for which the static CPU manager keeps {round_up(total)}",
            path="kubelet.system_reserved",
            expected=f"{round_up(total)} CPUs",
            actual=f"{format_quantity(total)} CPUs",
            why="it keeps whole CPUs and takes those with the lowest numbers, whole cores first",
            remedy="write whole CPUs, or name them with cpu.reserved",
            setting="kubelet.systemReserved",
        )


def _two_reservations(context: DesireContext, fields: Fields) -> Iterator[Finding]:
    config = context.tier.kubelet.config
    for name in ("systemReservedCgroup", "kubeReservedCgroup"):
        if config.get(name) and fields.get("reservedSystemCPUs"):
            yield context.finding(
                "kubelet.reserved-cpus.cgroup",
                Severity.CRITICAL,
                f"reservedSystemCPUs and {name} are both set",
                path=f"kubelet.config.{name}",
                expected=f"no {name}",
                actual=str(config[name]),
                why="the kubelet refuses a list of reserved CPUs beside a cgroup for the reserved processes",
                remedy=f"remove {name} from kubelet.config",
                setting="kubelet.reservedSystemCPUs",
            )


def _options(context: DesireContext, fields: Fields, field: str, known: tuple[PolicyOption, ...]) -> Iterator[Finding]:
    version = context.environment.kubelet_version
    chosen = fields.get(field, {})
    for option in known:
        if option.name in chosen and version != (0, 0) and version < option.since:
            yield context.finding(
                "kubelet.option.version",
                Severity.CRITICAL,
                f"kubelet {_dotted(version)} does not know the option {option.name}",
                path=_option_path(field, option.name),
                expected=f"kubelet {_dotted(option.since)} or newer",
                actual=f"kubelet {_dotted(version)}",
                why="an unknown option makes the kubelet exit when it starts",
                remedy=f"remove {option.name} from the tier, or upgrade the nodes",
                setting=f"kubelet.{field}",
            )
    if field == "cpuManagerPolicyOptions" and chosen and fields.get("cpuManagerPolicy") != "static":
        yield context.finding(
            "kubelet.option.policy",
            Severity.CRITICAL,
            "options of the static CPU manager are set without the static policy",
            path="kubelet.cpu_manager_policy_options",
            expected="cpuManagerPolicy static",
            actual=str(fields.get("cpuManagerPolicy", "none")),
            why="the kubelet exits when policy none has options",
            remedy="set kubelet.cpu_manager_policy: static, or remove the options",
            setting=f"kubelet.{field}",
        )


def _option_path(field: str, option: str) -> str:
    section = "cpu_manager" if field.startswith("cpu") else "topology_manager"
    return f"kubelet.{section}_policy_options.{option}"


def _conflicts(context: DesireContext, fields: Fields) -> Iterator[Finding]:
    options = {name for name, value in fields.get("cpuManagerPolicyOptions", {}).items() if value == "true"}
    for left, right in CPU_MANAGER_CONFLICTS:
        if {left, right} <= options:
            yield _conflict(context, left, f"the option {right}", f"remove {left} or {right}")
    if "align-by-socket" not in options:
        return
    if context.topology_policy == "single-numa-node":
        yield _conflict(
            context,
            "align-by-socket",
            "topologyManagerPolicy single-numa-node",
            "choose restricted, or drop the option",
        )
    nodes = [node for node in context.topology.numa_nodes if node.cpus]
    if len(context.topology.sockets) > len(nodes):
        yield _conflict(
            context,
            "align-by-socket",
            f"{len(context.topology.sockets)} sockets on {len(nodes)} NUMA nodes",
            "drop the option on this machine, or let the firmware show one NUMA node per socket",
        )


def _conflict(context: DesireContext, option: str, other: str, remedy: str) -> Finding:
    return context.finding(
        "kubelet.option.conflict",
        Severity.CRITICAL,
        f"{option} cannot be combined with {other}",
        path=_option_path("cpu", option),
        why="the kubelet refuses the combination and exits",
        remedy=remedy,
        setting="kubelet.cpuManagerPolicyOptions",
    )


def _poll_threads(context: DesireContext, fields: Fields) -> Iterator[Finding]:
    strict = fields.get("cpuManagerPolicyOptions", {}).get("strict-cpu-reservation") == "true"
    if context.partition.ovs_dpdk and not strict:
        yield context.finding(
            "kubelet.ovs-dpdk.shared",
            Severity.WARNING,
            f"pods may run on the CPUs of poll threads ({context.partition.ovs_dpdk})",
            path="cpu.ovs_dpdk",
            expected="strict-cpu-reservation true",
            actual="not set",
            why="reserved CPUs stay in the kubelet's shared pool without it; the tuning operator then applies nothing, "
            "unless workload partitioning covers all nodes",
            remedy='add strict-cpu-reservation: "true" to kubelet.cpu_manager_policy_options',
            setting="kubelet.cpuManagerPolicyOptions",
        )


def _percentage(context: DesireContext, fields: Fields) -> Iterator[Finding]:
    threshold = fields.get("evictionHard", {}).get("memory.available", "")
    if context.memory_policy == "Static" and is_percentage(threshold):
        yield context.finding(
            "kubelet.reserved-memory.percent",
            Severity.CRITICAL,
            f"evictionHard memory.available is {threshold} and the Static memory manager needs bytes",
            path="kubelet.eviction_hard.memory.available",
            expected="a quantity like 2Gi",
            actual=threshold,
            why="a percentage is other bytes on each machine, after rounding in floating point, so no sum matches it",
            remedy="write the threshold as a quantity",
            setting="kubelet.evictionHard",
        )


def _partial_eviction(context: DesireContext, fields: Fields) -> Iterator[Finding]:
    written = fields.get("evictionHard", {})
    missing = [signal for signal in _SIGNALS if signal not in written]
    if written and missing and not context.on_node and not context.is_operated:
        yield context.finding(
            "kubelet.eviction.partial",
            Severity.WARNING,
            f"evictionHard names {', '.join(written)} only, which switches {', '.join(missing)} off",
            path="kubelet.eviction_hard",
            expected="all five signals",
            actual=", ".join(written),
            why="in the kubelet's main file a map with one key replaces all defaults",
            remedy=f"add {', '.join(missing)} to kubelet.eviction_hard",
            setting="kubelet.evictionHard",
        )


def _too_much(context: DesireContext, fields: Fields) -> Iterator[Finding]:
    capacity = context.topology.memory_kib * _KIB
    reserved = sum(
        parse_bytes(fields.get(name, {}).get("memory", "0"), f"{name}.memory")
        for name in ("kubeReserved", "systemReserved")
    )
    if capacity and reserved >= capacity:
        yield context.finding(
            "kubelet.reservation.too-much",
            Severity.CRITICAL,
            f"{reserved} bytes are reserved on a machine with {capacity}",
            path="kubelet.system_reserved",
            expected=f"less than {capacity} bytes",
            actual=f"{reserved} bytes",
            why="the kubelet exits when the reservation is above the capacity",
            remedy="lower kubelet.system_reserved or kubelet.kube_reserved",
            setting="kubelet.systemReserved",
        )


def _swap(context: DesireContext) -> Iterator[Finding]:
    tier = context.tier
    behavior = tier.kubelet.swap_behavior
    if tier.memory.swap and tier.kubelet.config.get("failSwapOn") is True:
        yield context.finding(
            "kubelet.swap.refused",
            Severity.CRITICAL,
            "swap may be on, and failSwapOn makes the kubelet exit when it is",
            path="kubelet.config.failSwapOn",
            expected="failSwapOn false",
            actual="failSwapOn true",
            remedy="remove failSwapOn from kubelet.config, or set memory.swap: false",
            setting="kubelet.failSwapOn",
        )
    if behavior == "LimitedSwap" and tier.memory.swap is False:
        yield context.finding(
            "kubelet.swap.unused",
            Severity.WARNING,
            "LimitedSwap has no effect: memory.swap switches swap off",
            path="kubelet.swap_behavior",
            expected="swap on",
            actual="swap off",
            remedy="remove kubelet.swap_behavior, or set memory.swap: true",
            setting="kubelet.memorySwap",
        )
    if behavior == "LimitedSwap" and context.environment.cgroup_version == _CGROUP_V1:
        yield context.finding(
            "kubelet.swap.cgroup",
            Severity.CRITICAL,
            "LimitedSwap needs cgroup v2 and this node runs v1",
            path="kubelet.swap_behavior",
            expected="cgroup v2",
            actual="cgroup v1",
            why="the kubelet refuses to start with it",
            remedy="boot the node with systemd.unified_cgroup_hierarchy=1, or remove kubelet.swap_behavior",
            setting="kubelet.memorySwap",
        )


def _memory_qos(context: DesireContext) -> Iterator[Finding]:
    if context.tier.kubelet.memory_qos and context.environment.cgroup_version == _CGROUP_V1:
        yield context.finding(
            "kubelet.memory-qos.cgroup",
            Severity.CRITICAL,
            "memory_qos needs cgroup v2 and this node runs v1",
            path="kubelet.memory_qos",
            expected="cgroup v2",
            actual="cgroup v1",
            why="memory.high and memory.min exist in cgroup v2 only, so the setting would do nothing",
            remedy="boot the node with systemd.unified_cgroup_hierarchy=1, or remove kubelet.memory_qos",
            setting="kubelet.featureGates",
        )


def _dotted(version: Version) -> str:
    return f"{version[0]}.{version[1]}"
