"""A run: what was done to which nodes, by which plan, with which result."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NodeRun:
    """What a run did on one node: generation numbers before and after (0 = none), and how it ended."""

    node: str
    state: str
    before: int = 0
    after: int = 0
    changes: int = 0
    simulated: bool = False


@dataclass(frozen=True)
class Run:
    """One apply or rollback. Scale: `id` counts from 1 in each folder; times are ISO 8601 UTC.

    `of` is the run that a rollback took back, else 0.
    """

    id: int
    verb: str
    tier: str
    pool: str
    plan: str
    inventory: tuple[str, ...]
    started_at: str
    ended_at: str = ""
    state: str = "running"
    exit_code: int = 0
    nodes: tuple[NodeRun, ...] = ()
    of: int = 0
