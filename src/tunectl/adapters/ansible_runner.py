"""Runs our playbooks with ansible-runner and turns its events into ours.

The event handler only enqueues: ansible-runner loses events and times out when it is slow.
"""

from __future__ import annotations

import os
import queue
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tunectl.adapters.ansible_event import Event
from tunectl.adapters.ansible_failures import problems_of
from tunectl.adapters.collection import playbook, search_path
from tunectl.core.errors import Problem, TunectlError

_RESULT_EVENTS = {
    "runner_on_ok": "ok",
    "runner_on_failed": "failed",
    "runner_on_unreachable": "unreachable",
    "runner_on_skipped": "skipped",
}
_OUTPUT_TAIL = 12


@dataclass
class Outcome:
    """How a playbook run ended.

    Shape: `results` is host -> short action name -> last result; `failed` and `unreachable` are host -> problems.
    `output` holds the last lines of Ansible's own text, for errors that have no host.
    """

    status: str = "starting"
    results: dict[str, dict[str, Mapping[str, Any]]] = field(default_factory=dict)
    failed: dict[str, tuple[Problem, ...]] = field(default_factory=dict)
    unreachable: dict[str, tuple[Problem, ...]] = field(default_factory=dict)
    output: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether the run ended well on every host."""
        return self.status == "successful" and not self.failed and not self.unreachable


@dataclass
class Playbooks:
    """Runs the shipped playbooks against one inventory.

    Shape: `inventory` is a path or a list of paths; `extra_env` wins over the environment of this process.
    """

    inventory: Sequence[Path]
    limit: str = ""
    forks: int = 0
    verbosity: int = 0
    extra_env: Mapping[str, str] = field(default_factory=dict)

    def run(
        self,
        name: str,
        variables: Mapping[str, Any],
        *,
        on_event: Callable[[Event], None] | None = None,
        on_interrupt: Callable[[int], bool] | None = None,
    ) -> Outcome:
        """Run a playbook and return how it ended; events reach `on_event` in this thread, in order.

        `on_interrupt(n)` is asked at the n-th Ctrl-C whether to stop at once; without it the first one stops.
        Raises `KeyboardInterrupt` after the run was stopped at once.
        """
        outcome = Outcome()
        with tempfile.TemporaryDirectory(prefix="tunectl-ansible-") as scratch:
            _Session(self, name, variables, Path(scratch), outcome).drive(on_event, on_interrupt)
        return outcome

    def environment(self) -> dict[str, str]:
        """Return the environment of the Ansible process."""
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
        return {
            "PATH": path,
            "ANSIBLE_COLLECTIONS_PATH": search_path(),
            "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "True",
            "ANSIBLE_PIPELINING": os.environ.get("ANSIBLE_PIPELINING", "True"),
            "ANSIBLE_HOST_PATTERN_MISMATCH": "error",
            "ANSIBLE_RETRY_FILES_ENABLED": "False",
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_LOCALHOST_WARNING": "False",
            "ANSIBLE_DEPRECATION_WARNINGS": "False",
            **self.extra_env,
        }


class _Session:
    """One playbook run: a thread drives ansible-runner, this thread consumes its events."""

    def __init__(
        self, playbooks: Playbooks, name: str, variables: Mapping[str, Any], scratch: Path, outcome: Outcome
    ) -> None:
        self._playbooks = playbooks
        self._name = name
        self._variables = dict(variables)
        self._scratch = scratch
        self._outcome = outcome
        self._queue: queue.SimpleQueue[Mapping[str, Any] | None] = queue.SimpleQueue()
        self._cancel = threading.Event()
        self._error: BaseException | None = None

    def drive(self, on_event: Callable[[Event], None] | None, on_interrupt: Callable[[int], bool] | None) -> None:
        thread = threading.Thread(target=self._work, name="ansible-runner", daemon=True)
        thread.start()
        interrupts = 0
        while True:
            try:
                raw = self._queue.get()
                if raw is None:
                    break
                for event in self._take(raw):
                    if on_event is not None:
                        on_event(event)
            except KeyboardInterrupt:
                interrupts += 1
                if on_interrupt is None or on_interrupt(interrupts):
                    self._cancel.set()
        thread.join()
        if self._cancel.is_set():
            raise KeyboardInterrupt
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        try:
            self._outcome.status = self._run()
        except BaseException as error:  # noqa: BLE001 - carried to the main thread and raised there
            self._error = error
        finally:
            self._queue.put(None)

    def _run(self) -> str:
        import ansible_runner  # type: ignore[import-untyped]  # noqa: PLC0415 - heavy; only for a real run

        options: dict[str, Any] = {"forks": self._playbooks.forks} if self._playbooks.forks else {}
        runner = ansible_runner.run(
            private_data_dir=str(self._scratch),
            playbook=str(playbook(self._name)),
            inventory=[str(path) for path in self._playbooks.inventory],
            limit=self._playbooks.limit or None,
            extravars=self._variables,
            envvars=self._playbooks.environment(),
            verbosity=self._playbooks.verbosity or None,
            quiet=True,
            event_handler=self._enqueue,
            cancel_callback=self._cancel.is_set,
            **options,
        )
        return str(runner.status)

    def _enqueue(self, event: Mapping[str, Any]) -> bool:
        self._queue.put(event)
        return False

    def _take(self, raw: Mapping[str, Any]) -> Iterator[Event]:
        text = str(raw.get("stdout") or "")
        if text:
            self._outcome.output = (self._outcome.output + text.splitlines())[-_OUTPUT_TAIL:]
        kind = str(raw.get("event", ""))
        data: Mapping[str, Any] = raw.get("event_data") or {}
        if kind == "runner_on_start":
            yield _event(data, "start")
        elif kind in _RESULT_EVENTS:
            yield self._result(data, _RESULT_EVENTS[kind])

    def _result(self, data: Mapping[str, Any], state: str) -> Event:
        result: Mapping[str, Any] = data.get("res") or {}
        if state == "ok" and result.get("changed"):
            state = "changed"
        event = _event(data, state, result)
        self._outcome.results.setdefault(event.host, {})[event.action] = result
        if state == "unreachable":
            self._outcome.unreachable[event.host] = problems_of(event)
        elif state == "failed" and not event.ignored:
            self._outcome.failed[event.host] = problems_of(event)
        return event


def _event(data: Mapping[str, Any], state: str, result: Mapping[str, Any] | None = None) -> Event:
    action = str(data.get("resolved_action") or data.get("task_action") or "")
    return Event(
        host=str(data.get("host", "")),
        action=action.rpartition(".")[2],
        task=str(data.get("task", "")),
        state=state,
        duration_s=float(data.get("duration") or 0.0),
        result=result or {},
        ignored=bool(data.get("ignore_errors")),
    )


class PlaybookError(TunectlError):
    """A playbook ended before any host could fail: inventory, pattern or installation."""
