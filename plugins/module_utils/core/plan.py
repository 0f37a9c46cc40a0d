# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The changes between what a node runs and what its tier wants, in order, each with its price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from .desired import DesiredState, Impact, highest
from .findings import Finding, Origin
from .node_file import NodeFile, RuntimeValue

__all__ = ["Change", "ChangeKind", "NodeFile", "NodePlan", "PoolPlan", "RuntimeValue"]


class ChangeKind(Enum):
    """What a change does to a setting."""

    ADD = "add"
    CHANGE = "change"
    REMOVE = "remove"


@dataclass(frozen=True)
class Change:
    """One setting that is not as wanted; `now` is None when it was not set, `wanted` None when it goes away."""

    setting: str
    kind: ChangeKind
    now: str | None
    wanted: str | None
    impact: Impact
    why: str = ""
    asked_in: Origin = Origin()


@dataclass(frozen=True)
class NodePlan:
    """Everything that one node needs to become what its tier wants.

    Shape: `changes` empty means that nothing is to be done. `files` are *all* files that tunectl shall own on
    the node afterwards (not only the changed ones); `runtime` likewise; `actions` name what makes them
    effective, in order (`daemon-reload`, `update-grub`, `kubelet-checkpoints`, `kubelet-restart`, `reboot`).
    `basis` is the digest of `observed`, the values that the plan rests on: setting id, or `file.` and a path, ->
    the text found there (of a file its SHA-256), None where there was none. Apply refuses when they moved.
    """

    node: str
    fingerprint: str
    desired: DesiredState
    changes: tuple[Change, ...] = ()
    files: tuple[NodeFile, ...] = ()
    runtime: tuple[RuntimeValue, ...] = ()
    actions: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    matching: int = 0
    basis: str = ""
    simulated: bool = False
    observed: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def impact(self) -> Impact:
        """The dearest price among the changes."""
        return highest([change.impact for change in self.changes])


@dataclass(frozen=True)
class PoolPlan:
    """The plan of one tier for one pool: node plans in inventory order and what was found about them together."""

    id: str
    tier: str
    pool: str
    nodes: tuple[NodePlan, ...] = ()
    findings: tuple[Finding, ...] = ()
    manifests: Mapping[str, str] = field(default_factory=dict)
    tier_document: Mapping[str, Any] = field(default_factory=dict)

    @property
    def blocked(self) -> bool:
        """Whether a critical finding forbids to apply it."""
        return any(finding.blocks for finding in self.all_findings)

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """Findings of the pool, then of its nodes."""
        return self.findings + tuple(finding for node in self.nodes for finding in node.findings)

    @property
    def changed(self) -> tuple[NodePlan, ...]:
        """The nodes that need a change."""
        return tuple(node for node in self.nodes if node.changes)
