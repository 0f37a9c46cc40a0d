"""The order of an apply, what it refuses, and how it ends; the nodes behind it are real simulated trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from support.labs import node_tree, snapshot_of

from tunectl.app.apply import ApplyResult, apply_plan
from tunectl.app.rollback import RollbackResult, choose_nodes, choose_run, roll_back
from tunectl.core.errors import BusyError, DeclinedError, InputError, Problem, RefusedError, StoppedError, problem
from tunectl.core.findings import Finding, Severity, Verdict
from tunectl.core.plan import PoolPlan
from tunectl.core.snapshot import Snapshot
from tunectl.planning.pool import plan_pool
from tunectl.planning.tier_file import load_tier
from tunectl.ports import CommitOptions, CommitOutcome, OnEvent
from tunectl.runs import NodeRun, Run

_NO_OUTCOME = CommitOutcome()
_DEAD = (problem("TUN-4403", "the kernel refused a value", where="n1"),)


@dataclass
class Ports:
    """Everything outside of the use cases; `log` is what was asked of it, in order."""

    outcome: CommitOutcome = _NO_OUTCOME
    declines: bool = False
    busy: bool = False
    interrupted: bool = False
    log: list[str] = field(default_factory=list)
    kept: list[Run] = field(default_factory=list)
    targets: Mapping[str, int] = field(default_factory=dict)

    @property
    def inventory(self) -> tuple[str, ...]:
        return ("hosts.yaml",)

    def commit(self, plan: PoolPlan, directory: Path, options: CommitOptions, on_event: OnEvent) -> CommitOutcome:
        del directory, options, on_event
        self.log.append(f"commit {' '.join(node.node for node in plan.changed)}")
        return self._ended()

    def rollback(
        self, targets: Mapping[str, int], directory: Path, options: CommitOptions, on_event: OnEvent
    ) -> CommitOutcome:
        del directory, options, on_event
        self.targets = targets
        self.log.append(f"rollback {' '.join(targets)}")
        return self._ended()

    def _ended(self) -> CommitOutcome:
        if self.interrupted:
            raise KeyboardInterrupt
        return self.outcome

    def run_directory(self, run_id: int) -> Path:
        return Path(f"runs/{run_id}")

    def runs(self) -> list[Run]:
        return self.kept

    def get(self, run_id: int) -> Run:
        return next(run for run in self.kept if run.id == run_id)

    def last_change(self) -> Run | None:
        return self.kept[-1] if self.kept else None

    def begin(self, verb: str, *, tier: str, pool: str, plan: str, inventory: tuple[str, ...]) -> Run:
        self.log.append(f"begin {verb}")
        return Run(7, verb, tier, pool, plan, inventory, "2026-03-02T10:44:07Z")

    def finish(self, run: Run, *, state: str, exit_code: int, nodes: tuple[NodeRun, ...], of: int = 0) -> Run:
        self.log.append(f"finish {state} {exit_code}")
        run = replace(run, state=state, exit_code=exit_code, nodes=nodes, of=of)
        self.kept.append(run)
        return run

    @contextmanager
    def lock(self, what: str) -> Iterator[None]:
        self.log.append(f"lock {what}")
        if self.busy:
            raise BusyError((problem("TUN-3001", "another run holds this folder"),))
        yield
        self.log.append("unlock")

    def ask(self, _about: object) -> None:
        self.log.append("ask")
        if self.declines:
            raise DeclinedError((problem("TUN-3003", "declined"),))


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Snapshot, ...]:
    """Two simulated nodes as they are before anything was done."""
    folder = tmp_path_factory.mktemp("nodes")
    return tuple(snapshot_of(node_tree(folder / name)) for name in ("n1", "n2"))


@pytest.fixture(scope="module")
def plan(nodes: tuple[Snapshot, ...]) -> PoolPlan:
    """A plan that changes both nodes."""
    made = plan_pool(load_tier("memory-quiet"), nodes)
    assert [node.node for node in made.changed] == ["n1", "n2"]
    return made


def done(snapshots: Sequence[Snapshot] = (), *states: str, **more: object) -> CommitOutcome:
    """Return an outcome in which n1, n2, … ended in these states."""
    names = {f"n{number}": state for number, state in enumerate(states, 1)}
    generations = dict.fromkeys(names, (4, 5))
    return replace(CommitOutcome(tuple(snapshots), names, generations), **more)  # type: ignore[arg-type]


def applied(ports: Ports, plan: PoolPlan, now: Sequence[Snapshot]) -> ApplyResult:
    return apply_plan(
        plan,
        now,
        writer=ports,
        store=ports,
        confirm=ports.ask,
        on_event=lambda _event: None,
        options=CommitOptions(),
    )


def test_the_lock_is_taken_the_question_asked_and_only_then_nodes_are_changed(
    plan: PoolPlan, nodes: tuple[Snapshot, ...]
) -> None:
    ports = Ports(done(nodes, "changed", "changed"))
    result = applied(ports, plan, nodes)
    assert ports.log == [
        f"lock apply {plan.tier} to {plan.pool}",
        "ask",
        "begin apply",
        "commit n1 n2",
        "finish differs 3",
        "unlock",
    ]
    # the nodes of this outcome are as they were, and the judge says so
    assert (result.state, result.exit_code) == ("differs", 3)
    assert {finding.subject for finding in result.findings} == {"n1", "n2"}
    assert result.run is not None
    assert [(node.node, node.before, node.after) for node in result.run.nodes] == [("n1", 4, 5), ("n2", 4, 5)]
    assert [node.changes for node in result.run.nodes] == [len(node.changes) for node in plan.nodes]


@pytest.mark.parametrize(
    ("outcome", "state", "code"),
    [
        (done((), "changed", "failed", problems={"n2": _DEAD}), "failed", 1),
        (done((), "undone", "not started", problems={"n1": _DEAD}), "undone", 7),
        (done((), "changed", "undone", problems={"n2": _DEAD}), "failed", 1),
        (done((), "unreachable", "not started", problems={"n1": _DEAD}), "failed", 1),
        (done((), "changed", "not started", stopped=True), "stopped", 130),
        (done((), "changed", "failed", problems={"n2": _DEAD}, stopped=True), "stopped", 130),
        (done((), "changed", "changed"), "ok", 0),
    ],
)
def test_how_a_run_ends(
    plan: PoolPlan, nodes: tuple[Snapshot, ...], outcome: CommitOutcome, state: str, code: int
) -> None:
    ports = Ports(outcome)
    result = applied(ports, plan, nodes)
    assert (result.state, result.exit_code) == (state, code)
    assert ports.log[-2:] == [f"finish {state} {code}", "unlock"]
    assert result.problems == outcome.problems


def test_only_nodes_that_the_run_got_to_are_judged(plan: PoolPlan, nodes: tuple[Snapshot, ...]) -> None:
    result = applied(Ports(done(nodes, "changed", "not started", stopped=True)), plan, nodes)
    assert {finding.subject for finding in result.findings} == {"n1"}


def test_a_blocked_plan_is_refused_before_anybody_is_asked(plan: PoolPlan, nodes: tuple[Snapshot, ...]) -> None:
    wrong = Finding("cpu.reserved.empty", Verdict.FAIL, Severity.CRITICAL, "n1", "no CPU is reserved")
    assert wrong.blocks
    ports = Ports()
    with pytest.raises(RefusedError) as caught:
        applied(ports, replace(plan, findings=(wrong,)), nodes)
    assert [one.code for one in caught.value.problems] == ["cpu.reserved.empty"]
    assert ports.log == []


def test_a_plan_for_a_node_that_was_not_looked_at_is_refused(plan: PoolPlan, nodes: tuple[Snapshot, ...]) -> None:
    ports = Ports()
    with pytest.raises(RefusedError) as caught:
        applied(ports, plan, nodes[:1])
    assert [(one.code, one.where) for one in caught.value.problems] == [("TUN-3302", "n2")]
    assert ports.log == []


def test_nothing_to_do_asks_nobody_and_records_no_run(plan: PoolPlan, nodes: tuple[Snapshot, ...]) -> None:
    idle = replace(plan, nodes=tuple(replace(node, changes=(), actions=()) for node in plan.nodes))
    ports = Ports()
    result = applied(ports, idle, nodes)
    assert (ports.log, result.run) == ([], None)
    # nothing is to be changed, and still it is looked whether the nodes are as wanted
    assert (result.state, result.exit_code) == ("differs", 3)


@pytest.mark.parametrize(("trouble", "error"), [("declines", DeclinedError), ("busy", BusyError)])
def test_who_declines_or_waits_has_changed_nothing(
    plan: PoolPlan, nodes: tuple[Snapshot, ...], trouble: str, error: type[Exception]
) -> None:
    ports = Ports(**{trouble: True})  # type: ignore[arg-type]
    with pytest.raises(error):
        applied(ports, plan, nodes)
    assert [entry for entry in ports.log if entry.startswith(("begin", "commit", "finish"))] == []


def test_a_run_that_is_stopped_at_once_is_recorded(plan: PoolPlan, nodes: tuple[Snapshot, ...]) -> None:
    ports = Ports(interrupted=True)
    with pytest.raises(StoppedError) as caught:
        applied(ports, plan, nodes)
    assert ports.kept[-1].state == "interrupted"
    assert ports.kept[-1].exit_code == caught.value.exit_code == 130
    assert "next contact" in caught.value.state


_RUN = Run(
    3,
    "apply",
    "t",
    "p",
    "ab",
    ("hosts.yaml",),
    "2026-03-02T10:44:07Z",
    nodes=(NodeRun("n1", "changed", 4, 5, 9), NodeRun("n2", "unchanged", 4, 4), NodeRun("x3", "changed", 0, 1, 2)),
)


def rolled(ports: Ports, chosen: Sequence[NodeRun]) -> RollbackResult:
    return roll_back(
        _RUN,
        chosen,
        writer=ports,
        store=ports,
        confirm=ports.ask,
        on_event=lambda _event: None,
        options=CommitOptions(),
    )


def test_a_rollback_returns_each_node_to_the_generation_it_had() -> None:
    ports = Ports(CommitOutcome(states={"n1": "changed", "x3": "changed"}, generations={"n1": (5, 6), "x3": (1, 2)}))
    result = rolled(ports, choose_nodes(_RUN, ()))
    assert ports.log == ["lock rollback of run 3", "ask", "begin rollback", "rollback n1 x3", "finish ok 0", "unlock"]
    assert dict(ports.targets) == {"n1": 4, "x3": 0}
    assert (result.state, result.exit_code, result.run.of) == ("ok", 0, 3)
    assert [(node.node, node.changes) for node in result.run.nodes] == [("n1", 9), ("x3", 2)]


@pytest.mark.parametrize(
    ("states", "problems", "state", "code"),
    [
        ({"n1": "undone"}, {"n1": _DEAD}, "undone", 7),
        ({"n1": "unreachable"}, {"n1": _DEAD}, "failed", 1),
        ({"n1": "refused", "n2": "not started"}, {"n1": _DEAD}, "refused", 4),
        ({"n1": "refused", "n2": "undone"}, {"n1": _DEAD, "n2": _DEAD}, "undone", 7),
        ({"n1": "changed", "n2": "refused"}, {"n2": _DEAD}, "failed", 1),
    ],
)
def test_a_rollback_that_fails_says_so(
    states: Mapping[str, str], problems: Mapping[str, tuple[Problem, ...]], state: str, code: int
) -> None:
    result = rolled(Ports(CommitOutcome(states=states, problems=problems)), choose_nodes(_RUN, ("n*",)))
    assert (result.state, result.exit_code) == (state, code)


def test_a_rollback_that_is_declined_or_stopped() -> None:
    declined = Ports(declines=True)
    with pytest.raises(DeclinedError):
        rolled(declined, choose_nodes(_RUN, ()))
    assert declined.targets == {}
    stopped = Ports(interrupted=True)
    with pytest.raises(StoppedError):
        rolled(stopped, choose_nodes(_RUN, ()))
    assert stopped.kept[-1].state == "interrupted"


def test_which_nodes_and_which_run() -> None:
    assert [node.node for node in choose_nodes(_RUN, ("x*", "n1"))] == ["n1", "x3"]
    with pytest.raises(InputError) as unknown:
        choose_nodes(_RUN, ("n2",))
    assert [one.code for one in unknown.value.problems] == ["TUN-1524"]
    assert choose_run(Ports(kept=[_RUN]), None) is _RUN
    assert choose_run(Ports(kept=[_RUN]), 3) is _RUN
    for ports in (Ports(), Ports(kept=[replace(_RUN, nodes=_RUN.nodes[1:2])])):
        with pytest.raises(InputError) as nothing:
            choose_run(ports, None)
        assert [one.code for one in nothing.value.problems] == ["TUN-1523"]
