# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Would the kubelets of planned nodes start, and what would they do to what runs there."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.after_boot import topology_after
from ..core.desire import desire
from ..core.desire_context import DesireContext
from ..core.desired import Area, DesiredState, Impact, Platform
from ..core.environment import NodeEnvironment
from ..core.findings import Finding, Origin
from ..core.kubelet.config_decode import Path
from ..core.kubelet.config_gates import LATEST, Version
from ..core.kubelet.config_host import KERNEL_DEFAULTS, HostFacts
from ..core.kubelet.config_judge import Sources, judge_config
from ..core.kubelet.config_judge import Verdict as StartVerdict
from ..core.kubelet.config_merge import ConfigFile
from ..core.kubelet.config_start import Checkpoints, Kubelet
from ..core.kubelet.config_types import API_VERSION, KIND
from ..core.kubelet.machine import KubeletMachine, machine_of
from ..core.kubelet.node import Flavor
from ..core.kubelet.restart import running_pods
from ..core.kubelet_config_dir import DEFAULT_KUBELET_DIR
from ..core.kubelet_flags import read_flags
from ..core.kubelet_start import (
    CHECKPOINT,
    INVALID,
    LOAD,
    MACHINE,
    Subject,
    hazard_findings,
    readmission_findings,
    start_findings,
)
from ..core.kubelet_state import configuration_files, configuration_inputs
from ..core.observed import ObservedState
from ..core.plan import Change, NodeFile
from ..core.snapshot import Snapshot
from ..core.sysctl import canonical_value, sysctl_path
from ..core.tier import Tier
from ..core.topology import Topology
from ..render.kubelet_settings import kubelet_fields
from ..render.node import KUBELET_FILE
from .documents import snapshot_documents
from .kubelet_yaml import read_config_text

CPU_FILE, MEMORY_FILE = "/var/lib/kubelet/cpu_manager_state", "/var/lib/kubelet/memory_manager_state"
# The marker of OpenShift's workload partitioning.
_PARTITIONED = "/etc/kubernetes/openshift-workload-pinning"
_CHECKPOINTS_GO = "kubelet-checkpoints"
_STARTS = frozenset((_CHECKPOINTS_GO, "kubelet-restart", "reboot"))
_OPENSHIFT_FILE = "the tier's KubeletConfig"
_HEAD = {"apiVersion": API_VERSION, "kind": KIND}
_DESCRIBED_FILE = f"{DEFAULT_KUBELET_DIR}/{KUBELET_FILE}"

# Facts that the planner states by itself, by the rule of the kubelet that they break: they are told once.
_TOLD_BY: Mapping[str, tuple[str, ...]] = {
    "no-cpu-reservation": ("kubelet.static-without-reservation",),
    "reservedSystemCPUs: exclusive with systemReservedCgroup and kubeReservedCgroup": ("kubelet.reserved-cpus.cgroup",),
    "unknown-cpu-option": ("kubelet.option.version",),
    "unknown-topology-option": ("kubelet.option.version",),
    "options-with-none-policy": ("kubelet.option.policy",),
    "conflicting-cpu-options": ("kubelet.option.conflict",),
    "align-by-socket-vs-single-numa-node": ("kubelet.option.conflict",),
    "align-by-socket-more-sockets-than-nodes": ("kubelet.option.conflict",),
    "reserved-memory-sum-mismatch": (
        "kubelet.reserved-memory.sum",
        "kubelet.reserved-memory.resource",
        "kubelet.reserved-memory.percent",
    ),
    "reserved-memory-unknown-node": ("kubelet.reserved-memory.node",),
    "reservation-exceeds-capacity": ("kubelet.reservation.too-much",),
    "failSwapOn: swap is on": ("kubelet.swap.refused",),
    "memorySwap.swapBehavior: LimitedSwap needs cgroup v2": ("kubelet.swap.cgroup",),
    "too-many-numa-nodes": ("cpu.numa.too-many",),
    "reserved-cpus-not-online": ("cpu.partition.offline",),
    "memory-wrap": ("kubelet.reserved-memory.room",),
    "uneven-cores": ("cpu.offlined.half-core",),
}
_BY_RULE = (LOAD, INVALID, MACHINE, CHECKPOINT)


@dataclass(frozen=True)
class NodeKubelet:
    """The kubelet of a node as its snapshot shows it: where its configuration comes from, and what it starts on."""

    sources: Sources
    host: HostFacts
    kubelet: Kubelet
    checkpoints: Checkpoints
    config_dir: str = ""


