# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Described machines in their compact form, and shapes such as `2s32c2t`, as facts of the described-machine format."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.cpuset import CpuSet
from ..core.errors import InputError, problem

_SHAPE = re.compile(r"(\d+)s(\d+)c(\d+)t(?:(\d+)n)?\Z")
_KIB_PER_CPU = 4 << 20
_LARGEST_MACHINE = 8192
_LOCAL, _SAME_SOCKET, _OTHER_SOCKET = 10, 12, 21


@dataclass(frozen=True)
class _Layout:
    """Where cores are. `cores_per_socket` counts whole cores; `l3_cores` share one last-level cache."""

    sockets: int
    nodes_per_socket: int
    cores_per_socket: int
    threads: int
    numbering: str
    core_ids: tuple[int, ...]
    l3_cores: int
    l3_size: str
    cluster_per_socket: int
    cluster_per_core: int

    @property
    def cores(self) -> int:
        return self.sockets * self.cores_per_socket

    def cpu_id(self, socket: int, index: int, thread: int) -> int:
        """Return the kernel's id of a thread.

        Scale: `interleaved` counts over the sockets first, `block` over the cores of a socket first, both then over
        the threads; `adjacent` counts over the threads of a core first.
        """
        if self.numbering == "adjacent":
            return (socket * self.cores_per_socket + index) * self.threads + thread
        within = (
            index * self.sockets + socket if self.numbering == "interleaved" else socket * self.cores_per_socket + index
        )
        return thread * self.cores + within

    def node_of(self, socket: int, index: int) -> int:
        per_node = self.cores_per_socket // self.nodes_per_socket
        return socket * self.nodes_per_socket + index // per_node

    def members(self, socket: int, indexes: Sequence[int]) -> CpuSet:
        return CpuSet(self.cpu_id(socket, index, thread) for index in indexes for thread in range(self.threads))

    def places(self) -> Iterator[tuple[int, int]]:
        return ((socket, index) for socket in range(self.sockets) for index in range(self.cores_per_socket))


def machines_directory() -> Path:
    """Return the directory of the shipped machines: in the collection, or in the wheel's copy of it."""
    here = Path(__file__).resolve()
    wheel = here.parents[1] / "_collections" / "ansible_collections" / "tunectl" / "node" / "machines"
    return wheel if wheel.is_dir() else here.parents[3] / "machines"


def machine_names() -> tuple[str, ...]:
    """Return the names of the shipped machines, ascending."""
    return tuple(sorted(path.stem for path in machines_directory().glob("*.json")))


def load_machine(name: str) -> dict[str, Any]:
    """Return the facts of a shipped machine; raises `InputError` TUN-1600 for a name that none has."""
    if name not in machine_names():
        raise InputError(
            (
                problem(
                    "TUN-1600",
                    f"there is no machine {name!r}",
                    why=f"the shipped machines are {', '.join(machine_names())}",
                    fix="name one of them, or give a shape like 2s32c2t",
                ),
            )
        )
    data: dict[str, Any] = json.loads((machines_directory() / f"{name}.json").read_text(encoding="utf-8"))
    return expand_machine(data)


