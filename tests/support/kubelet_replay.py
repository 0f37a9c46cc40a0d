"""Replays a recorded sequence of kubelet steps on the model and returns what the model says, in the recorded form."""

from typing import Any

from tunectl.core.kubelet.admission import Rejection, StartError
from tunectl.core.kubelet.hints import Hint
from tunectl.core.kubelet.machine import KubeletMachine
from tunectl.core.kubelet.memory_policy import Block
from tunectl.core.kubelet.node import Admitted, Flavor, KubeletNode
from tunectl.core.kubelet.pod import pod_from_spec
from tunectl.core.kubelet.settings import read_settings

Step = dict[str, Any]
# Parts that a recording leaves out when they are empty.
_OPTIONAL = ("cpus", "hints", "allCpus", "readmit", "reserved", "shared", "memory")


def without_empty(step: Step) -> Step:
    """Return a step without the parts that may be left out when empty."""
    return {key: value for key, value in step.items() if key not in _OPTIONAL or value}


def replay(case: dict[str, Any], machine: KubeletMachine) -> list[Step]:
    """Return the steps with the model's results; they end where the kubelet ends."""
    done: list[Step] = []
    node: KubeletNode | None = None
    for step in case["steps"]:
        try:
            if step["op"] == "boot":
                node = _boot(case, machine)
                done.append({"op": "boot", **_pools(node)})
            else:
                assert node is not None
                done.append(_STEPS[step["op"]](node, step))
        except StartError as error:
            kept = {key: step[key] for key in ("op", "kubelet") if key in step}
            done.append({**kept, "error": {"stage": error.stage, "code": error.code}})
            break
    return [without_empty(step) for step in done]


def _boot(case: dict[str, Any], machine: KubeletMachine) -> KubeletNode:
    return KubeletNode.boot(
        machine,
        read_settings(case["kubelet"]),
        flavor=Flavor(case["flavor"]),
        partitioned=case.get("openshiftWorkloadPartitioning", False),
    )


def _add(node: KubeletNode, step: Step) -> Step:
    pod = pod_from_spec(step["pod"])
    result: Step = {"op": "add", "pod": step["pod"], "qos": pod.qos.value}
    try:
        result |= _admitted(node.admit(pod))
    except Rejection as rejection:
        result |= _rejected(rejection)
        if rejection.code == "panic":
            return result
    return {**result, **_shared(node)}


def _remove(node: KubeletNode, step: Step) -> Step:
    node.remove(step["name"])
    return {"op": "remove", "name": step["name"], **_shared(node)}


def _start(node: KubeletNode, step: Step) -> Step:
    node.start(step["name"], step["container"])
    return {"op": "start", "name": step["name"], "container": step["container"], **_shared(node)}


def _restart(node: KubeletNode, step: Step) -> Step:
    verdicts = node.restart(read_settings(step["kubelet"]) if "kubelet" in step else None)
    kept: Step = {key: step[key] for key in ("op", "kubelet") if key in step}
    readmit = []
    for name, rejection in verdicts.items():
        verdict = {"admit": True} if rejection is None else _rejected(rejection)
        verdict.pop("at", None)
        readmit.append({"name": name, **verdict})
    everything = {
        pod: {name: str(cpus) for name, cpus in containers.items()} for pod, containers in node.cpu.assigned.items()
    }
    return {**kept, "readmit": readmit, **_pools(node), "allCpus": everything}


_STEPS = {"add": _add, "remove": _remove, "start": _start, "restart": _restart}


def _pools(node: KubeletNode) -> Step:
    return {"reserved": str(node.cpu.reserved), **_shared(node)}


def _shared(node: KubeletNode) -> Step:
    step: Step = {"shared": str(node.cpu.shared)}
    if node.memory is not None:
        step["numa"] = {
            str(name): {
                "cells": list(memory.cells),
                "assignments": memory.assignments,
                "free": {kind: table.free for kind, table in memory.tables.items()},
            }
            for name, memory in node.memory.state.items()
        }
    return step


def _blocks(blocks: tuple[Block, ...]) -> list[dict[str, Any]]:
    rows = [{"type": block.kind, "numa": list(block.nodes), "size": block.size} for block in blocks]
    return sorted(rows, key=lambda row: str(row["type"]))


def _admitted(admitted: Admitted) -> Step:
    result: Step = {
        "admit": True,
        "cpus": {name: str(cpus) for name, cpus in admitted.cpus.items()},
        "hints": {name: _hint(hint) for name, hint in admitted.hints.items()},
        "memory": {name: _blocks(blocks) for name, blocks in admitted.memory.items()},
    }
    return {**result, "podCpus": str(admitted.pod_cpus)} if admitted.pod_cpus else result


def _rejected(rejection: Rejection) -> Step:
    result: Step = {"admit": False, "reason": rejection.reason, "code": rejection.code}
    return {**result, "at": rejection.container} if rejection.container else result


def _hint(hint: Hint) -> list[Any]:
    return [sorted(hint.nodes) if hint.nodes is not None else None, hint.preferred]
