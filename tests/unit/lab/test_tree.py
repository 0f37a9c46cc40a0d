"""A node's tree, read back as nodes are read, is the machine it was built from."""

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.labs import node_tree, snapshot_of, text_of, topology_of_tree
from support.topologies import topologies

from tunectl.core.cpuset import CpuSet
from tunectl.core.machine import topology_from_facts, topology_to_facts
from tunectl.core.topology import CoreType, Device, Topology
from tunectl.lab.machines import load_machine, machine_names, parse_shape
from tunectl.lab.profiles import PROFILES
from tunectl.lab.tree import build_tree


@pytest.mark.parametrize("name", machine_names())
def test_a_shipped_machine_reads_back_as_itself(name: str, tmp_path: Path) -> None:
    facts = load_machine(name)
    build_tree(tmp_path, facts)
    assert topology_of_tree(tmp_path) == _as_seen(topology_from_facts(facts))


@given(st.integers(1, 3), st.integers(1, 2), st.integers(1, 5), st.integers(1, 4))
@settings(max_examples=20, deadline=None)
def test_any_shape_reads_back_as_itself(sockets: int, nodes: int, cores: int, threads: int) -> None:
    facts = parse_shape(f"{sockets}s{cores * nodes}c{threads}t{sockets * nodes}n")
    assert _read_back(facts) == _as_seen(topology_from_facts(facts))


@given(topologies())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_machine_reads_back_as_itself(drawn: Topology) -> None:
    machine = _describable(drawn)
    assert _read_back(topology_to_facts(machine)) == _as_seen(machine)


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_a_tree_is_marked_simulated_and_tells_its_software(profile: str, tmp_path: Path) -> None:
    node_tree(tmp_path, profile=profile)
    snapshot = snapshot_of(tmp_path)
    software = PROFILES[profile]
    assert snapshot.simulated
    assert snapshot.facts["uname"] == {"release": software.kernel_release}
    assert f'VERSION_ID="{software.version_id}"' in snapshot.files["/etc/os-release"]
    assert f"Version: {software.kubelet}-1.1" in snapshot.files["/var/lib/dpkg/status"]
    assert "--config-dir=/etc/kubernetes/kubelet.conf.d" in snapshot.files["/etc/default/kubelet"]
    assert snapshot.text("/sys/kernel/mm/transparent_hugepage/defrag") == "always defer defer+madvise [madvise] never"


@pytest.mark.parametrize(
    ("profile", "knobs"),
    [
        ("ubuntu2204", {"latency_ns", "min_granularity_ns", "wakeup_granularity_ns"}),
        ("debian12", {"latency_ns", "min_granularity_ns", "wakeup_granularity_ns", "idle_min_granularity_ns"}),
        ("ubuntu2404", {"base_slice_ns"}),
        ("debian13", {"base_slice_ns"}),
    ],
)
def test_scheduler_knobs_are_those_of_the_kernel(profile: str, knobs: set[str], tmp_path: Path) -> None:
    node_tree(tmp_path, profile=profile)
    snapshot = snapshot_of(tmp_path)
    found = {name for name in snapshot.names("/sys/kernel/debug/sched") if name.endswith("_ns")}
    assert found == knobs | {"migration_cost_ns"}
    assert not [name for name in snapshot.names("/proc/sys/kernel") if name.startswith("sched_min_gran")]


@pytest.mark.parametrize(
    ("name", "profiles"),
    [
        ("kernel/sched_child_runs_first", {"debian12", "ubuntu2204"}),
        ("net/core/rps_default_mask", {"debian13", "ubuntu2404"}),
        ("vm/percpu_pagelist_high_fraction", {"debian12", "debian13", "ubuntu2204", "ubuntu2404"}),
        ("vm/enable_soft_offline", {"debian13"}),
        ("kernel/sched_min_granularity_ns", set()),
    ],
)
def test_parameters_exist_in_the_kernels_that_have_them(name: str, profiles: set[str], tmp_path: Path) -> None:
    for profile in PROFILES:
        node_tree(tmp_path / profile, "1s1c1t", profile)
    assert {profile for profile in PROFILES if (tmp_path / profile / "proc/sys" / name).exists()} == profiles


def test_only_kernels_built_for_it_show_nohz_full(tmp_path: Path) -> None:
    node_tree(tmp_path / "old", profile="ubuntu2204")
    node_tree(tmp_path / "new", profile="ubuntu2404")
    assert "/sys/devices/system/cpu/nohz_full" not in snapshot_of(tmp_path / "old").files
    assert text_of(tmp_path / "new", "/sys/devices/system/cpu/nohz_full") == "(null)"
    assert "# CONFIG_NO_HZ_FULL is not set" in text_of(tmp_path / "old", "/boot/config-5.15.0-126-generic")


def test_grub_cfg_of_a_new_tree_is_what_the_defaults_say(tmp_path: Path) -> None:
    node_tree(tmp_path, profile="ubuntu2204")
    assert text_of(tmp_path, "/proc/cmdline").endswith("ro console=tty1 console=ttyS0")
    assert "root=UUID=" in text_of(tmp_path, "/proc/cmdline")


def test_building_over_a_tree_again_gives_the_same_machine(tmp_path: Path) -> None:
    node_tree(tmp_path)
    first = topology_of_tree(tmp_path)
    node_tree(tmp_path)
    assert topology_of_tree(tmp_path) == first


def _read_back(facts: dict[str, object]) -> Topology:
    root = Path(tempfile.mkdtemp())
    try:
        build_tree(root, facts)
        return topology_of_tree(root)
    finally:
        shutil.rmtree(root)


def _as_seen(machine: Topology) -> Topology:
    """Return the machine with its devices in the order in which they are read."""
    return replace(machine, devices=tuple(sorted(machine.devices, key=lambda device: (device.kind, device.name))))


def _describable(drawn: Topology) -> Topology:
    """Return a drawn machine without what x86 or a node at rest cannot show."""
    nodes = tuple(
        replace(
            node,
            hugepages=tuple(replace(pool, free=pool.total, surplus=0) for pool in node.hugepages),
        )
        for node in drawn.numa_nodes
    )
    devices = (Device("eth0", "net", "0000:3b:00.0", 0, nodes[0].cpus or drawn.online),)
    kinds = {cpu.type for cpu in drawn.cpus}
    # One kind alone cannot be told from machines that have no kinds.
    cpus = (
        drawn.cpus
        if kinds >= {CoreType.PERFORMANCE, CoreType.EFFICIENCY}
        else tuple(replace(cpu, type=CoreType.UNIFORM) for cpu in drawn.cpus)
    )
    machine = replace(
        drawn,
        arch="x86_64",
        vendor="AuthenticAMD",
        model=drawn.model or "x",
        cpus=cpus,
        numa_nodes=nodes,
        devices=devices,
    )
    assert machine.offline.isdisjoint(machine.online)
    assert CpuSet(machine.online) == machine.online
    return machine
