"""Which phases of a bootstrap are done, in which order, and how it ends."""

from __future__ import annotations

import pytest

from tunectl.app.bootstrap import PHASES, BootstrapResult, PhaseResult, bootstrap, chosen_phases
from tunectl.core.errors import DeclinedError, InputError, problem


class Recorded:
    """Phases that end as they are told to."""

    def __init__(self, **states: str) -> None:
        self.states = states
        self.ran: list[str] = []

    def run(self, phase: str) -> PhaseResult:
        self.ran.append(phase)
        state = self.states.get(phase.replace("-", "_"), "unchanged")
        code = {"failed": "TUN-4730", "refused": "TUN-3730"}.get(state)
        problems = (problem(code, "it failed"),) if code else ()
        name = "failed" if code else state
        return PhaseResult(phase, name, 2, ("cp-1",) if state == "ok" else (), problems=problems)


def done(phases: Recorded, chosen: tuple[str, ...] = PHASES) -> BootstrapResult:
    return bootstrap(chosen, phases, lambda _: None, lambda: None)


def test_phases_are_chosen_in_their_order_and_the_preflight_is_always_among_them() -> None:
    assert chosen_phases(None, None, ()) == PHASES
    assert chosen_phases("workers", None, ()) == ("preflight", "workers", "tiers", "verify")
    assert chosen_phases("runtime", "workers", ("network",)) == ("preflight", "runtime", "control-plane", "workers")
    with pytest.raises(InputError, match="preflight is not skipped"):
        chosen_phases(None, None, ("preflight",))
    assert chosen_phases(None, "preflight", ()) == ("preflight",)
    with pytest.raises(InputError, match="TUN-1930"):
        chosen_phases("workers", "runtime", ())


def test_a_second_run_says_that_nothing_was_changed() -> None:
    result = done(Recorded())
    assert (result.state, result.exit_code) == ("unchanged", 0)
    assert done(Recorded(workers="ok")).state == "ok"


def test_the_first_failure_ends_it_and_the_rest_waits() -> None:
    phases = Recorded(runtime="ok", control_plane="failed")
    result = done(phases)
    assert phases.ran == list(PHASES[:4])
    assert [one.state for one in result.phases[3:]] == ["failed", "waiting", "waiting", "waiting", "waiting"]
    assert result.exit_code == 1


def test_a_refusal_before_any_change_is_one() -> None:
    assert done(Recorded(preflight="refused")).exit_code == 4
    assert done(Recorded(runtime="ok", control_plane="refused")).exit_code == 1


def test_the_question_comes_after_the_preflight_and_before_any_change() -> None:
    phases = Recorded()

    def declined() -> None:
        raise DeclinedError((problem("TUN-3003", "declined"),))

    with pytest.raises(DeclinedError):
        bootstrap(PHASES, phases, lambda _: None, declined)
    assert phases.ran == ["preflight"]
    asked: list[int] = []
    bootstrap(PHASES, phases, lambda _: None, lambda: asked.append(1))
    assert asked == [1]
