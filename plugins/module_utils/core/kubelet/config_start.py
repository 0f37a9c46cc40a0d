# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a kubelet with a valid configuration finds when it starts on a machine: the first thing that is wrong ends it.

Source: Kubernetes 1.36, `cmd/kubelet/app` and `pkg/kubelet/cm`; the order is the kubelet's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ..quantity import format_bytes, format_quantity, parse_quantity, round_up, threshold_bytes
from .admission import StartError
from .checkpoint import read_cpu_checkpoint, read_memory_checkpoint
from .config_decode import Path
from .config_gates import LATEST, Version, is_enabled
from .config_host import KERNEL_DEFAULTS, HostFacts
from .config_merge import GATES, Reason
from .config_thresholds import eviction_reasons, quality_reasons, reservation_reasons
from .machine import KubeletMachine
from .memory_policy import hugepage_kind
from .node import Flavor, KubeletNode
from .settings import ManagerSettings, check_reserved_online, read_settings

# Where the field is that a start error is about.
_PLACES: Mapping[str, Path] = {
    "reserved-cpus": ("reservedSystemCPUs",),
    "topology-manager-create": ("topologyManagerPolicyOptions",),
    "cpu-manager-create": ("cpuManagerPolicyOptions",),
    "cpu-manager-start": ("cpuManagerPolicy",),
    "memory-manager-create": ("reservedMemory",),
    "memory-manager-start": ("memoryManagerPolicy",),
}
_OTHER_PLACES: Mapping[tuple[str, str], Path] = {
    ("topology-manager-create", "too-many-numa-nodes"): ("topologyManagerPolicy",),
    ("cpu-manager-create", "unknown-policy"): ("cpuManagerPolicy",),
    ("cpu-manager-create", "no-cpu-reservation"): ("cpuManagerPolicy",),
    ("cpu-manager-create", "cannot-reserve-requested-cpus"): ("kubeReserved", "cpu"),
    ("memory-manager-create", "unknown-policy"): ("memoryManagerPolicy",),
    ("memory-manager-create", "policy-not-on-this-platform"): ("memoryManagerPolicy",),
    ("memory-manager-create", "no-memory-reservation"): ("memoryManagerPolicy",),
}
_FIXES = {
    "reserved-cpus-not-online": "name online CPUs only",
    "no-cpu-reservation": "set reservedSystemCPUs, or cpu in kubeReserved or systemReserved",
    "cannot-reserve-requested-cpus": "reserve fewer CPUs than the machine has",
    "unknown-policy": "write the policy as the kubelet spells it: none or static, None or Static",
    "policy-not-on-this-platform": "write None or Static",
    "options-with-none-policy": "set cpuManagerPolicy: static, or leave the options out",
    "unknown-cpu-option": "correct or remove the option",
    "unknown-topology-option": "correct or remove the option",
    "bad-option-value": 'write "true" or "false", or a number where the option takes one',
    "conflicting-cpu-options": "leave one of the two options out",
    "align-by-socket-vs-single-numa-node": "set topologyManagerPolicy: restricted, or leave align-by-socket out",
    "align-by-socket-more-sockets-than-nodes": "leave align-by-socket out on this machine",
    "too-many-numa-nodes": "set topologyManagerPolicyOptions max-allowable-numa-nodes to the number of NUMA nodes",
    "max-allowable-numa-nodes-below-8": "write 8 or more",
    "no-numa-distances": "leave prefer-closest-numa-nodes out on this machine",
    "reserved-memory-unknown-node": "name NUMA nodes that the machine has",
    "no-memory-reservation": "reserve memory with kubeReserved, systemReserved or evictionHard",
    "reservation-exceeds-capacity": "lower kubeReserved, systemReserved or evictionHard",
}
_ERASE = "drain the node, stop the kubelet, delete {file}, start the kubelet"
_CPU_FILE, _MEMORY_FILE = "/var/lib/kubelet/cpu_manager_state", "/var/lib/kubelet/memory_manager_state"


