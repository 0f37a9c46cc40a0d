"""The shipped machines are the captured ones, in what hardware is."""

import json
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from support.labs import topology_of_tree
from support.oracles import oracle_dir

from tunectl.adapters.node_trees import unpack_tree
from tunectl.core.machine import topology_from_facts
from tunectl.core.topology import Topology
from tunectl.lab.machines import load_machine

_CAPTURED = {"xeon-6230-2s20c2t": "node-a", "xeon-6130-2s16c1t": "node-b", "icelake-1s12c1t": "node-sno"}


def _hardware(topology: Topology) -> Topology:
    """Return the topology without what is configured: hugepages, their default size, devices."""
    nodes = tuple(
        replace(node, hugepages=tuple(replace(pool, total=0, free=0, surplus=0) for pool in node.hugepages))
        for node in topology.numa_nodes
    )
    return replace(topology, numa_nodes=nodes, devices=(), default_hugepage_kib=2048)


def _without_cache_ids(topology: Topology) -> Topology:
    return replace(topology, cpus=tuple(replace(cpu, l3_id=-1) for cpu in topology.cpus))


@pytest.mark.parametrize(("name", "captured"), sorted(_CAPTURED.items()))
def test_a_shipped_machine_equals_the_described_one(name: str, captured: str) -> None:
    facts = json.loads((oracle_dir("ppc") / f"topology-{captured}.json").read_text(encoding="utf-8"))
    ours = _hardware(topology_from_facts(load_machine(name)))
    # The descriptions have no cache ids.
    assert _without_cache_ids(ours) == _hardware(topology_from_facts(facts))
    assert [row["l3_size"] for row in load_machine(name)["cpus"]] == [row["l3_size"] for row in facts["cpus"]]


@pytest.mark.parametrize(("name", "captured"), sorted(_CAPTURED.items()))
def test_a_shipped_machine_equals_what_the_capture_shows(name: str, captured: str, tmp_path: Path) -> None:
    with tarfile.open(oracle_dir("ppc") / f"sysfs-{captured}.tar.gz") as archive:
        unpack_tree(archive, tmp_path)
    assert _hardware(topology_from_facts(load_machine(name))) == _hardware(topology_of_tree(tmp_path))
