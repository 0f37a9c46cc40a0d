"""What the use cases need from outside, as types. Adapters provide it; tests may too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tunectl.core.errors import Problem
from tunectl.core.plan import PoolPlan
from tunectl.core.snapshot import Snapshot
from tunectl.runs import NodeRun, Run
from tunectl.steps import StepEvent

OnEvent = Callable[[StepEvent], None]


class NodeReader(Protocol):
    """Reads nodes. It has no way to write: whoever holds only this cannot change a node."""

    def snapshots(self, pool: str | None, patterns: Sequence[str], on_event: OnEvent | None = None) -> list[Snapshot]:
        """Return one snapshot a node of the pool that matches the patterns, in inventory order.

        Shape: `pool` None means every node; no patterns means all of them.
        Sad paths: `InputError` for an unreadable inventory or a pattern that matches nothing,
        `UnknownError` for a node that cannot be reached.
        """
        ...


@dataclass(frozen=True)
class DrainOptions:
    """How nodes are drained.

    Shape: `mode` is auto or never; `kubeconfig` and `context` empty mean those of the environment; `timeout_s` 0
    refuses disruption budgets without room. The other two say what may be lost, as kubectl names them.
    """

    mode: str = "auto"
    kubeconfig: str = ""
    context: str = ""
    timeout_s: int = 0
    delete_emptydir_data: bool = False
    force: bool = False


@dataclass(frozen=True)
class CommitOptions:
    """How nodes are changed. `reboot` is auto or never; `overwrite` replaces files that were changed by hand."""

    reboot: str = "auto"
    overwrite: bool = False
    drain: DrainOptions = DrainOptions()


@dataclass(frozen=True)
class CommitOutcome:
    """What happened to the nodes of a run.

    Shape: `snapshots` were taken after the change, of the nodes where that was possible; `states` is node ->
    changed, unchanged, failed, undone, refused (nothing was touched), unreachable or not started; `generations` is
    node -> number before and after (0 = none); `problems` is node -> why it failed. `stopped` says that the user
    stopped the run.
    """

    snapshots: tuple[Snapshot, ...] = ()
    states: Mapping[str, str] = field(default_factory=dict)
    generations: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    problems: Mapping[str, tuple[Problem, ...]] = field(default_factory=dict)
    stopped: bool = False

    @property
    def all_undone(self) -> bool:
        """Whether no node was left changed."""
        return not any(state in ("changed", "failed", "unreachable") for state in self.states.values())

    @property
    def all_refused(self) -> bool:
        """Whether nodes said no before anything was touched on them, and no other was touched either."""
        states = set(self.states.values())
        return "refused" in states and states <= {"refused", "unchanged", "not started"}


class NodeWriter(Protocol):
    """Changes nodes."""

    @property
    def inventory(self) -> tuple[str, ...]:
        """The inventory, as it was named."""
        ...

    def commit(self, plan: PoolPlan, directory: Path, options: CommitOptions, on_event: OnEvent) -> CommitOutcome:
        """Make the changed nodes of the plan what it says, one generation each, and look at them again.

        Shape: `directory` is the run's own; plans and snapshots are kept there.
        """
        ...

    def rollback(
        self, targets: Mapping[str, int], directory: Path, options: CommitOptions, on_event: OnEvent
    ) -> CommitOutcome:
        """Return nodes to a generation (0 = as before the first one) and look at them again."""
        ...


class RunStore(Protocol):
    """Remembers runs, and keeps them apart."""

    def run_directory(self, run_id: int) -> Path:
        """Return the directory of a run."""
        ...

    def runs(self) -> list[Run]:
        """Return all runs, oldest first."""
        ...

    def get(self, run_id: int) -> Run:
        """Return one run; raises `InputError` when there is none of that number."""
        ...

    def last_change(self) -> Run | None:
        """Return the newest apply that changed a node and was not rolled back."""
        ...

    def begin(self, verb: str, *, tier: str, pool: str, plan: str, inventory: tuple[str, ...]) -> Run:
        """Record the start of a run and return it."""
        ...

    def finish(self, run: Run, *, state: str, exit_code: int, nodes: tuple[NodeRun, ...], of: int = 0) -> Run:
        """Record the end of a run and return it; `of` is the run that a rollback took back."""
        ...

    def lock(self, what: str) -> AbstractContextManager[None]:
        """Hold the folder's lock; raises `BusyError` naming the holder."""
        ...
