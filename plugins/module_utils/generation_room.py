# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# Paths are strings as the node knows them, and each system call stands where it is made.
# ruff: noqa: PTH112, PTH116, PTH120
"""Whether a node has room for a transaction: asked before anything is touched."""

from __future__ import annotations

import os
from collections.abc import Iterable

from .core.errors import Problem, RefusedError, problem
from .generation_disk import Disk, Image
from .generation_journal import HOME

_BLOCK = 4096
# new bytes, before-images in the records and room to put everything back
_COPIES = 3
_RESERVE = 64 * 1024


def refuse_no_room(disk: Disk, files: Iterable[Image]) -> None:
    """Raise `RefusedError` for a read-only (TUN-3406) or full (TUN-3405) file system that `files` would go to."""
    # a read-only bind mount has the device of the file system behind it
    needs: dict[tuple[int, bool], tuple[str, int]] = {}
    for image in [*files, Image(f"{HOME}/generations", b"")]:
        where = _existing(disk, image.path)
        device = (os.stat(where).st_dev, _read_only(where))
        bytes_before = needs.get(device, (where, _RESERVE))[1]
        needs[device] = (where, bytes_before + _COPIES * (len(image.content or b"") + _BLOCK))
    found = [item for where, count in needs.values() for item in _problems(where, count)]
    if found:
        raise RefusedError(tuple(found))


def _existing(disk: Disk, path: str) -> str:
    """Return the nearest directory above `path` that exists."""
    directory = os.path.dirname(path)
    while directory != "/" and not os.path.isdir(disk.locate(directory, follow=True)):
        directory = os.path.dirname(directory)
    return disk.locate(directory, follow=True) or "/"


def _read_only(where: str) -> bool:
    return bool(os.statvfs(where).f_flag & os.ST_RDONLY)


def _problems(where: str, needed: int) -> list[Problem]:
    found = os.statvfs(where)
    if _read_only(where):
        fix = "find out why it is read-only (dmesg, mount), then try again"
        return [problem("TUN-3406", "the file system is read-only", where=where, fix=fix)]
    blocks = found.f_bfree if os.geteuid() == 0 else found.f_bavail
    free = blocks * found.f_frsize
    if free < needed:
        why = f"{free // 1024} KiB are free, {-(-needed // 1024)} KiB are needed"
        return [problem("TUN-3405", "the disk is full", where=where, why=why, fix="make room, then try again")]
    if found.f_files and found.f_ffree == 0:
        fix = "remove files, then try again"
        return [problem("TUN-3405", "the file system has no inodes left", where=where, fix=fix)]
    return []
