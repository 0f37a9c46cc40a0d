"""Plan a pool: tier and snapshots in, plan out, together with what explains it. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tunectl.core.alternatives import Alternative, alternatives_to
from tunectl.core.core_choice import first_threads
from tunectl.core.desired import Impact, Partition, Platform
from tunectl.core.errors import RefusedError, problem
from tunectl.core.plan import NodePlan, PoolPlan
from tunectl.core.snapshot import Snapshot
from tunectl.core.sysfs import read_topology
from tunectl.core.tier import Tier
from tunectl.core.topology import Topology
from tunectl.planning.pool import plan_pool

_MOST_NAMES = 6


@dataclass(frozen=True)
class Alike:
    """Nodes with the same hardware and the same partition, and better partitions where there are."""

    nodes: tuple[NodePlan, ...]
    topology: Topology
    partition: Partition
    alternatives: tuple[Alternative, ...] = ()


@dataclass(frozen=True)
class FileChange:
    """A file that becomes another on some nodes; `before` is None where there is none, `after` where it goes."""

    nodes: tuple[str, ...]
    path: str
    before: str | None
    after: str | None
    why: str = ""


@dataclass(frozen=True)
class Planned:
    """A plan with what it was made from. Shape: `alike` covers every node of the plan once, in their order."""

    plan: PoolPlan
    tier: Tier
    snapshots: tuple[Snapshot, ...]
    alike: tuple[Alike, ...] = ()

    @property
    def simulated(self) -> bool:
        """Whether any node is simulated."""
        return any(node.simulated for node in self.plan.nodes)


def make_plan(tier: Tier, snapshots: Sequence[Snapshot], platform: Platform) -> Planned:
    """Return the plan of a tier for the nodes whose snapshots these are.

    Sad paths: those of `plan_pool`.
    """
    plan = plan_pool(tier, snapshots, platform)
    return Planned(plan, tier, tuple(snapshots), tuple(_alike(tier, plan, snapshots)))


def _alike(tier: Tier, plan: PoolPlan, snapshots: Sequence[Snapshot]) -> Iterator[Alike]:
    by_node = {snapshot.node: snapshot for snapshot in snapshots}
    groups: dict[tuple[str, Partition], list[NodePlan]] = {}
    for node in plan.nodes:
        groups.setdefault((node.fingerprint, node.desired.partition), []).append(node)
    for (_, partition), nodes in groups.items():
        topology = read_topology(by_node[nodes[0].node])
        machine = first_threads(topology) if tier.cpu.disable_smt else topology
        yield Alike(tuple(nodes), topology, partition, alternatives_to(partition, machine, tier))


def file_changes(plan: PoolPlan, snapshots: Sequence[Snapshot]) -> list[FileChange]:
    """Return the files that the plan changes, nodes with the same change together."""
    by_node = {snapshot.node: snapshot for snapshot in snapshots}
    groups: dict[tuple[str, str | None, str | None, str], list[str]] = {}
    for node in plan.nodes:
        files = by_node[node.node].files
        for file in node.files:
            before = files.get(file.path)
            if before != file.content:
                groups.setdefault((file.path, before, file.content, file.why), []).append(node.node)
    return [FileChange(tuple(nodes), *key) for key, nodes in groups.items()]


def refuse_dearer(plan: PoolPlan, most: Impact) -> None:
    """Raise `RefusedError` TUN-3010 naming the changes that cost more than `most`, if there are any."""
    dear = [
        (node.node, change.setting, change.impact)
        for node in plan.nodes
        for change in node.changes
        if change.impact.rank > most.rank
    ]
    if not dear:
        return
    cost = max((one[2] for one in dear), key=lambda impact: impact.rank)
    raise RefusedError(
        (
            problem(
                "TUN-3010",
                f"the plan costs more than {most.value}",
                where=_some(one[0] for one in dear),
                why=f"{_some(one[1] for one in dear)} need up to a {cost.value}",
                fix="allow it with a higher --max-impact, or take the settings out of the tier",
            ),
        )
    )


def _some(names: Iterable[str]) -> str:
    """Return distinct names, the first few and how many more."""
    distinct = list(dict.fromkeys(names))
    more = f" and {len(distinct) - _MOST_NAMES} more" if len(distinct) > _MOST_NAMES else ""
    return ", ".join(distinct[:_MOST_NAMES]) + more
