"""Bring workloads to a tier: the stanzas that they lack, as a patch and merged into their manifests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tunectl.app.audit import subjects_of
from tunectl.core.audit.context import AuditContext, AuditTier
from tunectl.core.audit.edits import Edit
from tunectl.core.audit.expectation import Expectation, expect
from tunectl.core.audit.stanzas import placement_edits, placement_patch
from tunectl.core.audit.subject import Subject
from tunectl.core.errors import InputError, problem
from tunectl.planning.manifest_edit import Change, edited_text
from tunectl.planning.manifests import Manifests


@dataclass(frozen=True)
class Placed:
    """One workload of a tier. Shape: `patch` is a strategic-merge patch; `edits` are empty when nothing is missing."""

    subject: Subject
    file: str
    edits: tuple[Edit, ...]
    patch: Mapping[str, Any]


@dataclass(frozen=True)
class Placement:
    """All workloads, and their files with the stanzas merged in; `left` says which of these have no place, and why."""

    tier: str
    placed: tuple[Placed, ...]
    texts: Mapping[str, str]
    left: tuple[str, ...] = ()


def place_workloads(manifests: Manifests, tier: AuditTier) -> Placement:
    """Return what workloads lack to run on the nodes of a tier.

    Sad paths: `InputError` TUN-1806 for a workload that asks for other nodes.
    """
    context = AuditContext((tier,))
    pairs = [(subject, expect(subject, context)) for subject in subjects_of(manifests)]
    _check(pairs, tier)
    placed = []
    for index, (workload, (subject, _)) in enumerate(zip(manifests.workloads, pairs, strict=True)):
        edits = placement_edits(index, pairs, tier)
        patch = placement_patch(subject, edits) if edits else {}
        placed.append(Placed(subject, workload.source.file if workload.source else "", edits, patch))
    texts, left = _merged(manifests, placed)
    return Placement(tier.name, tuple(placed), texts, tuple(left))


def _check(pairs: Sequence[tuple[Subject, Expectation]], tier: AuditTier) -> None:
    problems = tuple(
        problem(
            "TUN-1806",
            f"{subject.title} asks for other nodes than those of tier {tier.name}",
            where=str(subject.place(subject.in_spec("nodeSelector"))),
            why=f"the nodes of the tier have {expectation.conflict}, and its selector excludes that",
            fix="remove the selector, or name the tier it is for",
        )
        for subject, expectation in pairs
        if expectation.conflict
    )
    if problems:
        raise InputError(problems)


def _merged(manifests: Manifests, placed: Sequence[Placed]) -> tuple[dict[str, str], list[str]]:
    changes: dict[str, list[Change]] = {}
    for workload, one in zip(manifests.workloads, placed, strict=True):
        if workload.source is not None:
            start = workload.source.node.start_mark.index
            changes.setdefault(one.file, []).extend(Change(start, edit) for edit in one.edits)
    texts, left = {}, []
    for file, text in manifests.texts.items():
        texts[file], failed = edited_text(text, changes.get(file, []))
        left += [f"{file}: {'.'.join(map(str, change.edit.path))} has no place: {why}" for change, why in failed]
    return texts, left
