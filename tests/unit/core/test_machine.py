import copy
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.topologies import topologies

from tunectl.core.cpuset import CpuSet
from tunectl.core.machine import sibling_fault, topology_from_facts, topology_to_facts
from tunectl.core.topology import CoreType, HugepagePool, Topology


def _cpu(cpu: int, siblings: str, numa: int = 0, **more: Any) -> dict[str, Any]:
    return {"cpu": cpu, "socket": numa, "core": cpu % 2, "numa": numa, "thread_siblings": siblings, **more}


def _machine() -> dict[str, Any]:
    return {
        "arch": "x86_64",
        "vendor": "GenuineIntel",
        "model_name": "made up",
        "cpus": [
            _cpu(0, "0,2", l3="0,2", die_id=1, cluster_id=7, colour="red"),
            _cpu(2, "0,2", l3="0,2"),
            _cpu(1, "1,3", 1),
            _cpu(3, "1,3", 1),
            {"cpu": 4, "online": False},
        ],
        "numa_nodes": [
            {"id": 1, "cpus": "1,3", "mem_total_kb": 2000, "distance": [21, 10]},
            {
                "id": 0,
                "cpus": "0,2,4",
                "mem_total_kb": 1000,
                "distance": [10, 21],
                "hugepages": {"2048kB": {"nr_hugepages": 5, "free_hugepages": 3, "surplus_hugepages": 1}},
            },
        ],
        "totals": {"default_hugepagesize_kb": 1048576},
    }


@given(topologies())
def test_description_and_topology_are_two_forms_of_one_value(topology: Topology) -> None:
    facts = json.loads(json.dumps(topology_to_facts(topology, "n")))
    assert topology_from_facts(facts) == topology


def test_fields_land_where_they_belong() -> None:
    topology = topology_from_facts(_machine())
    assert topology.online == CpuSet.parse("0-3")
    assert topology.offline == CpuSet.parse("4")
    assert (topology.by_id[0].die, topology.by_id[0].cluster, topology.by_id[2].cluster) == (1, 7, -1)
    assert topology.by_id[0].l3 == CpuSet.parse("0,2")
    assert topology.by_id[1].l3 == CpuSet()
    assert [node.id for node in topology.numa_nodes] == [0, 1]
    assert topology.numa_node(0).cpus == CpuSet.parse("0,2")
    assert topology.numa_node(0).hugepages == (HugepagePool(2048, 5, 3, 1),)
    assert topology.numa_node(1).distances == (21, 10)
    assert (topology.memory_kib, topology.default_hugepage_kib) == (3000, 1048576)
    assert (topology.arch, topology.vendor, topology.model) == ("x86_64", "GenuineIntel", "made up")


def test_siblings_that_are_offline_are_dropped() -> None:
    facts = _machine()
    facts["cpus"][0]["thread_siblings"] = facts["cpus"][1]["thread_siblings"] = "0,2,4"
    assert topology_from_facts(facts).by_id[0].siblings == CpuSet.parse("0,2")


def _hybrid(**more: Any) -> dict[str, Any]:
    cpus = [_cpu(0, "0-1"), _cpu(1, "0-1"), *(_cpu(cpu, str(cpu)) for cpu in (2, 3))]
    return {"vendor": "GenuineIntel", "cpus": cpus, "numa_nodes": [{"id": 0}], **more}


def test_core_types_are_inferred_from_threads_on_intel() -> None:
    kinds = [cpu.type for cpu in topology_from_facts(_hybrid()).cpus]
    assert kinds == [CoreType.PERFORMANCE] * 2 + [CoreType.EFFICIENCY] * 2


def test_core_types_are_not_inferred_elsewhere() -> None:
    assert {cpu.type for cpu in topology_from_facts(_hybrid(vendor="AuthenticAMD")).cpus} == {CoreType.UNIFORM}


def test_single_threads_that_offline_siblings_explain_are_no_efficiency_cores() -> None:
    facts = _hybrid()
    facts["cpus"] += [{"cpu": cpu, "online": False} for cpu in (4, 5)]
    assert {cpu.type for cpu in topology_from_facts(facts).cpus} == {CoreType.UNIFORM}


