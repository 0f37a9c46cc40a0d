"""The phases of a bootstrap as playbooks, and the tuning of bare machines through our own apply."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tunectl.adapters.ansible_event import Event
from tunectl.adapters.ansible_runner import Outcome, Playbooks
from tunectl.app.bootstrap import PREFLIGHT, TUNING, PhaseResult
from tunectl.core.bootstrap.membership import Standing, read_membership
from tunectl.core.errors import Problem, TunectlError, problem
from tunectl.core.findings import Evidence, Finding, Severity, Verdict
from tunectl.core.snapshot import Snapshot

Tune = Callable[[str, str, Sequence[Snapshot]], PhaseResult]


@dataclass
class PlaybookPhases:
    """Runs phases against one inventory.

    Shape: `tiers` is pool -> tier, empty for those of the inventory; `run_dir` keeps snapshots and findings between
    phases; `tune` applies the machine part of a tier to the bare machines of its pool, whose snapshots it is given.
    """

    inventory: Path
    run_dir: Path
    tiers: Mapping[str, str]
    tier_dirs: Sequence[str]
    tune: Tune
    forks: int = 0
    verbosity: int = 0
    variables: Mapping[str, Any] = field(default_factory=dict)

    def run(self, phase: str) -> PhaseResult:
        """Do a phase and return how it ended."""
        started = time.monotonic()
        try:
            result = self._tuned() if phase == TUNING else self._played(phase)
        except TunectlError as error:
            result = PhaseResult(phase, "failed", note=error.state, problems=error.problems)
        return replace(result, duration_s=time.monotonic() - started)

    def _played(self, phase: str) -> PhaseResult:
        changed: dict[str, None] = {}

        def take(event: Event) -> None:
            if event.state == "changed" and event.host:
                changed[event.host] = None

        playbooks = Playbooks([self.inventory], forks=self.forks, verbosity=self.verbosity)
        outcome = playbooks.run(f"bootstrap_{phase.replace('-', '_')}", self._extra(), on_event=take)
        findings = self._findings() if phase == PREFLIGHT else ()
        return _result(phase, outcome, tuple(changed), findings)

    def _extra(self) -> dict[str, Any]:
        return {
            **self.variables,
            "tunectl_run_dir": str(self.run_dir),
            **({"tunectl_tiers": dict(self.tiers)} if self.tiers else {}),
            "tunectl_tier_dirs": list(self.tier_dirs),
        }

    def _findings(self) -> tuple[Finding, ...]:
        path = self.run_dir / "preflight.json"
        data = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
        return tuple(_finding(one) for one in data)

    def _tuned(self) -> PhaseResult:
        """Tune the machines that are in no cluster yet: nodes have pods, and `tunectl apply` drains them first."""
        tiers = self._tiers()
        if not tiers:
            return PhaseResult(TUNING, "skipped", note="no pool has a tier")
        results = [self.tune(pool, tier, self._bare()) for pool, tier in tiers.items()]
        bad = [one for one in results if not one.good]
        return PhaseResult(
            TUNING,
            "failed" if bad else ("ok" if any(one.changed for one in results) else "unchanged"),
            machines=sum(one.machines for one in results),
            changed=tuple(name for one in results for name in one.changed),
            note="; ".join(dict.fromkeys(one.note for one in results if one.note)),
            problems=tuple(item for one in bad for item in one.problems),
            simulated=any(one.simulated for one in results),
        )

    def _tiers(self) -> dict[str, str]:
        """Return the tier of each pool, as the preflight had them: of the command line, else of the inventory."""
        path = self.run_dir / "tiers.json"
        return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else dict(self.tiers)

    def _bare(self) -> list[Snapshot]:
        paths = sorted((self.run_dir / "snapshots").glob("*.json"))
        read = [Snapshot.from_json(json.loads(path.read_text(encoding="utf-8"))) for path in paths]
        return [one for one in read if read_membership(one).standing is Standing.NONE]


def _result(phase: str, outcome: Outcome, changed: tuple[str, ...], findings: tuple[Finding, ...]) -> PhaseResult:
    problems = tuple(
        dict.fromkeys(
            item for found in (outcome.failed, outcome.unreachable) for problems in found.values() for item in problems
        )
    )
    if not problems and outcome.status != "successful":
        problems = (_no_host(outcome),)
    hosts = len(set(outcome.results) | set(outcome.unreachable))
    state = "failed" if problems else ("ok" if changed or phase in (PREFLIGHT, "verify") else "unchanged")
    simulated = any(one.get("simulated") for actions in outcome.results.values() for one in actions.values())
    return PhaseResult(phase, state, hosts, changed, "", problems, findings, simulated=simulated)


def _no_host(outcome: Outcome) -> Problem:
    said = " ".join(line.strip() for line in outcome.output if line.strip())
    return problem(
        "TUN-1511",
        "Ansible could not start on this inventory",
        where="the controller",
        why=said[-600:] or f"it ended as {outcome.status} without a word",
        fix="the inventory needs the groups kube_control_plane and kube_workers",
    )


def _finding(data: Mapping[str, Any]) -> Finding:
    evidence = tuple(Evidence(one["file"], one["text"]) for one in data.get("evidence") or ())
    return Finding(
        id=str(data["id"]),
        verdict=Verdict(data["verdict"]),
        severity=Severity(data["severity"]),
        subject=str(data["subject"]),
        message=str(data["message"]),
        expected=str(data["expected"]),
        actual=str(data["actual"]),
        why=str(data["why"]),
        remedy=str(data["remedy"]),
        evidence=evidence,
    )