def node_kubelet(observed: ObservedState, software: NodeEnvironment, flavor: Flavor = Flavor.UPSTREAM) -> NodeKubelet:
    """Return the kubelet of a node; what nobody could read counts as usual: cgroup v2, no swap, no checkpoint."""
    snapshot, command = observed.snapshot, observed.kubelet.command
    main, dropins = configuration_inputs(snapshot, snapshot_documents(snapshot), command)
    version = software.kubelet_version if software.kubelet_version > (0, 0) else LATEST
    return NodeKubelet(
        Sources(main, dropins, read_flags(command)),
        HostFacts(software.cgroup_version or 2, bool(observed.swaps), _kernel_parameters(snapshot)),
        Kubelet(version, flavor, partitioned=_PARTITIONED in snapshot.files),
        # OpenShift's unit deletes both files before each start.
        Checkpoints() if flavor is Flavor.OPENSHIFT else checkpoints_in(snapshot),
        software.kubelet_config_dir,
    )


def checkpoints_in(snapshot: Snapshot) -> Checkpoints:
    """Return the checkpoints of a snapshot."""
    return Checkpoints(snapshot.files.get(CPU_FILE), snapshot.files.get(MEMORY_FILE))


def _kernel_parameters(snapshot: Snapshot) -> dict[str, str]:
    texts = {name: snapshot.files.get(sysctl_path(name)) for name in KERNEL_DEFAULTS}
    return {name: canonical_value(text) for name, text in texts.items() if text is not None}


def with_dropin(sources: Sources, path: str, document: Mapping[str, Any]) -> Sources:
    """Return the sources with a drop-in added, or replaced, where the kubelet reads it."""
    others = [one for one in sources.dropins or () if one.path != path]
    every = sorted([*others, ConfigFile(path, dict(document))], key=lambda one: one.path.split("/"))
    return replace(sources, dropins=tuple(every))


def with_fields(sources: Sources, fields: Mapping[str, Any]) -> Sources:
    """Return the sources with fields written into the main file, as an operator does."""
    own = sources.main.document if sources.main is not None else None
    document = {**_HEAD, **(own if isinstance(own, Mapping) else {}), **fields}
    return replace(sources, main=ConfigFile(_OPENSHIFT_FILE, document))


def config_place(snapshot: Snapshot, file: str, path: Path) -> Origin:
    """Return where a field stands in a file of a node."""
    text = snapshot.files.get(file)
    name = f"{snapshot.node}:{file}"
    return Origin(name, *read_config_text(text).place(path)) if text is not None else Origin(name)


@dataclass(frozen=True)
class Planned:
    """What a plan makes of one node, as far as its kubelet is concerned."""

    tier: Tier
    topology: Topology
    desired: DesiredState
    files: Sequence[NodeFile]
    changes: Sequence[Change]
    actions: Sequence[str]
    findings: Sequence[Finding]


@dataclass
class StartGuard:
    """Judges the starts that a plan brings about; nodes alike share one judgement."""

    platform: Platform
    _known: dict[Hashable, tuple[Finding, ...]] = field(default_factory=dict)

    def findings(self, observed: ObservedState, software: NodeEnvironment, planned: Planned) -> tuple[Finding, ...]:
        """Return the critical findings `kubelet.start.*` about a node; nothing when its kubelet is not restarted.

        Facts that other findings state are left out.
        """
        state = observed.kubelet
        if not state.present or not _STARTS & set(planned.actions):
            return ()
        if self.platform is Platform.KUBEADM and not software.kubelet_config_dir:
            # The tier's file would not be read, which a finding says.
            return ()
        key = self._key(observed, software, planned)
        if key not in self._known:
            self._known[key] = tuple(self._judge(observed, software, planned))
        return tuple(replace(finding, subject=observed.node) for finding in self._known[key])

    def _key(self, observed: ObservedState, software: NodeEnvironment, planned: Planned) -> Hashable:
        snapshot = observed.snapshot
        files = tuple((path, snapshot.files.get(path)) for path in configuration_files(snapshot))
        texts = tuple(snapshot.files.get(path) for path in (CPU_FILE, MEMORY_FILE))
        told = frozenset(finding.id for finding in planned.findings if finding.blocks)
        return (id(planned.desired), software, files, texts, observed.kubelet.command, observed.swaps, told,
                tuple(planned.actions), _drains(planned))  # fmt: skip

    def _judge(self, observed: ObservedState, software: NodeEnvironment, planned: Planned) -> Iterator[Finding]:
        start = planned_start(observed, software, planned, self.platform)
        yield from untold(start.findings, planned.findings)


