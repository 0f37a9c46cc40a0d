"""`tunectl history`."""

from __future__ import annotations

from pathlib import Path

import click

from tunectl.adapters.run_store import FolderRuns
from tunectl.cli.options import command
from tunectl.cli.session import Session
from tunectl.view.envelope import Result
from tunectl.view.run import history_text, node_items, run_item


@command("history", kind="History")
@click.argument("run", required=False, type=int)
def history(session: Session, *, run: int | None) -> int:
    """List the runs of this folder and the generations they made, or show one RUN."""
    store = FolderRuns(Path.cwd())
    runs = [store.get(run)] if run is not None else store.runs()
    items = [{**run_item(one), "nodes": node_items(one)} for one in runs]
    simulated = any(node.simulated for one in runs for node in one.nodes)
    result = Result("History", summary={"runs": len(runs)}, items=items, simulated=simulated)
    return session.emit(result, {"table": lambda screen: history_text(runs, screen, detailed=run is not None)})
