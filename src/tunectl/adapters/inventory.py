"""What an Ansible inventory holds, by Ansible's own reading of it. No node is contacted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tunectl.adapters.collection import search_path
from tunectl.core.errors import InputError, problem

_LIMIT_S = 120
_NO_GROUP = ("_meta", "all")


def inventory_groups(path: Path) -> dict[str, list[str]]:
    """Return the hosts of each group, children included, in inventory order; hosts of no group are `ungrouped`.

    Sad paths: `InputError` TUN-1030 when Ansible cannot read it.
    """
    if not path.exists():
        raise _unreadable(path, "there is no such file")
    done = subprocess.run(  # noqa: S603  our own program, no shell
        [_program(), "-i", str(path), "--list"],
        capture_output=True,
        text=True,
        check=False,
        timeout=_LIMIT_S,
        env={**os.environ, **_environment()},
    )
    if done.returncode:
        raise _unreadable(path, _last_words(done.stderr))
    data = json.loads(done.stdout)
    return {name: list(dict.fromkeys(_hosts(data, name))) for name in data if name not in _NO_GROUP}


def _program() -> str:
    beside = Path(sys.executable).parent / "ansible-inventory"
    return str(beside) if beside.is_file() else "ansible-inventory"


def _environment() -> dict[str, str]:
    return {
        "ANSIBLE_COLLECTIONS_PATH": search_path(),
        "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "True",
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_DEPRECATION_WARNINGS": "False",
    }


def _hosts(data: Mapping[str, Any], group: str) -> list[str]:
    entry = data.get(group, {})
    hosts = list(entry.get("hosts", []))
    for child in entry.get("children", []):
        hosts += _hosts(data, child)
    return hosts


def _last_words(stderr: str) -> str:
    lines = [" ".join(line.split()) for line in stderr.splitlines() if line.strip()]
    telling = [line for line in lines if "ERROR" in line or "rror while" in line] or lines
    return telling[0].removeprefix("[ERROR]: ").removeprefix("ERROR! ") if telling else "Ansible does not say why"


def _unreadable(path: Path, why: str) -> InputError:
    return InputError(
        (
            problem(
                "TUN-1030",
                "the inventory cannot be read",
                where=str(path),
                why=why,
                fix=f"correct it; ansible-inventory -i {path} --list shows what Ansible makes of it",
            ),
        )
    )
