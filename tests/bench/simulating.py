"""How long a simulation takes when nothing else happens: no Ansible, no files."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from tunectl.core.kubelet.machine import machine_of
from tunectl.core.kubelet.planned_node import PlannedNode
from tunectl.core.kubelet.pod import Pod, pod_from_spec
from tunectl.core.kubelet.settings import read_settings
from tunectl.core.kubelet.simulation import simulate
from tunectl.core.machine import topology_from_facts
from tunectl.lab.machines import parse_shape

_MACHINE = "2s64c2t8n"
_RESERVED = "0-7,128-135"
# Of ten pods: exclusive CPUs, shared Guaranteed ones, Burstable ones, one without requests.
_MIX: tuple[dict[str, dict[str, str]], ...] = (
    {"limits": {"cpu": "1", "memory": "1Gi"}},
    {"limits": {"cpu": "1", "memory": "2Gi"}},
    {"limits": {"cpu": "2", "memory": "1Gi"}},
    {"limits": {"cpu": "100m", "memory": "128Mi"}},
    {"limits": {"cpu": "50m", "memory": "64Mi"}},
    {"requests": {"cpu": "20m", "memory": "64Mi"}},
    {"requests": {"cpu": "10m", "memory": "32Mi"}},
    {"requests": {"cpu": "10m"}, "limits": {"cpu": "1"}},
    {"requests": {"memory": "16Mi"}},
    {},
)


def _node(policy: str) -> PlannedNode:
    config: dict[str, Any] = {
        "cpuManagerPolicy": "static",
        "topologyManagerPolicy": policy,
        "memoryManagerPolicy": "Static",
        "reservedSystemCPUs": _RESERVED,
        "systemReserved": {"memory": "1Gi"},
        "reservedMemory": [{"numaNode": 0, "limits": {"memory": "1124Mi"}}],
    }
    machine = machine_of(topology_from_facts(parse_shape(_MACHINE)))
    return PlannedNode(machine, read_settings(config), max_pods=10_000)


def _pods(count: int) -> list[Pod]:
    kinds = [pod_from_spec({"containers": [{"name": "c", "resources": resources}]}) for resources in _MIX]
    return [replace(kinds[number % len(kinds)], name=f"pod-{number:04d}") for number in range(count)]


def seconds_to_simulate(pods: int, policy: str) -> tuple[float, int, int]:
    """Return the seconds that a simulation takes in this process, and how many pods got CPUs and were refused."""
    node, asked = _node(policy), _pods(pods)
    start = time.perf_counter()
    result = simulate(node, asked)
    took = time.perf_counter() - start
    exclusive = sum(any(one.cpus for one in outcome.placements) for outcome in result.outcomes)
    if result.trouble or len(result.outcomes) != pods or not exclusive or not result.refused:
        raise RuntimeError("the simulation is not about the pods that were asked for")
    return took, exclusive, len(result.refused)
