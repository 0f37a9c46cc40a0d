from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.snapshots import CPU, NODE, snapshot_of
from support.topologies import topologies

from tunectl.core.cpuset import CpuSet
from tunectl.core.errors import InputError
from tunectl.core.machine import topology_from_facts
from tunectl.core.snapshot import Snapshot
from tunectl.core.sysfs import read_topology
from tunectl.core.topology import CoreType, Device, Topology


def _as_a_kernel_can_say_it(topology: Topology) -> Topology:
    """Kinds of core that no file tells become uniform, devices come sorted, one per kind and name."""
    kinds = {cpu.type for cpu in topology.cpus}
    told = {CoreType.PERFORMANCE, CoreType.EFFICIENCY} <= kinds
    cpus = topology.cpus if told else tuple(replace(cpu, type=CoreType.UNIFORM) for cpu in topology.cpus)
    devices = {(device.kind, device.name): device for device in topology.devices}
    return replace(topology, cpus=cpus, devices=tuple(devices[key] for key in sorted(devices)))


@given(topologies().filter(lambda topology: topology.vendor != "GenuineIntel"))
def test_what_the_files_say_is_the_topology(topology: Topology) -> None:
    expected = _as_a_kernel_can_say_it(topology)
    assert read_topology(snapshot_of(expected)) == expected


def _machine(**changes: Any) -> Topology:
    facts = {
        "arch": "x86_64",
        "vendor": "AuthenticAMD",
        "model_name": "made up",
        "cpus": [
            {"cpu": cpu, "socket": 0, "core": cpu % 2, "numa": cpu % 2, "thread_siblings": f"{cpu % 2},{cpu % 2 + 2}"}
            for cpu in range(4)
        ],
        "numa_nodes": [{"id": node, "mem_total_kb": 4096, "distance": [10, 21]} for node in (0, 1)],
    }
    return topology_from_facts({**facts, **changes})


def _edited(changes: Mapping[str, str | None], snapshot: Snapshot | None = None) -> Snapshot:
    snapshot = snapshot or snapshot_of(_machine())
    files = {**snapshot.files, **{path: text for path, text in changes.items() if text is not None}}
    gone = {path for path, text in changes.items() if text is None}
    return replace(
        snapshot,
        files={path: text for path, text in files.items() if path not in gone},
        absent=snapshot.absent | gone,
    )


def test_offline_cpus_without_topology_are_offline() -> None:
    topology = _machine(
        cpus=[
            {"cpu": 0, "socket": 0, "core": 0, "thread_siblings": "0"},
            {"cpu": 1, "online": False},
            {"cpu": 1500, "socket": 0, "core": 1, "thread_siblings": "1500"},
        ],
        numa_nodes=[{"id": 0}],
    )
    read = read_topology(snapshot_of(topology))
    assert (read.online, read.offline) == (CpuSet([0, 1500]), CpuSet([1]))


def test_without_summaries_each_cpu_speaks_for_itself() -> None:
    changes: dict[str, str | None] = {
        f"{CPU}/online": None,
        f"{CPU}/present": None,
        f"{CPU}/offline": "4-127\n",
        f"{CPU}/cpu3/online": "0\n",
        **{f"{CPU}/cpu{cpu}/topology/thread_siblings_list": f"{cpu},{(cpu + 2) % 4}\n" for cpu in (0, 2)},
        f"{CPU}/cpu1/topology/thread_siblings_list": "1\n",
    }
    read = read_topology(_edited(changes))
    # CPUs 4-127 could be plugged in one day; they are not offline.
    assert (read.online, read.offline) == (CpuSet.parse("0-2"), CpuSet([3]))


def test_old_kernels_mask_of_siblings() -> None:
    changes: dict[str, str | None] = {}
    for cpu in range(4):
        changes[f"{CPU}/cpu{cpu}/topology/thread_siblings_list"] = None
        changes[f"{CPU}/cpu{cpu}/topology/thread_siblings"] = "00000000,0000000" + ("5" if cpu % 2 == 0 else "a")
    assert read_topology(_edited(changes)).cores == (CpuSet([0, 2]), CpuSet([1, 3]))


