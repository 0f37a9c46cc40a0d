"""`tunectl snapshot save|show|diff`."""

from __future__ import annotations

from pathlib import Path

import click

from tunectl.adapters.snapshot_files import load_snapshots, save_snapshots
from tunectl.app.nodes import Selection, read_nodes
from tunectl.app.snapshots import Difference, compare, describe
from tunectl.cli.inventory import ansible_nodes
from tunectl.cli.options import command
from tunectl.cli.session import Session
from tunectl.core.snapshot import Snapshot
from tunectl.view.envelope import Result
from tunectl.view.progress import make_progress
from tunectl.view.snapshots import differences_text, snapshots_text

_FILE = click.Path(path_type=Path)


@click.group("snapshot", context_settings={"help_option_names": ["-h", "--help"]})
def snapshot() -> None:
    """Save what a plan and a verification need from nodes, and look at it."""


@command("save", kind="SnapshotList", options=("where",), parent=snapshot)
@click.argument("file", type=_FILE)
def save(session: Session, file: Path) -> int:
    """Read nodes and save them into FILE (.json, .json.gz or .tar.gz)."""
    progress = make_progress(session.progress, quiet=session.quiet, color=session.talk_screen.colour)
    nodes = ansible_nodes(session)
    selection = Selection(pool=session.where.pool, patterns=session.where.nodes)
    snapshots = read_nodes(selection, load_snapshots, lambda: nodes, progress.step)
    save_snapshots(file, snapshots)
    code = _emit(session, snapshots)
    session.next_step(f"tunectl inspect --snapshot {file}")
    return code


@command("show", kind="SnapshotList", parent=snapshot)
@click.argument("file", type=_FILE)
def show(session: Session, file: Path) -> int:
    """Show what FILE holds."""
    return _emit(session, load_snapshots(file))


@command("diff", kind="SnapshotDifference", parent=snapshot)
@click.argument("before", type=_FILE)
@click.argument("after", type=_FILE)
def diff(session: Session, before: Path, after: Path) -> int:
    """Compare two saved snapshots, node by node."""
    found = compare(load_snapshots(before), load_snapshots(after))
    return _emit_differences(session, found)


def _emit(session: Session, snapshots: list[Snapshot]) -> int:
    rows = [describe(one) for one in snapshots]
    result = Result(
        "SnapshotList",
        summary={"nodes": len(rows)},
        items=rows,
        simulated=any(one.simulated for one in snapshots),
    )
    return session.emit(result, {"table": lambda screen: snapshots_text(rows, screen)})


def _emit_differences(session: Session, found: list[Difference]) -> int:
    result = Result(
        "SnapshotDifference",
        exit_code=3 if found else 0,
        summary={"differences": len(found)},
        items=[vars(one) for one in found],
    )
    return session.emit(result, {"table": lambda screen: differences_text(found, screen)})
