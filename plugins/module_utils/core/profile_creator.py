# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Requests of the OpenShift profile creator, answered from a topology."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .core_choice import all_cores, first_threads, nearest_sums, reachable_sums, stock_of, take_cores
from .cpuset import CpuSet
from .desired import Partition
from .errors import RefusedError, problem
from .topology import Cpu, Topology

POWER_MODES = ("default", "low-latency", "ultra-low-latency")
TOPOLOGY_POLICIES = ("single-numa-node", "best-effort", "restricted")
_ULTRA = "ultra-low-latency"


@dataclass(eq=False)
class RequestRefusedError(RefusedError):
    """A request that cannot be served; `reason` is its stable word (`odd_count_with_smt`)."""

    reason: str = ""


def refuse(reason: str, code: str, what: str, *, why: str, fix: str) -> RequestRefusedError:
    """Return the refusal of a request, to be raised."""
    return RequestRefusedError((problem(code, what, where="profile request", why=why, fix=fix),), reason=reason)


def choice(value: str, allowed: tuple[str, ...], reason: str, name: str) -> str:
    """Return the allowed spelling of a value, whatever its case; raises `TUN-2106` when there is none."""
    if value.lower() not in allowed:
        raise refuse(
            reason,
            "TUN-2106",
            f"{value!r} is not a {name}",
            why=f"known are {', '.join(allowed)}",
            fix=f"use one of {', '.join(allowed)}",
        )
    return value.lower()


@dataclass(frozen=True)
class ProfileRequest:
    """What the profile creator is asked for, with its defaults; the fields are its flags."""

    reserved_cpu_count: int
    offlined_cpu_count: int = 0
    split_reserved_across_numa: bool = False
    disable_ht: bool = False
    power_mode: str = "default"
    topology_policy: str = "restricted"
    rt_kernel: bool = False
    per_pod_power_management: bool = False
    user_level_networking: bool = False
    profile_name: str = "performance"


def create_profile_sets(topology: Topology, request: ProfileRequest) -> Partition:
    """Return the CPU sets that the profile creator reports for the request.

    Shape: reserved, isolated and offlined are disjoint and cover every usable CPU: the online ones, under
    `disable_ht` the first thread of each core. Exactly `reserved_cpu_count` CPUs in whole cores are reserved and
    exactly `offlined_cpu_count` taken offline. Scale: kernel logical CPU ids.
    Sad paths: `RequestRefusedError` for counts out of range (TUN-2101, TUN-2102) and for a count that whole cores
    cannot make up, or that leaves a NUMA node without its share (TUN-2103).
    Source: the OpenShift profile creator. It differs where that splits cores (SMT-4, two sockets behind one NUMA
    node), misses the asked number (a remainder over three or more nodes, nodes without CPUs) or refuses an even
    number that whole cores can share out. A tier's `{count, spread}` gives the same reserved CPUs, except that it
    prefers efficiency cores, forces CPU 0's core, takes an odd number where single-threaded cores make it up, and
    serves `spread: numa` with fewer cores than nodes (with a finding) where the creator refuses.
    """
    mode = choice(request.power_mode, POWER_MODES, "unknown_power_mode", "power mode")
    policy = choice(request.topology_policy, TOPOLOGY_POLICIES, "unknown_topology_policy", "topology policy")
    if request.split_reserved_across_numa and policy == "single-numa-node":
        raise refuse(
            "split_with_single_numa_node",
            "TUN-2106",
            "reserved CPUs cannot be split over NUMA nodes under single-numa-node",
            why="the two exclude each other",
            fix="use topology policy restricted, or do not split",
        )
    usable = first_threads(topology) if request.disable_ht else topology
    _check_ranges(request.reserved_cpu_count, request.offlined_cpu_count, len(usable.online))
    reserved = _reserved(usable, request.reserved_cpu_count, split=request.split_reserved_across_numa)
    offlined = _offlined(usable, request.offlined_cpu_count, reserved, whole_sockets=mode != _ULTRA)
    return Partition(
        reserved=reserved,
        isolated=usable.online - reserved - offlined,
        offlined=offlined,
        reasons=_reasons(usable, reserved, offlined, request),
    )


