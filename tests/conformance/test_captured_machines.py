"""Every captured machine `sysfs-NAME.tar.gz` is read as its `topology-NAME.json` says."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.oracles import missing, oracle_dir, oracle_files

from tunectl.adapters.snapshot_files import load_snapshots
from tunectl.core.fingerprint import hardware_fingerprint
from tunectl.core.machine import topology_from_facts, topology_to_facts
from tunectl.core.snapshot import Snapshot
from tunectl.core.sysfs import read_topology
from tunectl.core.topology import Topology


def _described(archive: Path) -> Path:
    return archive.with_name(archive.name.replace("sysfs-", "topology-", 1).replace(".tar.gz", ".json"))


_CAPTURES = [archive for archive in oracle_files("ppc", "sysfs-*.tar.gz") if _described(archive).exists()]


@pytest.fixture(scope="module", params=_CAPTURES, ids=lambda archive: archive.name)
def captured(request: pytest.FixtureRequest) -> tuple[Snapshot, Any]:
    (snapshot,) = load_snapshots(request.param)
    return snapshot, json.loads(_described(request.param).read_text(encoding="utf-8"))


def test_there_are_captured_machines() -> None:
    if not _CAPTURES:
        oracle_dir("ppc")
        missing("the directory of machines has no sysfs-*.tar.gz with a topology-*.json")
    assert _CAPTURES


def _without_what_descriptions_lack(topology: Topology) -> Topology:
    return replace(topology, devices=(), cpus=tuple(replace(cpu, l3_id=-1) for cpu in topology.cpus))


def test_topology_equals_the_description(captured: tuple[Snapshot, Any]) -> None:
    snapshot, facts = captured
    topology = read_topology(snapshot)
    assert topology.devices, "a captured machine has network cards"
    assert _without_what_descriptions_lack(topology) == topology_from_facts(facts)


def test_totals_equal_the_description(captured: tuple[Snapshot, Any]) -> None:
    snapshot, facts = captured
    written = topology_to_facts(read_topology(snapshot))
    expected = facts["totals"]
    for key in ("logical_cpus", "online_cpus", "cores", "sockets", "numa_nodes", "default_hugepagesize_kb"):
        assert written["totals"][key] == expected[key], key
    pages = [pool for node in read_topology(snapshot).numa_nodes for pool in node.hugepages]
    assert sum(pool.size_kib * pool.total for pool in pages) == expected["hugetlb_kb"]
    assert written["smt_active"] is facts["smt_active"]
    # The nodes may sum up to less than the machine has by what the kernel keeps outside of them.
    assert 0 <= expected["mem_total_kb"] - written["totals"]["mem_total_kb"] < 1024
    assert (written["vendor"], written["model_name"], written["arch"]) == (
        facts["vendor"],
        facts["model_name"],
        facts["arch"],
    )


def test_captured_machines_differ() -> None:
    prints = {hardware_fingerprint(load_snapshots(archive)[0]) for archive in _CAPTURES}
    assert len(prints) == len(_CAPTURES)
