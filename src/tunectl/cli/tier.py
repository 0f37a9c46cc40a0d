"""`tunectl tier list|show|check|diff|new`."""

from __future__ import annotations

from pathlib import Path

import click

from tunectl.app import tiers as use
from tunectl.cli.inventory import named_inventory
from tunectl.cli.options import command
from tunectl.cli.session import Session
from tunectl.core.tier import Tier
from tunectl.core.tier_data import tier_values
from tunectl.planning.tier_file import load_tier
from tunectl.view.envelope import Result
from tunectl.view.screen import Screen
from tunectl.view.tiers import tier_differences_text, tiers_text

_FILE = click.Path(path_type=Path)


@click.group("tier", context_settings={"help_option_names": ["-h", "--help"]})
def tier() -> None:
    """List, show, check, compare and create tiers."""


def _search(session: Session) -> tuple[Path, ...]:
    return use.search_dirs(named_inventory(session))


@command("list", kind="TierList", options=("inventory",), parent=tier)
def list_(session: Session) -> int:
    """List the built-in tiers and those in tiers/ beside the inventory."""
    entries = use.list_tiers(_search(session))
    result = Result("TierList", summary={"tiers": len(entries)}, items=[vars(one) for one in entries])
    code = session.emit(result, {"table": lambda screen: tiers_text(entries, screen)})
    session.next_step("tunectl tier show NAME")
    return code


@command("show", kind="Tier", options=("inventory",), parent=tier)
@click.argument("name")
@click.option("--effective", is_flag=True, help="With all that it extends merged in, and the place of each value.")
def show(session: Session, name: str, *, effective: bool) -> int:
    """Print a tier (a NAME or a FILE): its file as it is, or what it means as a whole.

    The output is a tier file again: `tunectl tier show hpc-massive > tiers/mine.yaml` begins a copy.
    """
    search = _search(session)
    shown = load_tier(name, search)
    result = Result("Tier", summary={"name": shown.name, "pool": shown.pool_name}, items=[use.tier_document(shown)])
    text = use.effective_text(shown) if effective else use.raw_text(name, search)
    return session.emit(result, {"table": lambda _screen: text if text.endswith("\n") else text + "\n"})


@command("check", kind="TierCheck", options=("inventory",), parent=tier)
@click.argument("file")
def check(session: Session, file: str) -> int:
    """Check a tier (a FILE or a NAME) without contacting anything; all mistakes at once."""
    search = _search(session)
    checked = load_tier(file, search)
    summary = {"name": checked.name, "pool": checked.pool_name, "settings": len(tier_values(checked))}
    result = Result("TierCheck", summary=summary)
    return session.emit(result, {"table": lambda screen: _checked_text(checked, screen)})


def _checked_text(checked: Tier, screen: Screen) -> str:
    return screen.text(
        f"{screen.paint('✓', 'good')} tier {checked.name} for pool {checked.pool_name} has no mistakes\n"
    )


@command("diff", kind="TierDifference", options=("inventory",), parent=tier)
@click.argument("before")
@click.argument("after")
def diff(session: Session, before: str, after: str) -> int:
    """Compare what two tiers mean, field by field. Exit code 3 when they differ."""
    search = _search(session)
    one, other = load_tier(before, search), load_tier(after, search)
    found = use.compare_tiers(one, other)
    result = Result(
        "TierDifference",
        exit_code=3 if found else 0,
        summary={"before": one.name, "after": other.name, "differences": len(found)},
        items=[vars(item) for item in found],
    )
    return session.emit(result, {"table": lambda screen: tier_differences_text(one.name, other.name, found, screen)})


@command("new", kind="TierFile", options=("inventory",), parent=tier)
@click.argument("name")
@click.option("--extends", default="", metavar="TIER", help="Begin with another tier: a name, or a file.")
@click.option("--dir", "directory", type=_FILE, default=Path("tiers"), show_default=True, help="Where to write it.")
def new(session: Session, name: str, extends: str, directory: Path) -> int:
    """Write a commented starter file for a tier; never overwrites one."""
    path = use.new_tier(name, extends, directory, _search(session))
    result = Result("TierFile", summary={"name": name, "file": str(path)})
    code = session.emit(result, {"table": lambda screen: screen.text(f"wrote {path}\n")})
    session.next_step(f"tunectl tier check {path}")
    return code
