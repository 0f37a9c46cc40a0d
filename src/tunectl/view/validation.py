"""A validation for people and programs: whether each kubelet starts, what is wrong, what pods are left with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tunectl.app.validate import Judged, Validation
from tunectl.core.findings import Finding
from tunectl.core.jsonform import to_json
from tunectl.core.quantity import format_bytes
from tunectl.view.envelope import Result
from tunectl.view.findings import findings_lines, totals_line
from tunectl.view.junit import findings_junit
from tunectl.view.screen import Screen
from tunectl.view.table import labelled

_ENDS = {
    "load": "it cannot load its configuration",
    "validate": "it refuses its configuration",
    "startup": "it ends while it starts on this machine",
}


def validation_text(result: Validation, screen: Screen) -> str:
    """Return a headline for each kubelet with its findings below, the heaviest first."""
    lines: list[str] = []
    for kubelet in result.kubelets:
        lines += [_headline(kubelet, screen), *_resources(kubelet, screen)]
        found = findings_lines(kubelet.findings, screen)
        lines += ["", *(f"  {line}" if line else "" for line in found), ""] if found else [""]
    every = [finding for kubelet in result.kubelets for finding in kubelet.findings]
    return "\n".join([*lines, f"{totals_line(every, screen)}   exit {result.exit_code}"]) + "\n"


def _headline(kubelet: Judged, screen: Screen) -> str:
    release = f"{kubelet.kubelet.version[0]}.{kubelet.kubelet.version[1]}"
    flavor = f"kubelet {release} ({kubelet.kubelet.flavor.value})"
    where = "" if kubelet.on_machine else " as far as its files tell"
    simulated = "  simulated" if kubelet.simulated else ""
    if kubelet.starts:
        text = screen.paint(screen.text(f"✓ {kubelet.name}: {flavor} starts{where}"), "good")
    else:
        text = screen.paint(screen.text(f"✗ {kubelet.name}: {flavor} does not start: {_ENDS[kubelet.stage]}"), "bad")
    return text + screen.paint(simulated, "attention")


def _resources(kubelet: Judged, screen: Screen) -> Iterator[str]:
    for label, amounts in (("reserved", kubelet.reservation), ("for pods", kubelet.allocatable)):
        parts = [
            f"{name} {_bytes(int(text)) if name == 'memory' else text}" for name, text in amounts.items() if text != "0"
        ]
        if parts:
            yield from labelled(label, ", ".join(parts), screen, 2, 10)


def _bytes(count: int) -> str:
    """Return a size for people: exact where that is short, else in MiB with one digit."""
    exact = format_bytes(count)
    return exact if exact.endswith("i") else f"{count / 2**20:.1f}Mi"


def validation_result(result: Validation) -> Result:
    """Return the machine form: one item a finding; the summary has one entry a kubelet."""
    return Result(
        "Validation",
        exit_code=result.exit_code,
        summary={
            "starts": all(kubelet.starts for kubelet in result.kubelets),
            "kubelets": [_kubelet(kubelet) for kubelet in result.kubelets],
        },
        items=[_item(finding, kubelet) for kubelet in result.kubelets for finding in kubelet.findings],
        simulated=any(kubelet.simulated for kubelet in result.kubelets),
    )


def _kubelet(kubelet: Judged) -> dict[str, Any]:
    return {
        "name": kubelet.name,
        "version": f"{kubelet.kubelet.version[0]}.{kubelet.kubelet.version[1]}",
        "flavor": kubelet.kubelet.flavor.value,
        "starts": kubelet.starts,
        "stage": kubelet.stage,
        "onMachine": kubelet.on_machine,
        "reservation": dict(kubelet.reservation),
        "allocatable": dict(kubelet.allocatable),
    }


def _item(finding: Finding, kubelet: Judged) -> dict[str, Any]:
    return {
        "kubelet": kubelet.name,
        "check": finding.id,
        "verdict": finding.verdict.value,
        "level": finding.severity.value,
        "message": finding.message,
        "field": finding.evidence[0].text if finding.evidence else "",
        "askedIn": to_json(finding.asked_in),
        "why": finding.why,
        "fix": finding.remedy,
    }


def validation_junit(result: Validation) -> str:
    """Return the JUnit form: suite = kubelet, case = check."""
    return findings_junit("tunectl validate", [(kubelet.name, kubelet.findings) for kubelet in result.kubelets])
