"""Says in our words why a task failed, or why a node could not be reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tunectl.adapters.ansible_event import Event
from tunectl.core.errors import Problem, problem
from tunectl.core.node_access import INTERRUPTED, NodeFailure, access_problem

_WRITES = "node_generation"
_LONGEST = 400


def problems_of(event: Event) -> tuple[Problem, ...]:
    """Return why a task failed: the problems that it carries, else what keeps the node from being worked on."""
    carried = event.result.get("tunectl_errors") or []
    if carried:
        return tuple(_carried(item) for item in carried)
    failure = _failure(event)
    found = access_problem(failure)
    if found is None:
        found = _unreachable(failure) if failure.unreachable else _unknown(event, failure)
    if found.code == INTERRUPTED and event.action == _WRITES:
        found = _interrupted_write(found)
    return (found,)


def with_generation(problems: tuple[Problem, ...], written: Mapping[str, Any]) -> tuple[Problem, ...]:
    """Return the problems of a node, with what was written on it before; `written` is its node_generation result."""
    if not written.get("changed") or written.get("failed"):
        return problems
    state = f"generation {written.get('generation')} is written on the node and not proven"
    fix = "then tunectl verify proves it, and tunectl rollback takes it back"
    return tuple(replace(one, why=_joined(one.why, state), fix=_joined(one.fix, fix)) for one in problems)


def with_cordon(problems: tuple[Problem, ...], drained: Mapping[str, Any]) -> tuple[Problem, ...]:
    """Return the problems of a node, and that it is cordoned; `drained` is its last node_drain result."""
    if not drained.get("changed") or drained.get("cordon") != "ours":
        return problems
    name = drained.get("node")
    state, fix = f"the Node {name} stays cordoned", f"kubectl uncordon {name} once it is well, or tunectl apply again"
    return tuple(replace(one, why=_joined(one.why, state), fix=_joined(one.fix, fix)) for one in problems)


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _carried(item: Mapping[str, Any]) -> Problem:
    return Problem(
        code=str(item.get("code", "")),
        what=str(item.get("message", "")),
        where=str(item.get("location", "")),
        why=str(item.get("why", "")),
        fix=str(item.get("hint", "")),
    )


def _failure(event: Event) -> NodeFailure:
    result = event.result
    code = result.get("rc")
    message = str(result.get("msg") or "")
    # Ansible marks what a program printed, after a sentence of its own
    message, _, printed = message.partition(">>> Standard Error")
    streams = [printed, *(str(result.get(name) or "") for name in ("module_stderr", "module_stdout"))]
    return NodeFailure(
        node=event.host,
        message=message.removeprefix("Task failed: "),
        printed="\n".join(stream for stream in streams if stream.strip()),
        code=code if isinstance(code, int) else None,
        unreachable=event.state == "unreachable",
    )


def _interrupted_write(found: Problem) -> Problem:
    return replace(
        found,
        code="TUN-4470",
        what=f"the change of {found.where} ended midway",
        fix=f"{found.fix}: the next one puts back what was left unfinished, before it does anything else",
    )


def _unknown(event: Event, failure: NodeFailure) -> Problem:
    return problem(
        "TUN-4001",
        f"{event.action} failed on {event.host}",
        where=event.host,
        why=_first_words(failure.text) or "the task failed without a message",
        fix="run again with -vv to see what Ansible says",
    )


def _unreachable(failure: NodeFailure) -> Problem:
    return problem(
        "TUN-5001",
        f"{failure.node} could not be reached",
        where=failure.node,
        why=_first_words(failure.text) or "no answer",
        fix=f"ansible -m ansible.builtin.ping {failure.node} shows the connection alone; "
        f"--node '!{failure.node}' leaves the node out",
    )


def _first_words(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