def test_a_kernel_without_numa_has_one_node() -> None:
    snapshot = snapshot_of(_machine())
    files = {path: text for path, text in snapshot.files.items() if not path.startswith(NODE)}
    files["/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"] = "7\n"
    listings = {CPU: snapshot.listings[CPU], "/sys/kernel/mm/hugepages": ("hugepages-2048kB",)}
    (node,) = read_topology(replace(snapshot, files=files, listings=listings)).numa_nodes
    assert (node.id, node.cpus, node.memory_kib, node.distances) == (0, CpuSet.parse("0-3"), 8192, (10,))
    assert [(pool.size_kib, pool.total) for pool in node.hugepages] == [(2048, 7)]


def test_memory_only_and_cpuless_nodes_are_nodes() -> None:
    nodes = [{"id": 0, "mem_total_kb": 1}, {"id": 1, "mem_total_kb": 0}, {"id": 4, "mem_total_kb": 9}]
    read = read_topology(snapshot_of(_machine(numa_nodes=nodes)))
    assert [(node.id, node.cpus.format(), node.memory_kib) for node in read.numa_nodes] == [
        (0, "0,2", 1),
        (1, "1,3", 0),
        (4, "", 9),
    ]


def test_a_node_tree_without_summary_or_meminfo_keys() -> None:
    snapshot = _edited({f"{NODE}/online": None, "/proc/meminfo": None})
    read = read_topology(snapshot)
    assert ([node.id for node in read.numa_nodes], read.default_hugepage_kib) == ([0, 1], 2048)
    assert read_topology(_edited({"/proc/meminfo": "MemFree: 1 kB\n"})).default_hugepage_kib == 2048


def test_other_names_in_a_directory_of_hugepages_are_no_sizes() -> None:
    snapshot = snapshot_of(_machine())
    listings = {**snapshot.listings, f"{NODE}/node0/hugepages": ("README", "hugepages-kB")}
    assert read_topology(replace(snapshot, listings=listings)).numa_nodes[0].hugepages == ()


def test_the_last_level_is_the_highest_level() -> None:
    changes = {}
    for cpu in range(4):
        pair = "0,2" if cpu % 2 == 0 else "1,3"
        for index, (level, shared) in enumerate((("1", str(cpu)), ("3", "0-3"), ("2", pair))):
            changes[f"{CPU}/cpu{cpu}/cache/index{index}/level"] = level
            changes[f"{CPU}/cpu{cpu}/cache/index{index}/shared_cpu_list"] = shared
    assert read_topology(_edited(changes)).l3_groups == (CpuSet.parse("0-3"),)


def test_hybrid_machines_say_which_cores_are_small() -> None:
    files = {"/sys/devices/cpu_core/cpus": "0,2\n", "/sys/devices/cpu_lowpower/cpus": "3\n"}
    changes: dict[str, str | None] = {**files, "/sys/devices/cpu_atom/cpus": "1\n"}
    kinds = [cpu.type.value for cpu in read_topology(_edited(changes)).cpus]
    assert kinds == ["performance", "efficiency", "performance", "efficiency"]


@pytest.mark.parametrize(("small", "kind"), [("400", "efficiency"), ("1000", "uniform"), (None, "uniform")])
def test_arm_tells_small_cores_by_capacity(small: str | None, kind: str) -> None:
    snapshot = snapshot_of(_machine(arch="aarch64", vendor="ARM"))
    changes = {f"{CPU}/cpu{cpu}/cpu_capacity": "1024" if cpu < 2 else small for cpu in range(4)}
    read = read_topology(_edited(changes, snapshot))
    assert read.by_id[3].type.value == kind
    assert read.by_id[0].type.value == ("performance" if kind == "efficiency" else "uniform")


def test_firmware_that_tells_nothing() -> None:
    changes: dict[str, str | None] = {}
    for cpu in range(4):
        changes |= {
            f"{CPU}/cpu{cpu}/topology/physical_package_id": "-1\n",
            f"{CPU}/cpu{cpu}/topology/die_id": "-1\n",
            f"{CPU}/cpu{cpu}/topology/cluster_id": "65535\n" if cpu else None,
        }
    read = read_topology(_edited(changes))
    assert {(cpu.socket, cpu.die, cpu.cluster) for cpu in read.cpus} == {(0, 0, -1)}


