"""What will the kubelet do with these pods on the planned node? Nothing is contacted beyond reading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tunectl.core.after_boot import topology_after
from tunectl.core.alternatives import Alternative
from tunectl.core.cpuset import CpuSet
from tunectl.core.desire import Desire, desire
from tunectl.core.desire_context import DesireContext
from tunectl.core.desired import Partition, Platform
from tunectl.core.environment import NodeEnvironment, environment
from tunectl.core.errors import InputError, problem
from tunectl.core.kubelet.admission import StartError
from tunectl.core.kubelet.checkpoint import (
    CPU_CHECKPOINT_FILE,
    MEMORY_CHECKPOINT_FILE,
    CpuCheckpoint,
    MemoryCheckpoint,
    read_cpu_checkpoint,
    read_memory_checkpoint,
)
from tunectl.core.kubelet.config_decode import path_text
from tunectl.core.kubelet.config_gates import LATEST
from tunectl.core.kubelet.config_host import HostFacts
from tunectl.core.kubelet.config_judge import Sources, judge_config
from tunectl.core.kubelet.config_merge import ConfigFile, Reason
from tunectl.core.kubelet.config_start import Kubelet
from tunectl.core.kubelet.machine import KubeletMachine, machine_of
from tunectl.core.kubelet.node import Flavor
from tunectl.core.kubelet.planned_node import DEFAULT_MAX_PODS, PlannedNode
from tunectl.core.kubelet.pod import Pod, pod_from_spec
from tunectl.core.kubelet.restart import Restart, restart_over, running_pods
from tunectl.core.kubelet.settings import ManagerSettings, read_settings
from tunectl.core.kubelet.simulation import Simulation, fill, simulate, trouble_of
from tunectl.core.kubelet_config_dir import DEFAULT_KUBELET_DIR
from tunectl.core.kubelet_flags import read_flags
from tunectl.core.kubelet_state import configuration_inputs
from tunectl.core.observed import ObservedState, observe
from tunectl.core.snapshot import Snapshot
from tunectl.core.sysfs import read_topology
from tunectl.core.tier import Tier
from tunectl.core.topology import Topology
from tunectl.planning.documents import snapshot_documents
from tunectl.planning.manifests import Workload
from tunectl.render.node import KUBELET_FILE, kubelet_document

_MOST_PODS = 20_000


@dataclass(frozen=True)
class Target:
    """A node to simulate: its hardware, what the tier makes of it, and what it has running.

    Shape: `alike` names the nodes that it stands for; `kubelet` is the configuration that its kubelet will have, in its
    own field names; `trouble` says why that kubelet does not start, empty when it does. `snapshot` is None for a
    described machine.
    """

    name: str
    topology: Topology
    partition: Partition
    planned: PlannedNode
    kubelet: dict[str, Any]
    trouble: str = ""
    snapshot: Snapshot | None = None
    alike: tuple[str, ...] = ()


@dataclass(frozen=True)
class Simulated:
    """The outcome of one tier on one node."""

    tier: str
    target: Target
    result: Simulation


def targets_from_snapshots(
    tier: Tier, snapshots: Sequence[Snapshot], platform: Platform, *, each: bool = False
) -> list[Target]:
    """Return one target for each distinct hardware and kubelet among the nodes; with `each` one for each node."""
    found: dict[tuple[object, ...], Target] = {}
    for snapshot in snapshots:
        documents = snapshot_documents(snapshot)
        observed = observe(snapshot, documents)
        sources = _sources_of(observed, documents)
        topology, software = read_topology(snapshot), environment(observed)
        key = (topology, software, repr(sources), snapshot.node if each else "")
        if key in found:
            found[key] = replace(found[key], alike=(*found[key].alike, snapshot.node))
            continue
        target = _target(tier, topology, software, sources, platform)
        found[key] = replace(target, name=snapshot.node, snapshot=snapshot, alike=(snapshot.node,))
    return list(found.values())


def target_from_topology(tier: Tier, name: str, topology: Topology, platform: Platform) -> Target:
    """Return the target of a described machine, with a kubelet that has only its defaults and the tier's settings."""
    software = NodeEnvironment(arch=topology.arch, boot_loader="grub", has_kubelet=True)
    return replace(_target(tier, topology, software, Sources(), platform), name=name)


