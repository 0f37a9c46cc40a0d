"""`tunectl rollback`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from tunectl.adapters.ansible_nodes import AnsibleNodes
from tunectl.adapters.run_store import FolderRuns
from tunectl.app.rollback import RollbackResult, choose_nodes, choose_run, roll_back
from tunectl.cli.confirm import confirm_changes
from tunectl.cli.options import command
from tunectl.cli.session import Session
from tunectl.ports import CommitOptions
from tunectl.runs import NodeRun
from tunectl.steps import Step
from tunectl.view.envelope import Result
from tunectl.view.progress import make_progress
from tunectl.view.run import node_items, rollback_text

_REBOOT = click.Choice(("auto", "never"))


@command("rollback", kind="Run", options=("where",))
@click.argument("run", required=False, type=int)
@click.option("-y", "--yes", is_flag=True, help="Answer the question with yes.")
@click.option("--reboot", type=_REBOOT, default="auto", help="Reboot nodes that need it, or leave that to you.")
def rollback(session: Session, *, run: int | None, yes: bool, reboot: str) -> int:
    """Return nodes to what they were before RUN, by default the last one that changed something."""
    store = FolderRuns(Path.cwd())
    chosen = choose_run(store, run)
    nodes = choose_nodes(chosen, session.where.nodes)
    inventory = [session.where.inventory] if session.where.inventory else [Path(path) for path in chosen.inventory]
    progress = make_progress(session.progress, quiet=session.quiet, color=session.talk_screen.colour)

    def confirm(asked: Sequence[NodeRun]) -> None:
        names = ", ".join(node.node for node in asked)
        confirm_changes(session, f"This takes back run {chosen.id} (tier {chosen.tier}) on {names}", yes=yes)
        progress.begin(f"rollback of run {chosen.id}", [node.node for node in asked], Step.VERIFY)

    try:
        result = roll_back(
            chosen,
            nodes,
            writer=AnsibleNodes(inventory, forks=int(session.settings["forks"]), say=session.say),
            store=store,
            confirm=confirm,
            on_event=progress.step,
            options=CommitOptions(reboot=reboot),
        )
    finally:
        progress.end()
    return _emit(session, result)


def _emit(session: Session, result: RollbackResult) -> int:
    document = Result(
        "Run",
        exit_code=result.exit_code,
        summary={
            "run": result.run.id,
            "state": result.state,
            "tier": result.of.tier,
            "pool": result.of.pool,
            "of": result.of.id,
            "nodes": len(result.run.nodes),
        },
        items=node_items(result.run),
        errors=tuple(problem for problems in result.problems.values() for problem in problems),
        simulated=any(snapshot.simulated for snapshot in result.snapshots),
    )
    return session.emit(document, {"table": lambda screen: rollback_text(result, screen)})
