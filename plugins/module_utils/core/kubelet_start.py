# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether a kubelet starts, and what it does when it does, as findings: for plans and for validations alike."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .findings import Evidence, Finding, Origin, Severity, Verdict
from .kubelet.config_decode import Path, path_text
from .kubelet.config_gates import COMPLETE_SINCE
from .kubelet.config_judge import Verdict as StartVerdict
from .kubelet.config_merge import EVICTION, UNKNOWN_GATE, Reason
from .kubelet.config_start import Kubelet
from .kubelet.config_types import DEFAULT_EVICTION, FIELD_SINCE, FIELDS, Kind
from .kubelet.hazards import Hazard, hazards
from .kubelet.machine import KubeletMachine
from .kubelet.settings import read_settings
from .quantity import is_percentage

LOAD, INVALID, MACHINE, CHECKPOINT = (
    "kubelet.start.load",
    "kubelet.start.invalid",
    "kubelet.start.machine",
    "kubelet.start.checkpoint",
)
READMISSION = "kubelet.start.readmission"
IGNORED, TWICE = "kubelet.config.ignored", "kubelet.config.twice"
PARTIAL, PERCENT, GATE = "kubelet.eviction.partial", "kubelet.config.eviction-percent", "kubelet.config.gate"
DRIVER = "kubelet.config.cgroup-driver"
_STAGES = {"load": LOAD, "validate": INVALID, "startup": MACHINE}
_EXITS = "the kubelet exits and is started again, for ever; the node becomes NotReady"

Place = Callable[[str, Path], Origin]


@dataclass(frozen=True)
class Subject:
    """Whose findings they are. Shape: `place` tells where in a file a field stands; `setting` is empty for a node."""

    name: str
    place: Place = lambda file, _path: Origin(file)

    def finding(  # noqa: PLR0913  the parts of one statement
        self,
        check: str,
        severity: Severity,
        message: str,
        *,
        file: str = "",
        path: Path = (),
        why: str = "",
        remedy: str = "",
        expected: str = "",
        actual: str = "",
        verdict: Verdict = Verdict.FAIL,
    ) -> Finding:
        """Return a finding about a field."""
        field = path_text(path)
        return Finding(
            id=check,
            verdict=verdict,
            severity=severity,
            subject=self.name,
            message=message,
            expected=expected,
            actual=actual,
            why=why,
            remedy=remedy,
            evidence=(Evidence(file, field),) if file and field else (),
            asked_in=self.place(file, path) if file else Origin(),
            setting=f"kubelet.{path[0]}" if path else "",
        )


def start_findings(subject: Subject, verdict: StartVerdict, kubelet: Kubelet) -> Iterator[Finding]:
    """Yield one finding for each reason for which the kubelet does not start; nothing when it does."""
    for reason in verdict.reasons:
        yield _refusal(subject, verdict.stage, reason, kubelet)


def _refusal(subject: Subject, stage: str, reason: Reason, kubelet: Kubelet) -> Finding:
    check = CHECKPOINT if reason.rule.startswith("state-") else _STAGES[stage]
    # Of older releases not every gate is known here.
    unsure = reason.rule == UNKNOWN_GATE and kubelet.version < COMPLETE_SINCE
    if check == CHECKPOINT:
        return subject.finding(check, Severity.CRITICAL, reason.what, why=f"{reason.rule}; {_EXITS}", remedy=reason.fix)
    field = path_text(reason.path)
    return subject.finding(
        check,
        Severity.CRITICAL,
        f"{field}: {reason.what}" if field and not reason.what.startswith(field) else reason.what,
        file=reason.file,
        path=reason.path,
        why=f"{reason.rule}; {_EXITS}",
        remedy=reason.fix or f"correct {field or 'the file'}",
        verdict=Verdict.UNKNOWN if unsure else Verdict.FAIL,
    )


def hazard_findings(
    subject: Subject, verdict: StartVerdict, machine: KubeletMachine, kubelet: Kubelet
) -> Iterator[Finding]:
    """Yield what a kubelet that starts would do damage with on a machine."""
    if not verdict.starts:
        return
    for hazard in hazards(read_settings(verdict.merged.config, kubelet.version), machine):
        yield _hazard(subject, verdict, hazard)


def _hazard(subject: Subject, verdict: StartVerdict, hazard: Hazard) -> Finding:
    return subject.finding(
        f"kubelet.start.{hazard.code}",
        Severity.CRITICAL,
        hazard.what,
        file=verdict.merged.source(hazard.path),
        path=hazard.path,
        why=hazard.why,
        remedy=hazard.fix,
    )