def _sources_of(observed: ObservedState, documents: dict[str, Any]) -> Sources:
    command = observed.kubelet.command
    main, dropins = configuration_inputs(observed.snapshot, documents, command)
    return Sources(main, dropins, read_flags(command)) if observed.kubelet.present else Sources()


def _target(tier: Tier, topology: Topology, software: NodeEnvironment, sources: Sources, platform: Platform) -> Target:
    wanted = desire(tier, topology, software, platform)
    partition = wanted.desired.partition
    machine = machine_of(topology_after(DesireContext(tier, topology, software, platform, partition)))
    flavor = Flavor.OPENSHIFT if platform is Platform.OPENSHIFT else Flavor.UPSTREAM
    version = software.kubelet_version if software.kubelet_version > (0, 0) else LATEST
    verdict = judge_config(
        _with_tier(sources, wanted, software),
        machine,
        HostFacts(cgroup_version=software.cgroup_version or 2),
        Kubelet(version, flavor),
    )
    config = dict(verdict.merged.config)
    settings = read_settings(config, version) if verdict.starts else ManagerSettings()
    planned = PlannedNode(
        machine,
        settings,
        flavor,
        max_pods=_max_pods(config, machine),
        alternatives=tuple(_alternatives(wanted.alternatives, partition, settings)),
        isolated=partition.isolated if tier.cpu.isolated is not None else CpuSet(),
    )
    return Target("", topology, partition, planned, config, _trouble(verdict.reasons))


def _with_tier(sources: Sources, wanted: Desire, software: NodeEnvironment) -> Sources:
    """Return the sources once the tier's file lies among the drop-ins; it is also read where nothing else would be."""
    path = f"{software.kubelet_config_dir.rstrip('/') or DEFAULT_KUBELET_DIR}/{KUBELET_FILE}"
    others = [file for file in sources.dropins or () if file.path != path]
    dropins = sorted([*others, ConfigFile(path, kubelet_document(wanted.desired))], key=lambda file: file.path)
    return replace(sources, dropins=dropins)


def _trouble(reasons: Sequence[Reason]) -> str:
    return "; ".join(_reason_text(reason) for reason in reasons)


def _reason_text(reason: Reason) -> str:
    at = f"{path_text(reason.path)}: " if reason.path else ""
    where = f" ({reason.file})" if reason.file else ""
    return f"{at}{reason.what}{where}" + (f"; {reason.fix}" if reason.fix else "")


def _max_pods(config: dict[str, Any], machine: KubeletMachine) -> int:
    most = int(config.get("maxPods") or DEFAULT_MAX_PODS)
    per_core = int(config.get("podsPerCore") or 0)
    return min(most, per_core * len(machine.cpus)) if per_core else most


def _alternatives(
    found: Sequence[Alternative], partition: Partition, settings: ManagerSettings
) -> Iterator[tuple[str, ManagerSettings]]:
    for one in found:
        reserved = (settings.reserved_cpus - partition.reserved) | one.reserved
        text = f"{one.reserved} cpu.isolated={one.isolated}"
        yield text, replace(settings, reserved_cpus=reserved, reserved_cpu_amount=Fraction(len(reserved)))


def pods_of(workloads: Sequence[Workload]) -> list[Pod]:
    """Return the pods that workloads make, in order, named `workload-N` where there are several.

    Sad paths: `InputError` TUN-1803 for a quantity or form that cannot be read, with the place of the object; TUN-1804
    for more pods than one simulation takes.
    """
    total = sum(workload.replicas for workload in workloads)
    if total > _MOST_PODS:
        largest = max(workloads, key=lambda one: one.replicas)
        why = f"at most {_MOST_PODS} are simulated; {largest.kind}/{largest.name} makes the most"
        fix = "lower replicas, or ask with --fill how many copies fit"
        raise InputError((problem("TUN-1804", "too many pods", where=str(largest.origin), why=why, fix=fix),))
    pods: list[Pod] = []
    for workload in workloads:
        pod = pod_of(workload)
        if workload.replicas == 1:
            pods.append(pod)
        else:
            pods += [replace(pod, name=f"{pod.name}-{number}") for number in range(workload.replicas)]
    return _told_apart(pods)


