"""Which inventory a command works on, and the Ansible side of the ports for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tunectl.cli.session import Session

if TYPE_CHECKING:
    from tunectl.adapters.ansible_nodes import AnsibleNodes

_CANDIDATES = ("hosts.yaml", "hosts.yml", "hosts.ini", "hosts")


def inventory_of(session: Session, folder: Path | None = None) -> Path:
    """Return the inventory: the flag, the setting, `inventories/hosts*` of the folder, else the simulated lab.

    The lab is brought up when the folder has none; the user is told that it is simulated.
    """
    here = folder or Path.cwd()
    return named_inventory(session, here) or _lab(session, here)


def named_inventory(session: Session, folder: Path | None = None) -> Path | None:
    """Return the inventory of the flag, of the settings or of the folder; None where only a lab could be one."""
    if session.where.inventory is not None:
        return session.where.inventory.absolute()  # Ansible runs in a directory of its own
    asked = session.settings.values.get("inventory")
    if asked is not None and asked.value is not None:
        return Path(asked.value).absolute()
    files = [(folder or Path.cwd()) / "inventories" / name for name in _CANDIDATES]
    return next((path for path in files if path.is_file()), None)


def _lab(session: Session, folder: Path) -> Path:
    # Only folders without an inventory need the lab.
    from tunectl.adapters.lab_folder import FolderLabs  # noqa: PLC0415
    from tunectl.app.lab import ensure_default_lab  # noqa: PLC0415

    lab, created = ensure_default_lab(FolderLabs(folder))
    if created:
        session.say(
            f"This folder has no inventory: brought up the simulated lab {lab.name!r} ({len(lab.nodes)} nodes)."
        )
    return lab.inventory


def ansible_nodes(session: Session) -> AnsibleNodes:
    """Return the nodes of the session's inventory."""
    # Commands that only ask where the inventory is need neither planner nor runner.
    from tunectl.adapters.ansible_nodes import AnsibleNodes  # noqa: PLC0415

    verbosity = 3 if session.debug else 0
    forks = int(session.settings["forks"])
    return AnsibleNodes([inventory_of(session)], forks=forks, verbosity=verbosity, say=session.say)
