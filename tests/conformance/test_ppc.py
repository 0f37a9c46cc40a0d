"""The profile creator's own answers: every case of every file, on every machine that the cases name."""

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.oracles import oracle_dir, oracle_files

from tunectl.core.core_choice import first_threads, reachable_sums
from tunectl.core.cpuset import CpuSet
from tunectl.core.desired import Partition
from tunectl.core.hardware import inventory, same_hardware
from tunectl.core.machine import topology_from_facts
from tunectl.core.pools import NodePool, PoolNode, Taint, nodes_of, own_label, pool_named
from tunectl.core.profile import create_profile, kernel_arguments
from tunectl.core.profile_creator import ProfileRequest, RequestRefusedError, create_profile_sets
from tunectl.core.topology import Topology

Case = dict[str, Any]

# The words for a refusal that the published cases use; another word is met by any refusal.
_REASONS = {
    "reserved_count_out_of_range",
    "offlined_count_out_of_range",
    "reserved_plus_offlined_out_of_range",
    "odd_count_with_smt",
    "rt_kernel_needs_low_latency",
    "per_pod_power_with_ultra_low_latency",
    "unknown_topology_policy",
    "unknown_power_mode",
    "no_pool_named",
}


def _read_cases() -> Iterator[Any]:
    for path in oracle_files("ppc", "*.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(content, list) and all(isinstance(item, dict) and "kind" in item for item in content):
            yield from (pytest.param(case, id=f"{path.stem}-{case['id']}") for case in content)


_CASES = list(_read_cases())


@functools.cache
def _topology(name: str) -> Topology:
    return topology_from_facts(json.loads((oracle_dir("ppc") / name).read_text(encoding="utf-8")))


@functools.cache
def _cluster(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((oracle_dir("ppc") / name).read_text(encoding="utf-8"))
    return content


def _pools(case: Case) -> tuple[NodePool, ...]:
    return tuple(
        NodePool(pool["name"], pool["labels"], pool["nodeSelector"]) for pool in _cluster(case["cluster"])["pools"]
    )


def _nodes(case: Case) -> tuple[PoolNode, ...]:
    return tuple(
        PoolNode(
            node["name"],
            node["labels"],
            tuple(Taint(one["key"], one.get("value", ""), one.get("effect", "")) for one in node.get("taints") or ()),
        )
        for node in _cluster(case["cluster"])["nodes"]
    )


def _topologies(case: Case, nodes: tuple[PoolNode, ...]) -> dict[str, Topology]:
    """The machines of the nodes: the file that the cluster names, or the next one of the case where it names none."""
    named = {node["name"]: node.get("topology") for node in _cluster(case["cluster"])["nodes"]}
    unnamed = iter(case.get("topology", ()))
    files = {
        node.name: name if name.endswith(".json") else next(unnamed)
        for node in nodes
        if isinstance(name := named[node.name], str)
    }
    return {node: _topology(file) for node, file in files.items()}


def _request(case: Case) -> ProfileRequest:
    given = {key: value for key, value in case.get("arguments", {}).items() if key != "pool"}
    if given.pop("high_power", False):
        given["power_mode"] = "ultra-low-latency"
    return ProfileRequest(**{"reserved_cpu_count": 0, **given})


def _profile(case: Case) -> dict[str, Any]:
    pools = _pools(case)
    pool = pool_named(case["arguments"].get("pool"), pools)
    machines = _topologies(case, nodes_of(pool, _nodes(case), pools))
    return create_profile(_request(case), pool, pools, machines).to_json()


def _cpu_sets(case: Case) -> dict[str, Any]:
    partition = create_profile_sets(_topology(case["topology"][0]), _request(case))
    return {role: getattr(partition, role).format() for role in ("reserved", "isolated", "offlined")}


def _inline(described: dict[str, Any]) -> Topology:
    cpus = [
        {
            "cpu": cpu,
            "socket": node["id"],
            "core": core,
            "numa": node["id"],
            "thread_siblings": ",".join(map(str, threads)),
        }
        for node in described["numa"]
        for core, threads in node["cores"]
        for cpu in threads
    ]
    return topology_from_facts({"cpus": cpus, "numa_nodes": [{"id": node["id"]} for node in described["numa"]]})


def _equality(case: Case) -> dict[str, Any]:
    machines = [_inline(one) for one in case["inline"]] if "inline" in case else [*map(_topology, case["topology"])]
    compared = same_hardware(machines[0], machines[1])
    assert bool(compared.differences) is not compared.equal
    assert same_hardware(machines[1], machines[0]).equal is compared.equal
    answer = {"equal": compared.equal, "warn_core_ids": compared.warn_core_ids}
    return {key: answer[key] for key in case["expected"]}


def _pool(case: Case) -> dict[str, Any]:
    pools = _pools(case)
    pool = pool_named(case["pool"], pools)
    return {
        "nodes": [node.name for node in nodes_of(pool, _nodes(case), pools)],
        "selector": own_label(pool, pools),
    }


def _smt(case: Case) -> dict[str, Any]:
    return {"smt_enabled": _topology(case["topology"][0]).smt}


def _inventory(case: Case) -> dict[str, Any]:
    return vars(inventory(_topology(case["topology"][0])))


def _cluster_inventory(case: Case) -> list[dict[str, Any]]:
    pools, nodes = _pools(case), _nodes(case)
    return [
        {
            "pool": pool.name,
            "nodes": [
                {
                    "name": name,
                    "smt_enabled": machine.smt,
                    "cpus_count": inventory(machine).threads,
                    "numa_cells": [{"id": node.id, "cpus": node.cpus.format()} for node in machine.numa_nodes],
                }
                for name, machine in _topologies(case, nodes_of(pool, nodes, pools)).items()
            ],
        }
        for pool in pools
    ]


def _kernel_args(case: Case) -> dict[str, Any]:
    return {"additionalKernelArgs": list(kernel_arguments(_request(case)))}


_ANSWERS = {
    "profile": _profile,
    "cpu-sets": _cpu_sets,
    "hardware-equality": _equality,
    "pool": _pool,
    "smt": _smt,
    "inventory": _inventory,
    "cluster-inventory": _cluster_inventory,
    "kernel-args": _kernel_args,
}


def _canonical(value: Any, key: str = "") -> Any:
    """CPU lists as sets, all else as it is: lists are to be compared by what they name."""
    if isinstance(value, dict):
        return {name: _canonical(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    return CpuSet.parse(value) if key in ("reserved", "isolated", "offlined", "cpus") else value


def _is_defect(case: Case) -> bool:
    """Whether the recorded answer is wrong; a crash is no answer, however it is marked."""
    return "crash" in case.get("expected_error", {}).get("code", "") or bool(case["compare"] == "upstream-defect")


def _answer(case: Case) -> tuple[Any, str]:
    """The answer and the reason of a refusal; exactly one of them says something."""
    try:
        return _canonical(_ANSWERS[case["kind"]](case)), ""
    except RequestRefusedError as refused:
        refusal = refused
    assert refusal.problems[0].why
    assert refusal.problems[0].fix
    return None, refusal.reason


def test_there_are_cases() -> None:
    oracle_dir("ppc")
    assert _CASES


@pytest.mark.parametrize("case", [case for case in _CASES if not _is_defect(case.values[0])])
def test_answer_is_the_creators(case: Case) -> None:
    answer, refusal = _answer(case)
    if "expected_error" in case:
        code = case["expected_error"]["code"]
        assert refusal, f"served although {case['expected_error']['meaning']}: {answer}"
        assert refusal == code or code not in _REASONS
    else:
        assert not refusal
        assert answer == _canonical(case["expected"])


@pytest.mark.parametrize("case", [case for case in _CASES if _is_defect(case.values[0])])
def test_answer_is_right_where_the_creators_is_not(case: Case) -> None:
    answer, refusal = _answer(case)
    request = _request(case)
    (machine,) = {id(one): one for one in map(_topology, case["topology"])}.values()
    if refusal:
        # A refusal is right only where the creator served the impossible.
        assert "expected" in case
        assert _is_impossible(machine, request), refusal
        return
    partition = Partition(**{role: answer[role] for role in ("reserved", "isolated", "offlined")})
    _assert_lawful(partition, machine, request)
    if "expected" in case:
        assert answer != _canonical(case["expected"])
    if case["kind"] == "profile":
        assert answer["topologyPolicy"] in ("none", "best-effort", "restricted", "single-numa-node")
        assert answer["topologyPolicy"] == request.topology_policy.lower()
        assert answer["realTime"] == (request.power_mode.lower() != "default")


def _is_impossible(machine: Topology, request: ProfileRequest) -> bool:
    """Whether the options exclude each other, whole cores cannot make the number, or a node would get no core."""
    policy, split = request.topology_policy.lower(), request.split_reserved_across_numa
    usable = first_threads(machine) if request.disable_ht else machine
    nodes = sum(1 for node in usable.numa_nodes if node.cpus)
    smallest = min(len(core) for core in usable.cores)
    return (
        (split and policy == "single-numa-node")
        or not reachable_sums(usable.cores) >> request.reserved_cpu_count & 1
        or (split and request.reserved_cpu_count < nodes * smallest)
    )


def _assert_lawful(partition: Partition, machine: Topology, request: ProfileRequest) -> None:
    usable = first_threads(machine) if request.disable_ht else machine
    sets = (partition.reserved, partition.isolated, partition.offlined)
    assert sum(map(len, sets)) == len(usable.online)
    assert partition.reserved | partition.isolated | partition.offlined == usable.online
    assert len(partition.reserved) == request.reserved_cpu_count
    assert len(partition.offlined) == request.offlined_cpu_count
    assert not usable.split_cores(partition.reserved)
    if request.split_reserved_across_numa:
        share = [len(partition.reserved & node.cpus) for node in usable.numa_nodes if node.cpus]
        room = [len(node.cpus) for node in usable.numa_nodes if node.cpus]
        most = max(share)
        assert all(got >= most - usable.threads_per_core or got == has for got, has in zip(share, room, strict=True))


def test_machines_that_no_case_names_are_read_too() -> None:
    for path in Path(oracle_dir("ppc")).glob("topology-*.json"):
        machine = _topology(path.name)
        assert same_hardware(machine, machine).equal
        assert inventory(machine).threads == len(machine.online)
