# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Described machines: the JSON form of a topology, read and written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .cpuset import MAX_CPU_ID, CpuSet
from .json_fields import REQUIRED, count, cpu_list, integer, is_count, mapping, object_list, text
from .topology import CoreType, Cpu, Device, HugepagePool, NumaNode, Topology

_CORE_TYPES = {"P": CoreType.PERFORMANCE, "E": CoreType.EFFICIENCY, "U": CoreType.UNIFORM}
_CORE_LETTERS = {core_type: letter for letter, core_type in _CORE_TYPES.items()}
_HUGEPAGE_KEY = re.compile(r"(\d+)kB\Z")


def topology_from_facts(data: Mapping[str, Any]) -> Topology:
    """Return the topology of a described machine.

    Shape: `cpus[]` with cpu, socket, core, numa, thread_siblings, online and optionally die_id, cluster_id, l3,
    l3_id and core_type (P, E or U); `numa_nodes[]` with id, cpus, mem_total_kb, distance, hugepages; `devices[]`; arch,
    vendor, model_name and totals.default_hugepagesize_kb. An offline CPU needs only cpu and online;
    unknown keys are ignored.
    Core types that are not given are inferred on Intel machines where only some cores have several threads.
    Sad paths: `ValueError` naming the key that is missing, malformed or contradicts another.
    """
    if not isinstance(data, Mapping):
        raise ValueError("a machine is described by an object with the keys cpus and numa_nodes")
    described = object_list(data, "cpus", "cpus")
    online = CpuSet(_cpu_id(item, where) for where, item in described if _is_online(item, where))
    offline = CpuSet(_cpu_id(item, where) for where, item in described) - online
    if not online:
        raise ValueError("cpus: no CPU is online")
    cpus = _cpus(described, online)
    fault = sibling_fault(cpus)
    if fault:
        raise ValueError(f"cpus: thread_siblings of CPU {fault[0]} {fault[1]}")
    nodes = _numa_nodes(data, cpus)
    vendor = text(data, "vendor", "")
    return Topology(
        arch=text(data, "arch", ""),
        cpus=infer_core_types(cpus, len(offline), vendor) if _lacks_types(described) else cpus,
        numa_nodes=nodes,
        offline=offline,
        vendor=vendor,
        model=text(data, "model_name", ""),
        devices=tuple(_device(item, where) for where, item in object_list(data, "devices", "devices", ())),
        default_hugepage_kib=integer(mapping(data, "totals", "totals", {}), "default_hugepagesize_kb", "totals", 2048),
    )


def topology_to_facts(topology: Topology, name: str = "") -> dict[str, Any]:
    """Return the description that `topology_from_facts` reads as `topology`, with the derived totals for readers."""
    return {
        "name": name,
        "arch": topology.arch,
        "vendor": topology.vendor,
        "model_name": topology.model,
        "smt_active": topology.smt,
        "totals": _totals(topology),
        "numa_nodes": [_node_facts(node) for node in topology.numa_nodes],
        "cpus": _cpu_facts(topology),
        "devices": [_device_facts(device) for device in topology.devices],
    }


def sibling_fault(cpus: Sequence[Cpu]) -> tuple[int, str] | None:
    """Return the first CPU whose siblings contradict another's and how, or None when all agree.

    Shape: a CPU is its own sibling; siblings name each other, on one socket.
    """
    by_id = {cpu.id: cpu for cpu in cpus}
    for cpu in cpus:
        if cpu.id not in cpu.siblings:
            return cpu.id, f"({cpu.siblings}) do not include the CPU itself"
        for other in cpu.siblings:
            if other not in by_id:
                return cpu.id, f"({cpu.siblings}) include CPU {other}, which is not online"
            if by_id[other].siblings != cpu.siblings:
                return cpu.id, f"({cpu.siblings}) include CPU {other}, whose siblings are {by_id[other].siblings}"
            if by_id[other].socket != cpu.socket:
                return cpu.id, f"({cpu.siblings}) include CPU {other} of another socket"
    return None