def _told_apart(pods: list[Pod]) -> list[Pod]:
    seen: dict[str, int] = {}
    apart = []
    for pod in pods:
        seen[pod.name] = seen.get(pod.name, 0) + 1
        apart.append(pod if seen[pod.name] == 1 else replace(pod, name=f"{pod.name}#{seen[pod.name]}"))
    return apart


def pod_of(workload: Workload) -> Pod:
    """Return the pod of a workload, named like it; raises as `pods_of`."""
    try:
        pod = pod_from_spec(_in_long_form(workload.spec))
    except InputError as error:
        why = "; ".join(f"{one.what}: {one.why}" for one in error.problems)
        raise _unreadable_pod(workload, why) from error
    except (TypeError, ValueError, AttributeError, KeyError, OverflowError) as error:
        raise _unreadable_pod(workload, str(error) or type(error).__name__) from error
    if not pod.app:
        raise _unreadable_pod(workload, "it has no containers")
    return replace(pod, name=workload.name)


def _in_long_form(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a spec in which resources stand in `resources` alone: the API server takes them from nowhere else."""
    long: dict[str, Any] = dict(spec)
    for key in ("initContainers", "containers"):
        if isinstance(spec.get(key), list):
            long[key] = [
                {**one, "resources": one.get("resources") or {"limits": {}}} if isinstance(one, dict) else one
                for one in spec[key]
            ]
    return long


def _unreadable_pod(workload: Workload, why: str) -> InputError:
    return InputError(
        (
            problem(
                "TUN-1803",
                f"{workload.kind}/{workload.name} has a pod spec that cannot be read",
                where=str(workload.origin),
                why=why,
                fix="containers is a list of objects with a name and resources; quantities are like 2, 500m, 8Gi",
            ),
        )
    )


def simulate_pods(tier: Tier, target: Target, pods: Sequence[Pod], *, restart: bool = False) -> Simulated:
    """Return what becomes of the pods on the target; with `restart` the kubelet is restarted afterwards."""
    if target.trouble:
        return Simulated(tier.name, target, Simulation(target.planned, trouble=target.trouble))
    return Simulated(tier.name, target, simulate(target.planned, pods, restart=restart))


def fill_node(tier: Tier, target: Target, pod: Pod) -> Simulated:
    """Return copies of the pod until one is refused."""
    if target.trouble:
        return Simulated(tier.name, target, Simulation(target.planned, trouble=target.trouble))
    return Simulated(tier.name, target, fill(target.planned, pod))


def restart_live(tier: Tier, target: Target) -> Simulated:
    """Return what a start of the planned kubelet does to what runs on the node now, told from its checkpoints."""
    planned = target.planned
    if target.trouble:
        return Simulated(tier.name, target, Simulation(planned, trouble=target.trouble))
    try:
        cpu, memory = _checkpoints(target)
    except StartError as error:
        result = Simulation(planned, restart=Restart(trouble_of(error), live=True))
        return Simulated(tier.name, target, result)
    except _UnseenError as error:
        return Simulated(tier.name, target, Simulation(planned, restart=Restart(unseen=str(error), live=True)))
    pods = running_pods(cpu, memory)
    return Simulated(
        tier.name, target, Simulation(planned, restart=restart_over(planned, pods, cpu, memory, live=True))
    )


class _UnseenError(Exception):
    """A checkpoint could not be looked at; the message says why."""


def _checkpoints(target: Target) -> tuple[CpuCheckpoint | None, MemoryCheckpoint | None]:
    """Raises `StartError` for a checkpoint that no kubelet can read."""
    pod_level = target.planned.settings.pod_level_managers
    cpu, memory = _text(target, CPU_CHECKPOINT_FILE), _text(target, MEMORY_CHECKPOINT_FILE)
    return (
        None if cpu is None else read_cpu_checkpoint(cpu, pod_level=pod_level),
        None if memory is None else read_memory_checkpoint(memory, pod_level=pod_level),
    )


def _text(target: Target, path: str) -> str | None:
    snapshot = target.snapshot
    if snapshot is None or path in snapshot.absent:
        return None
    text = snapshot.files.get(path)
    if text is None:
        raise _UnseenError(f"{path}: {snapshot.why_missing(path)}")
    return text
