"""Captured and made-up node trees for tests."""

import tarfile
from pathlib import Path

from tunectl.adapters.node_trees import unpack_tree


def unpack(archive: Path, into: Path) -> Path:
    """Unpack a tree with `sys/` and `proc/` and return the directory."""
    with tarfile.open(archive) as tar:
        unpack_tree(tar, into)
    return into


def write_tree(root: Path, files: dict[str, str]) -> Path:
    """Write files below a root and return it."""
    for path, text in files.items():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return root
