"""Where the collection `tunectl.node` lies, so that Ansible finds playbooks and plugins by their full names."""

from __future__ import annotations

import os
from pathlib import Path

import tunectl


def collections_path() -> Path:
    """Return the directory that holds `ansible_collections/tunectl/node`.

    In a wheel that is inside the package; in a checkout it is the directory of links at the repository root.
    Raises `FileNotFoundError` when neither is there, which means a broken installation.
    """
    package = Path(tunectl.__file__).resolve().parent
    for candidate in (package / "_collections", package.parents[1] / ".collections"):
        if (candidate / "ansible_collections" / "tunectl" / "node" / "galaxy.yml").is_file():
            return candidate
    raise FileNotFoundError(f"the collection tunectl.node is neither in {package} nor beside it; reinstall tunectl")


def playbook(name: str) -> Path:
    """Return the path of a shipped playbook, `name` without `.yml`."""
    return collections_path() / "ansible_collections" / "tunectl" / "node" / "playbooks" / f"{name}.yml"


def search_path(environment: str | None = None) -> str:
    """Return the value of ANSIBLE_COLLECTIONS_PATH: ours first, then the user's."""
    user = os.environ.get("ANSIBLE_COLLECTIONS_PATH", "") if environment is None else environment
    return os.pathsep.join(part for part in (str(collections_path()), user) if part)