def test_devices_take_the_place_of_the_nearest_parent_that_has_one() -> None:
    place = "/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.1"
    snapshot = _edited(
        {
            f"{place}/numa_node": "1\n",
            f"{place}/local_cpulist": "1,3\n",
            f"{place}/class": "0x020000\n",
            "/sys/devices/pci0000:00/0000:00:05.0/class": "0x010802\n",
            "/sys/devices/pci0000:00/0000:00:05.0/numa_node": "-1\n",
            "/sys/devices/pci0000:00/0000:00:06.0/class": "0x060400\n",
        }
    )
    snapshot = replace(
        snapshot,
        links={
            "/sys/class/net/ens1/device": f"{place}/virtio2",
            "/sys/class/net/usb0/device": "/sys/devices/platform/usb",
            "/sys/bus/pci/devices/0000:3b:00.1": place,
            "/sys/bus/pci/devices/0000:00:05.0": "/sys/devices/pci0000:00/0000:00:05.0",
            "/sys/bus/pci/devices/0000:00:06.0": "/sys/devices/pci0000:00/0000:00:06.0",
        },
    )
    assert read_topology(snapshot).devices == (
        Device("ens1", "net", "0000:3b:00.1", 1, CpuSet([1, 3])),
        Device("usb0", "net"),
        Device("0000:00:05.0", "nvme", "0000:00:05.0"),
    )


@pytest.mark.parametrize(
    ("cpuinfo", "release", "arch", "vendor", "model"),
    [
        ("vendor_id : GenuineIntel\nmodel name : X\nflags : fpu lm sse\n", "", "x86_64", "GenuineIntel", "X"),
        ("vendor_id : GenuineIntel\nflags : fpu\n", "", "i686", "GenuineIntel", ""),
        ("CPU implementer : 0x41\nCPU architecture: 8\nCPU part : 0xd0c\n", "", "aarch64", "ARM", "ARM part 0xd0c"),
        ("CPU implementer : 0xzz\nCPU architecture: 8\n", "", "aarch64", "0xzz", "0xzz part"),
        ("cpu : POWER9, altivec supported\n", "", "ppc64le", "IBM", "POWER9, altivec supported"),
        ("vendor_id : IBM/S390\n", "", "s390x", "IBM/S390", ""),
        ("", "5.14.0-1.el9.aarch64\n", "aarch64", "", ""),
        ("", "6.1.0-13-amd64\n", "", "", ""),
    ],
)
def test_processors(cpuinfo: str, release: str, arch: str, vendor: str, model: str) -> None:
    edited = _edited({"/proc/cpuinfo": cpuinfo, "/proc/sys/kernel/osrelease": release})
    snapshot = replace(edited, facts={"uname": {"release": release}})
    read = read_topology(snapshot)
    assert (read.arch, read.vendor, read.model) == (arch, vendor, model)