@dataclass(frozen=True)
class Checkpoints:
    """The files that an earlier kubelet left, None where there is none.

    Shape: `running` maps ids of the runtime's containers to `pod/container`.
    """

    cpu: str | None = None
    memory: str | None = None
    running: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Derived:
    """What the kubelet makes of capacity and reservations. Shape: quantities as text, memory in bytes."""

    reservation: Mapping[str, str] = field(default_factory=dict)
    allocatable: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Start:
    """How a start ends: with `reasons`, or with a running `node` and what it `derived`."""

    reasons: list[Reason] = field(default_factory=list)
    derived: Derived = field(default_factory=Derived)
    node: KubeletNode | None = None


@dataclass(frozen=True)
class Kubelet:
    """Whose kubelet it is. Shape: `partitioned` is OpenShift's workload partitioning."""

    version: Version = LATEST
    flavor: Flavor = Flavor.UPSTREAM
    partitioned: bool = False


def start_config(
    config: Mapping[str, Any],
    machine: KubeletMachine,
    host: HostFacts,
    kubelet: Kubelet,
    checkpoints: Checkpoints | None = None,
) -> Start:
    """Return how a kubelet starts with a valid configuration; `checkpoints` None means that there are no files."""
    first = next(_before_the_managers(config, machine, host, kubelet.version), None)
    if first is not None:
        return Start([first])
    settings = read_settings(config, kubelet.version)
    try:
        node = _resumed(machine, settings, kubelet, checkpoints or Checkpoints())
    except StartError as error:
        return Start([_reason(error, settings)])
    derived, missing = _derive(config, machine, settings)
    late = [*missing, *_kernel_defaults(config, host)]
    return Start(late[:1], derived, node)


def _before_the_managers(
    config: Mapping[str, Any], machine: KubeletMachine, host: HostFacts, version: Version
) -> Iterator[Reason]:
    try:
        check_reserved_online(read_settings({"reservedSystemCPUs": config.get("reservedSystemCPUs")}), machine)
    except StartError as error:
        yield _reason(error)
    yield from reservation_reasons(config)
    yield from eviction_reasons(config)
    yield from quality_reasons(config)
    for manager in ("cpu", "topology"):
        name, gate = f"{manager}ManagerPolicyOptions", f"{manager.upper() if manager == 'cpu' else 'Topology'}Manager"
        if config.get(name) and not is_enabled(f"{gate}PolicyOptions", config.get(GATES) or {}, version):
            rule = f"{name}: needs gate {gate}PolicyOptions"
            yield Reason(rule, f"{name} is set and the feature gate is off", (name,), fix="switch the gate on")
    behavior = (config.get("memorySwap") or {}).get("swapBehavior")
    if behavior == "LimitedSwap" and host.cgroup_version == 1:
        rule, fix = "memorySwap.swapBehavior: LimitedSwap needs cgroup v2", "write NoSwap, or boot with cgroup v2"
        yield Reason(rule, "the host runs cgroup v1", ("memorySwap", "swapBehavior"), fix=fix)
    if config.get("failSwapOn", True) and host.swap_on:
        fix = "switch swap off on the host, or set failSwapOn: false"
        yield Reason("failSwapOn: swap is on", "swap is on and failSwapOn is true", ("failSwapOn",), fix=fix)


def _resumed(
    machine: KubeletMachine, settings: ManagerSettings, kubelet: Kubelet, checkpoints: Checkpoints
) -> KubeletNode:
    pod_level = settings.pod_level_managers
    # The managers are made before their files are looked at.
    KubeletNode.boot(machine, settings, flavor=kubelet.flavor, partitioned=kubelet.partitioned)
    cpu, memory = checkpoints.cpu, checkpoints.memory
    return KubeletNode.resume(
        machine,
        settings,
        None
        if cpu is None
        else read_cpu_checkpoint(cpu, policy=settings.cpu_policy, pod_level=pod_level, running=checkpoints.running),
        None if memory is None else read_memory_checkpoint(memory, policy=settings.memory_policy, pod_level=pod_level),
        flavor=kubelet.flavor,
        partitioned=kubelet.partitioned,
    )


