# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The resource managers' part of a KubeletConfiguration, read and judged as the kubelet does at its start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ..cpuset import CpuSet
from ..kubelet_fields import (
    CPU_MANAGER_CONFLICTS,
    CPU_MANAGER_OPTIONS,
    DEFAULT_EVICTION,
    TOPOLOGY_MANAGER_OPTIONS,
    PolicyOption,
)
from ..quantity import is_percentage, parse_bytes, parse_quantity, round_up, threshold_bytes
from .admission import StartError
from .allocator import NotEnoughCpusError
from .config_gates import LATEST, Version, is_enabled
from .cpu_policy import CpuOptions, reserve_by_count
from .go_values import TRUE, go_bool, go_cpus, go_int, go_percentage
from .hints import TopologyPolicy
from .machine import KubeletMachine

_LOWEST_NODE_LIMIT = 8
DEFAULT_EVICTION_MEMORY = DEFAULT_EVICTION["memory.available"]
_CPU_OPTIONS = {option.name: option for option in CPU_MANAGER_OPTIONS}
_TOPOLOGY_OPTIONS = {option.name: option for option in TOPOLOGY_MANAGER_OPTIONS}


@dataclass(frozen=True)
class ManagerSettings:
    """What the resource managers are told, with the kubelet's defaults.

    Shape: `reserved_memory` are (NUMA node, kind -> bytes) in file order, `eviction_memory` is the hard threshold of
    memory.available, empty when that signal is off; `version` is the kubelet's, for the gates of options. Scale: bytes
    and cores.
    """

    cpu_policy: str = "none"
    cpu_options: Mapping[str, str] = field(default_factory=dict)
    topology_policy: TopologyPolicy = TopologyPolicy.NONE
    topology_scope: str = "container"
    topology_options: Mapping[str, str] = field(default_factory=dict)
    memory_policy: str = "None"
    reserved_cpus: CpuSet = CpuSet()
    reserved_cpu_amount: Fraction = Fraction(0)
    gates: Mapping[str, bool] = field(default_factory=dict)
    reserved_memory: tuple[tuple[int, Mapping[str, int]], ...] = ()
    memory_reservation: int = 0
    eviction_memory: str = DEFAULT_EVICTION_MEMORY
    version: Version = LATEST

    @property
    def is_static(self) -> bool:
        """Whether CPUs are handed out exclusively."""
        return self.cpu_policy == "static"

    @property
    def guarantees_memory(self) -> bool:
        """Whether memory is guaranteed by NUMA node."""
        return self.memory_policy == "Static"

    @property
    def prefer_closest(self) -> bool:
        """Whether near NUMA nodes are preferred."""
        return self.topology_options.get("prefer-closest-numa-nodes", "") in TRUE

    @property
    def pod_level_managers(self) -> bool:
        """Whether the alpha gate for pod-level resources in the managers is on."""
        return bool(self.gates) and is_enabled("PodLevelResourceManagers", self.gates, self.version)


def read_settings(config: Mapping[str, Any], version: Version = LATEST) -> ManagerSettings:
    """Return the settings of a KubeletConfiguration; raises `ValueError` or `InputError` for values of no form.

    Shape: `version` is the kubelet's release; which options it has and which gates are on depends on it.
    """
    reserved = go_cpus(str(config.get("reservedSystemCPUs") or ""))
    amount = sum(
        (parse_quantity(str((config.get(key) or {}).get("cpu", "0"))) for key in ("kubeReserved", "systemReserved")),
        Fraction(0),
    )
    return ManagerSettings(
        cpu_policy=str(config.get("cpuManagerPolicy") or "none"),
        cpu_options=dict(config.get("cpuManagerPolicyOptions") or {}),
        topology_policy=TopologyPolicy(config.get("topologyManagerPolicy") or "none"),
        topology_scope=str(config.get("topologyManagerScope") or "container"),
        topology_options=dict(config.get("topologyManagerPolicyOptions") or {}),
        memory_policy=str(config.get("memoryManagerPolicy") or "None"),
        reserved_cpus=reserved,
        reserved_cpu_amount=Fraction(len(reserved)) if reserved else amount,
        gates=dict(config.get("featureGates") or {}),
        reserved_memory=tuple(
            (
                int(entry.get("numaNode") or 0),
                {kind: parse_bytes(str(size)) for kind, size in (entry.get("limits") or {}).items()},
            )
            for entry in config.get("reservedMemory") or ()
        ),
        memory_reservation=sum(
            parse_bytes(str((config.get(key) or {}).get("memory", "0"))) for key in ("kubeReserved", "systemReserved")
        ),
        eviction_memory=_eviction_memory(config),
        version=version,
    )


