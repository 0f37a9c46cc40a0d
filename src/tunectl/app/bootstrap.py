"""Bootstrap a cluster phase by phase: each is checked and, where it is finished, changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from tunectl.core.errors import InputError, Problem, problem
from tunectl.core.findings import Finding

PREFLIGHT, TUNING = "preflight", "machine-tuning"
PHASES = (PREFLIGHT, TUNING, "runtime", "control-plane", "network", "workers", "tiers", "verify")
# What the exit code is when a phase fails, by the thousands of the first problem's code.
_EXITS = {"1": 2, "2": 4, "3": 4, "5": 5}


@dataclass(frozen=True)
class PhaseResult:
    """How a phase ended.

    Shape: `state` is ok, unchanged, failed or skipped; `changed` names the machines on which something changed.
    Scale: `duration_s` seconds.
    """

    phase: str
    state: str
    machines: int = 0
    changed: tuple[str, ...] = ()
    note: str = ""
    problems: tuple[Problem, ...] = ()
    findings: tuple[Finding, ...] = ()
    duration_s: float = 0.0
    simulated: bool = False

    @property
    def good(self) -> bool:
        """Whether the next phase may begin."""
        return self.state != "failed"


@dataclass(frozen=True)
class BootstrapResult:
    """What a bootstrap did. Shape: `phases` has every phase that was to be done, those not begun as `waiting`."""

    phases: tuple[PhaseResult, ...]

    @property
    def exit_code(self) -> int:
        """0 when all is done; else by what failed: a refusal and a usage error have changed nothing."""
        failed = next((one for one in self.phases if one.state == "failed"), None)
        if failed is None:
            return 0
        before = any(one.changed for one in self.phases)
        stage = failed.problems[0].code.removeprefix("TUN-")[:1] if failed.problems else ""
        return 1 if before else _EXITS.get(stage, 1)

    @property
    def state(self) -> str:
        """Return ok, unchanged or failed."""
        if any(one.state == "failed" for one in self.phases):
            return "failed"
        return "ok" if any(one.changed for one in self.phases) else "unchanged"


class Phases(Protocol):
    """Does one phase on the machines of an inventory."""

    def run(self, phase: str) -> PhaseResult:
        """Do a phase and return how it ended; nothing that a machine says is raised."""
        ...


def chosen_phases(start: str | None, end: str | None, skipped: Sequence[str]) -> tuple[str, ...]:
    """Return the phases to do, in their order; the preflight is always among them.

    Shape: it tells the others what the machines are: without it a node with pods could be taken for a bare machine.
    Sad paths: `InputError` TUN-1930 when `start` comes after `end`, or the preflight is to be skipped.
    """
    if PREFLIGHT in skipped:
        raise InputError(
            (
                problem(
                    "TUN-1930",
                    "the preflight is not skipped",
                    where=f"--skip {PREFLIGHT}",
                    why="it tells the other phases what the machines are, and changes nothing",
                    fix="--accept CHECK for a check that is not to be insisted on",
                ),
            )
        )
    first = PHASES.index(start) if start else 0
    last = PHASES.index(end) if end else len(PHASES) - 1
    chosen = tuple(
        name
        for at, name in enumerate(PHASES)
        if name not in skipped and (first <= at <= last or (name == PREFLIGHT and first <= last))
    )
    if not chosen:
        raise InputError(
            (
                problem(
                    "TUN-1930",
                    "no phase is left to do",
                    where="--from, --until, --skip",
                    why=f"the phases are, in this order, {', '.join(PHASES)}",
                    fix="name a phase in --until that comes after the one in --from",
                ),
            )
        )
    return chosen


def bootstrap(
    chosen: Sequence[str], phases: Phases, on_phase: Callable[[PhaseResult], None], confirm: Callable[[], None]
) -> BootstrapResult:
    """Do the phases one after the other until one fails, and return how each ended.

    Shape: `confirm` is asked once, after the preflight and before the first phase that changes something.
    """
    done: list[PhaseResult] = []
    for name in chosen:
        if name != PREFLIGHT and not any(one.phase != PREFLIGHT for one in done):
            confirm()
        result = phases.run(name)
        done.append(result)
        on_phase(result)
        if not result.good:
            break
    waiting = (PhaseResult(name, "waiting") for name in chosen[len(done) :])
    return BootstrapResult((*done, *waiting))
