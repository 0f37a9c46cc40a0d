"""Return nodes to the generation they had before a run, and look again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from tunectl.app.apply import node_runs, recorded_when_stopped, run_verdict
from tunectl.core.errors import InputError, Problem, problem
from tunectl.core.snapshot import Snapshot
from tunectl.ports import CommitOptions, NodeWriter, OnEvent, RunStore
from tunectl.runs import NodeRun, Run


@dataclass(frozen=True)
class RollbackResult:
    """What a rollback did; `of` is the run whose work was taken back."""

    state: str
    exit_code: int
    of: Run
    run: Run
    snapshots: tuple[Snapshot, ...] = ()
    problems: Mapping[str, tuple[Problem, ...]] = field(default_factory=dict)


def choose_run(store: RunStore, run_id: int | None) -> Run:
    """Return the run to take back: the one named, else the newest apply that changed something.

    Raises `InputError` when there is none, or when the run changed no node.
    """
    run = store.get(run_id) if run_id is not None else store.last_change()
    if run is None or not _touched(run):
        raise InputError(
            (
                problem(
                    "TUN-1523",
                    "there is nothing to roll back",
                    where=f"run {run.id}" if run else "this folder",
                    why="the run changed no node" if run else "no apply from this folder changed a node",
                    fix="tunectl history lists the runs; start tunectl in the folder that the apply was started in",
                ),
            )
        )
    return run


def choose_nodes(run: Run, patterns: Sequence[str]) -> tuple[NodeRun, ...]:
    """Return the nodes of a run that match the patterns, all of them without one; raises `InputError` on no match."""
    touched = _touched(run)
    for pattern in patterns:
        if not any(fnmatchcase(node.node, pattern) for node in touched):
            raise InputError(
                (
                    problem(
                        "TUN-1524",
                        f"run {run.id} changed no node that matches {pattern!r}",
                        where=f"--node {pattern}",
                        why=f"it changed {', '.join(node.node for node in touched)}",
                        fix=f"--node {touched[0].node}",
                    ),
                )
            )
    if not patterns:
        return touched
    return tuple(node for node in touched if any(fnmatchcase(node.node, pattern) for pattern in patterns))


def roll_back(  # noqa: PLR0913  these are the ports of the use case
    run: Run,
    nodes: Sequence[NodeRun],
    *,
    writer: NodeWriter,
    store: RunStore,
    confirm: Callable[[Sequence[NodeRun]], None],
    on_event: OnEvent,
    options: CommitOptions,
) -> RollbackResult:
    """Return `nodes` to what they were before `run` and say how it ended.

    Raises `DeclinedError` from `confirm` and `BusyError`; nothing was changed in these cases.
    """
    with store.lock(f"rollback of run {run.id}"):
        confirm(nodes)
        record = store.begin("rollback", tier=run.tier, pool=run.pool, plan=run.plan, inventory=writer.inventory)
        targets = {node.node: node.before for node in nodes}
        with recorded_when_stopped(store, record):
            outcome = writer.rollback(targets, store.run_directory(record.id), options, on_event)
        state, exit_code = run_verdict(outcome, ())
        changes = {node.node: node.changes for node in nodes}
        record = store.finish(record, state=state, exit_code=exit_code, nodes=node_runs(changes, outcome), of=run.id)
    return RollbackResult(state, exit_code, run, record, outcome.snapshots, outcome.problems)


def _touched(run: Run) -> tuple[NodeRun, ...]:
    return tuple(node for node in run.nodes if node.after != node.before)
