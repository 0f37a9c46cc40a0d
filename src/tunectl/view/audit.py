"""An audit of manifests for people and programs: what each pod will be, what is wrong, what mends it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from tunectl.app.audit import Correction, exit_code
from tunectl.core.audit.audit import Audit, AuditedContainer, AuditedPod, all_verdicts
from tunectl.core.audit.finding import PodFinding
from tunectl.core.findings import Finding, Severity, Verdict
from tunectl.core.jsonform import to_json
from tunectl.core.quantity import format_bytes, format_quantity
from tunectl.planning.manifests import Manifests
from tunectl.view.envelope import Result
from tunectl.view.findings import by_weight
from tunectl.view.junit import findings_junit
from tunectl.view.quantities import memory_text, plural
from tunectl.view.sarif import findings_sarif
from tunectl.view.screen import Screen
from tunectl.view.table import Cell, Column, labelled, table_lines

_SIGNS = {
    Severity.CRITICAL: ("✗ critical", "bad"),
    Severity.WARNING: ("! warning", "attention"),
    Severity.INFO: ("· note", "dim"),
}
_UNKNOWN = ("? unknown", "attention")
_SAID_BY_SHARERS = "pod.qos.not-guaranteed"
_MOST_SKIPPED = 6
_SHORT_KINDS = {
    "Pod": "po",
    "ReplicationController": "rc",
    "ReplicaSet": "rs",
    "Deployment": "deploy",
    "StatefulSet": "sts",
    "DaemonSet": "ds",
    "CronJob": "cj",
}
_NO_TIER = "no tier was named: CPUS are those of a static CPU manager, and rules of tiers and machines were left out"
_EVICTED = (
    "EVICTED: the order when memory runs out and every pod uses all that its limits allow, without a limit all there "
    "is: who is over its request, then lower priority, then more bytes over"
)


def audit_text(result: Audit, manifests: Manifests, screen: Screen, fail_on: Severity, *, verbose: bool = False) -> str:
    """Return the audit: a row a container, who shares and why, what is wrong; notes in one line each, or `verbose`."""
    lines = [*_table(result, screen), "", *_sharers(result, screen)]
    found = by_weight(result.findings)
    notes = [one for one in found if one.severity is Severity.INFO and one.verdict is Verdict.FAIL and not verbose]
    for group in _groups(one for one in found if one not in notes):
        lines += [*_group_lines(group, screen), ""]
    notes = [one for one in notes if one.id != _SAID_BY_SHARERS]
    for one in notes:
        lines += labelled("· note", f"{one.id}  {one.asked_in}: {one.message}", screen, 0, 10)
    lines += ["", *_foot(result, manifests, screen)] if notes else _foot(result, manifests, screen)
    return screen.text("\n".join([*lines, "", _totals(result, screen, fail_on)])) + "\n"


def _table(result: Audit, screen: Screen) -> list[str]:
    columns = [
        Column("WORKLOAD", elastic=True, least=16),
        Column("CONTAINER", elastic=True, least=9),
        Column("QOS"),
        Column("CPUS"),
        Column("OOM", right=True),
        Column("EVICTED", right=True),
    ]
    rows: list[list[str | Cell]] = []
    for pod in result.pods:
        rows += [_row(pod, one, first=index == 0) for index, one in enumerate(pod.containers)]
    return table_lines(columns, rows, screen)


def _row(pod: AuditedPod, one: AuditedContainer, *, first: bool) -> list[str | Cell]:
    qos = pod.subject.pod.qos.value
    cpus = f"{one.exclusive} own" if one.exclusive else "shared"
    return [
        _short_title(pod) if first else "",
        one.name,
        qos if first else "",
        Cell(cpus, "good" if one.exclusive else ""),
        "?" if one.oom_score_adj is None else str(one.oom_score_adj),
        ("never" if pod.eviction_rank is None else f"{pod.eviction_rank}.") if first else "",
    ]


def _sharers(result: Audit, screen: Screen) -> Iterator[str]:
    """Yield why containers have no CPUs of their own: the fields that are to blame, else the kubelet's rule."""
    rows = [(pod, one) for pod in result.pods for one in pod.containers if not one.exclusive]
    for pod, one in rows:
        name = _short_title(pod) if len(pod.containers) == 1 else f"{_short_title(pod)} {one.name}"
        why = "; ".join(culprit.text for culprit in one.culprits) or one.why_shared
        yield from labelled("shared", f"{name}: {why}", screen, 2, 8)
    if rows:
        yield ""