def untold(found: Iterable[Finding], others: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings about a start whose facts no other blocking finding states."""
    told = {finding.id for finding in others if finding.blocks}
    for finding in found:
        rule = finding.why.partition("; ")[0] if finding.id in _BY_RULE else finding.id.rpartition(".")[2]
        if not told & set(_TOLD_BY.get(rule, ())):
            yield finding


@dataclass(frozen=True)
class PlannedStart:
    """How the kubelet of a planned node starts; `findings` say what is wrong with that."""

    verdict: StartVerdict
    machine: KubeletMachine
    kubelet: Kubelet
    subject: Subject
    findings: tuple[Finding, ...] = ()


def planned_start(
    observed: ObservedState, software: NodeEnvironment, planned: Planned, platform: Platform
) -> PlannedStart:
    """Return how the kubelet starts after a plan was carried out, on the machine that the plan leaves."""
    node = node_kubelet(observed, software, flavor_of(platform))
    context = DesireContext(planned.tier, planned.topology, software, platform, planned.desired.partition)
    machine = machine_of(topology_after(context))
    checkpoints = Checkpoints() if _CHECKPOINTS_GO in planned.actions else node.checkpoints
    host = _planned_host(node.host, planned.desired)
    verdict = judge_config(_planned_sources(node, planned), machine, host, node.kubelet, checkpoints)
    subject = Subject(observed.node, lambda file, path: _origin(observed.snapshot, planned, file, path))
    found = [
        *start_findings(subject, verdict, node.kubelet),
        *hazard_findings(subject, verdict, machine, node.kubelet),
    ]
    if not _drains(planned):
        found += readmission_findings(subject, turned_away(verdict, checkpoints))
    return PlannedStart(verdict, machine, node.kubelet, subject, tuple(found))


def described_start(tier: Tier, topology: Topology, name: str, platform: Platform, version: Version) -> PlannedStart:
    """Return how a kubelet with a tier's settings alone starts on a described machine."""
    software = NodeEnvironment(
        arch=topology.arch,
        boot_loader="grub",
        kubelet_version=version,
        kubelet_config_dir=DEFAULT_KUBELET_DIR,
        has_kubelet=True,
    )
    wanted = desire(tier, topology, software, platform)
    context = DesireContext(tier, topology, software, platform, wanted.desired.partition)
    machine = machine_of(topology_after(context))
    kubelet = Kubelet(version, flavor_of(platform))
    sources = with_fields(Sources(), kubelet_fields(wanted.desired))
    if platform is Platform.KUBEADM:
        sources = with_dropin(Sources(), _DESCRIBED_FILE, {**_HEAD, **kubelet_fields(wanted.desired)})
    verdict = judge_config(sources, machine, HostFacts(), kubelet)

    def place(file: str, path: Path) -> Origin:
        setting = wanted.desired.get(f"kubelet.{path[0]}") if path else None
        return setting.asked_in if setting is not None else Origin(file)

    subject = Subject(name, place)
    told = [replace(one, subject=name) for one in wanted.findings if one.id.startswith("kubelet.")]
    found = [*start_findings(subject, verdict, kubelet), *hazard_findings(subject, verdict, machine, kubelet)]
    return PlannedStart(verdict, machine, kubelet, subject, (*told, *untold(found, told)))


def flavor_of(platform: Platform) -> Flavor:
    """Return whose kubelet a platform runs."""
    return Flavor.OPENSHIFT if platform is Platform.OPENSHIFT else Flavor.UPSTREAM


def turned_away(verdict: StartVerdict, checkpoints: Checkpoints) -> dict[str, str]:
    """Return the running pods, told from the checkpoints, that a kubelet turns away when it has started over them."""
    node = verdict.node
    if node is None or (checkpoints.cpu is None and checkpoints.memory is None):
        return {}
    pods = running_pods(*node.checkpoints())
    return {pod: f"{one.reason}: {one.message}" for pod, one in node.readmit(pods).items() if one is not None}


def _planned_sources(node: NodeKubelet, planned: Planned) -> Sources:
    fields = kubelet_fields(planned.desired)
    own = next((item for item in planned.files if item.path.startswith(f"{node.config_dir}/")), None)
    if own is None or not node.config_dir:
        return with_fields(node.sources, fields) if planned.desired.platform is Platform.OPENSHIFT else node.sources
    return with_dropin(node.sources, own.path, read_config_text(own.content).document)


def _planned_host(host: HostFacts, desired: DesiredState) -> HostFacts:
    parameters = {setting.name: canonical_value(str(setting.value)) for setting in desired.of(Area.SYSCTL)}
    swaps = [setting.value for setting in desired.of(Area.SWAP)]
    swap_on = host.swap_on and not any(str(value).lower() in ("off", "false") for value in swaps)
    known = {name: parameters.get(name, value) for name, value in host.sysctls.items()}
    return HostFacts(host.cgroup_version, swap_on, known)


def _drains(planned: Planned) -> bool:
    return any(change.impact in (Impact.DRAIN, Impact.REBOOT) for change in planned.changes)


def _origin(snapshot: Snapshot, planned: Planned, file: str, path: Path) -> Origin:
    own = any(item.path == file for item in planned.files) or file == _OPENSHIFT_FILE
    setting = planned.desired.get(f"kubelet.{path[0]}") if own and path else None
    return setting.asked_in if setting is not None else config_place(snapshot, file, path)