def _reason(error: StartError, settings: ManagerSettings | None = None) -> Reason:
    place = _OTHER_PLACES.get((error.stage, error.code), _PLACES[error.stage])
    fix = _FIXES.get(error.code, "")
    options = {**settings.cpu_options, **settings.topology_options} if settings is not None else {}
    named = next((name for name in options if name in error.message), "")
    if place[0] in ("cpuManagerPolicyOptions", "topologyManagerPolicyOptions") and named:
        place = (place[0], named)
    if error.code.startswith("state-"):
        is_cpu = error.stage.startswith("cpu")
        fix = _ERASE.format(file=_CPU_FILE if is_cpu else _MEMORY_FILE)
        what = f"the checkpoint of the {'CPU' if is_cpu else 'memory'} manager: {error.message}"
        return Reason(error.code, what, place, fix=fix)
    if error.code.endswith("-gate-off"):
        fix = f"set the feature gate to true: {error.message.rpartition(' ')[2]}"
    elif error.code == "reserved-memory-sum-mismatch" and settings is not None:
        fix = "let reservedMemory add up to kubeReserved + systemReserved + evictionHard memory.available"
    return Reason(error.code, error.message, place, fix=fix)


def _derive(
    config: Mapping[str, Any], machine: KubeletMachine, settings: ManagerSettings
) -> tuple[Derived, list[Reason]]:
    capacity = capacity_of(machine)
    reserved = {"cpu": settings.reserved_cpu_amount, "memory": _memory_reservation(config)}
    if settings.eviction_memory:
        reserved["memory"] += threshold_bytes(settings.eviction_memory, int(capacity["memory"]))
    reasons = [
        Reason(
            "reservation-exceeds-capacity",
            f"{_readable(name, amount)} {name} are reserved and the machine has {_readable(name, capacity[name])}",
            _blamed(config, name),
            fix=_FIXES["reservation-exceeds-capacity"],
        )
        for name, amount in reserved.items()
        if amount > capacity[name]
    ]
    left = {name: max(amount - reserved.get(name, 0), Fraction(0)) for name, amount in capacity.items()}
    return (
        Derived(
            {name: _shown(name, amount) for name, amount in reserved.items() if amount},
            {name: _shown(name, amount) for name, amount in left.items()},
        ),
        reasons,
    )


def capacity_of(machine: KubeletMachine) -> dict[str, Fraction]:
    """Return what the kubelet counts on a machine. Scale: cores and bytes."""
    found = {"cpu": Fraction(len(machine.cpus)), "memory": Fraction(sum(node.memory for node in machine.nodes))}
    for node in machine.nodes:
        for size, count in node.hugepages.items():
            kind = hugepage_kind(size)
            found[kind] = found.get(kind, Fraction(0)) + size * count
    return found


def _memory_reservation(config: Mapping[str, Any]) -> Fraction:
    maps = (config.get("kubeReserved") or {}, config.get("systemReserved") or {})
    return sum((parse_quantity(one["memory"]) for one in maps if "memory" in one), Fraction(0))


def _blamed(config: Mapping[str, Any], resource: str) -> Path:
    """Return the reservation that is largest."""
    if resource == "cpu" and config.get("reservedSystemCPUs"):
        return ("reservedSystemCPUs",)
    amounts: dict[Path, Fraction] = {
        (name, resource): parse_quantity(config[name][resource])
        for name in ("kubeReserved", "systemReserved")
        if resource in (config.get(name) or {})
    }
    return max(amounts, key=lambda path: amounts[path]) if amounts else ("evictionHard", "memory.available")


def _shown(name: str, amount: Fraction) -> str:
    if name == "cpu":
        return format_quantity(amount)
    return str(round_up(amount)) if name == "memory" else format_bytes(round_up(amount))


def _readable(name: str, amount: Fraction) -> str:
    return format_bytes(round_up(amount)) if name == "memory" else _shown(name, amount)


def _kernel_defaults(config: Mapping[str, Any], host: HostFacts) -> Iterator[Reason]:
    if not config.get("protectKernelDefaults"):
        return
    for name, wanted in KERNEL_DEFAULTS.items():
        found = host.sysctls.get(name)
        if found is not None and found != wanted:
            rule = "protectKernelDefaults: kernel parameter differs"
            what = f"{name} is {found} and the kubelet needs {wanted}"
            fix = f"set {name} = {wanted} on the host, or protectKernelDefaults: false"
            yield Reason(rule, what, ("protectKernelDefaults",), fix=fix)