def _check_ranges(reserved: int, offlined: int, usable: int) -> None:
    bounds = (
        ("reserved_count_out_of_range", "TUN-2101", "reserved", reserved, 1),
        ("offlined_count_out_of_range", "TUN-2101", "offlined", offlined, 0),
        ("reserved_plus_offlined_out_of_range", "TUN-2102", "reserved and offlined together", reserved + offlined, 1),
    )
    for reason, code, name, count, least in bounds:
        if not least <= count < usable:
            raise refuse(
                reason,
                code,
                f"{count} CPUs cannot be {name}",
                why=f"the machine has {usable} usable CPUs and at least one must stay for workloads",
                fix=f"ask for {least} to {usable - 1}",
            )


def _reserved(usable: Topology, count: int, *, split: bool) -> CpuSet:
    stock = stock_of(usable, usable.online)
    reserved = take_cores(stock, count, even=split)
    odd = usable.smt and count % 2 == 1
    if reserved is None or odd:
        near = nearest_sums(reachable_sums(all_cores(stock)), count)
        numbers = [str(n) for n in near if n < len(usable.online) and not (usable.smt and n % 2)]
        raise refuse(
            "odd_count_with_smt",
            "TUN-2103",
            f"{count} reserved CPUs cannot be handed out in whole cores",
            why=f"cores have up to {usable.threads_per_core} threads and none may be split between roles",
            fix=f"ask for {' or '.join(numbers)}" if numbers else "use a machine with more cores",
        )
    without = [node for node, cpus in usable.spread(reserved).items() if not cpus and node in stock]
    if split and usable.smt and without:
        raise refuse(
            "odd_count_with_smt",
            "TUN-2103",
            f"{count} reserved CPUs cannot be split over {len(stock)} NUMA nodes",
            why=f"NUMA nodes {', '.join(map(str, without))} would get no core of {usable.threads_per_core} threads",
            fix=f"ask for at least {len(stock) * usable.threads_per_core}, or do not split",
        )
    return reserved


def _offlined(usable: Topology, count: int, reserved: CpuSet, *, whole_sockets: bool) -> CpuSet:
    """Take whole sockets that fit, then second threads of unused cores, then anything unused, in core-id order."""
    offlined = CpuSet()
    if whole_sockets:
        for cpus in usable.sockets.values():
            if cpus.isdisjoint(reserved) and len(offlined | cpus) <= count:
                offlined |= cpus
    free = sorted((cpu for cpu in usable.cpus if cpu.id not in reserved), key=_socket_and_core)
    second = (cpu.id for cpu in free if cpu.id != cpu.siblings.first)
    for cpu in _chain(second, (cpu.id for cpu in free)):
        if len(offlined) == count:
            break
        offlined |= CpuSet((cpu,))
    return offlined


def _chain(first: Iterable[int], then: Iterable[int]) -> Iterable[int]:
    yield from first
    yield from then


def _socket_and_core(cpu: Cpu) -> tuple[int, int, int, int]:
    return (cpu.socket, cpu.core, cpu.siblings.first, cpu.id)


def _reasons(usable: Topology, reserved: CpuSet, offlined: CpuSet, request: ProfileRequest) -> tuple[str, ...]:
    share = " + ".join(str(len(cpus)) for cpus in usable.spread(reserved).values() if cpus)
    way = "spread evenly over the NUMA nodes" if request.split_reserved_across_numa else "NUMA node by NUMA node"
    reasons = [f"reserved: {len(reserved)} CPUs in whole cores, {way} ({share})"]
    if request.disable_ht:
        reasons.insert(0, f"only the first thread of each core is used: {len(usable.online)} CPUs")
    if offlined:
        sockets = [str(socket) for socket, cpus in usable.sockets.items() if cpus <= offlined]
        whole = f", socket {', '.join(sockets)} as a whole" if sockets else ""
        reasons.append(f"offlined: {len(offlined)} CPUs{whole}")
    return (*reasons, "isolated: all other usable CPUs")
