"""`tunectl inspect`."""

from __future__ import annotations

from dataclasses import replace

import click

from tunectl.app.inspect import inspect_node
from tunectl.cli.options import command
from tunectl.cli.planning import snapshots_of
from tunectl.cli.session import Session
from tunectl.view.inspection import inspection_html, inspection_result, inspection_svg, inspection_text


@command("inspect", kind="Inventory", formats=("table", "json", "yaml", "svg", "html"), options=("where", "snapshot"))
@click.argument("names", nargs=-1, metavar="[NODE]...")
def inspect(session: Session, names: tuple[str, ...]) -> int:
    """Show the CPUs, NUMA nodes and devices of nodes, and how kubelet and kernel use them now."""
    session.where = replace(session.where, nodes=(*session.where.nodes, *names))
    seen = [inspect_node(snapshot) for snapshot in snapshots_of(session, None)]
    code = session.emit(
        inspection_result(seen),
        {
            "table": lambda screen: inspection_text(seen, screen),
            "svg": lambda _: inspection_svg(seen),
            "html": lambda _: inspection_html(seen, session.started_at),
        },
    )
    session.next_step("tunectl plan --tier hpc-massive")
    return code
