"""Captured node trees: found in directories, unpacked from archives without trusting them."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

# A capture of a large machine has some ten thousand small files.
_MAX_MEMBERS = 2_000_000
_MAX_BYTES = 1 << 30


def find_trees(directory: Path) -> Iterator[tuple[str, Path]]:
    """Yield (name, root) of the node trees in a directory: itself (name "") or its sub-directories, by name."""
    if _is_tree(directory):
        yield "", directory
        return
    for path in sorted(directory.iterdir()):
        if path.is_dir() and not path.is_symlink() and _is_tree(path):
            yield path.name, path


def unpack_tree(tar: tarfile.TarFile, directory: Path) -> None:
    """Unpack files, directories and links that stay inside; devices and links that lead outside are left out.

    Sad paths: `tarfile.TarError` for a member that would be written outside, and for an archive without measure.
    """
    # The members are judged here, so that Pythons before 3.11.4, which have no filters, unpack the same.
    tar.extraction_filter = lambda member, _path: member
    root = directory.resolve()
    size = 0
    for count, member in enumerate(tar):
        size += member.size
        if count > _MAX_MEMBERS or size > _MAX_BYTES:
            raise tarfile.TarError(f"it holds more than {_MAX_BYTES >> 30} GiB or {_MAX_MEMBERS} files")
        member.name = member.name.lstrip("/")
        if not _is_inside(root, member.name):
            raise tarfile.TarError(f"{member.name!r} would be written outside")
        if not _is_wanted(root, member):
            continue
        # A capture may hold files that even their owner cannot read.
        member.mode = 0o755 if member.isdir() else 0o644
        tar.extract(member, directory, set_attrs=False)


def _is_wanted(root: Path, member: tarfile.TarInfo) -> bool:
    if not (member.issym() or member.islnk()):
        return member.isreg() or member.isdir()
    base = PurePosixPath(member.name).parent if member.issym() else PurePosixPath()
    return not member.linkname.startswith("/") and _is_inside(root, base / member.linkname)


def _is_inside(root: Path, name: str | PurePosixPath) -> bool:
    return (root / name).resolve().is_relative_to(root)


def _is_tree(directory: Path) -> bool:
    return (directory / "sys").is_dir() and (directory / "proc").is_dir()
