"""A bootstrap for people: one line a phase, then what failed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tunectl.app.bootstrap import PREFLIGHT, BootstrapResult, PhaseResult
from tunectl.core.findings import Finding, Severity, Verdict, count_verdicts
from tunectl.view.findings import findings_lines, totals_line
from tunectl.view.quantities import duration_text, plural
from tunectl.view.screen import Screen

_SIGNS = {
    "ok": ("✓", "good"),
    "unchanged": ("✓", "good"),
    "failed": ("✗", "bad"),
    "skipped": ("-", "dim"),
    "waiting": ("·", "dim"),
}
_WIDTH = 16


def phase_line(result: PhaseResult, screen: Screen) -> str:
    """Return the line of a phase: what it did, on how many machines, how long."""
    sign, role = _SIGNS[result.state]
    took = "" if result.state in ("waiting", "skipped") else duration_text(result.duration_s)
    parts = [screen.paint(sign, role), _said(result), took, _note(result)]
    text = "   ".join(part for part in parts if part)
    return screen.text(f"  {result.phase.ljust(_WIDTH)} {text}".rstrip())


def _said(result: PhaseResult) -> str:
    if result.state in ("waiting", "skipped"):
        return result.state
    if result.state == "failed":
        return "failed" + (f", {len(result.changed)} changed" if result.changed else "")
    count = plural(result.machines, "machine")
    if result.phase in (PREFLIGHT, "verify"):
        return count
    return f"{count}, {len(result.changed)} changed" if result.changed else f"{count}, nothing to do"


def _note(result: PhaseResult) -> str:
    warnings = sum(
        1 for one in result.findings if one.verdict is Verdict.FAIL and one.severity is not Severity.CRITICAL
    )
    notes = [plural(warnings, "warning") if warnings else "", result.note, "simulated" if result.simulated else ""]
    return " · ".join(note for note in notes if note)


def bootstrap_text(result: BootstrapResult, screen: Screen) -> str:
    """Return the closing text of a bootstrap: every phase, and what is to be said of the machines."""
    lines = [screen.text("  PHASE            STATE"), *(phase_line(one, screen) for one in result.phases)]
    findings = [one for phase in result.phases for one in phase.findings]
    lines += ["", *findings_lines(findings, screen)] if findings_lines(findings, screen) else []
    changed = sorted({name for phase in result.phases for name in phase.changed})
    lines += ["", screen.text(f"bootstrap {result.state}   {plural(len(changed), 'machine')} changed")]
    return "\n".join(lines) + "\n"


def preflight_text(findings: Iterable[Finding], screen: Screen) -> str:
    """Return what a preflight found, the heaviest first, and how many checks passed."""
    found = list(findings)
    lines = findings_lines(found, screen)
    return "\n".join([*lines, *([""] if lines else []), totals_line(found, screen)]) + "\n"


def bootstrap_items(result: BootstrapResult) -> list[dict[str, Any]]:
    """Return the phases as data."""
    return [
        {
            "phase": one.phase,
            "state": one.state,
            "machines": one.machines,
            "changed": list(one.changed),
            "note": one.note,
            "duration_s": round(one.duration_s, 3),
            "findings": {verdict.value: count for verdict, count in count_verdicts(one.findings).items()},
        }
        for one in result.phases
    ]
