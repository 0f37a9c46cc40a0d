"""The one document shape of all machine outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tunectl import __version__
from tunectl.core.errors import Problem

API_VERSION = "tunectl.io/v1alpha1"

EXIT_NAMES = {
    0: "ok",
    1: "failed",
    2: "usage",
    3: "differs",
    4: "refused",
    5: "unknown",
    6: "declined",
    7: "undone",
    8: "busy",
    70: "internal",
    130: "interrupted",
}

_PRECEDENCE = (130, 70, 2, 8, 1, 7, 4, 6, 3, 5, 0)


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
    return next((code for code in _PRECEDENCE if code in codes), 0)
