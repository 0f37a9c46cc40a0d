"""Planned nodes and pods for simulations, in a few words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tunectl.core.cpuset import CpuSet
from tunectl.core.kubelet.machine import KubeletMachine, machine_of
from tunectl.core.kubelet.planned_node import PlannedNode
from tunectl.core.kubelet.pod import Pod, pod_from_spec
from tunectl.core.kubelet.settings import read_settings
from tunectl.core.machine import topology_from_facts
from tunectl.lab.machines import parse_shape

GIB = 1024**3


def machine_of_shape(shape: str) -> KubeletMachine:
    """Return the kubelet's machine of a shape."""
    return machine_of(topology_from_facts(parse_shape(shape)))


def planned_node(
    shape: str = "2s4c2t",
    *,
    machine: KubeletMachine | None = None,
    reserved: str = "0,8",
    max_pods: int = 110,
    alternatives: tuple[str, ...] = (),
    **config: Any,
) -> PlannedNode:
    """Return a node with the static CPU manager; `config` are fields of KubeletConfiguration over that.

    Shape: 2s4c2t has 16 CPUs on 2 NUMA nodes of 32 GiB: 0-3 and 8-11, 4-7 and 12-15; n and n+8 are one core.
    """
    found = machine or machine_of_shape(shape)
    config = {"cpuManagerPolicy": "static", "reservedSystemCPUs": reserved, **config}
    if config.get("memoryManagerPolicy") == "Static":
        # The default eviction threshold is all that is reserved.
        config.setdefault("reservedMemory", [{"numaNode": 0, "limits": {"memory": "100Mi"}}])
    settings = read_settings(config)
    others = tuple((text, replace(settings, reserved_cpus=CpuSet.parse(text))) for text in alternatives)
    return PlannedNode(found, settings, max_pods=max_pods, alternatives=others)


def container(name: str = "c", cpu: object = "2", memory: str = "1Gi", **resources: object) -> dict[str, Any]:
    """Return a container whose limits are its requests; further resources with `_` for `-`."""
    more = {key.replace("_", "-"): str(value) for key, value in resources.items()}
    return {"name": name, "resources": {"limits": {"cpu": str(cpu), "memory": memory, **more}}}


def pod(name: str = "p", *containers: dict[str, Any], **spec: Any) -> Pod:
    """Return a pod of containers, of one with the defaults where none is given."""
    return replace(pod_from_spec({"containers": list(containers or (container(),)), **spec}), name=name)


def guaranteed(name: str, cpu: object, memory: str = "1Gi", **resources: object) -> Pod:
    """Return a pod of one container whose limits are its requests."""
    return pod(name, container("c", cpu, memory, **resources))


def burstable(name: str, cpu: str = "100m", memory: str = "64Mi") -> Pod:
    """Return a pod that has requests only."""
    return pod(name, {"name": "c", "resources": {"requests": {"cpu": cpu, "memory": memory}}})