def _short_title(pod: AuditedPod) -> str:
    """Return kind and name as kubectl abbreviates them; findings and documents have the namespace too."""
    kind = pod.subject.kind
    return f"{_SHORT_KINDS.get(kind, kind.lower())}/{pod.subject.name}"


def _groups(findings: Iterable[Finding]) -> list[list[PodFinding]]:
    """Return findings that have the same reason and remedy together, in the order of the first of each."""
    groups: dict[tuple[object, ...], list[PodFinding]] = {}
    for one in findings:
        if isinstance(one, PodFinding):
            groups.setdefault((one.id, one.verdict, one.severity, one.remedy, bool(one.edits)), []).append(one)
    return list(groups.values())


def _group_lines(group: Sequence[PodFinding], screen: Screen) -> list[str]:
    first = group[0]
    sign, role = _SIGNS[first.severity] if first.verdict is Verdict.FAIL else _UNKNOWN
    lines = [f"{screen.paint(sign, role)}   {screen.paint(first.id, 'strong')}"]
    for one in group:
        lines += labelled("", f"{one.asked_in}  {one.subject}: {one.message}", screen, 4, 0)
    fix = first.remedy + (" (--fix writes it)" if first.edits else "")
    parts = [("why", first.why), ("fix", fix)]
    return lines + [line for label, text in parts if text for line in labelled(label, text, screen, 4, 5)]


