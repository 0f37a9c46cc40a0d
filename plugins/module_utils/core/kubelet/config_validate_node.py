# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The part of the kubelet's validation that is about CPUs, memory, cgroups and swap.

Source: Kubernetes 1.36 `pkg/kubelet/apis/config/validation`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..quantity import parse_quantity
from .config_gates import Version
from .config_host import HostFacts
from .config_merge import Reason
from .go_values import go_cpus, go_duration

_MILLISECOND = 10**6
_USUAL_PERIOD = 100 * _MILLISECOND
_IDS_A_POD = 65536
_MOST_IDS = 2**32 - 1
_COMPRESSIBLE_SINCE: Version = (1, 32)
# Before this release swap could be unlimited; from it on, NoSwap can be written.
_NO_SWAP_SINCE: Version = (1, 30)
_ENFORCED = {
    "system-reserved": "systemReservedCgroup",
    "system-reserved-compressible": "systemReservedCgroup",
    "kube-reserved": "kubeReservedCgroup",
    "kube-reserved-compressible": "kubeReservedCgroup",
}

Config = Mapping[str, Any]
On = Mapping[str, bool]


def node_reasons(config: Config, on: On, host: HostFacts, version: Version) -> Iterator[Reason]:
    """Yield what is wrong with reservations, enforcement, quota, swap, memory protection and cgroups."""
    yield from _quota_period(config, on)
    yield from _enforcement(config, version)
    yield from _reserved_cpus(config)
    yield from _reserved_memory(config)
    yield from _swap(config, on, version)
    yield from _memory_quality(config, on)
    yield from _host(config, host)


def _quota_period(config: Config, on: On) -> Iterator[Reason]:
    name = "cpuCFSQuotaPeriod"
    period = go_duration(config[name])
    if not on.get("CustomCPUCFSQuotaPeriod", False):
        if period != _USUAL_PERIOD:
            what = f"{name} is {config[name]} and the feature gate CustomCPUCFSQuotaPeriod is off"
            fix = f"leave {name} out, or switch CustomCPUCFSQuotaPeriod on"
            yield Reason(f"{name}: needs gate CustomCPUCFSQuotaPeriod", what, (name,), fix=fix)
    elif not _MILLISECOND <= period <= 1000 * _MILLISECOND:
        yield Reason(f"{name}: outside 1ms..1s", f"{name} is {config[name]}", (name,), fix="write 1ms to 1s")


def _enforcement(config: Config, version: Version) -> Iterator[Reason]:
    name = "enforceNodeAllocatable"
    entries = list(config.get(name) or ())
    for side in ("system", "kube"):
        if {f"{side}-reserved", f"{side}-reserved-compressible"} <= set(entries):
            rule = f"{name}: both {side}-reserved variants"
            yield Reason(rule, f"{side}-reserved and {side}-reserved-compressible are listed", (name,), fix="keep one")
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        if entry in seen:
            yield Reason(f"{name}: duplicate entry", f"{entry!r} is listed twice", (name, index), fix="keep one")
            continue
        seen.add(entry)
        yield from _enforced(config, entry, index, version)


def _enforced(config: Config, entry: str, index: int, version: Version) -> Iterator[Reason]:
    name = "enforceNodeAllocatable"
    known = {word for word in _ENFORCED if version >= _COMPRESSIBLE_SINCE or not word.endswith("-compressible")}
    if entry == "none":
        if len(config[name]) > 1:
            yield Reason(f"{name}: none combined with others", f"{name} is {config[name]}", (name,), fix="write [none]")
        return
    if entry != "pods" and entry not in known:
        fix = f"write pods, none, {', '.join(sorted(known))}"
        yield Reason(f"{name}: unknown entry", f"{entry!r} is listed", (name, index), fix=fix)
        return
    cgroup = _ENFORCED.get(entry)
    if cgroup and not config.get(cgroup):
        what = f"{entry} is listed and {cgroup} is not set"
        yield Reason(f"{name}: needs {cgroup}", what, (name, index), fix=f"set {cgroup}, or leave {entry} out")
    if not config["cgroupsPerQOS"]:
        fix = f"set cgroupsPerQOS: true, or {name}: [none]"
        yield Reason(f"{name}: needs cgroupsPerQOS", f"{entry} is listed and cgroupsPerQOS is false", (name,), fix=fix)


def _reserved_cpus(config: Config) -> Iterator[Reason]:
    name = "reservedSystemCPUs"
    cpus = config.get(name)
    if config.get("systemCgroups") and not config.get("cgroupRoot"):
        rule = "systemCgroups: needs cgroupRoot"
        yield Reason(rule, "systemCgroups is set and cgroupRoot is not", ("systemCgroups",), fix="set cgroupRoot: /")
    if not cpus:
        return
    cgroups = [one for one in ("systemReservedCgroup", "kubeReservedCgroup") if config.get(one)]
    if cgroups:
        rule = f"{name}: exclusive with systemReservedCgroup and kubeReservedCgroup"
        yield Reason(rule, f"{name} and {' and '.join(cgroups)} are set", (name,), fix="leave one of them out")
    try:
        go_cpus(cpus)
    except ValueError as error:
        fix = "write like 0-3,8 without blanks, strides or a comma at the end"
        yield Reason(f"{name}: not a CPU list", f"{name} is {cpus!r}: {error}", (name,), fix=fix)


