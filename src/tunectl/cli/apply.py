"""`tunectl apply`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from tunectl.adapters.ansible_nodes import AnsibleNodes
from tunectl.adapters.run_store import FolderRuns
from tunectl.app.apply import ApplyResult, apply_plan
from tunectl.app.nodes import Selection
from tunectl.cli.confirm import confirm_changes
from tunectl.cli.drain_flags import drain_asked, drain_options
from tunectl.cli.inventory import ansible_nodes
from tunectl.cli.options import command
from tunectl.cli.planning import plan_for, saved_plan
from tunectl.cli.session import Session
from tunectl.core.errors import InputError, problem
from tunectl.core.plan import PoolPlan
from tunectl.core.snapshot import Snapshot
from tunectl.planning.stale import remaining_plan
from tunectl.ports import CommitOptions
from tunectl.steps import Step
from tunectl.view.plan import plan_summary_text, plan_text
from tunectl.view.progress import Progress, make_progress
from tunectl.view.run import apply_items, apply_text, changes_text

_REBOOT = click.Choice(("auto", "never"))


@command("apply", kind="Run", options=("where", "tier"))
@click.argument("plan", required=False)
@click.option("-y", "--yes", is_flag=True, help="Answer the question with yes; nothing else is skipped.")
@click.option("--reboot", type=_REBOOT, default="auto", help="Reboot nodes that need it, or leave that to you.")
@click.option("--overwrite", is_flag=True, help="Replace files of ours that were changed by hand.")
@drain_options
def apply(session: Session, *, plan: str | None, yes: bool, reboot: str, overwrite: bool, **drain: Any) -> int:
    """Apply a tier, or a saved PLAN, to its nodes and verify each of them."""
    _check_request(session, plan)
    options = CommitOptions(reboot=reboot, overwrite=overwrite, drain=drain_asked(drain))
    nodes = ansible_nodes(session)
    progress = make_progress(session.progress, quiet=session.quiet, color=session.talk_screen.colour)
    try:
        wanted, snapshots, text = _plan_and_snapshots(session, plan, nodes, progress)
        progress.end()
        if wanted.changed:
            session.say(text)

        def confirm(asked: PoolPlan) -> None:
            confirm_changes(session, changes_text(asked), yes=yes)
            progress.begin(f"apply {asked.tier}", [node.node for node in asked.changed], Step.VERIFY)

        store = FolderRuns(Path.cwd())
        result = apply_plan(
            wanted, snapshots, writer=nodes, store=store, confirm=confirm, on_event=progress.step, options=options
        )
    finally:
        progress.end()
    return _emit(session, result)


def _check_request(session: Session, plan: str | None) -> None:
    if bool(plan) == bool(session.tier.name):
        raise InputError(
            (
                problem(
                    "TUN-1017",
                    "apply takes a tier or a plan" + (", not both" if plan else ""),
                    where="tunectl apply",
                    fix="tunectl apply --tier hpc-massive, or tunectl apply PLAN with a plan that tunectl plan saved",
                ),
            )
        )


def _plan_and_snapshots(
    session: Session, plan: str | None, nodes: AnsibleNodes, progress: Progress
) -> tuple[PoolPlan, Sequence[Snapshot], str]:
    """Return the plan, what the nodes are like now, and the plan as a person reads it."""
    screen, verbose = session.talk_screen, session.verbose > 0
    if plan is None:
        planned = plan_for(session, nodes, progress.step)
        return planned.plan, planned.snapshots, plan_text(planned, screen, verbose=verbose, reasons=verbose).rstrip()
    saved = saved_plan(plan)
    selection = Selection(pool=saved.pool, patterns=tuple(node.node for node in saved.nodes))
    snapshots = nodes.snapshots(selection.pool, selection.patterns, progress.step)
    wanted = remaining_plan(saved, snapshots)
    return wanted, snapshots, plan_summary_text(wanted, screen, verbose=verbose)


def _emit(session: Session, result: ApplyResult) -> int:
    from tunectl.view.envelope import Result  # noqa: PLC0415  the name is also a parameter above

    document = Result(
        "Run",
        exit_code=result.exit_code,
        summary={
            "run": result.run.id if result.run else None,
            "state": result.state,
            "tier": result.plan.tier,
            "pool": result.plan.pool,
            "plan": result.plan.id,
            "nodes": len(result.plan.nodes),
            "changed": sum(1 for node in (result.run.nodes if result.run else ()) if node.state == "changed"),
        },
        items=apply_items(result),
        errors=tuple(problem for problems in result.problems.values() for problem in problems),
        simulated=any(node.simulated for node in result.plan.nodes),
    )
    return session.emit(document, {"table": lambda screen: apply_text(result, screen)})
