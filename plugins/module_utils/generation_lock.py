# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""One transaction at a time on a node: a lock that the kernel releases when its holder dies."""

from __future__ import annotations

import datetime as dt
import fcntl
import json
import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager

from .core.errors import BusyError, RefusedError, problem
from .generation_disk import Disk, DiskError
from .generation_journal import LOCK


@contextmanager
def held(disk: Disk, what: str) -> Iterator[None]:
    """Hold the node's lock while the block runs; `what` says what for.

    Raises `BusyError` (TUN-3401) at once when somebody else holds it, with who and since when, and `RefusedError`
    (TUN-3406) when the node takes no lock file.
    """
    handle = _opened(disk)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _busy(handle) from None
        _sign(handle, json.dumps(_holder(what)))
        yield
        _sign(handle, "")
    finally:
        os.close(handle)


def _opened(disk: Disk) -> int:
    try:
        for directory in disk.missing_directories(LOCK):
            disk.make_directory(directory)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        return os.open(disk.locate(LOCK, follow=True), flags, 0o600)
    except DiskError as error:
        raise _not_writable(error.path, error.reason) from error
    except OSError as error:
        raise _not_writable(LOCK, error.strerror or str(error)) from error


def _sign(handle: int, text: str) -> None:
    """Write who holds the lock; it holds without the name too, for instance on a full disk."""
    try:
        os.ftruncate(handle, 0)
        os.pwrite(handle, text.encode("utf-8"), 0)
    except OSError:
        return


def _holder(what: str) -> dict[str, str]:
    user = os.environ.get("SUDO_USER", "")
    if not user:
        try:
            user = pwd.getpwuid(os.geteuid()).pw_name
        except KeyError:
            user = str(os.geteuid())
    since = dt.datetime.now(dt.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"what": what, "user": user, "pid": str(os.getpid()), "since": since}


def _busy(handle: int) -> BusyError:
    try:
        holder = json.loads(os.pread(handle, 4096, 0))
        why = f"{holder['what']} by {holder['user']} (process {holder['pid']}) since {holder['since']}"
    except (ValueError, KeyError, TypeError):
        why = "its holder has just started or just ended"
    fix = "wait until it has ended and try again; the lock goes away with its process"
    return BusyError(
        (problem("TUN-3401", "another transaction is at work on this node", where=LOCK, why=why, fix=fix),)
    )


def _not_writable(path: str, reason: str) -> RefusedError:
    fix = "become root on the node (become: true), and make the file system writable"
    what = "tunectl cannot keep its records on this node"
    return RefusedError((problem("TUN-3406", what, where=path, why=reason, fix=fix),))
