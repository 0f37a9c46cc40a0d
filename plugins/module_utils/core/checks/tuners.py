# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Does something else tune the node at the same time."""

from __future__ import annotations

from collections.abc import Iterator

from ..desired import DesiredState, Platform
from ..findings import Evidence, Finding, Severity, Verdict
from ..observed import ObservedState
from .statement import Statement, finding, verdict_of

# irqbalance and the like move single things; these set whole profiles over and over.
_RIVALS = ("tuned", "saptune")
_PROFILE = "/etc/tuned/active_profile"


def check_tuners(desired: DesiredState, observed: ObservedState) -> Iterator[Finding]:
    """Yield whether TuneD or saptune is at work; on OpenShift TuneD is the tool that carries the tier."""
    check = "tuner.conflict"
    if desired.platform is Platform.OPENSHIFT:
        said = Statement("the Node Tuning Operator's TuneD carries the tier here", severity=Severity.INFO)
        yield finding(check, Verdict.NOT_APPLICABLE, observed, said)
        return
    snapshot = observed.snapshot
    if "/proc" in snapshot.unreadable:
        said = Statement(f"/proc could not be listed: {snapshot.unreadable['/proc']}", severity=Severity.WARNING)
        yield finding(check, Verdict.UNKNOWN, observed, said)
        return
    rivals = [name for name in observed.tuners if name in _RIVALS]
    profile = snapshot.text(_PROFILE) or ""
    evidence = [Evidence(path, text.strip()) for path, text in snapshot.files.items() if _is_rival(path, text)]
    evidence += [Evidence(_PROFILE, profile)] if profile and rivals else []
    message = f"{' and '.join(rivals)} also tunes this node" + (f" with profile {profile}" if profile else "")
    yield finding(
        check,
        verdict_of(not rivals),
        observed,
        Statement(
            message if rivals else "no other tuner is at work",
            "none",
            ", ".join(rivals) or "none",
            evidence=tuple(evidence),
            severity=Severity.WARNING,
        ),
    )


def _is_rival(path: str, text: str) -> bool:
    return path.startswith("/proc/") and path.endswith("/comm") and text.strip() in _RIVALS