def _eviction_memory(config: Mapping[str, Any]) -> str:
    thresholds = config.get("evictionHard")
    if thresholds is None:
        return DEFAULT_EVICTION_MEMORY
    text = str(thresholds.get("memory.available", ""))
    if text in ("0%", "100%"):
        return ""
    if text.endswith("%") and not is_percentage(text):
        # The kubelet takes other spellings of a share too: 1e1%, +5%.
        return f"{max(0.0, go_percentage(text) * 100):f}%"
    return text


def memory_setup(settings: ManagerSettings, machine: KubeletMachine) -> dict[int, dict[str, int]]:
    """Return reserved memory by NUMA node and kind; raises `StartError` as the kubelet refuses to start.

    The sum of each kind must be what kubeReserved, systemReserved and the hard eviction threshold keep back.
    """
    stage = "memory-manager-create"
    reserved: dict[int, dict[str, int]] = {}
    sums: dict[str, int] = {}
    known = {node.id for node in machine.nodes}
    for node, limits in settings.reserved_memory:
        if node not in known:
            raise StartError(stage, "reserved-memory-unknown-node", f"reservedMemory names NUMA node {node}")
        for kind, size in limits.items():
            own = reserved.setdefault(node, {})
            own[kind] = own.get(kind, 0) + size
            sums[kind] = sums.get(kind, 0) + size
    capacity = sum(node.memory for node in machine.nodes)
    eviction = threshold_bytes(settings.eviction_memory, capacity) if settings.eviction_memory else 0
    wanted = {"memory": settings.memory_reservation + eviction}
    for kind in {**sums, **wanted}:
        have, want = sums.get(kind, 0), wanted.get(kind, 0)
        if have != want:
            message = f"reservedMemory {kind} is {have} in sum, the reservation is {want} ({have - want:+d} bytes)"
            raise StartError(stage, "reserved-memory-sum-mismatch", message)
    return reserved


def check_reserved_online(settings: ManagerSettings, machine: KubeletMachine) -> None:
    """Raise `StartError` when reservedSystemCPUs names CPUs that are not online; checked whatever the policy."""
    absent = settings.reserved_cpus - machine.cpus
    if absent:
        raise StartError("reserved-cpus", "reserved-cpus-not-online", f"reservedSystemCPUs {absent} are not online")


def check_topology_manager(settings: ManagerSettings, machine: KubeletMachine) -> None:
    """Raise `StartError` when the topology manager cannot be made; with policy none nothing is checked."""
    stage = "topology-manager-create"
    if settings.topology_policy is TopologyPolicy.NONE:
        return
    limit = _LOWEST_NODE_LIMIT
    for name, text in sorted(settings.topology_options.items()):
        option = _TOPOLOGY_OPTIONS.get(name)
        if option is None or option.stage_in(settings.version) == "absent":
            raise StartError(stage, "unknown-topology-option", f"unknown topology manager policy option {name}")
        _check_gate(stage, "topology", option, settings)
        if option.is_number:
            limit = _node_limit(text)
        else:
            _boolean(text, stage, name)
    if settings.prefer_closest and any(not node.distances for node in machine.nodes):
        raise StartError(stage, "no-numa-distances", "prefer-closest-numa-nodes needs NUMA distances")
    if len(machine.nodes) > limit:
        raise StartError(stage, "too-many-numa-nodes", f"{len(machine.nodes)} NUMA nodes, at most {limit} are allowed")