def infer_core_types(cpus: tuple[Cpu, ...], offline: int, vendor: str) -> tuple[Cpu, ...]:
    """Return the CPUs with core types where threads alone tell them: Intel, some cores with SMT and some without.

    `offline` counts offline CPUs: single-threaded cores that missing siblings can explain prove nothing.
    """
    cores = {cpu.siblings for cpu in cpus}
    single = sum(1 for core in cores if len(core) == 1)
    if vendor != "GenuineIntel" or single in (0, len(cores)) or single <= offline:
        return cpus
    kinds = {True: CoreType.PERFORMANCE, False: CoreType.EFFICIENCY}
    return tuple(replace(cpu, type=kinds[len(cpu.siblings) > 1]) for cpu in cpus)


def _cpu_id(item: Mapping[str, Any], where: str) -> int:
    cpu = integer(item, "cpu", where)
    if not 0 <= cpu <= MAX_CPU_ID:
        raise ValueError(f"{where}.cpu: {cpu} is outside 0-{MAX_CPU_ID}")
    return cpu


def _is_online(item: Mapping[str, Any], where: str) -> bool:
    value = item.get("online", True)
    if not isinstance(value, bool):
        raise ValueError(f"{where}.online: {value!r} is not true or false")
    return value


def _lacks_types(described: Sequence[tuple[str, Mapping[str, Any]]]) -> bool:
    return not any("core_type" in item for _where, item in described)


def _cpus(described: Sequence[tuple[str, Mapping[str, Any]]], online: CpuSet) -> tuple[Cpu, ...]:
    cpus: dict[int, Cpu] = {}
    seen: set[int] = set()
    for where, item in described:
        cpu = _cpu_id(item, where)
        if cpu in seen:
            raise ValueError(f"{where}.cpu: CPU {cpu} is described twice")
        seen.add(cpu)
        if cpu in online:
            cpus[cpu] = _cpu(item, where, online)
    return tuple(cpus[cpu] for cpu in sorted(cpus))


def _cpu(item: Mapping[str, Any], where: str, online: CpuSet) -> Cpu:
    kind = item.get("core_type", "U")
    if not isinstance(kind, str) or kind not in _CORE_TYPES:
        raise ValueError(f"{where}.core_type: {kind!r} is none of {', '.join(_CORE_TYPES)}")
    return Cpu(
        id=_cpu_id(item, where),
        socket=integer(item, "socket", where),
        core=integer(item, "core", where),
        siblings=cpu_list(item, "thread_siblings", where, REQUIRED) & online,
        numa=integer(item, "numa", where, 0),
        die=integer(item, "die_id", where, 0),
        cluster=integer(item, "cluster_id", where, -1),
        l3=cpu_list(item, "l3", where, "") & online,
        l3_id=integer(item, "l3_id", where, -1),
        type=_CORE_TYPES[kind],
    )


def _numa_nodes(data: Mapping[str, Any], cpus: tuple[Cpu, ...]) -> tuple[NumaNode, ...]:
    members: dict[int, list[int]] = {}
    for cpu in cpus:
        members.setdefault(cpu.numa, []).append(cpu.id)
    nodes: dict[int, NumaNode] = {}
    for where, item in object_list(data, "numa_nodes", "numa_nodes"):
        node = _numa_node(item, where, CpuSet(members.get(integer(item, "id", where), ())))
        if node.id in nodes:
            raise ValueError(f"{where}.id: NUMA node {node.id} is described twice")
        listed = cpu_list(item, "cpus", where, node.cpus.format()) & CpuSet(cpu.id for cpu in cpus)
        if listed != node.cpus:
            raise ValueError(f"{where}.cpus: {listed} are listed, but cpus[].numa places {node.cpus} there")
        nodes[node.id] = node
    homeless = sorted(set(members) - set(nodes))
    if homeless:
        raise ValueError(f"numa_nodes: CPU {members[homeless[0]][0]} is on node {homeless[0]}, which is not described")
    for node in nodes.values():
        if node.distances and len(node.distances) != len(nodes):
            raise ValueError(f"numa_nodes: node {node.id} has {len(node.distances)} distances to {len(nodes)} nodes")
    return tuple(nodes[key] for key in sorted(nodes))


