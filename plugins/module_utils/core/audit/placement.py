# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Tolerations and node selectors against the taints and labels of the tier."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..findings import Severity
from ..pools import Taint
from .context import AuditTier
from .edits import Edit
from .expectation import Expectation, node_labels
from .finding import PodFinding, Says, finding
from .paths import as_list, as_map, as_text
from .subject import ONE_A_NODE, Subject

_SOFT = "PreferNoSchedule"


def check_placement(subject: Subject, expectation: Expectation) -> Iterator[PodFinding]:
    """Yield whether a pod finds the nodes of its tier and is let in."""
    yield from _too_wide(subject)
    tier = expectation.tier
    if tier is None:
        yield from _elsewhere(subject, expectation)
        return
    yield from _tolerations(subject, tier, selects=expectation.selects)
    if not expectation.selects:
        yield from _selector(subject, tier)


def missing_tolerations(subject: Subject, tier: AuditTier) -> list[Taint]:
    """Return the taints of a tier that keep the pod away."""
    given = [as_map(one) for one in as_list(subject.spec.get("tolerations"))]
    return [taint for taint in tier.taints if not any(tolerates(one, taint) for one in given)]


def tolerates(toleration: Mapping[str, Any], taint: Taint) -> bool:
    """Return whether a toleration admits a pod in spite of a taint. Source: Kubernetes API, Toleration."""
    key, effect = as_text(toleration.get("key")), as_text(toleration.get("effect"))
    operator = as_text(toleration.get("operator")) or "Equal"
    if effect and effect != taint.effect:
        return False
    if not key:
        return operator == "Exists"
    if key != taint.key:
        return False
    return operator == "Exists" or (operator == "Equal" and as_text(toleration.get("value")) == taint.value)


def toleration_of(taint: Taint) -> dict[str, Any]:
    """Return the toleration that admits a pod in spite of exactly this taint."""
    if not taint.value:
        return {"key": taint.key, "operator": "Exists", "effect": taint.effect}
    return {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}


def missing_labels(subject: Subject, tier: AuditTier) -> dict[str, str]:
    """Return the labels of a tier's nodes that the pod does not ask for."""
    wanted = node_labels(subject)
    return {key: value for key, value in tier.labels.items() if value not in wanted.get(key, ())}


def _tolerations(subject: Subject, tier: AuditTier, *, selects: bool) -> Iterator[PodFinding]:
    for taint in missing_tolerations(subject, tier):
        text = f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"
        path = subject.in_spec("tolerations")
        soft = taint.effect == _SOFT
        fate = "is put there last" if soft else "stays Pending" if selects else "never runs there"
        says = Says(
            f"the nodes of tier {tier.name} have the taint {text}, and the pod does not tolerate it: it {fate}",
            expected=f"a toleration of {text}",
            actual="none",
            edits=(Edit(path, toleration_of(taint), append=True),),
        )
        severity = Severity.INFO if soft else Severity.CRITICAL if selects else Severity.WARNING
        yield finding("pod.toleration.missing", severity, subject, path, says)


def _selector(subject: Subject, tier: AuditTier) -> Iterator[PodFinding]:
    missing = missing_labels(subject, tier)
    if not missing:
        return
    matters = bool(tier.taints) or tier.pins
    text = ", ".join(f"{key}={value}" if value else key for key, value in missing.items())
    path = subject.in_spec("nodeSelector")
    says = Says(
        f"the pod does not ask for the nodes of tier {tier.name} ({text}): it may run on any other node too",
        expected=f"nodeSelector with {text}",
        actual="not asked for",
        edits=tuple(Edit((*path, key), value) for key, value in missing.items()) if matters else (),
    )
    severity = Severity.WARNING if matters else Severity.INFO
    yield finding("pod.selector.missing", severity, subject, path, says)


def _elsewhere(subject: Subject, expectation: Expectation) -> Iterator[PodFinding]:
    tiers = expectation.context.tiers
    if not tiers or subject.kind == ONE_A_NODE:
        return
    names = ", ".join(tier.name for tier in tiers)
    path = subject.in_spec("nodeSelector")
    if expectation.conflict:
        actual = ", ".join(f"{key}={'|'.join(sorted(values))}" for key, values in node_labels(subject).items())
        message = f"the pod goes to other nodes ({actual}), so it was judged without tier {names}"
        says = Says(message, expected=expectation.conflict, actual=actual)
        yield finding("pod.selector.elsewhere", Severity.INFO, subject, path, says)
        return
    message = f"the pod selects the nodes of none of the tiers {names}: it runs wherever no taint keeps it away"
    says = Says(message, expected="a nodeSelector with the labels of one tier", actual="none of them")
    yield finding("pod.selector.missing", Severity.WARNING, subject, path, says)


def _too_wide(subject: Subject) -> Iterator[PodFinding]:
    if subject.kind == ONE_A_NODE:
        return
    for index, one in enumerate(as_list(subject.spec.get("tolerations"))):
        toleration = as_map(one)
        if as_text(toleration.get("operator")) == "Exists" and not as_text(toleration.get("key")):
            path = subject.in_spec("tolerations", index)
            says = Says(
                "the pod tolerates every taint, so it may land on nodes that are kept for pinned pods",
                expected="tolerations of the taints of its own tier",
                actual="operator: Exists without a key",
            )
            yield finding("pod.toleration.too-wide", Severity.WARNING, subject, path, says)
