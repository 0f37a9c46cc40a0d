"""What plan, apply and verify share: which tier, which nodes, which plan."""

from __future__ import annotations

from pathlib import Path

from tunectl.adapters.plan_files import SavedPlan, load_plan, plans_folder, save_plan
from tunectl.adapters.snapshot_files import load_snapshots
from tunectl.app.nodes import Selection, read_nodes
from tunectl.app.plan import Planned, make_plan
from tunectl.app.tiers import search_dirs
from tunectl.cli.inventory import ansible_nodes, named_inventory
from tunectl.cli.session import Session
from tunectl.core.desired import Platform
from tunectl.core.errors import InputError, problem
from tunectl.core.plan import PoolPlan
from tunectl.core.snapshot import Snapshot
from tunectl.core.tier import Tier
from tunectl.planning.tier_file import load_tier, tier_files
from tunectl.ports import NodeReader, OnEvent
from tunectl.view.progress import make_progress


def tier_of(session: Session) -> Tier:
    """Return the tier that was asked for, with the values set over it.

    Sad paths: `InputError` TUN-1015 when none was named, those of `load_tier`.
    """
    search = search_dirs(named_inventory(session))
    if not session.tier.name:
        raise InputError(
            (
                problem(
                    "TUN-1015",
                    "no tier was named",
                    where="--tier",
                    why=f"there are: {', '.join(sorted(tier_files(search)))}",
                    fix="--tier hpc-massive, or --tier FILE",
                ),
            )
        )
    return load_tier(session.tier.name, search, session.tier.overrides)


def platform_of(session: Session) -> Platform:
    """Return how the tier reaches its nodes."""
    return Platform(session.settings["platform"])


def selection_of(session: Session, pool: str | None) -> Selection:
    """Return which nodes were asked for; the tier's own pool when none was named."""
    where = session.where
    return Selection(where.snapshots, where.pool or pool, where.nodes)


def snapshots_of(session: Session, pool: str | None) -> list[Snapshot]:
    """Return the snapshots that a reading command works on, showing progress when nodes are read."""
    progress = make_progress(session.progress, quiet=session.quiet, color=session.talk_screen.colour)
    try:
        return read_nodes(selection_of(session, pool), load_snapshots, lambda: ansible_nodes(session), progress.step)
    finally:
        progress.end()


def plan_for(session: Session, nodes: NodeReader, on_event: OnEvent | None = None) -> Planned:
    """Return the plan for what the session asks, read from `nodes`, with all that explains it."""
    tier = tier_of(session)
    selection = selection_of(session, tier.pool_name)
    snapshots = read_nodes(selection, load_snapshots, lambda: nodes, on_event)
    return make_plan(tier, snapshots, platform_of(session))


def planned_for(session: Session) -> Planned:
    """Return the plan for what the session asks, with all that explains it."""
    tier = tier_of(session)
    return make_plan(tier, snapshots_of(session, tier.pool_name), platform_of(session))


def saved_plan(reference: str) -> PoolPlan:
    """Return the plan of this folder, or of a file, that the reference names."""
    return load_plan(reference, Path.cwd())


def keep_plan(plan: PoolPlan, out: Path | None) -> SavedPlan:
    """Save a plan where it was asked for, else in this folder, and return where."""
    return save_plan(plan, out or plans_folder(Path()) / f"{plan.id}.json")
