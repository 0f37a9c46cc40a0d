"""Snapshots of made-up machines: the files that a kernel would show for a topology."""

from collections.abc import Mapping

from tunectl.core.snapshot import Snapshot
from tunectl.core.topology import CoreType, Topology

CPU = "/sys/devices/system/cpu"
NODE = "/sys/devices/system/node"


def snapshot_of(topology: Topology, node: str = "n", more: Mapping[str, str] | None = None) -> Snapshot:
    """Return the snapshot of a node with that hardware; `more` are further files."""
    files = {
        **_cpu_files(topology),
        **_numa_files(topology),
        "/proc/cpuinfo": f"processor : 0\nvendor_id : {topology.vendor}\nmodel name : {topology.model}\n",
        "/proc/meminfo": f"MemTotal: {topology.memory_kib} kB\nHugepagesize: {topology.default_hugepage_kib} kB\n",
    }
    links, device_files = _devices(topology)
    sizes = {f"{NODE}/node{one.id}/hugepages": _sizes(topology) for one in topology.numa_nodes}
    return Snapshot(
        node=node,
        files={**files, **device_files, **(more or {})},
        links=links,
        listings={
            CPU: tuple(sorted(f"cpu{cpu}" for cpu in topology.present)),
            NODE: tuple(sorted(f"node{one.id}" for one in topology.numa_nodes)),
            **sizes,
        },
        facts={"uname": {"machine": topology.arch, "release": "6.12.0"}},
    )


def _sizes(topology: Topology) -> tuple[str, ...]:
    return tuple(f"hugepages-{pool.size_kib}kB" for pool in topology.numa_nodes[0].hugepages)


def _cpu_files(topology: Topology) -> dict[str, str]:
    files = {
        f"{CPU}/online": f"{topology.online}\n",
        f"{CPU}/present": f"{topology.present}\n",
        f"{CPU}/offline": f"{topology.offline}\n",
    }
    for cpu in topology.cpus:
        leaves = {
            "topology/physical_package_id": cpu.socket,
            "topology/core_id": cpu.core,
            "topology/die_id": cpu.die,
            "topology/cluster_id": cpu.cluster,
            "topology/thread_siblings_list": cpu.siblings,
        }
        if cpu.l3:
            leaves |= {"cache/index3/level": 3, "cache/index3/shared_cpu_list": cpu.l3}
        if cpu.l3 and cpu.l3_id >= 0:
            leaves["cache/index3/id"] = cpu.l3_id
        files |= {f"{CPU}/cpu{cpu.id}/{leaf}": f"{value}\n" for leaf, value in leaves.items()}
    kinds = {"core": CoreType.PERFORMANCE, "atom": CoreType.EFFICIENCY}
    if {cpu.type for cpu in topology.cpus} >= set(kinds.values()):
        for name, kind in kinds.items():
            listed = ",".join(str(cpu.id) for cpu in topology.cpus if cpu.type is kind)
            files[f"/sys/devices/cpu_{name}/cpus"] = f"{listed}\n"
    return files


def _numa_files(topology: Topology) -> dict[str, str]:
    files = {f"{NODE}/online": ",".join(str(one.id) for one in topology.numa_nodes) + "\n"}
    for one in topology.numa_nodes:
        here = f"{NODE}/node{one.id}"
        files[f"{here}/cpulist"] = f"{one.cpus}\n"
        files[f"{here}/meminfo"] = f"Node {one.id} MemTotal:       {one.memory_kib} kB\n"
        if one.distances:
            files[f"{here}/distance"] = " ".join(map(str, one.distances)) + "\n"
        for pool in one.hugepages:
            pages = f"{here}/hugepages/hugepages-{pool.size_kib}kB"
            files[f"{pages}/nr_hugepages"] = f"{pool.total}\n"
            files[f"{pages}/free_hugepages"] = f"{pool.free}\n"
            files[f"{pages}/surplus_hugepages"] = f"{pool.surplus}\n"
    return files


def _devices(topology: Topology) -> tuple[dict[str, str], dict[str, str]]:
    links, files = {}, {}
    classes = {"gpu": "drm"}
    for index, device in enumerate(topology.devices):
        place = f"/sys/devices/pci0000:{index:02x}/{device.address}"
        links[f"/sys/class/{classes.get(device.kind, device.kind)}/{device.name}/device"] = place
        files[f"{place}/numa_node"] = f"{-1 if device.numa is None else device.numa}\n"
        files[f"{place}/local_cpulist"] = f"{device.local_cpus}\n"
    return links, files
