"""Where snapshots come from: files named on the command line, or nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from tunectl.core.errors import InputError, problem
from tunectl.core.snapshot import Snapshot
from tunectl.ports import NodeReader, OnEvent


@dataclass(frozen=True)
class Selection:
    """Which nodes. Shape: `files` not empty means that no node is contacted; `pool` None means every node."""

    files: tuple[Path, ...] = ()
    pool: str | None = None
    patterns: tuple[str, ...] = ()


def read_nodes(
    selection: Selection,
    load_files: Callable[[Path], Sequence[Snapshot]],
    reader: Callable[[], NodeReader],
    on_event: OnEvent | None = None,
) -> list[Snapshot]:
    """Return the snapshots of the selected nodes.

    Shape: `reader` is called only when nodes must be read, so that saved snapshots need no inventory.
    Sad paths: `InputError` TUN-1010 when a pattern matches no snapshot, TUN-1011 when two snapshots name one node.
    """
    if not selection.files:
        return reader().snapshots(selection.pool, selection.patterns, on_event)
    snapshots = [snapshot for path in selection.files for snapshot in load_files(path)]
    _refuse_twins(snapshots)
    return _matching(snapshots, selection.patterns)


def _refuse_twins(snapshots: Sequence[Snapshot]) -> None:
    names = [snapshot.node for snapshot in snapshots]
    twins = sorted({name for name in names if names.count(name) > 1})
    if twins:
        raise InputError(
            (
                problem(
                    "TUN-1011",
                    "two snapshots are of the same node",
                    where="--snapshot",
                    why=f"more than one names {', '.join(twins)}",
                    fix="give one snapshot a node",
                ),
            )
        )


def _matching(snapshots: Sequence[Snapshot], patterns: Sequence[str]) -> list[Snapshot]:
    if not patterns:
        return list(snapshots)
    names = [snapshot.node for snapshot in snapshots]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise InputError(
                (
                    problem(
                        "TUN-1010",
                        f"no snapshot matches {pattern!r}",
                        where=f"--node {pattern}",
                        why=f"the snapshots are of {', '.join(names)}",
                        fix=f"--node {names[0]}" if names else "name a snapshot that holds a node",
                    ),
                )
            )
    return [snapshot for snapshot in snapshots if any(fnmatchcase(snapshot.node, pattern) for pattern in patterns)]
