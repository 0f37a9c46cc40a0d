"""The runs of this folder: what was done, by which plan, with which result; and the lock that keeps runs apart."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tunectl.core.errors import BusyError, InputError, problem
from tunectl.runs import NodeRun, Run

STATE_DIRECTORY = ".tunectl"


def now() -> str:
    """Return the time as ISO 8601 UTC, seconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class FolderRuns:
    """The directory `.tunectl` of a folder. Nothing is created before the first run."""

    def __init__(self, folder: Path) -> None:
        """Use `folder/.tunectl`."""
        self.directory = folder / STATE_DIRECTORY

    def run_directory(self, run_id: int) -> Path:
        """Return the directory of a run."""
        return self.directory / "runs" / f"{run_id:04d}"

    def runs(self) -> list[Run]:
        """Return all runs, oldest first; raises `InputError` naming a damaged record."""
        return [self._read(path) for path in sorted((self.directory / "runs").glob("[0-9]*/run.json"))]

    def get(self, run_id: int) -> Run:
        """Return one run; raises `InputError` with the known ones when there is none of that number."""
        known = self.runs()
        for run in known:
            if run.id == run_id:
                return run
        listed = ", ".join(str(run.id) for run in known[-5:]) or "none yet"
        raise InputError(
            (
                problem(
                    "TUN-1521",
                    f"there is no run {run_id}",
                    where=str(self.directory / "runs"),
                    why=f"known runs: {listed}",
                    fix="tunectl history lists them",
                ),
            )
        )

    def last_change(self) -> Run | None:
        """Return the newest apply that changed a node and was not rolled back, or None."""
        undone = {run.of for run in self.runs() if run.verb == "rollback" and run.state == "ok"}
        changed = [run for run in self.runs() if run.verb == "apply" and run.nodes and run.id not in undone]
        return changed[-1] if changed else None

    def begin(self, verb: str, *, tier: str, pool: str, plan: str, inventory: tuple[str, ...]) -> Run:
        """Record the start of a run and return it; the caller holds the lock."""
        run_id = max((run.id for run in self.runs()), default=0) + 1
        run = Run(run_id, verb, tier, pool, plan, inventory, started_at=now())
        self.save(run)
        return run

    def finish(self, run: Run, *, state: str, exit_code: int, nodes: tuple[NodeRun, ...], of: int = 0) -> Run:
        """Record the end of a run and return it; `of` is the run that a rollback took back."""
        done = replace(run, state=state, exit_code=exit_code, nodes=nodes, of=of, ended_at=now())
        self.save(done)
        return done

    def save(self, run: Run) -> None:
        """Write the record of a run, old or new but never half."""
        directory = self.run_directory(run.id)
        directory.mkdir(parents=True, exist_ok=True)
        write_atomically(directory / "run.json", json.dumps(_to_json(run), indent=1) + "\n")

    @contextmanager
    def lock(self, what: str) -> Iterator[None]:
        """Hold the folder's lock; raises `BusyError` naming the holder when another run has it."""
        import filelock  # noqa: PLC0415 - only verbs that change something need it

        self.directory.mkdir(parents=True, exist_ok=True)
        holder = self.directory / "holder"
        lock = filelock.FileLock(str(self.directory / "lock"), timeout=0)
        try:
            lock.acquire()
        except filelock.Timeout as error:
            raise _busy(holder) from error
        try:
            holder.write_text(f"{what} (process {os.getpid()}, since {now()})\n", encoding="utf-8")
            yield
        finally:
            holder.unlink(missing_ok=True)
            lock.release()

    def _read(self, path: Path) -> Run:
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            nodes = tuple(NodeRun(**node) for node in data.pop("nodes"))
            return Run(**{**data, "nodes": nodes, "inventory": tuple(data["inventory"])})
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise InputError(
                (
                    problem(
                        "TUN-1522",
                        "the record of a run cannot be read",
                        where=str(path),
                        why=str(error),
                        fix=f"move {path.parent} away; the nodes keep their own generations",
                    ),
                )
            ) from error


def write_atomically(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old or the new text, also after a crash."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    with scratch.open("w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    scratch.replace(path)


def _to_json(run: Run) -> dict[str, Any]:
    return {**vars(run), "inventory": list(run.inventory), "nodes": [vars(node) for node in run.nodes]}


def _busy(holder: Path) -> BusyError:
    try:
        who = holder.read_text(encoding="utf-8").strip()
    except OSError:
        who = "another run that has just started"
    return BusyError(
        (
            problem(
                "TUN-3001",
                "another run holds this folder",
                where=str(holder.parent / "lock"),
                why=who,
                fix="wait for it, or watch it: tunectl history",
            ),
        )
    )
