# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The resource managers' part of a KubeletConfiguration, read and judged as the kubelet does at its start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ..cpuset import CpuSet
from ..quantity import parse_bytes, parse_quantity, round_up, threshold_bytes
from .admission import StartError
from .allocator import NotEnoughCpusError
from .cpu_policy import CpuOptions, reserve_by_count
from .hints import TopologyPolicy
from .machine import KubeletMachine

LATEST = (1, 36)
_LOWEST_NODE_LIMIT = 8
DEFAULT_EVICTION_MEMORY = "100Mi"

# Option -> versions in which it became alpha, beta, GA; None where it has not. Source: Kubernetes 1.36 feature gates.
CPU_OPTION_STAGES: Mapping[str, tuple[tuple[int, int], tuple[int, int] | None, tuple[int, int] | None]] = {
    "full-pcpus-only": ((1, 22), (1, 23), (1, 33)),
    "distribute-cpus-across-numa": ((1, 23), (1, 33), None),
    "align-by-socket": ((1, 25), None, None),
    "distribute-cpus-across-cores": ((1, 31), None, None),
    "strict-cpu-reservation": ((1, 32), (1, 33), (1, 35)),
    "prefer-align-cpus-by-uncorecache": ((1, 32), (1, 34), (1, 36)),
}

_TRUE = ("1", "t", "T", "true", "TRUE", "True")
_FALSE = ("0", "f", "F", "false", "FALSE", "False")


@dataclass(frozen=True)
class ManagerSettings:
    """What the resource managers are told, with the kubelet's defaults.

    Shape: `reserved_memory` are (NUMA node, kind -> bytes) in file order, `eviction_memory` is the hard threshold of
    memory.available, empty when that signal is off. Scale: bytes and cores.
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
        return self.topology_options.get("prefer-closest-numa-nodes", "") in _TRUE

    @property
    def pod_level_managers(self) -> bool:
        """Whether the alpha gate for pod-level resources in the managers is on."""
        return self.gates.get("PodLevelResourceManagers", False)


def read_settings(config: Mapping[str, Any]) -> ManagerSettings:
    """Return the settings of a KubeletConfiguration; raises `ValueError` or `InputError` for values of no form."""
    reserved = CpuSet.parse(str(config.get("reservedSystemCPUs") or ""))
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
                int(entry["numaNode"]),
                {kind: parse_bytes(str(size)) for kind, size in (entry.get("limits") or {}).items()},
            )
            for entry in config.get("reservedMemory") or ()
        ),
        memory_reservation=sum(
            parse_bytes(str((config.get(key) or {}).get("memory", "0"))) for key in ("kubeReserved", "systemReserved")
        ),
        eviction_memory=_eviction_memory(config),
    )


def _eviction_memory(config: Mapping[str, Any]) -> str:
    thresholds = config.get("evictionHard")
    if thresholds is None:
        return DEFAULT_EVICTION_MEMORY
    text = str(thresholds.get("memory.available", ""))
    return "" if text in ("0%", "100%") else text


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
    for name, text in settings.topology_options.items():
        if name == "max-allowable-numa-nodes":
            limit = _node_limit(text)
        elif name == "prefer-closest-numa-nodes":
            _boolean(text, stage, name)
        else:
            raise StartError(stage, "unknown-topology-option", f"unknown topology manager policy option {name}")
    if len(machine.nodes) > limit:
        raise StartError(stage, "too-many-numa-nodes", f"{len(machine.nodes)} NUMA nodes, at most {limit} are allowed")
    if settings.prefer_closest and any(not node.distances for node in machine.nodes):
        raise StartError(stage, "no-numa-distances", "prefer-closest-numa-nodes needs NUMA distances")


def _node_limit(text: str) -> int:
    stage = "topology-manager-create"
    try:
        limit = int(text)
    except ValueError:
        raise StartError(stage, "bad-option-value", f"max-allowable-numa-nodes {text!r} is no number") from None
    if limit < _LOWEST_NODE_LIMIT:
        raise StartError(stage, "max-allowable-numa-nodes-below-8", f"max-allowable-numa-nodes {limit} is below 8")
    return limit


def cpu_manager_setup(
    settings: ManagerSettings, machine: KubeletMachine, version: tuple[int, int] = LATEST
) -> tuple[CpuOptions, CpuSet]:
    """Return options and reserved CPUs of the CPU manager; raises `StartError` as the kubelet refuses to start."""
    stage = "cpu-manager-create"
    if settings.cpu_policy == "none":
        if settings.cpu_options:
            raise StartError(stage, "options-with-none-policy", "policy none takes no options")
        return CpuOptions(), CpuSet()
    if settings.cpu_policy != "static":
        raise StartError(stage, "unknown-cpu-policy", f"cpuManagerPolicy {settings.cpu_policy!r} is none or static")
    count = round_up(settings.reserved_cpu_amount)
    if count == 0:
        raise StartError(stage, "no-cpu-reservation", "the static policy needs a CPU reservation above zero")
    options = _cpu_options(settings, version)
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


def _cpu_options(settings: ManagerSettings, version: tuple[int, int]) -> CpuOptions:
    stage = "cpu-manager-create"
    values: dict[str, bool] = {}
    for name, text in sorted(settings.cpu_options.items()):
        if name not in CPU_OPTION_STAGES or version < CPU_OPTION_STAGES[name][0]:
            raise StartError(stage, "unknown-cpu-option", f"unknown CPU manager policy option {name}")
        _check_gate(name, settings.gates, version)
        values[name.replace("-", "_")] = _boolean(text, stage, name)
    options = CpuOptions(**values)
    _check_conflicts(options)
    return options


def _check_gate(name: str, gates: Mapping[str, bool], version: tuple[int, int]) -> None:
    _alpha, beta, stable = CPU_OPTION_STAGES[name]
    if stable is not None and version >= stable:
        return
    is_beta = beta is not None and version >= beta
    gate = "CPUManagerPolicyBetaOptions" if is_beta else "CPUManagerPolicyAlphaOptions"
    if not gates.get(gate, is_beta):
        code = "cpu-beta-options-gate-off" if is_beta else "cpu-alpha-options-gate-off"
        raise StartError("cpu-manager-create", code, f"option {name} needs feature gate {gate}")


def _check_conflicts(options: CpuOptions) -> None:
    across_cores = options.distribute_cpus_across_cores and (
        options.full_pcpus_only or options.distribute_cpus_across_numa or options.prefer_align_cpus_by_uncorecache
    )
    if across_cores or (options.prefer_align_cpus_by_uncorecache and options.distribute_cpus_across_numa):
        raise StartError(
            "cpu-manager-create", "conflicting-cpu-options", f"these options exclude each other: {options}"
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
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise StartError(stage, "bad-option-value", f"option {name} is {text!r}, not true or false")