def readmission_findings(subject: Subject, turned_away: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the running pods that a restart would end; `turned_away` maps their uids to the kubelet's reason."""
    for pod, reason in turned_away.items():
        yield subject.finding(
            READMISSION,
            Severity.CRITICAL,
            f"a restart of the kubelet ends the running pod {pod}: {reason}",
            why="each start of the kubelet admits running pods again, by the settings in force then",
            remedy="drain the node before the kubelet is restarted",
        )


def config_findings(subject: Subject, verdict: StartVerdict, kubelet: Kubelet) -> Iterator[Finding]:
    """Yield what a reader of the configuration would take for something else than the kubelet does."""
    yield from _ignored(subject, verdict, kubelet)
    merged = verdict.merged
    for gate in merged.unknown_gates:
        path = ("featureGates", gate)
        message = f"kubelet {_dotted(kubelet)} does not know the feature gate {gate} and only warns of it"
        yield subject.finding(
            GATE, Severity.WARNING, message, file=merged.source(path), path=path, remedy=f"leave {gate} out"
        )
    if not merged.config:
        return
    yield from _eviction(subject, verdict)


def _ignored(subject: Subject, verdict: StartVerdict, kubelet: Kubelet) -> Iterator[Finding]:
    for one in verdict.merged.ignored:
        name = str(one.path[-1])
        since = FIELD_SINCE.get(name) if len(one.path) == 1 else None
        near = difflib.get_close_matches(name, _names_at(one.path[:-1]), n=1, cutoff=0.7)
        same = [known for known in _names_at(one.path[:-1]) if known.lower() == name.lower()]
        remedy = f"write {(same or near)[0]}" if same or near else f"remove {name}"
        if since and since > kubelet.version:
            remedy = f"remove {name}: kubelet {since[0]}.{since[1]} is the first that has it"
        yield subject.finding(
            IGNORED,
            Severity.WARNING,
            f"kubelet {_dotted(kubelet)} has no field {path_text(one.path)} and ignores it",
            file=one.file,
            path=one.path,
            why="the kubelet reads its file again without strictness when a field is unknown, and logs one line",
            remedy=remedy,
        )


def _names_at(path: Path) -> list[str]:
    kind: Any = FIELDS
    for part in path:
        if isinstance(kind, Kind):
            kind = kind.item
        elif isinstance(kind, Mapping):
            kind = kind.get(part)
    return list(kind) if isinstance(kind, Mapping) else []


def _eviction(subject: Subject, verdict: StartVerdict) -> Iterator[Finding]:
    merged = verdict.merged
    thresholds = merged.config.get(EVICTION) or {}
    missing = [signal for signal in DEFAULT_EVICTION if signal not in thresholds]
    if missing:
        off = "every threshold" if not thresholds else ", ".join(missing)
        yield subject.finding(
            PARTIAL,
            Severity.WARNING,
            f"evictionHard switches {off} off",
            file=merged.source((EVICTION,)),
            path=(EVICTION,),
            why="in the main file and in flags a map with one key replaces all defaults; null in a drop-in drops them",
            remedy=f"add {', '.join(missing)} to evictionHard",
            expected=", ".join(DEFAULT_EVICTION),
            actual=", ".join(thresholds) or "none",
        )
    memory = thresholds.get("memory.available", "")
    if merged.config.get("memoryManagerPolicy") == "Static" and is_percentage(memory):
        path = (EVICTION, "memory.available")
        yield subject.finding(
            PERCENT,
            Severity.WARNING,
            f"evictionHard memory.available is {memory} and the Static memory manager compares bytes",
            file=merged.source(path),
            path=path,
            why="a share is other bytes on each machine, after rounding in floating point: no reservedMemory fits all",
            remedy="write the threshold as a quantity",
        )


def driver_findings(subject: Subject, verdict: StartVerdict, running: str) -> Iterator[Finding]:
    """Yield that the configuration names another cgroup driver than the one that pods run under, "" for unknown."""
    driver = verdict.merged.config.get("cgroupDriver", "")
    if not driver or not running or driver == running:
        return
    path = ("cgroupDriver",)
    yield subject.finding(
        DRIVER,
        Severity.WARNING,
        f"cgroupDriver is {driver} and pods run under {running}",
        file=verdict.merged.source(path),
        path=path,
        why="since 1.31 the container runtime's answer counts where it gives one; elsewhere no pod starts",
        remedy=f"set cgroupDriver: {running}",
        expected=running,
        actual=driver,
    )


def _dotted(kubelet: Kubelet) -> str:
    return f"{kubelet.version[0]}.{kubelet.version[1]}"
