"""Reads and changes nodes through our playbooks: the Ansible side of the ports."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tunectl.adapters.ansible_event import Event
from tunectl.adapters.ansible_failures import with_cordon, with_generation
from tunectl.adapters.ansible_runner import Outcome, Playbooks
from tunectl.core.errors import (
    FailedError,
    InputError,
    Problem,
    RefusedError,
    StoppedError,
    TunectlError,
    UnknownError,
    problem,
)
from tunectl.core.plan import PoolPlan
from tunectl.core.snapshot import Snapshot
from tunectl.planning.pool import node_plan_document
from tunectl.ports import CommitOptions, CommitOutcome, DrainOptions, OnEvent
from tunectl.steps import Step, StepEvent, StepState

_STEPS = {
    "node_snapshot": Step.READ,
    "node_drain": Step.DRAIN,
    "node_generation": Step.WRITE,
    "node_reboot": Step.REBOOT,
    "lab_reboot": Step.REBOOT,
    "reboot": Step.REBOOT,
}
_STATES = {
    "start": StepState.START,
    "ok": StepState.OK,
    "changed": StepState.OK,
    "failed": StepState.FAILED,
    "unreachable": StepState.UNREACHABLE,
}
_CONTROLLER = "the controller"


@dataclass
class AnsibleNodes:
    """Nodes of one Ansible inventory.

    Shape: `scratch` holds what a read leaves behind; it is made when None. `say` tells the user a sentence.
    """

    paths: Sequence[Path]
    forks: int = 0
    verbosity: int = 0
    say: Callable[[str], None] = field(default=lambda _text: None)
    scratch: Path | None = None
    _boots: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    @property
    def inventory(self) -> tuple[str, ...]:
        """The inventory, as it was named."""
        return tuple(str(path) for path in self.paths)

    def snapshots(self, pool: str | None, patterns: Sequence[str], on_event: OnEvent | None = None) -> list[Snapshot]:
        """Return one snapshot a node, in inventory order; see `ports.NodeReader`."""
        directory = Path(tempfile.mkdtemp(prefix="tunectl-read-", dir=self.scratch))
        try:
            variables = {
                "tunectl_run_dir": str(directory),
                "tunectl_only_pool": pool or "",
                "tunectl_nodes": list(patterns),
            }
            outcome = self._run("snapshot", variables, on_event, Step.READ)
            _raise_failures(outcome, changed_nothing=True)
            found = _load(directory)
        except KeyboardInterrupt as error:
            raise StoppedError((problem("TUN-4900", "stopped while nodes were read"),)) from error
        else:
            self._boots.update({one.node: str(one.facts.get("boot_id") or "") for one in found})
            return found
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    def commit(self, plan: PoolPlan, directory: Path, options: CommitOptions, on_event: OnEvent) -> CommitOutcome:
        """Change the nodes of a plan; see `ports.NodeWriter`."""
        plans = directory / "plans"
        plans.mkdir(parents=True, exist_ok=True)
        for node in plan.changed:
            (plans / f"{node.node}.json").write_text(json.dumps(node_plan_document(plan, node)), encoding="utf-8")
        nodes = [node.node for node in plan.changed]
        variables = {
            "tunectl_overwrite": options.overwrite,
            "tunectl_reboot": options.reboot,
            "tunectl_boot_ids": {node: self._boots.get(node, "") for node in nodes},
            **_drain_variables(options.drain),
        }
        return self._change("commit", nodes, directory, variables, on_event)

    def rollback(
        self, targets: Mapping[str, int], directory: Path, options: CommitOptions, on_event: OnEvent
    ) -> CommitOutcome:
        """Return nodes to a generation; see `ports.NodeWriter`."""
        variables = {"tunectl_reboot": options.reboot, "tunectl_rollback_to": dict(targets)}
        return self._change("rollback", list(targets), directory, variables, on_event)

    def _change(
        self, playbook: str, nodes: Sequence[str], directory: Path, variables: Mapping[str, Any], on_event: OnEvent
    ) -> CommitOutcome:
        directory.mkdir(parents=True, exist_ok=True)
        stop = directory / "stop"
        stopping: list[bool] = []

        def interrupted(count: int) -> bool:
            stop.touch()
            stopping.append(True)
            if count == 1:
                self.say("Stopping after the nodes at work; Ctrl-C again stops at once.")
            return count > 1

        every = {"tunectl_run_dir": str(directory), "tunectl_hosts": ":".join(nodes), **variables}
        outcome = self._run(playbook, every, on_event, Step.VERIFY, interrupted)
        if not any("node_generation" in result for result in outcome.results.values()):
            drains = [one.get("node_drain", {}) for one in outcome.results.values()]
            refused = [one for one in drains if one.get("tunectl_errors")]
            before_any = bool(refused) and not any(one.get("touched") for one in refused)
            if before_any or not (outcome.results or outcome.failed or outcome.unreachable):
                _raise_failures(outcome, changed_nothing=True)
        return _outcome(outcome, nodes, directory, stopped=bool(stopping))

    def _run(
        self,
        playbook: str,
        variables: Mapping[str, Any],
        on_event: OnEvent | None,
        snapshot_step: Step,
        interrupted: Callable[[int], bool] | None = None,
    ) -> Outcome:
        self._check_inventory()

        simulated: set[str] = set()

        def take(event: Event) -> None:
            if event.result.get("simulated"):
                simulated.add(event.host)
            step = _step(event, snapshot_step)
            # the task that reboots real machines starts, and is skipped, on simulated ones too
            if step is None or on_event is None or (event.action == "reboot" and event.host in simulated):
                return
            on_event(step)

        runner = Playbooks(self.paths, forks=self.forks, verbosity=self.verbosity)
        return runner.run(playbook, variables, on_event=take, on_interrupt=interrupted)

    def _check_inventory(self) -> None:
        for path in self.paths:
            if not path.exists():
                raise InputError(
                    (
                        problem(
                            "TUN-1510",
                            "the inventory does not exist",
                            where=str(path),
                            why="no such file or directory",
                            fix="name one with -i, or run tunectl lab up for simulated nodes",
                        ),
                    )
                )


def _drain_variables(drain: DrainOptions) -> dict[str, Any]:
    found: dict[str, Any] = {
        "tunectl_drain": drain.mode,
        "tunectl_drain_timeout": drain.timeout_s,
        "tunectl_delete_emptydir_data": drain.delete_emptydir_data,
        "tunectl_drain_force": drain.force,
    }
    # what was not asked for here may stand in the inventory
    named = {"tunectl_kubeconfig": drain.kubeconfig, "tunectl_kube_context": drain.context}
    return {**found, **{key: value for key, value in named.items() if value}}


def _step(event: Event, snapshot_step: Step) -> StepEvent | None:
    kind = _STEPS.get(event.action)
    state = _STATES.get(event.state)
    if kind is None or state is None or event.result.get("skipped_node"):
        return None
    simulated = event.action == "lab_reboot" or bool(event.result.get("simulated"))
    return StepEvent(
        event.host,
        snapshot_step if kind is Step.READ else kind,
        state,
        event.duration_s,
        str(event.result.get("note", "")),
        simulated,
    )


def _raise_failures(outcome: Outcome, *, changed_nothing: bool) -> None:
    state = "Nothing was changed." if changed_nothing else ""
    failed = tuple(item for problems in outcome.failed.values() for item in problems)
    silent = tuple(item for problems in outcome.unreachable.values() for item in problems)
    if failed or silent:
        # all that is wrong is said at once; what failed decides the exit code, what could not be looked at comes after
        kind = _failure_class(failed) if failed else UnknownError
        raise kind(_unique((*failed, *silent)), state)
    if outcome.status != "successful":
        raise _no_host_failed(outcome, state)


def _failure_class(problems: Sequence[Problem]) -> type[TunectlError]:
    """Return the error class that the thousands of the codes stand for; the exit codes 2, 1, 4, 5 win in this order."""
    by_stage = {"1": InputError, "2": RefusedError, "3": RefusedError, "5": UnknownError}
    kinds = {by_stage.get(one.code.removeprefix("TUN-")[:1], FailedError) for one in problems}
    return next(kind for kind in (InputError, FailedError, RefusedError, UnknownError) if kind in kinds)


def _unique(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    return tuple(dict.fromkeys(problems))


def _no_host_failed(outcome: Outcome, state: str) -> TunectlError:
    said = " ".join(line.strip() for line in outcome.output if line.strip())
    return InputError(
        (
            problem(
                "TUN-1511",
                "Ansible could not start on this inventory",
                where=_CONTROLLER,
                why=said[-600:] or f"it ended as {outcome.status} without a word",
                fix="ansible-inventory -i INVENTORY --list shows what Ansible makes of it",
            ),
        ),
        state,
    )


def _outcome(outcome: Outcome, nodes: Sequence[str], directory: Path, *, stopped: bool) -> CommitOutcome:
    problems = {**outcome.unreachable, **outcome.failed}
    states: dict[str, str] = {}
    generations: dict[str, tuple[int, int]] = {}
    for node in nodes:
        result = outcome.results.get(node, {}).get("node_generation", {})
        if node in problems:
            problems[node] = with_generation(problems[node], result)
            problems[node] = with_cordon(problems[node], outcome.results.get(node, {}).get("node_drain", {}))
        generations[node] = (int(result.get("before_generation") or 0), int(result.get("generation") or 0))
        states[node] = _state(node, outcome, result)
    return CommitOutcome(tuple(_load(directory)), states, generations, problems, stopped)


def _state(node: str, outcome: Outcome, result: Mapping[str, Any]) -> str:
    if node in outcome.unreachable:
        return "unreachable"
    if node in outcome.failed:
        if result.get("exit_code") == RefusedError.exit_code:
            return "refused"
        return "undone" if result.get("undone") else "failed"
    if not result or result.get("skipped_node"):
        return "not started"
    return "changed" if result.get("changed") else "unchanged"


def _load(directory: Path) -> list[Snapshot]:
    paths = {path.stem: path for path in (directory / "snapshots").glob("*.json")}
    order = _members(directory) or sorted(paths)
    return [Snapshot.from_json(json.loads(paths[name].read_text(encoding="utf-8"))) for name in order if name in paths]


def _members(directory: Path) -> list[str]:
    path = directory / "members.json"
    return list(json.loads(path.read_text(encoding="utf-8"))["hosts"]) if path.is_file() else []