def test_given_core_types_win() -> None:
    facts = _hybrid()
    for cpu, letter in zip(facts["cpus"], "EEPU", strict=True):
        cpu["core_type"] = letter
    kinds = [cpu.type.value for cpu in topology_from_facts(facts).cpus]
    assert kinds == ["efficiency", "efficiency", "performance", "uniform"]


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        (["cpus"], None, "cpus"),
        (["cpus"], [], "cpus"),
        (["cpus", 0], 7, "cpus"),
        (["cpus", 0, "cpu"], "0", "cpus[0].cpu"),
        (["cpus", 0, "cpu"], True, "cpus[0].cpu"),
        (["cpus", 0, "cpu"], 70000, "cpus[0].cpu"),
        (["cpus", 0, "cpu"], 2, "cpus[1].cpu"),
        (["cpus", 0, "cpu"], 4, "cpus[4].cpu"),
        (["cpus", 0, "socket"], 1.5, "cpus[0].socket"),
        (["cpus", 0, "online"], "yes", "cpus[0].online"),
        (["cpus", 0, "thread_siblings"], "0-", "cpus[0].thread_siblings"),
        (["cpus", 0, "thread_siblings"], "2", "CPU 0"),
        (["cpus", 0, "thread_siblings"], "0-3", "CPU 0"),
        (["cpus", 0, "socket"], 5, "another socket"),
        (["cpus", 0, "l3"], 3, "cpus[0].l3"),
        (["cpus", 0, "core_type"], "X", "cpus[0].core_type"),
        (["cpus", 0, "numa"], 9, "numa_nodes"),
        (["cpus", 0, "numa"], 1, "numa_nodes[0].cpus"),
        (["numa_nodes"], {}, "numa_nodes"),
        (["numa_nodes", 0, "id"], 0, "numa_nodes[0].cpus"),
        (["numa_nodes", 0, "cpus"], "x", "numa_nodes[0].cpus"),
        (["numa_nodes", 0, "mem_total_kb"], -1, "numa_nodes[0].mem_total_kb"),
        (["numa_nodes", 0, "distance"], [10], "distances"),
        (["numa_nodes", 0, "distance"], "10 21", "numa_nodes[0].distance"),
        (["numa_nodes", 1, "hugepages"], {"2M": {}}, "numa_nodes[1].hugepages"),
        (["numa_nodes", 1, "hugepages", "2048kB", "nr_hugepages"], None, "nr_hugepages"),
        (["vendor"], 1, "vendor"),
        (["totals"], [], "totals"),
        (["totals", "default_hugepagesize_kb"], "2M", "default_hugepagesize_kb"),
        (["devices"], [{"kind": "net"}], "devices[0].name"),
        (["devices"], [{"name": "e", "numa": "0"}], "devices[0].numa"),
    ],
)
def test_malformed_descriptions_name_the_key(path: list[Any], value: Any, named: str) -> None:
    facts = copy.deepcopy(_machine())
    place: Any = facts
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(ValueError, match=r".+") as caught:
        topology_from_facts(facts)
    assert named in str(caught.value)


@pytest.mark.parametrize(
    ("facts", "named"),
    [
        ([], "an object with the keys cpus and numa_nodes"),
        ({**_machine(), "cpus": [{"cpu": 0, "online": False}]}, "no CPU is online"),
        ({"cpus": _machine()["cpus"]}, "numa_nodes: missing"),
        ({**_machine(), "numa_nodes": [{"id": 0}, {"id": 1}, {"id": 1}]}, "NUMA node 1 is described twice"),
    ],
)
def test_descriptions_that_are_no_machine(facts: Any, named: str) -> None:
    with pytest.raises(ValueError, match=re.escape(named)):
        topology_from_facts(facts)


def test_siblings_must_be_online() -> None:
    cpus = topology_from_facts(_machine()).cpus
    assert sibling_fault(cpus) is None
    fault = sibling_fault(cpus[:1])
    assert fault is not None
    assert (fault[0], "which is not online" in fault[1]) == (0, True)


@pytest.mark.parametrize("key", ["cpu", "socket", "core", "thread_siblings"])
def test_a_missing_key_is_named(key: str) -> None:
    facts = _machine()
    del facts["cpus"][1][key]
    with pytest.raises(ValueError, match=rf"cpus\[1\]\.{key}: missing"):
        topology_from_facts(facts)


_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 99999), st.text(max_size=4)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=4,
)


@given(st.data())
def test_anything_else_is_a_value_error(data: st.DataObject) -> None:
    facts: Any = _machine()
    holders: list[tuple[Any, Any]] = []

    def collect(node: Any) -> None:
        pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, value in pairs:
            holders.append((node, key))
            collect(value)

    collect(facts)
    place, key = data.draw(st.sampled_from(holders))
    place[key] = data.draw(_JSON)
    try:
        topology_from_facts(facts)
    except ValueError as error:
        assert str(error)  # noqa: PT017
