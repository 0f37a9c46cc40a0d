"""Render a tier: the manifests for its pool, or the files for its nodes, as texts. Contacts and changes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import yaml

from tunectl.core.cpuset import CpuSet
from tunectl.core.desire import Desire, desire
from tunectl.core.desired import DesiredState, Partition, Platform
from tunectl.core.environment import NodeEnvironment, environment
from tunectl.core.errors import InputError, Problem, RefusedError, problem
from tunectl.core.findings import Finding
from tunectl.core.fingerprint import hardware_fingerprint
from tunectl.core.observed import observe
from tunectl.core.snapshot import Snapshot
from tunectl.core.sysfs import read_topology
from tunectl.core.tier import CpuIntent, CpuRequest, Tier
from tunectl.core.topology import Topology
from tunectl.planning.documents import snapshot_documents
from tunectl.render.jinja_env import render_template
from tunectl.render.node import NodeArtefacts, render_node
from tunectl.render.openshift import render_manifests
from tunectl.render.pool import check_pools

README = "README.md"
_ROLES = ("reserved", "isolated", "shared", "offlined", "ovs_dpdk")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\Z", re.ASCII)


@dataclass(frozen=True)
class RenderedFile:
    """A file of the result: `path` relative, with slashes; `what` says in a few words what it is."""

    path: str
    content: str
    what: str = ""


@dataclass(frozen=True)
class Alike:
    """Nodes that get the same files: they have the same hardware and software. `nodes` is not empty."""

    nodes: tuple[str, ...]
    wanted: Desire
    environment: NodeEnvironment


@dataclass(frozen=True)
class Rendered:
    """What a tier means, as files.

    Shape: `files` in the order to apply; `nodes` are those that were looked at, none for a tier that needs none;
    `findings` are those of the desired state, none where no node was looked at; `trees` is the directory of each
    distinct set of node files -> the nodes that it is for, empty on OpenShift.
    """

    tier: str
    pool: str
    platform: Platform
    files: tuple[RenderedFile, ...]
    nodes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    simulated: bool = False
    trees: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def manifests(self) -> tuple[RenderedFile, ...]:
        """The files that an API server takes."""
        return tuple(file for file in self.files if file.path.endswith(".yaml"))


def render_tier(tier: Tier, snapshots: Sequence[Snapshot], platform: Platform) -> Rendered:
    """Return the files of a tier for the nodes whose snapshots these are.

    Shape: on OpenShift the manifests of its pool; on kubeadm `NODE/…` for each distinct hardware, named by its first
    node; a README.md beside them. Equal arguments give equal bytes.
    Sad paths: `RefusedError` with every critical finding, TUN-2244 when the nodes of an OpenShift pool differ;
    `InputError` TUN-1060 without snapshots where they are needed, TUN-1061 for a node name that is no file name;
    those of `render_manifests` and `render_node`.
    """
    groups = _alike(tier, snapshots, platform) if snapshots else [_without_nodes(tier, platform)]
    if snapshots:
        _refuse_critical(groups)
    trees = {} if platform is Platform.OPENSHIFT else _trees(groups)
    files = _manifests(tier, groups) if platform is Platform.OPENSHIFT else _node_files(tier, trees)
    findings = {finding: None for group in groups for finding in group.wanted.findings} if snapshots else {}
    return Rendered(
        tier=tier.name,
        pool=tier.pool_name,
        platform=platform,
        files=tuple(files),
        nodes=tuple(snapshot.node for snapshot in snapshots),
        findings=tuple(findings),
        simulated=any(snapshot.simulated for snapshot in snapshots),
        trees={nodes[0]: nodes for nodes in trees.values()},
    )


def render_tiers(
    tiers: Sequence[Tier], snapshots: Mapping[str, Sequence[Snapshot]], platform: Platform
) -> list[Rendered]:
    """Return each tier rendered, below a directory of its own where there are several.

    Shape: `snapshots` by tier name.
    Sad paths: `RefusedError` TUN-2240 and TUN-2241 for tiers that cannot live in one cluster; those of `render_tier`.
    """
    clashes = check_pools(tiers)
    if clashes:
        raise RefusedError(clashes)
    rendered = [render_tier(tier, snapshots.get(tier.name, ()), platform) for tier in tiers]
    return rendered if len(rendered) == 1 else [_below(one.tier, one) for one in rendered]


def needs_nodes(tier: Tier, platform: Platform) -> bool:
    """Return whether the tier cannot be rendered without looking at nodes: files always, CPUs that are counted."""
    if platform is Platform.KUBEADM:
        return True
    requests = [getattr(tier.cpu, role) for role in _ROLES]
    counted = any(isinstance(request, CpuIntent) for request in requests)
    is_half = (tier.cpu.reserved is None) is not (tier.cpu.isolated is None)
    return counted or is_half


def _below(directory: str, rendered: Rendered) -> Rendered:
    return replace(
        rendered,
        files=tuple(replace(file, path=f"{directory}/{file.path}") for file in rendered.files),
        trees={f"{directory}/{tree}": nodes for tree, nodes in rendered.trees.items()},
    )


def _alike(tier: Tier, snapshots: Sequence[Snapshot], platform: Platform) -> list[Alike]:
    groups: dict[tuple[str, NodeEnvironment], list[Snapshot]] = {}
    for snapshot in snapshots:
        software = environment(observe(snapshot, snapshot_documents(snapshot)))
        groups.setdefault((hardware_fingerprint(snapshot), software), []).append(snapshot)
    return [
        Alike(
            tuple(one.node for one in members),
            desire(tier, read_topology(members[0]), software, platform),
            software,
        )
        for (_, software), members in groups.items()
    ]


def _without_nodes(tier: Tier, platform: Platform) -> Alike:
    if needs_nodes(tier, platform):
        raise InputError(
            (
                problem(
                    "TUN-1060",
                    f"tier {tier.name} cannot be rendered for {platform.value} without nodes",
                    where=str(tier.origin("cpu")) or f"tier {tier.name}",
                    why="files depend on the node they are for"
                    if platform is Platform.KUBEADM
                    else "its CPUs follow from the machine",
                    fix="name nodes with -i INVENTORY or --snapshot FILE",
                ),
            )
        )
    partition = Partition(
        reserved=_listed(tier.cpu.reserved),
        isolated=_listed(tier.cpu.isolated),
        shared=_listed(tier.cpu.shared),
        offlined=_listed(tier.cpu.offlined),
        ovs_dpdk=_listed(tier.cpu.ovs_dpdk),
    )
    unknown, nothing = Topology(arch="", cpus=(), numa_nodes=()), NodeEnvironment()
    return Alike((), desire(tier, unknown, nothing, platform, partition), nothing)


def _listed(request: CpuRequest) -> CpuSet:
    return request if isinstance(request, CpuSet) else CpuSet()


def _refuse_critical(groups: Sequence[Alike]) -> None:
    problems = [
        replace(_as_problem(finding), where=f"{', '.join(group.nodes)} ({finding.asked_in or finding.subject})")
        for group in groups
        for finding in group.wanted.findings
        if finding.blocks
    ]
    if problems:
        raise RefusedError(tuple(problems))


def _as_problem(finding: Finding) -> Problem:
    return problem(finding.id, finding.message, why=finding.why, fix=finding.remedy)


def _manifests(tier: Tier, groups: Sequence[Alike]) -> Iterator[RenderedFile]:
    first, *others = groups
    texts = render_manifests(tier, first.wanted.desired)
    for other in others:
        if render_manifests(tier, other.wanted.desired) != texts:
            raise RefusedError((_unequal(tier, first, other),))
    for path, content in texts.items():
        document = yaml.safe_load(content)
        yield RenderedFile(path, content, f"{document['kind']} {document['metadata']['name']}")
    yield RenderedFile(README, _manifests_readme(first.wanted.desired), "how to apply them")


def _unequal(tier: Tier, first: Alike, other: Alike) -> Problem:
    return problem(
        "TUN-2244",
        f"the nodes of pool {tier.pool_name} need different manifests",
        where=f"{', '.join(first.nodes)} and {', '.join(other.nodes)}",
        why=f"reserved {first.wanted.desired.partition.reserved or 'none'} on the former,"
        f" {other.wanted.desired.partition.reserved or 'none'} on the latter; a pool has one set of manifests",
        fix="make a pool and a tier for each kind of machine, or leave the others out with --node",
    )


def _manifests_readme(desired: DesiredState) -> str:
    labels = [f"{key}={value}" for key, value in sorted(desired.labels.items())]
    sections = [
        ("Pods find the pool by these labels of its nodes:", [f"kubectl label node NODE {label}" for label in labels]),
        ("Pods without a toleration are kept away by:", [f"kubectl taint node NODE {one}" for one in desired.taints]),
    ]
    return render_template(
        "openshift/README.md.j2",
        tier=desired.tier,
        pool=desired.pool,
        sections=[{"title": title, "commands": commands} for title, commands in sections if commands],
    )


def _trees(groups: Sequence[Alike]) -> dict[NodeArtefacts, tuple[str, ...]]:
    """Return each distinct set of files and the nodes it is for: different machines may well get the same."""
    trees: dict[NodeArtefacts, tuple[str, ...]] = {}
    for group in groups:
        artefacts = render_node(group.wanted.desired, group.environment)
        trees[artefacts] = (*trees.get(artefacts, ()), *group.nodes)
    return trees


def _node_files(tier: Tier, trees: Mapping[NodeArtefacts, tuple[str, ...]]) -> Iterator[RenderedFile]:
    for artefacts, nodes in trees.items():
        for file in artefacts.files:
            yield RenderedFile(f"{_directory(nodes[0])}{file.path}", file.content, file.why)
    described = [
        {"directory": nodes[0], "nodes": nodes, "actions": artefacts.actions or ("nothing else",)}
        for artefacts, nodes in trees.items()
    ]
    text = render_template("node/README.md.j2", tier=tier.name, pool=tier.pool_name, groups=described)
    yield RenderedFile(README, text, "which nodes each tree is for")


def _directory(node: str) -> str:
    if not _PLAIN_NAME.match(node):
        raise InputError(
            (
                problem(
                    "TUN-1061",
                    f"the node name {node!r} cannot name a directory",
                    where="inventory",
                    why="letters, digits, dot, dash and underscore are allowed, not first a dot or dash",
                    fix="rename the node in the inventory",
                ),
            )
        )
    return node
