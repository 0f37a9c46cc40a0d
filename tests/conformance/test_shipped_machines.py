"""The shipped machines are the captured ones, in what hardware is."""

import json
from dataclasses import replace

import pytest
from support.oracles import oracle_dir

from tunectl.core.machine import topology_from_facts
from tunectl.core.topology import Topology
from tunectl.lab.machines import load_machine

_CAPTURED = {
    "xeon-6230-2s20c2t": "topology-node-a.json",
    "xeon-6130-2s16c1t": "topology-node-b.json",
    "icelake-vm-1s12c1t": "topology-node-sno.json",
}


def _hardware(topology: Topology) -> Topology:
    """Return the topology without what is configured: hugepages, their default size, devices."""
    nodes = tuple(
        replace(node, hugepages=tuple(replace(pool, total=0, free=0, surplus=0) for pool in node.hugepages))
        for node in topology.numa_nodes
    )
    return replace(topology, numa_nodes=nodes, devices=(), default_hugepage_kib=2048)


@pytest.mark.parametrize(("name", "captured"), sorted(_CAPTURED.items()))
def test_a_shipped_machine_equals_the_captured_one(name: str, captured: str) -> None:
    facts = json.loads((oracle_dir("ppc") / captured).read_text(encoding="utf-8"))
    assert _hardware(topology_from_facts(load_machine(name))) == _hardware(topology_from_facts(facts))


@pytest.mark.parametrize(("name", "captured"), sorted(_CAPTURED.items()))
def test_a_shipped_machine_has_the_captured_cache_sizes(name: str, captured: str) -> None:
    facts = json.loads((oracle_dir("ppc") / captured).read_text(encoding="utf-8"))
    assert [row["l3_size"] for row in load_machine(name)["cpus"]] == [row["l3_size"] for row in facts["cpus"]]