def _numa_node(item: Mapping[str, Any], where: str, cpus: CpuSet) -> NumaNode:
    distances = item.get("distance", [])
    if not isinstance(distances, list) or not all(is_count(one) for one in distances):
        raise ValueError(f"{where}.distance: {distances!r} is not a list of numbers")
    return NumaNode(
        id=integer(item, "id", where),
        cpus=cpus,
        memory_kib=count(item, "mem_total_kb", where, 0),
        distances=tuple(distances),
        hugepages=_pools(mapping(item, "hugepages", f"{where}.hugepages", {}), f"{where}.hugepages"),
    )


def _pools(data: Mapping[str, Any], where: str) -> tuple[HugepagePool, ...]:
    pools = []
    for key in data:
        match = _HUGEPAGE_KEY.match(str(key))
        if not match:
            raise ValueError(f"{where}: {key!r} is not a page size: write like 2048kB")
        item, place = mapping(data, key, f"{where}.{key}"), f"{where}.{key}"
        pools.append(
            HugepagePool(
                size_kib=int(match.group(1)),
                total=count(item, "nr_hugepages", place, 0),
                free=count(item, "free_hugepages", place, 0),
                surplus=count(item, "surplus_hugepages", place, 0),
            )
        )
    return tuple(sorted(pools, key=lambda pool: pool.size_kib))


def _device(item: Mapping[str, Any], where: str) -> Device:
    numa = item.get("numa")
    return Device(
        name=text(item, "name", REQUIRED, where),
        kind=text(item, "kind", "", where),
        address=text(item, "address", "", where),
        numa=None if numa is None else integer(item, "numa", where),
        local_cpus=cpu_list(item, "local_cpus", where, ""),
    )


def _cpu_facts(topology: Topology) -> list[dict[str, Any]]:
    untyped = tuple(replace(cpu, type=CoreType.UNIFORM) for cpu in topology.cpus)
    typed = infer_core_types(untyped, len(topology.offline), topology.vendor) != topology.cpus
    facts: dict[int, dict[str, Any]] = {cpu: {"cpu": cpu, "online": False} for cpu in topology.offline}
    for cpu in topology.cpus:
        facts[cpu.id] = {
            "cpu": cpu.id,
            "socket": cpu.socket,
            "core": cpu.core,
            "numa": cpu.numa,
            "thread_siblings": cpu.siblings.format(),
            "online": True,
            "die_id": cpu.die,
            "cluster_id": cpu.cluster,
            "l3": cpu.l3.format(),
        }
        if cpu.l3_id >= 0:
            facts[cpu.id]["l3_id"] = cpu.l3_id
        if typed:
            facts[cpu.id]["core_type"] = _CORE_LETTERS[cpu.type]
    return [facts[cpu] for cpu in sorted(facts)]


def _node_facts(node: NumaNode) -> dict[str, Any]:
    return {
        "id": node.id,
        "cpus": node.cpus.format(),
        "mem_total_kb": node.memory_kib,
        "distance": list(node.distances),
        "hugepages": {
            f"{pool.size_kib}kB": {
                "nr_hugepages": pool.total,
                "free_hugepages": pool.free,
                "surplus_hugepages": pool.surplus,
            }
            for pool in node.hugepages
        },
    }


def _device_facts(device: Device) -> dict[str, Any]:
    return {
        "name": device.name,
        "kind": device.kind,
        "address": device.address,
        "numa": device.numa,
        "local_cpus": device.local_cpus.format(),
    }


def _totals(topology: Topology) -> dict[str, int]:
    return {
        "logical_cpus": len(topology.present),
        "online_cpus": len(topology.online),
        "cores": len(topology.cores),
        "sockets": len(topology.sockets),
        "numa_nodes": len(topology.numa_nodes),
        "mem_total_kb": topology.memory_kib,
        "default_hugepagesize_kb": topology.default_hugepage_kib,
    }
