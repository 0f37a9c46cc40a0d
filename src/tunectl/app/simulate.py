"""What will the kubelet do with these pods on the planned node? Nothing is contacted beyond reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tunectl.core.after_boot import topology_after
from tunectl.core.desire import desire
from tunectl.core.desire_context import DesireContext
from tunectl.core.desired import Area, Partition, Platform
from tunectl.core.environment import NodeEnvironment, environment
from tunectl.core.errors import InputError, problem
from tunectl.core.kubelet.machine import machine_of
from tunectl.core.kubelet.node import Flavor
from tunectl.core.kubelet.pod import Pod, pod_from_spec
from tunectl.core.kubelet.settings import read_settings
from tunectl.core.kubelet.simulation import DEFAULT_MAX_PODS, PlannedNode, Simulation, fill, simulate
from tunectl.core.observed import observe
from tunectl.core.snapshot import Snapshot
from tunectl.core.sysfs import read_topology
from tunectl.core.tier import Tier
from tunectl.core.topology import Topology
from tunectl.planning.documents import snapshot_documents
from tunectl.planning.manifests import Workload


@dataclass(frozen=True)
class Target:
    """A node to simulate: its hardware, what it runs now, what the tier makes of it.

    `kubelet` is the configuration that the kubelet will have, in its own field names.
    """

    name: str
    topology: Topology
    partition: Partition
    planned: PlannedNode
    kubelet: Mapping[str, Any]
    simulated: bool = False


@dataclass(frozen=True)
class Simulated:
    """The outcome of one tier on one node."""

    tier: str
    target: Target
    result: Simulation


def targets_from_snapshots(tier: Tier, snapshots: Sequence[Snapshot], platform: Platform) -> list[Target]:
    """Return one target for each distinct hardware among the nodes, named by its first node."""
    found: dict[tuple[Topology, NodeEnvironment], Target] = {}
    for snapshot in snapshots:
        observed = observe(snapshot, snapshot_documents(snapshot))
        key = (read_topology(snapshot), environment(observed))
        if key in found:
            continue
        base = dict(observed.kubelet.config) if observed.kubelet.present else {}
        target = _target(tier, snapshot.node, *key, base, platform)
        found[key] = replace(target, simulated=snapshot.simulated)
    return list(found.values())


def target_from_topology(tier: Tier, name: str, topology: Topology, platform: Platform) -> Target:
    """Return the target of a described machine, with a kubelet that has only its defaults and the tier's settings."""
    software = NodeEnvironment(arch=topology.arch, boot_loader="grub", has_kubelet=True)
    return _target(tier, name, topology, software, {}, platform)


def _target(  # noqa: PLR0913, PLR0917  one parameter a part of the node
    tier: Tier,
    name: str,
    topology: Topology,
    software: NodeEnvironment,
    base: Mapping[str, Any],
    platform: Platform,
) -> Target:
    wanted = desire(tier, topology, software, platform)
    config = {**base, **{one.name: one.value for one in wanted.desired.of(Area.KUBELET)}}
    partition = wanted.desired.partition
    machine = machine_of(topology_after(DesireContext(tier, topology, software, platform, partition)))
    flavor = Flavor.OPENSHIFT if platform is Platform.OPENSHIFT else Flavor.UPSTREAM
    max_pods = int(config.get("maxPods") or DEFAULT_MAX_PODS)
    planned = PlannedNode(machine, read_settings(config), flavor, max_pods=max_pods)
    return Target(name, topology, partition, planned, config)


def pods_of(workloads: Sequence[Workload]) -> list[Pod]:
    """Return the pods that workloads make, in order, named `workload-N` where there are several.

    Sad paths: `InputError` for a quantity or form that cannot be read, with the place of the object.
    """
    pods: list[Pod] = []
    for workload in workloads:
        pod = _pod(workload)
        if workload.replicas == 1:
            pods.append(pod)
        else:
            pods += [replace(pod, name=f"{pod.name}-{number}") for number in range(workload.replicas)]
    names = [pod.name for pod in pods]
    if len(set(names)) == len(names):
        return pods
    return [replace(pod, name=f"{pod.name}#{number}") for number, pod in enumerate(pods)]


def _pod(workload: Workload) -> Pod:
    try:
        pod = pod_from_spec(workload.spec)
    except InputError as error:
        problems = tuple(replace(one, where=f"{workload.origin} {one.where}".strip()) for one in error.problems)
        raise InputError(problems) from error
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        raise InputError(
            (
                problem(
                    "TUN-1803",
                    f"{workload.kind}/{workload.name} has a pod spec that cannot be read",
                    where=str(workload.origin),
                    why=str(error) or type(error).__name__,
                    fix="containers is a list of objects with a name and resources",
                ),
            )
        ) from error
    return replace(pod, name=workload.name)


def simulate_pods(tier: Tier, target: Target, pods: Sequence[Pod], *, restart: bool = False) -> Simulated:
    """Return what becomes of the pods on the target; with `restart` the kubelet is restarted afterwards."""
    return Simulated(tier.name, target, simulate(target.planned, pods, restart=restart))


def fill_node(tier: Tier, target: Target, pod: Pod) -> Simulated:
    """Return copies of the pod until one is refused."""
    return Simulated(tier.name, target, fill(target.planned, pod))
