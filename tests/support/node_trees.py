"""Directory trees that stand for nodes: built from a plain description, and compared byte for byte."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_IN_MEMORY = Path("/dev/shm")  # noqa: S108 - the directories made there have names of their own
Content = Mapping[str, tuple[bytes, int]]


@contextmanager
def quick_directory() -> Iterator[Path]:
    """Give a directory for many small transactions: in memory where there is such a place, since each of them syncs."""
    usable = _IN_MEMORY.is_dir() and os.access(_IN_MEMORY, os.W_OK)
    with tempfile.TemporaryDirectory(prefix="tunectl-test-", dir=_IN_MEMORY if usable else None) as where:
        yield Path(where)


def build(root: Path, files: Content) -> Path:
    """Write the files (path as the node knows it -> bytes, mode) below `root` and return it."""
    root.mkdir(parents=True, exist_ok=True)
    for path, (content, mode) in files.items():
        where = root / path.lstrip("/")
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_bytes(content)
        where.chmod(mode)
    return root


def picture(root: Path, *, without: str = "/var/lib/tunectl") -> dict[str, tuple[str, int, bytes]]:
    """Return path -> (kind, mode, bytes or link target) of everything below `root`, tunectl's own records left out.

    The directories above `without` are left out too: the first transaction makes them.
    """
    found: dict[str, tuple[str, int, bytes]] = {}
    for directory, names, files in os.walk(root):
        for name in [*names, *files]:
            where = Path(directory, name)
            path = f"/{where.relative_to(root)}"
            if path == without or path.startswith(f"{without}/") or without.startswith(f"{path}/"):
                continue
            state = where.lstat()
            if stat.S_ISLNK(state.st_mode):
                found[path] = ("link", 0, bytes(where.readlink()))
            elif stat.S_ISDIR(state.st_mode):
                found[path] = ("directory", stat.S_IMODE(state.st_mode), b"")
            else:
                found[path] = ("file", stat.S_IMODE(state.st_mode), where.read_bytes())
    return found


def files_only(root: Path) -> dict[str, tuple[str, int, bytes]]:
    """Return the picture without directories."""
    return {path: item for path, item in picture(root).items() if item[0] != "directory"}
