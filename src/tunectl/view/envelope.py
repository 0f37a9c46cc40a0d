"""The one document shape of all machine outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tunectl import __version__
from tunectl.core.errors import Problem

API_VERSION = "tunectl.io/v1alpha1"

# Exit code -> its name, and when it is the one.
EXIT_MEANINGS = {
    0: ("ok", "Done, nothing left to do; all checks pass or do not apply."),
    1: ("failed", "The work failed on at least one node and was not undone."),
    2: ("usage", "A flag, file or tier is wrong; nothing was contacted."),
    3: (
        "differs",
        "Something is not as it should be: failing checks, drift, refused pods, a kubelet that does not start.",
    ),
    4: ("refused", "A guard said no before anything was changed."),
    5: ("unknown", "Something could not be measured or reached; no failure was found among what was."),
    6: ("declined", "The answer was no, or one was needed and could not be asked for."),
    7: ("undone", "The work failed and everything was rolled back."),
    8: ("busy", "Another run holds the lock."),
    70: ("internal", "A defect in tunectl."),
    130: ("interrupted", "Ctrl-C, or the time of --timeout was over."),
}
EXIT_NAMES = {code: name for code, (name, _) in EXIT_MEANINGS.items()}

# Which exit code wins when several apply.
PRECEDENCE = (130, 70, 2, 8, 1, 7, 4, 6, 3, 5, 0)


@dataclass(frozen=True)
class Result:
    """What a verb found or did.

    Shape: `kind` names the document; `summary` holds totals, `items` one object a subject, both JSON data.
    """

    kind: str
    exit_code: int = 0
    summary: Mapping[str, Any] = field(default_factory=dict)
    items: Sequence[Mapping[str, Any]] = ()
    errors: tuple[Problem, ...] = ()
    simulated: bool = False

    @property
    def status(self) -> str:
        """Return the name of the exit code."""
        return EXIT_NAMES[self.exit_code]


def envelope(result: Result, started_at: str, duration_s: float) -> dict[str, Any]:
    """Return the document of a result. Shape: schema `envelope`. Scale: seconds, ISO 8601 UTC."""
    return {
        "apiVersion": API_VERSION,
        "kind": result.kind,
        "tool": {"name": "tunectl", "version": __version__},
        "startedAt": started_at,
        "duration_s": round(duration_s, 3),
        "status": result.status,
        "exitCode": result.exit_code,
        "simulated": result.simulated,
        "summary": dict(result.summary),
        "items": [dict(item) for item in result.items],
        "errors": [problem.to_json() for problem in result.errors],
    }


def worst(codes: Sequence[int]) -> int:
    """Return the exit code that wins when several apply; 0 of none."""
    return next((code for code in PRECEDENCE if code in codes), 0)
