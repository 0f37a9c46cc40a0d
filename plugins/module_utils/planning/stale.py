# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether a plan still describes its nodes: what it rests on, compared with what is there now."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..core.changes import file_basis
from ..core.difference import setting_changes
from ..core.environment import NodeEnvironment, environment
from ..core.errors import Problem, problem
from ..core.fingerprint import hardware_fingerprint
from ..core.observed import actual_of, observe
from ..core.plan import NodePlan, PoolPlan
from ..core.plan_files import changed_paths, files_now
from ..core.snapshot import Snapshot
from .documents import snapshot_documents

_SHOWN = 4
_FILE = "file."
_DIGEST_SHOWN = 12


def node_facts(software: NodeEnvironment) -> dict[str, str | None]:
    """Return the facts about a node's software that a plan rests on, by the name they have in messages."""
    version = software.kubelet_version
    return {
        "kernel": software.kernel_release or None,
        "kubelet version": f"{version[0]}.{version[1]}" if version > (0, 0) else None,
        "kubelet drop-in directory": software.kubelet_config_dir or None,
        "boot loader": software.boot_loader,
    }


def stale_reasons(plan: PoolPlan, snapshots: Sequence[Snapshot]) -> tuple[Problem, ...]:
    """Return one problem for each node of the plan that is not as it was when the plan was made.

    Shape: TUN-3301 names what moved, `vm.stat_interval was 1 when planned, is 10 now`; TUN-3302 a node of which there
    is no snapshot. Empty when the plan still holds: what moved to where the plan wants it is no reason, so that a
    plan can be applied again after it was interrupted. Nodes that the plan does not name are not looked at.
    """
    by_node = {snapshot.node: snapshot for snapshot in snapshots}
    return tuple(found for node in plan.nodes for found in _node_problems(plan, node, by_node.get(node.node)))


def remaining_plan(plan: PoolPlan, snapshots: Sequence[Snapshot]) -> PoolPlan:
    """Return the plan without the changes of nodes that are as it wants them already; id and findings stay.

    A node of which there is no snapshot keeps its changes.
    """
    by_node = {snapshot.node: snapshot for snapshot in snapshots}
    return replace(plan, nodes=tuple(_remaining(node, by_node.get(node.node)) for node in plan.nodes))


def _remaining(node: NodePlan, snapshot: Snapshot | None) -> NodePlan:
    if not node.changes or snapshot is None or not _look(node, snapshot).done:
        return node
    return replace(node, changes=(), actions=(), matching=node.matching + len(node.changes))


def _node_problems(plan: PoolPlan, node: NodePlan, snapshot: Snapshot | None) -> Iterator[Problem]:
    fix = f"tunectl plan --tier {plan.tier}"
    if snapshot is None:
        yield problem(
            "TUN-3302",
            f"plan {plan.id} is also for {node.node}, which was not looked at",
            where=node.node,
            why="it cannot be told whether the node is still as planned",
            fix=f"{fix} for the nodes that you mean",
        )
        return
    moved = tuple(_moved(node, snapshot))
    if moved:
        more = f"; and {len(moved) - _SHOWN} more" if len(moved) > _SHOWN else ""
        yield problem(
            "TUN-3301",
            f"plan {plan.id} no longer describes {node.node}",
            where=node.node,
            why="; ".join(moved[:_SHOWN]) + more,
            fix=fix,
        )


def _moved(node: NodePlan, snapshot: Snapshot) -> Iterator[str]:
    now = _look(node, snapshot)
    if now.done:
        return
    if now.fingerprint != node.fingerprint:
        yield "its hardware is another one now, or CPUs or hugepages changed"
    for name in (*node.observed, *(name for name in now.observed if name not in node.observed)):
        before, after = node.observed.get(name), now.observed.get(name)
        if before != after and name not in now.as_wanted:
            yield f"{_name(name)} {_was(name, before)} when planned, {_is(name, after)} now"


@dataclass(frozen=True)
class _Look:
    """A node as it is now; `as_wanted` are the names in `observed` that are as the plan wants them, `done` when all."""

    fingerprint: str
    observed: Mapping[str, str | None]
    as_wanted: frozenset[str]
    done: bool


def _look(node: NodePlan, snapshot: Snapshot) -> _Look:
    observed = observe(snapshot, snapshot_documents(snapshot))
    difference = setting_changes(node.desired, lambda setting: actual_of(observed, setting, node.desired))
    files = files_now(snapshot)
    basis = file_basis(node.files, files)
    wrong_files = {f"{_FILE}{path}" for path in changed_paths(node.files, files)}
    wrong = {change.setting for change in difference.changes} | wrong_files
    return _Look(
        fingerprint=hardware_fingerprint(snapshot),
        observed={**node_facts(environment(observed)), **difference.observed, **basis},
        as_wanted=frozenset((*difference.observed, *basis)) - wrong,
        done=not wrong and not difference.unknown,
    )


def _name(name: str) -> str:
    if name.startswith(_FILE):
        return name[len(_FILE) :]
    area, dot, rest = name.partition(".")
    return rest if dot and area in ("sysctl", "runtime", "kubelet", "cmdline", "module", "swap") else name


def _was(name: str, value: str | None) -> str:
    return f"was {_text(name, value)}" if value is not None else "was not there"


def _is(name: str, value: str | None) -> str:
    return f"is {_text(name, value)}" if value is not None else "is not there"


def _text(name: str, value: str) -> str:
    if name.startswith(_FILE):
        return f"sha256 {value[:_DIGEST_SHOWN]}"
    return (str(json.loads(value)) if value.startswith('"') else value) or "set"
