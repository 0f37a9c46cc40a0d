"""Print the requirements of a dependency group of pyproject.toml, one a line (PEP 735, for installers without it)."""

import sys
import tomllib
from pathlib import Path
from typing import Any


def requirements(groups: dict[str, list[Any]], name: str) -> list[str]:
    """Return the requirements of a group, included groups resolved; raises `KeyError` for an unknown group."""
    found: list[str] = []
    for item in groups[name]:
        found += requirements(groups, item["include-group"]) if isinstance(item, dict) else [item]
    return found


if __name__ == "__main__":
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    sys.stdout.write("\n".join(requirements(project["dependency-groups"], sys.argv[1])) + "\n")