def _reserved_memory(config: Config) -> Iterator[Reason]:
    name = "reservedMemory"
    seen: set[tuple[int, str]] = set()
    for index, entry in enumerate(config.get(name) or ()):
        node = entry.get("numaNode", 0)
        for kind, size in (entry.get("limits") or {}).items():
            path = (name, index, "limits", kind)
            if kind != "memory" and not kind.startswith("hugepages-"):
                fix = "reserve memory here, and cpu with kubeReserved, systemReserved or reservedSystemCPUs"
                yield Reason(f"{name}: resource type not allowed", f"{kind} is reserved", path, fix=fix)
            if parse_quantity(str(size)) == 0:
                yield Reason(f"{name}: zero amount", f"{kind} is 0", path, fix="leave the entry out")
            if (node, kind) in seen:
                what = f"{kind} of NUMA node {node} is listed twice"
                yield Reason(f"{name}: node and type listed twice", what, path, fix="add the two up in one entry")
            seen.add((node, kind))


def _swap(config: Config, on: On, version: Version) -> Iterator[Reason]:
    behavior = (config.get("memorySwap") or {}).get("swapBehavior", "")
    path = ("memorySwap", "swapBehavior")
    if not on.get("NodeSwap", version >= _NO_SWAP_SINCE):
        if behavior:
            what = f"swapBehavior is {behavior} and the feature gate NodeSwap is off"
            yield Reason("memorySwap.swapBehavior: needs gate NodeSwap", what, path, fix="switch NodeSwap on")
        return
    known = ("", "NoSwap", "LimitedSwap") if version >= _NO_SWAP_SINCE else ("", "LimitedSwap", "UnlimitedSwap")
    if behavior not in known:
        fix = f"write one of {', '.join(known[1:])}"
        what = f"swapBehavior is {behavior!r}"
        yield Reason("memorySwap.swapBehavior: unknown value", what, path, fix=fix)


def _memory_quality(config: Config, on: On) -> Iterator[Reason]:
    factor = config.get("memoryThrottlingFactor")
    if factor is not None and not 0 < factor <= 1:
        name = "memoryThrottlingFactor"
        fix = "write more than 0 and at most 1"
        yield Reason(f"{name}: outside (0,1]", f"{name} is {factor}", (name,), fix=fix)
    name = "memoryReservationPolicy"
    policy = config.get(name, "None")
    if policy not in ("None", "TieredReservation"):
        yield Reason(f"{name}: unknown value", f"{name} is {policy!r}", (name,), fix="write None or TieredReservation")
    elif policy == "TieredReservation" and not on.get("MemoryQoS", False):
        rule = f"{name}: TieredReservation needs gate MemoryQoS"
        fix = "set featureGates MemoryQoS: true, or leave it out"
        yield Reason(rule, f"{name} is {policy} and the feature gate MemoryQoS is off", (name,), fix=fix)


def _host(config: Config, host: HostFacts) -> Iterator[Reason]:
    """Yield the first thing that the host does not allow: the kubelet stops looking there."""
    if host.cgroup_version == 1 and config.get("failCgroupV1"):
        what = "the host runs cgroup v1 and failCgroupV1 is true, which is the default since 1.35"
        fix = "boot the host with cgroup v2, or set failCgroupV1: false"
        yield Reason("failCgroupV1: host runs cgroup v1", what, ("failCgroupV1",), fix=fix)
    elif host.cgroup_version == 1 and config.get("singleProcessOOMKill") is False:
        rule = "singleProcessOOMKill: false needs cgroup v2"
        fix = "leave singleProcessOOMKill out, or boot the host with cgroup v2"
        yield Reason(rule, "the host runs cgroup v1", ("singleProcessOOMKill",), fix=fix)
    else:
        yield from _user_ids((config.get("userNamespaces") or {}).get("idsPerPod"))


def _user_ids(ids: int | None) -> Iterator[Reason]:
    if ids is None:
        return
    name, path = "userNamespaces.idsPerPod", ("userNamespaces", "idsPerPod")
    if ids < _IDS_A_POD:
        yield Reason(f"{name}: below 65536", f"{name} is {ids}", path, fix="write 65536, or a multiple of it")
    elif ids % _IDS_A_POD:
        yield Reason(f"{name}: not a multiple of 65536", f"{name} is {ids}", path, fix="write a multiple of 65536")
    elif ids > _MOST_IDS:
        yield Reason(f"{name}: above 4294967295", f"{name} is {ids}", path, fix="write 4294901760 or less")