def _node_limit(text: str) -> int:
    stage = "topology-manager-create"
    try:
        limit = go_int(text)
    except ValueError:
        raise StartError(stage, "bad-option-value", f"max-allowable-numa-nodes {text!r} is no number") from None
    if limit < _LOWEST_NODE_LIMIT:
        raise StartError(stage, "max-allowable-numa-nodes-below-8", f"max-allowable-numa-nodes {limit} is below 8")
    return limit


def cpu_manager_setup(settings: ManagerSettings, machine: KubeletMachine) -> tuple[CpuOptions, CpuSet]:
    """Return options and reserved CPUs of the CPU manager; raises `StartError` as the kubelet refuses to start."""
    stage = "cpu-manager-create"
    if settings.cpu_policy == "none":
        if settings.cpu_options:
            raise StartError(stage, "options-with-none-policy", "policy none takes no options")
        return CpuOptions(), CpuSet()
    if settings.cpu_policy != "static":
        raise StartError(stage, "unknown-policy", f"cpuManagerPolicy {settings.cpu_policy!r} is none or static")
    count = round_up(settings.reserved_cpu_amount)
    if count == 0:
        raise StartError(stage, "no-cpu-reservation", "the static policy needs a CPU reservation above zero")
    options = _cpu_options(settings)
    _check_align_by_socket(options, settings, machine)
    return options, _reserved(settings, machine, count, options)


def _reserved(settings: ManagerSettings, machine: KubeletMachine, count: int, options: CpuOptions) -> CpuSet:
    stage, code = "cpu-manager-create", "cannot-reserve-requested-cpus"
    if settings.reserved_cpus:
        return settings.reserved_cpus
    try:
        reserved = reserve_by_count(machine, count, options)
    except NotEnoughCpusError:
        raise StartError(stage, code, f"{count} CPUs are to be reserved, {len(machine.cpus)} exist") from None
    if len(reserved) != count:
        raise StartError(stage, code, f"{count} CPUs are to be reserved, the allocator took {reserved}")
    return reserved


def _cpu_options(settings: ManagerSettings) -> CpuOptions:
    stage = "cpu-manager-create"
    values: dict[str, bool] = {}
    for name, text in sorted(settings.cpu_options.items()):
        option = _CPU_OPTIONS.get(name)
        if option is None or option.stage_in(settings.version) == "absent":
            raise StartError(stage, "unknown-cpu-option", f"unknown CPU manager policy option {name}")
        _check_gate(stage, "cpu", option, settings)
        values[name] = _boolean(text, stage, name)
    for left, right in CPU_MANAGER_CONFLICTS:
        if values.get(left) and values.get(right):
            raise StartError(stage, "conflicting-cpu-options", f"{left} and {right} exclude each other")
    return CpuOptions(**{name.replace("-", "_"): value for name, value in values.items()})


def _check_gate(stage: str, manager: str, option: PolicyOption, settings: ManagerSettings) -> None:
    """The gate of the option's stage must be on, also where the option is false."""
    level = option.stage_in(settings.version)
    if level == "stable":
        return
    name = f"{'CPU' if manager == 'cpu' else 'Topology'}ManagerPolicy{level.capitalize()}Options"
    if not is_enabled(name, settings.gates, settings.version):
        raise StartError(
            stage, f"{manager}-{level}-options-gate-off", f"option {option.name} needs feature gate {name}"
        )


def _check_align_by_socket(options: CpuOptions, settings: ManagerSettings, machine: KubeletMachine) -> None:
    stage = "cpu-manager-create"
    if not options.align_by_socket:
        return
    if settings.topology_policy is TopologyPolicy.SINGLE_NUMA_NODE:
        raise StartError(stage, "align-by-socket-vs-single-numa-node", "align-by-socket excludes single-numa-node")
    if len(machine.socket_cpus) > len(machine.node_cpus):
        raise StartError(stage, "align-by-socket-more-sockets-than-nodes", "more sockets than NUMA nodes")


def _boolean(text: str, stage: str, name: str) -> bool:
    try:
        return go_bool(text)
    except ValueError:
        raise StartError(stage, "bad-option-value", f"option {name} is {text!r}, not true or false") from None
