# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which tier a pod is for, and what is expected of it there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .context import AuditContext, AuditTier
from .paths import as_list, as_map, as_text
from .subject import ONE_A_NODE, Subject


@dataclass(frozen=True)
class Expectation:
    """What is expected of a pod.

    Shape: `tier` is the one it is for, None when no tier was named or it goes elsewhere; `conflict` is the label of the
    named tier that the pod's own selector excludes, as `key=value`, empty when none is.
    """

    context: AuditContext
    tier: AuditTier | None = None
    conflict: str = ""
    selects: bool = False

    @property
    def pinned(self) -> bool:
        """Whether the pod is meant to have CPUs of its own: its tier hands them out."""
        return self.tier is not None and self.tier.pins


def expect(subject: Subject, context: AuditContext) -> Expectation:
    """Return what is expected of a pod.

    The tier is the one whose labels the pod selects; else the only one that it does not exclude by its selector; else,
    of several, the one that keeps nobody away.
    """
    wanted = node_labels(subject)
    for tier in context.tiers:
        if tier.labels and all(value in wanted.get(key, ()) for key, value in tier.labels.items()):
            return Expectation(context, tier, selects=True)
    possible = [tier for tier in context.tiers if not _conflict(tier, wanted)]
    conflict = _conflict(context.tiers[0], wanted) if context.tiers and not possible else ""
    if len(context.tiers) > 1:  # of several, one with taints is for those that select it
        possible = [tier for tier in possible if not tier.taints]
    chosen = possible[0] if len(possible) == 1 else None
    if chosen is not None and subject.kind == ONE_A_NODE and chosen.pins:
        chosen = None  # it runs on the nodes of every tier, for the nodes' own sake
    return Expectation(context, chosen, conflict)


def node_labels(subject: Subject) -> dict[str, set[str]]:
    """Return what a pod requires of its nodes: label keys with the values that will do."""
    found = {str(key): {as_text(value)} for key, value in as_map(subject.spec.get("nodeSelector")).items()}
    affinity = as_map(as_map(subject.spec.get("affinity")).get("nodeAffinity"))
    terms = as_list(as_map(affinity.get("requiredDuringSchedulingIgnoredDuringExecution")).get("nodeSelectorTerms"))
    if len(terms) == 1:  # several terms are alternatives: none of them alone is required
        for expression in as_list(as_map(terms[0]).get("matchExpressions")):
            one = as_map(expression)
            if one.get("operator") == "In":
                values = {as_text(value) for value in as_list(one.get("values"))}
                key = as_text(one.get("key"))
                found[key] = found[key] & values if key in found else values
            elif one.get("operator") == "Exists":
                found.setdefault(as_text(one.get("key")), {""})
    return found


def _conflict(tier: AuditTier, wanted: Mapping[str, set[str]]) -> str:
    for key, value in tier.labels.items():
        if key in wanted and value not in wanted[key]:
            return f"{key}={value}"
    return ""