_MALFORMED: list[tuple[dict[str, str | None], str]] = [
    ({f"{CPU}/online": "0-\n"}, f"{CPU}/online"),
    ({f"{CPU}/online": "\n"}, f"{CPU}/online"),
    ({f"{CPU}/online": "0-9\n"}, f"{CPU}/online"),
    ({f"{CPU}/online": None, f"{CPU}/offline": "0-3\n"}, f"{CPU}/offline"),
    ({f"{CPU}/cpu2/topology/core_id": "two\n"}, f"{CPU}/cpu2/topology/core_id"),
    ({f"{CPU}/cpu2/topology/core_id": None}, f"{CPU}/cpu2/topology/core_id"),
    ({f"{CPU}/cpu2/topology/physical_package_id": ""}, f"{CPU}/cpu2/topology/physical_package_id"),
    ({f"{CPU}/cpu2/topology/thread_siblings_list": None}, f"{CPU}/cpu2/topology/thread_siblings_list"),
    ({f"{CPU}/cpu2/topology/thread_siblings_list": "0-2"}, f"{CPU}/cpu0/topology/thread_siblings_list"),
    ({f"{CPU}/cpu2/topology/thread_siblings_list": "3"}, f"{CPU}/cpu0/topology/thread_siblings_list"),
    ({f"{CPU}/cpu0/topology/thread_siblings_list": "2"}, f"{CPU}/cpu0/topology/thread_siblings_list"),
    ({f"{CPU}/cpu1/cache/index3/level": "x"}, f"{CPU}/cpu1/cache/index3/level"),
    ({f"{CPU}/cpu1/cache/index3/level": "3"}, f"{CPU}/cpu1/cache/index3/shared_cpu_list"),
    (
        {f"{CPU}/cpu1/cache/index3/level": "3", f"{CPU}/cpu1/cache/index3/shared_cpu_list": "0"},
        f"{CPU}/cpu1/cache/index3/shared_cpu_list",
    ),
    ({f"{NODE}/online": "0-2"}, f"{NODE}/online"),
    ({f"{NODE}/online": ""}, f"{NODE}/online"),
    ({f"{NODE}/online": "0"}, f"{NODE}/node0/distance"),
    ({f"{NODE}/online": "0", f"{NODE}/node0/distance": "10"}, f"{NODE}/node0/cpulist"),
    ({f"{NODE}/node1/cpulist": "0-3"}, f"{NODE}/node1/cpulist"),
    ({f"{NODE}/node1/cpulist": "1"}, f"{NODE}/node0/cpulist"),
    ({f"{NODE}/node1/cpulist": None}, f"{NODE}/node1/cpulist"),
    ({f"{NODE}/node1/meminfo": "Node 1 MemTotal: much kB\n"}, f"{NODE}/node1/meminfo"),
    ({f"{NODE}/node1/distance": "21 10 21\n"}, f"{NODE}/node1/distance"),
    ({f"{NODE}/node1/distance": "21 x\n"}, f"{NODE}/node1/distance"),
    ({"/proc/meminfo": "Hugepagesize: big\n"}, "/proc/meminfo"),
    ({"/sys/devices/cpu_core/cpus": "0-1", "/sys/devices/cpu_atom/cpus": "1-3"}, "/sys/devices/cpu_core/cpus"),
]


@pytest.mark.parametrize(("changes", "named"), _MALFORMED)
def test_a_malformed_tree_names_the_file(changes: dict[str, str | None], named: str) -> None:
    with pytest.raises(InputError) as caught:
        read_topology(_edited(changes))
    (problem,) = caught.value.problems
    assert problem.where == f"n:{named}"
    assert problem.why
    assert problem.code in ("TUN-1701", "TUN-1702")


def test_an_unreadable_file_says_why() -> None:
    path = f"{CPU}/cpu1/topology/die_id"
    snapshot = replace(_edited({path: None}), absent=frozenset(), unreadable={path: "permission denied"})
    with pytest.raises(InputError, match="permission denied"):
        read_topology(snapshot)


def test_a_node_of_which_nothing_was_read() -> None:
    with pytest.raises(InputError, match="not in the snapshot"):
        read_topology(Snapshot(node="n", files={}))


_RICH = snapshot_of(
    _machine(
        cpus=[
            {
                "cpu": cpu,
                "socket": 0,
                "core": cpu % 2,
                "numa": cpu % 2,
                "thread_siblings": f"{cpu % 2},{cpu % 2 + 2}",
                "l3": "0-3",
                "core_type": "PEPE"[cpu],
            }
            for cpu in range(4)
        ],
        numa_nodes=[{"id": node, "hugepages": {"2048kB": {"nr_hugepages": 1}}} for node in (0, 1)],
        devices=[{"name": "ens1", "kind": "net", "address": "0000:3b:00.0", "numa": 1, "local_cpus": "1,3"}],
    )
)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(sorted(_RICH.files)),
            st.one_of(
                st.none(),
                st.text(max_size=12),
                st.text(alphabet="0123456789,-:/ \n", max_size=8),
                st.binary(max_size=8).map(lambda data: data.decode("utf-8", "replace")),
                st.integers().map(str),
            ),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_damaged_files_are_read_or_named(damages: list[tuple[str, str | None]]) -> None:
    snapshot = _edited(dict(damages), _RICH)
    try:
        topology = read_topology(snapshot)
    except InputError as error:
        where = error.problems[0].where
        assert where.startswith("n:/")
        assert where[2:] in {*_RICH.files, *snapshot.absent}
    else:
        assert topology.online <= topology.present
        assert all(cpu.id in cpu.siblings and cpu.siblings <= topology.online for cpu in topology.cpus)
