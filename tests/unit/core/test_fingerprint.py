from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.snapshots import CPU, NODE, snapshot_of
from support.topologies import topologies

from tunectl.core.fingerprint import hardware_fingerprint
from tunectl.core.snapshot import Snapshot
from tunectl.core.sysfs import read_topology
from tunectl.core.topology import Topology


def _shown(snapshot: Snapshot) -> Topology:
    """Return the topology without what the fingerprint leaves out: free and surplus hugepages, 64 MiB of memory."""
    topology = read_topology(snapshot)
    nodes = tuple(
        replace(
            node,
            memory_kib=(node.memory_kib + 32768) // 65536,
            hugepages=tuple(replace(pool, free=0, surplus=0) for pool in node.hugepages),
        )
        for node in topology.numa_nodes
    )
    return replace(topology, numa_nodes=nodes)


@given(topologies(), topologies())
def test_different_hardware_has_different_fingerprints(one: Topology, other: Topology) -> None:
    left, right = snapshot_of(one), snapshot_of(other)
    same = hardware_fingerprint(left) == hardware_fingerprint(right)
    assert same == (_shown(left) == _shown(right))


@given(topologies())
def test_equal_hardware_has_equal_fingerprints(topology: Topology) -> None:
    snapshot = snapshot_of(topology, "a")
    again = Snapshot.from_json(snapshot.to_json())
    shuffled = replace(again, node="b", files=dict(sorted(again.files.items(), reverse=True)))
    assert hardware_fingerprint(shuffled) == hardware_fingerprint(snapshot)


@given(topologies(), st.data())
def test_any_change_of_a_file_that_the_topology_shows_counts(topology: Topology, data: st.DataObject) -> None:
    snapshot = snapshot_of(topology)
    path = data.draw(st.sampled_from(sorted(snapshot.files)))
    other = data.draw(st.sampled_from([*snapshot.files.values(), "0", "1", "7\n"]))
    changed = replace(snapshot, files={**snapshot.files, path: other})
    try:
        differs = _shown(changed) != _shown(snapshot)
    except Exception:  # noqa: BLE001  what cannot be read has no topology to compare
        return
    if differs and not path.endswith("meminfo"):
        assert hardware_fingerprint(changed) != hardware_fingerprint(snapshot)


def _swap(path: str, old: str, new: str) -> Callable[[Snapshot], Snapshot]:
    def edit(snapshot: Snapshot) -> Snapshot:
        assert old in snapshot.files[path]
        return replace(snapshot, files={**snapshot.files, path: snapshot.files[path].replace(old, new)})

    return edit


def _add(path: str, text: str) -> Callable[[Snapshot], Snapshot]:
    return lambda snapshot: replace(snapshot, files={**snapshot.files, path: text})


def _machine() -> Snapshot:
    pages = f"{NODE}/node0/hugepages/hugepages-2048kB"
    texts = {
        f"{CPU}/online": "0\n",
        f"{CPU}/cpu0/topology/physical_package_id": "0\n",
        f"{CPU}/cpu0/topology/core_id": "0\n",
        f"{CPU}/cpu0/topology/thread_siblings_list": "0\n",
        f"{NODE}/node0/cpulist": "0\n",
        f"{NODE}/node0/meminfo": "Node 0 MemTotal: 67108864 kB\nNode 0 MemFree: 1000 kB\n",
        f"{pages}/nr_hugepages": "8\n",
        f"{pages}/free_hugepages": "3\n",
        f"{pages}/surplus_hugepages": "0\n",
        "/proc/cpuinfo": "vendor_id : GenuineIntel\nmodel name : X\ncpu MHz : 2000.1\n",
        "/proc/meminfo": "MemTotal: 67108864 kB\nHugepagesize: 2048 kB\n",
    }
    listings = {CPU: ("cpu0",), NODE: ("node0",), f"{NODE}/node0/hugepages": ("hugepages-2048kB",)}
    return Snapshot(node="n", files=texts, listings=listings)


@pytest.mark.parametrize(
    "edit",
    [
        _swap(f"{NODE}/node0/meminfo", "67108864", "67112960"),
        # A whole number of GiB must not be an edge.
        _swap(f"{NODE}/node0/meminfo", "67108864", "67104768"),
        _swap(f"{NODE}/node0/meminfo", "MemFree: 1000", "MemFree: 2000"),
        _swap(f"{NODE}/node0/hugepages/hugepages-2048kB/free_hugepages", "3", "4"),
        _swap(f"{NODE}/node0/hugepages/hugepages-2048kB/surplus_hugepages", "0", "1"),
        _swap("/proc/cpuinfo", "2000.1", "3999.9"),
        _swap("/proc/meminfo", "67108864", "67108860"),
        _add("/proc/cmdline", "nohz_full=1"),
        _add(f"{CPU}/isolated", "0"),
        _add("/proc/irq/3/smp_affinity_list", "0"),
    ],
)
def test_what_moves_on_equal_hardware_does_not_count(edit: Callable[[Snapshot], Snapshot]) -> None:
    assert hardware_fingerprint(edit(_machine())) == hardware_fingerprint(_machine())


@pytest.mark.parametrize(
    "edit",
    [
        _swap(f"{NODE}/node0/meminfo", "67108864", "33554432"),
        _swap(f"{NODE}/node0/hugepages/hugepages-2048kB/nr_hugepages", "8", "9"),
        _swap("/proc/cpuinfo", "X", "Y"),
        _swap("/proc/meminfo", "2048", "1048576"),
        _add(f"{CPU}/cpu0/cache/index2/level", "2"),
    ],
)
def test_what_a_plan_depends_on_counts(edit: Callable[[Snapshot], Snapshot]) -> None:
    assert hardware_fingerprint(edit(_machine())) != hardware_fingerprint(_machine())