def expand_machine(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a machine with one row a CPU, as `topology_from_facts` reads it.

    Shape: a description that already has `cpus` is returned as it is; else `layout` tells the rows:
    sockets, nodes_per_socket, cores_per_socket, threads, numbering (interleaved, block or adjacent) and optionally
    core_ids (of one socket, in enumeration order), l3_cores, l3_size, cluster {per_socket, per_core_id}.
    """
    if "cpus" in data:
        return dict(data)
    layout = _layout(data["layout"])
    nodes = _nodes(layout)
    return {
        "name": data["name"],
        "summary": data.get("summary", ""),
        "provenance": data.get("provenance", ""),
        "arch": data["arch"],
        "vendor": data["vendor"],
        "model_name": data["model_name"],
        "cpu_family": data.get("cpu_family", ""),
        "cpu_model": data.get("cpu_model", ""),
        "pmu_name": data.get("pmu_name", ""),
        "virtual": data.get("virtual", False),
        "smt_active": layout.threads > 1,
        "totals": {"default_hugepagesize_kb": 2048, "mem_total_kb": sum(data["memory_kib"])},
        "numa_nodes": [
            {
                "id": node,
                "cpus": cpus.format(),
                "mem_total_kb": data["memory_kib"][node],
                "distance": list(data["distances"][node]),
                "hugepages": {f"{size}kB": _NO_PAGES for size in data["hugepage_sizes_kib"]},
            }
            for node, cpus in nodes.items()
        ],
        "cpus": [row for _cpu, row in sorted(_rows(layout).items())],
        "devices": [_device(device, nodes) for device in data.get("devices", ())],
    }


def parse_shape(text: str) -> dict[str, Any]:
    """Return the facts of a machine of a shape: `2s32c2t` is 2 sockets x 32 cores x 2 threads, `1s16c2t4n` has 4 nodes.

    Shape: without `n` one NUMA node a socket; sibling threads are numbered far apart (N and N + cores), as most
    firmware does; 4 GiB a CPU. Sad paths: `InputError` TUN-1601.
    """
    match = _SHAPE.match(text)
    if not match:
        raise _bad_shape(text, "a shape is written SsCcTt or SsCcTtNn", "2s32c2t")
    sockets, cores, threads = (int(part) for part in match.groups()[:3])
    total_nodes = int(match.group(4) or sockets)
    if 0 in (sockets, cores, threads, total_nodes):
        raise _bad_shape(text, "every number must be at least 1", "2s32c2t")
    if sockets * cores * threads > _LARGEST_MACHINE:
        raise _bad_shape(text, f"a Linux kernel runs at most {_LARGEST_MACHINE} CPUs", "2s32c2t")
    if total_nodes % sockets or cores % (total_nodes // sockets):
        why = f"{total_nodes} NUMA nodes do not divide {sockets} sockets of {cores} cores evenly"
        raise _bad_shape(text, why, f"{sockets}s{cores}c{threads}t{sockets}n")
    return expand_machine(_shaped(text, sockets, cores, threads, total_nodes // sockets))


_NO_PAGES = {"nr_hugepages": 0, "free_hugepages": 0, "surplus_hugepages": 0}


def _shaped(name: str, sockets: int, cores: int, threads: int, nodes_per_socket: int) -> dict[str, Any]:
    nodes = sockets * nodes_per_socket
    return {
        "name": name,
        "summary": f"{sockets * cores * threads} CPUs: {sockets} sockets x {cores} cores x {threads} threads",
        "provenance": "made from a shape",
        "arch": "x86_64",
        "vendor": "GenuineIntel",
        "model_name": f"Simulated processor {name}",
        "layout": {
            "sockets": sockets,
            "nodes_per_socket": nodes_per_socket,
            "cores_per_socket": cores,
            "threads": threads,
            "numbering": "block",
        },
        "memory_kib": [_KIB_PER_CPU * cores * threads // nodes_per_socket] * nodes,
        "distances": [[_distance(one, other, nodes_per_socket) for other in range(nodes)] for one in range(nodes)],
        "hugepage_sizes_kib": [2048, 1048576],
        "devices": [
            {"name": "eth0", "kind": "net", "address": "0000:31:00.0", "numa": 0},
            {"name": "nvme0", "kind": "nvme", "address": "0000:4b:00.0", "numa": nodes - 1},
        ],
    }


def _distance(one: int, other: int, nodes_per_socket: int) -> int:
    if one == other:
        return _LOCAL
    return _SAME_SOCKET if one // nodes_per_socket == other // nodes_per_socket else _OTHER_SOCKET


def _layout(data: Mapping[str, Any]) -> _Layout:
    cores = data["cores_per_socket"]
    cluster = data.get("cluster", {})
    return _Layout(
        sockets=data["sockets"],
        nodes_per_socket=data["nodes_per_socket"],
        cores_per_socket=cores,
        threads=data["threads"],
        numbering=data["numbering"],
        core_ids=tuple(data.get("core_ids", range(cores))),
        l3_cores=data.get("l3_cores", cores // data["nodes_per_socket"]),
        l3_size=data.get("l3_size", "32768K"),
        cluster_per_socket=cluster.get("per_socket", cores),
        cluster_per_core=cluster.get("per_core_id", 1),
    )


def _nodes(layout: _Layout) -> dict[int, CpuSet]:
    nodes: dict[int, CpuSet] = {}
    for socket, index in layout.places():
        node = layout.node_of(socket, index)
        nodes[node] = nodes.get(node, CpuSet()) | layout.members(socket, [index])
    return nodes


def _rows(layout: _Layout) -> dict[int, dict[str, Any]]:
    rows: dict[int, dict[str, Any]] = {}
    caches: dict[tuple[int, int], str] = {}
    groups = -(-layout.cores_per_socket // layout.l3_cores)
    for socket, index in layout.places():
        group = index // layout.l3_cores
        if (socket, group) not in caches:
            first = group * layout.l3_cores
            shared = range(first, min(first + layout.l3_cores, layout.cores_per_socket))
            caches[socket, group] = layout.members(socket, shared).format()
        siblings = layout.members(socket, [index])
        for cpu in siblings:
            rows[cpu] = {
                "cpu": cpu,
                "socket": socket,
                "core": layout.core_ids[index],
                "numa": layout.node_of(socket, index),
                "thread_siblings": siblings.format(),
                "online": True,
                "die_id": 0,
                "cluster_id": socket * layout.cluster_per_socket + layout.core_ids[index] * layout.cluster_per_core,
                "l3": caches[socket, group],
                "l3_id": socket * groups + group,
                "l3_size": layout.l3_size,
            }
    return rows


def _device(device: Mapping[str, Any], nodes: Mapping[int, CpuSet]) -> dict[str, Any]:
    numa = device["numa"]
    everywhere = CpuSet(cpu for cpus in nodes.values() for cpu in cpus)
    return {**device, "local_cpus": (everywhere if numa is None else nodes[numa]).format()}


def _bad_shape(text: str, why: str, fix: str) -> InputError:
    return InputError((problem("TUN-1601", f"{text!r} is not a machine shape", why=why, fix=f"--shape {fix}"),))
