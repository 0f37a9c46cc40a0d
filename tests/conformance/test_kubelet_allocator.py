"""The CPUs that the real kubelet takes, for every recorded call of its allocator."""

from typing import Any

import pytest
from support.conformance import tally
from support.kubelet_machines import load_machines, read_jsonl
from support.oracles import oracle_dir

from tunectl.core.cpuset import CpuSet
from tunectl.core.kubelet.allocator import NotEnoughCpusError, Strategy, choose_cpus
from tunectl.core.kubelet.machine import KubeletMachine

_DIRECTORIES = ("kubelet-cpumanager", "kubelet-memorymanager", "kubelet-validation", "kubelet-state")


@pytest.mark.parametrize("name", _DIRECTORIES)
def test_machine_is_seen_as_the_kubelet_sees_it(name: str) -> None:
    machines = load_machines(oracle_dir(name))
    assert machines
    for machine, line in machines.values():
        seen = {
            "cores": ";".join(str(cpus) for cpus in machine.core_cpus.values()),
            "cpusPerCore": machine.cpus_per_core,
            "cpusPerSocket": machine.cpus_per_socket,
            "cpusPerUncore": machine.cpus_per_group,
            "numCPUs": len(machine.cpus),
            "numCores": len(machine.core_cpus),
            "numNUMANodes": len(machine.node_cpus),
            "numSockets": len(machine.socket_cpus),
            "numUncore": len(machine.group_cpus),
            "uncore": {str(group): str(cpus) for group, cpus in machine.group_cpus.items()},
        }
        assert seen == line["kubelet"], line["id"]


def _answer(machine: KubeletMachine, case: dict[str, Any]) -> dict[str, str]:
    strategy = Strategy(
        spread_cores=case["sort"] == "spread",
        prefer_group=case.get("preferUncore", False),
        distribute=case["algorithm"] == "distributed",
        group_size=case.get("groupSize", 1),
    )
    try:
        return {"result": str(choose_cpus(machine, CpuSet.parse(case["available"]), case["n"], strategy))}
    except NotEnoughCpusError:
        return {"error": "not-enough-cpus"}


def test_allocator_takes_the_same_cpus() -> None:
    directory = oracle_dir("kubelet-cpumanager")
    machines = load_machines(directory)
    cases = read_jsonl(directory / "allocator.jsonl")
    assert cases
    wrong = []
    for case in cases:
        expected = {key: case[key] for key in ("result", "error") if key in case}
        answer = _answer(machines[case["machine"]][0], case)
        if answer != expected:
            wrong.append((case, answer))
    tally("kubelet-cpumanager", len(cases), len(wrong))
    assert not wrong, f"{len(wrong)} of {len(cases)} differ, the first: {wrong[0]}"
