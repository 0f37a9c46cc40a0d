"""Apply a plan: guard, ask, change the nodes, look again, judge. Read `apply_plan` from top to bottom."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tunectl.app.judge import judge_nodes
from tunectl.core.errors import Problem, RefusedError, StoppedError, TunectlError, problem
from tunectl.core.findings import Finding, Verdict
from tunectl.core.plan import PoolPlan
from tunectl.core.snapshot import Snapshot
from tunectl.planning.stale import stale_reasons
from tunectl.ports import CommitOptions, CommitOutcome, NodeWriter, OnEvent, RunStore
from tunectl.runs import NodeRun, Run


@dataclass(frozen=True)
class ApplyResult:
    """What an apply did.

    Shape: `state` is unchanged, ok, failed, undone, refused, differs or stopped; `problems` are the failures by node;
    `findings` judge the nodes as they are now; `run` is None when nothing was to be done.
    """

    state: str
    exit_code: int
    plan: PoolPlan
    run: Run | None = None
    findings: tuple[Finding, ...] = ()
    problems: Mapping[str, tuple[Problem, ...]] = field(default_factory=dict)


def apply_plan(  # noqa: PLR0913  these are the ports of the use case
    plan: PoolPlan,
    now: Sequence[Snapshot],
    *,
    writer: NodeWriter,
    store: RunStore,
    confirm: Callable[[PoolPlan], None],
    on_event: OnEvent,
    options: CommitOptions,
) -> ApplyResult:
    """Make the nodes of `plan` what it says and return what happened; `now` are snapshots taken just before.

    Raises `RefusedError` when the plan is blocked or no longer describes its nodes, `DeclinedError` from
    `confirm`, `BusyError` when another run holds the folder. Nothing was changed in any of these cases.
    """
    refuse_blocked(plan)
    refuse_stale(plan, now)
    if not plan.changed:
        return _unchanged(plan, now)
    with store.lock(f"apply {plan.tier} to {plan.pool}"):
        confirm(plan)
        run = store.begin("apply", tier=plan.tier, pool=plan.pool, plan=plan.id, inventory=writer.inventory)
        with recorded_when_stopped(store, run):
            outcome = writer.commit(plan, store.run_directory(run.id), options, on_event)
        findings = judge_nodes(plan, touched(outcome))
        state, exit_code = run_verdict(outcome, findings)
        changes = {node.node: len(node.changes) for node in plan.changed}
        run = store.finish(run, state=state, exit_code=exit_code, nodes=node_runs(changes, outcome))
    return ApplyResult(state, exit_code, plan, run, findings, outcome.problems)


@contextmanager
def recorded_when_stopped(store: RunStore, run: Run) -> Iterator[None]:
    """Record a run that is refused, or that the user stops at once: `StoppedError` in place of `KeyboardInterrupt`."""
    try:
        yield
    except TunectlError as error:
        store.finish(run, state="refused", exit_code=error.exit_code, nodes=())
        raise
    except KeyboardInterrupt as error:
        store.finish(run, state="interrupted", exit_code=StoppedError.exit_code, nodes=())
        raise StoppedError(
            (problem("TUN-4900", f"run {run.id} was stopped at once", fix="tunectl status shows where the nodes are"),),
            "A node at work finishes or undoes its change at the next contact.",
        ) from error


def touched(outcome: CommitOutcome) -> tuple[Snapshot, ...]:
    """Return the snapshots of nodes that the run got to: the others are as they were."""
    return tuple(one for one in outcome.snapshots if outcome.states.get(one.node) in ("changed", "unchanged"))


def refuse_blocked(plan: PoolPlan) -> None:
    """Raise `RefusedError` with every critical finding of the plan, if there are any."""
    blocking = [finding for finding in plan.all_findings if finding.blocks]
    if blocking:
        raise RefusedError(tuple(_as_problem(finding) for finding in blocking))


def refuse_stale(plan: PoolPlan, now: Sequence[Snapshot]) -> None:
    """Raise `RefusedError` naming what moved, when a node is not as it was when the plan was made."""
    moved = stale_reasons(plan, now)
    if moved:
        raise RefusedError(moved)


def _unchanged(plan: PoolPlan, now: Sequence[Snapshot]) -> ApplyResult:
    findings = judge_nodes(plan, now)
    differs = any(finding.verdict is Verdict.FAIL for finding in findings)
    return ApplyResult("differs" if differs else "unchanged", 3 if differs else 0, plan, findings=findings)


def run_verdict(outcome: CommitOutcome, findings: Sequence[Finding]) -> tuple[str, int]:
    """Return how a run that changed nodes ended, and its exit code."""
    if outcome.stopped:
        return "stopped", 130
    if outcome.all_refused:
        return "refused", RefusedError.exit_code
    if outcome.problems:
        return ("undone", 7) if outcome.all_undone else ("failed", 1)
    if any(finding.verdict is Verdict.FAIL for finding in findings):
        return "differs", 3
    return "ok", 0


def node_runs(changes: Mapping[str, int], outcome: CommitOutcome) -> tuple[NodeRun, ...]:
    """Return the record of each node; `changes` is node -> how many settings its change was about."""
    simulated = {snapshot.node for snapshot in outcome.snapshots if snapshot.simulated}
    return tuple(
        NodeRun(
            node,
            outcome.states.get(node, "not started"),
            before=outcome.generations.get(node, (0, 0))[0],
            after=outcome.generations.get(node, (0, 0))[1],
            changes=count,
            simulated=node in simulated,
        )
        for node, count in changes.items()
    )


def _as_problem(finding: Finding) -> Problem:
    return problem(
        finding.id,
        finding.message,
        where=str(finding.asked_in) or finding.subject,
        why=finding.why,
        fix=finding.remedy,
    )
