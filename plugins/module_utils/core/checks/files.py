# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Are the files that tunectl wrote still as it wrote them."""

from __future__ import annotations

from collections.abc import Iterator

from ..desired import DesiredState
from ..findings import Evidence, Finding, Severity
from ..observed import ObservedState
from ..plan_files import FilesNow, files_now
from .statement import Statement, finding, verdict_of


def check_foreign_files(desired: DesiredState, observed: ObservedState) -> Iterator[Finding]:
    """Yield whether someone else changed or removed a file of the current generation; nothing before the first."""
    now = files_now(observed.snapshot)
    if not now.owned:
        return
    states = {path: _state(path, sha256, now) for path, sha256 in sorted(now.owned.items())}
    bad = {path: state for path, state in states.items() if state}
    yield finding(
        "file.foreign",
        verdict_of(not bad),
        observed,
        Statement(
            "; ".join(f"{path} {state}" for path, state in bad.items())
            or f"all {len(states)} files of tunectl are as they were written",
            "as they were written",
            ", ".join(bad) or "unchanged",
            remedy=f"put what you need into the tier, then tunectl apply --tier {desired.tier} --overwrite",
            evidence=tuple(Evidence(path, state) for path, state in bad.items()),
            severity=Severity.WARNING,
        ),
    )


def _state(path: str, sha256: str, now: FilesNow) -> str:
    """Return what happened to a file, "" when nothing did."""
    found = now.digest(path)
    if found == sha256:
        return ""
    return "was removed by someone else" if found is None else "was changed by someone else"
