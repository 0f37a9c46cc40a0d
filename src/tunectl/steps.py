"""What happens to nodes during a run, in our words: the steps that every kind of progress display shows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Step(Enum):
    """A stage of work on one node."""

    READ = "read"
    DRAIN = "drain"
    WRITE = "write"
    REBOOT = "reboot"
    VERIFY = "verify"
    RESTORE = "restore"


class StepState(Enum):
    """How far a step is."""

    START = "start"
    OK = "ok"
    UNCHANGED = "unchanged"
    FAILED = "failed"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True)
class StepEvent:
    """A step of one node began or ended. Scale: `duration_s` seconds, 0 at the start. `note` is a short remark."""

    node: str
    step: Step
    state: StepState
    duration_s: float = 0.0
    note: str = ""
    simulated: bool = False

    @property
    def ended(self) -> bool:
        """Whether the step is over."""
        return self.state is not StepState.START
