# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The nodes that a tier could make instead, each with what to change in the tier."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from ..cpuset import CpuSet
from .go_values import TRUE
from .hints import TopologyPolicy
from .memory_policy import hugepage_kind
from .other_pods import page_size
from .planned_node import PlannedNode
from .refused import Refused
from .settings import ManagerSettings

_LOOSER = {
    TopologyPolicy.SINGLE_NUMA_NODE: TopologyPolicy.RESTRICTED,
    TopologyPolicy.RESTRICTED: TopologyPolicy.BEST_EFFORT,
}
_OTHER_SCOPE = {"container": "pod", "pod": "container"}


@dataclass(frozen=True)
class OtherNode:
    """Another node that the tier could make: the field of the tier, its value then and now."""

    field: str
    value: str
    now: str
    planned: PlannedNode

    def __str__(self) -> str:
        """Return the change as `--set` takes it, and what is now."""
        return f"{self.field}={self.value} ({self.now})"


def other_nodes(planned: PlannedNode, refused: Refused) -> Iterator[OtherNode]:
    """Yield the nodes; of several for one field of the tier the tightest first. Whether they help is not looked at."""
    settings = planned.settings
    for value, other in planned.alternatives:
        now = f"instead of {settings.reserved_cpus}"
        yield OtherNode("cpu.reserved", value, now, replace(planned, settings=other))
    # What the scheduler has no room for, no manager of the kubelet makes room for.
    for field, value, now, other in _looser(settings) if not refused.scheduler.lacking(refused.pod) else ():
        yield OtherNode(f"kubelet.{field}", value, f"instead of {now}", replace(planned, settings=other))
    if refused.scheduler.pods >= planned.max_pods:
        more = planned.max_pods + 1
        now = f"instead of {planned.max_pods}"
        yield OtherNode("kubelet.max_pods", str(more), now, replace(planned, max_pods=more))
    yield from _smaller_reservation(planned, refused)
    yield from _more_hugepages(planned, refused)


def _looser(settings: ManagerSettings) -> Iterator[tuple[str, str, str, ManagerSettings]]:
    """Yield field, value, value now, and the settings with it; of several values the tightest first."""
    if settings.cpu_options.get("full-pcpus-only", "") in TRUE:
        options = {**settings.cpu_options, "full-pcpus-only": "false"}
        field = "cpu_manager_policy_options.full-pcpus-only"
        yield field, "false", "true", replace(settings, cpu_options=options)
    if settings.prefer_closest:
        options = {**settings.topology_options, "prefer-closest-numa-nodes": "false"}
        field = "topology_manager_policy_options.prefer-closest-numa-nodes"
        yield field, "false", "true", replace(settings, topology_options=options)
    if settings.guarantees_memory:
        yield "memory_manager_policy", "None", "Static", replace(settings, memory_policy="None", reserved_memory=())
    policy = settings.topology_policy
    if policy is not TopologyPolicy.NONE:
        scope = settings.topology_scope
        other = _OTHER_SCOPE.get(scope, "container")
        yield "topology_manager_scope", other, scope, replace(settings, topology_scope=other)
    while policy in _LOOSER:
        policy = _LOOSER[policy]
        now = settings.topology_policy.value
        yield "topology_manager_policy", policy.value, now, replace(settings, topology_policy=policy)


def _smaller_reservation(planned: PlannedNode, refused: Refused) -> Iterator[OtherNode]:
    """Yield the node with as many CPUs fewer reserved as the scheduler lacks."""
    reserved = planned.settings.reserved_cpus
    lacking = {one.name: one for one in refused.scheduler.lacking(refused.pod)}
    if not reserved or "cpu" not in lacking:
        return
    missing = -int((lacking["cpu"].left - lacking["cpu"].asked) // 1)
    if missing >= len(reserved):
        return
    kept = CpuSet(list(reserved)[:-missing])
    settings = replace(planned.settings, reserved_cpus=kept, reserved_cpu_amount=Fraction(len(kept)))
    isolated = planned.isolated | (reserved - kept) if planned.isolated else CpuSet()
    value = f"{kept} cpu.isolated={isolated}" if isolated else str(kept)
    yield OtherNode("cpu.reserved", value, f"{missing} fewer", replace(planned, settings=settings, isolated=isolated))


def _more_hugepages(planned: PlannedNode, refused: Refused) -> Iterator[OtherNode]:
    """Yield the node with as many pages more as the scheduler lacks, spread over the NUMA nodes with memory."""
    for shortage in refused.scheduler.lacking(refused.pod):
        size = page_size(planned.machine, shortage.name)
        if not size:
            continue
        missing = -int((shortage.left - shortage.asked) // size)
        more = _spread(planned, missing)
        nodes = tuple(
            replace(node, hugepages={**node.hugepages, size: node.hugepages.get(size, 0) + more.get(node.id, 0)})
            for node in planned.machine.nodes
        )
        other = replace(planned, machine=replace(planned.machine, nodes=nodes))
        default = "" if any(sum(node.hugepages.values()) for node in planned.machine.nodes) else _short(size)
        value = _pages(other) + (f" hugepages.default_size={default}" if default else "")
        yield OtherNode("hugepages.pages", value, f"{missing} more of {_short(size)}", other)


def _pages(planned: PlannedNode) -> str:
    """Return the pages of a node as the tier lists them: by NUMA node where they are not spread as at boot."""
    entries = []
    nodes = planned.machine.nodes
    for size in sorted({size for node in nodes for size, count in node.hugepages.items() if count}):
        counts = {node.id: node.hugepages.get(size, 0) for node in nodes}
        total = sum(counts.values())
        if {name: count for name, count in counts.items() if count} == _spread(planned, total):
            entries.append(f'{{"size":"{_short(size)}","count":{total}}}')
        else:
            entries += [
                f'{{"size":"{_short(size)}","count":{count},"node":{name}}}' for name, count in counts.items() if count
            ]
    return f"[{','.join(entries)}]"


def _short(size: int) -> str:
    return hugepage_kind(size).partition("-")[2].removesuffix("i").replace("K", "k")


def _spread(planned: PlannedNode, count: int) -> dict[int, int]:
    """Return how the kernel spreads pages at boot: evenly over the NUMA nodes with memory, the first ones more."""
    holders = [node.id for node in sorted(planned.machine.nodes, key=lambda node: node.id) if node.memory]
    share, extra = divmod(count, len(holders) or 1)
    spread = {name: share + (place < extra) for place, name in enumerate(holders)}
    return {name: pages for name, pages in spread.items() if pages}