def _foot(result: Audit, manifests: Manifests, screen: Screen) -> Iterator[str]:
    """Yield what the table rests on."""
    machine = memory_text(result.memory // 1024) if result.memory else ""
    texts = [
        f"OOM: oom_score_adj on a machine with {machine}"
        if machine
        else "OOM: ? depends on the machine's memory (--node-memory, --topology, --snapshot, or -i with --tier)",
        _EVICTED,
    ]
    tiers = [tier.name for tier in result.context.tiers]
    texts.append(f"judged by tier {', '.join(tiers)}" if tiers else _NO_TIER)
    unknown = sorted({pod.subject.pod.priority_class for pod in result.pods if not pod.subject.priority_known})
    if unknown:
        texts.append(f"priority classes that no manifest describes count as 0: {', '.join(unknown)}")
    names = [name for name, _ in manifests.skipped]
    if names:
        more = f" and {len(names) - _MOST_SKIPPED} more" if len(names) > _MOST_SKIPPED else ""
        texts.append(f"skipped, because they make no pods: {', '.join(names[:_MOST_SKIPPED])}{more}")
    for text in texts:
        for line in labelled("", text, screen, 2, 0):
            yield screen.paint(line, "dim")


def _totals(result: Audit, screen: Screen, fail_on: Severity) -> str:
    failed = [one for one in result.findings if one.verdict is Verdict.FAIL]
    counts = {severity: sum(one.severity is severity for one in failed) for severity in Severity}
    unknown = sum(one.verdict is Verdict.UNKNOWN for one in result.findings)
    parts = [
        (f"✗ {counts[Severity.CRITICAL]} critical", "bad" if counts[Severity.CRITICAL] else "dim"),
        (f"! {plural(counts[Severity.WARNING], 'warning')}", "attention" if counts[Severity.WARNING] else "dim"),
        (f"· {plural(counts[Severity.INFO], 'note')}", "dim"),
        (f"? {unknown} unknown", "attention" if unknown else "dim"),
    ]
    text = "   ".join(screen.paint(text, role) for text, role in parts)
    return f"  {plural(len(result.pods), 'workload')}   {text}   exit {exit_code(result, fail_on)}"


def audit_result(result: Audit, manifests: Manifests, fail_on: Severity, correction: Correction | None) -> Result:
    """Return the machine form: one item a workload."""
    failed = [one for one in result.findings if one.verdict is Verdict.FAIL]
    summary: dict[str, Any] = {
        "workloads": len(result.pods),
        "tiers": [tier.name for tier in result.context.tiers],
        "nodeMemoryBytes": result.memory or None,
        "failOn": fail_on.value,
        **{severity.value: sum(one.severity is severity for one in failed) for severity in Severity},
        "unknown": sum(one.verdict is Verdict.UNKNOWN for one in result.findings),
        "evictionAssumes": "every pod uses all memory that its limits allow; without a limit, all there is",
        "skippedObjects": [name for name, _ in manifests.skipped],
    }
    if correction is not None:
        summary["diff"] = correction_diff(correction)
        summary["notCorrected"] = [
            {"check": check, "where": str(origin), "why": why} for origin, check, why in correction.left
        ]
    items = [_item(pod) for pod in result.pods]
    return Result("Audit", exit_code=exit_code(result, fail_on), summary=summary, items=items)


def _item(pod: AuditedPod) -> dict[str, Any]:
    subject = pod.subject
    return {
        "workload": subject.title,
        "kind": subject.kind,
        "name": subject.name,
        "namespace": subject.namespace,
        "replicas": subject.replicas,
        "writtenIn": to_json(subject.place(())),
        "tier": pod.tier or None,
        "qosClass": subject.pod.qos.value,
        "priority": subject.pod.priority if subject.priority_known else None,
        "evictionRank": pod.eviction_rank,
        "assumedMemoryBytes": pod.claim.usage,
        "containers": [_container(pod, one) for one in pod.containers],
        "findings": [_finding(one) for one in pod.findings],
    }


def _container(pod: AuditedPod, one: AuditedContainer) -> dict[str, Any]:
    view = next(view for view in pod.subject.containers if view.name == one.name and view.kind == one.kind)
    return {
        "name": one.name,
        "kind": one.kind,
        "exclusiveCpus": one.exclusive,
        "whyShared": one.why_shared or None,
        "oomScoreAdj": one.oom_score_adj,
        "culprits": [culprit.text for culprit in one.culprits],
        "requests": _amounts(view.defaulted.requests),
        "limits": _amounts(view.defaulted.limits),
    }


def _amounts(resources: Mapping[str, Fraction]) -> dict[str, str]:
    """Return quantities as Kubernetes writes them: binary where they are whole bytes."""
    return {
        name: format_quantity(value) if name == "cpu" or value.denominator > 1 else format_bytes(value.numerator)
        for name, value in resources.items()
    }


def _finding(one: PodFinding) -> dict[str, Any]:
    return {
        "check": one.id,
        "verdict": one.verdict.value,
        "level": one.severity.value,
        "message": one.message,
        "container": one.container or None,
        "field": one.setting,
        "writtenIn": to_json(one.asked_in),
        "wanted": one.expected,
        "found": one.actual,
        "why": one.why,
        "fix": one.remedy,
        "canFix": bool(one.edits),
    }


def audit_junit(result: Audit) -> str:
    """Return the JUnit form: suite = workload, case = check."""
    return findings_junit("tunectl audit", [(pod.subject.title, all_verdicts(pod)) for pod in result.pods])


def audit_sarif(result: Audit) -> str:
    """Return the SARIF form."""
    return findings_sarif("audit", result.findings)


def correction_diff(correction: Correction) -> str:
    """Return the corrections as a unified diff for `patch -p1`; empty when there are none."""
    parts: list[str] = []
    for file, text in correction.before.items():
        name = file.lstrip("/").replace(" ", "-")
        parts += _diff(text, correction.after[file], name)
    return "".join(parts)


def _diff(before: str, after: str, name: str) -> Iterator[str]:
    lines: Sequence[str] = before.splitlines(keepends=True)
    for line in difflib.unified_diff(lines, after.splitlines(keepends=True), f"a/{name}", f"b/{name}"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def left_lines(correction: Correction, result: Audit, screen: Screen) -> str:
    """Return what the corrections leave: what could not be written in place, and what only the author can mend."""
    lines = [f"{origin}: {check} was not corrected: {why}" for origin, check, why in correction.left]
    own = [one for one in by_weight(result.findings) if isinstance(one, PodFinding) and not one.edits]
    own = [one for one in own if one.severity is not Severity.INFO]
    if own:
        lines.append(f"{plural(len(own), 'finding')} for you to mend:")
        lines += [f"  {one.asked_in}  {one.id}" for one in own]
    return screen.text("\n".join(lines))
