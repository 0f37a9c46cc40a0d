# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The files of a bootstrap on a node: whole or not at all, the one before kept, the journal beside."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from .core.bootstrap.membership import Membership, read_membership
from .core.bootstrap.places import CA_FILE, JOURNAL, TRACES
from .core.snapshot import Snapshot

_KEPT = "/var/lib/tunectl/bootstrap/before"
_RUN = "/run/tunectl"


def place(root: str, path: str) -> Path:
    """Return where a path of the node is on this system."""
    return Path(root) / path.lstrip("/")


def read_text(root: str, path: str) -> str | None:
    """Return the text of a file, None where there is none."""
    try:
        return place(root, path).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None


def write_whole(root: str, path: str, text: str, mode: int = 0o644, *, keep: bool = False) -> bool:
    """Make a file hold this text, whole or not at all, and return whether it was another.

    Shape: with `keep`, what was there before the first such write is kept below /var/lib/tunectl/bootstrap/before.
    """
    before = read_text(root, path)
    if before == text:
        return False
    target = place(root, path)
    if keep and before is not None and not place(root, _KEPT + path).exists():
        _replace(place(root, _KEPT + path), before, 0o600)
    _replace(target, text, mode)
    return True


def _replace(target: Path, text: str, mode: int) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    new = target.parent / f".{target.name}.tunectl-new"
    new.unlink(missing_ok=True)
    descriptor = os.open(str(new), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            os.fchmod(descriptor, mode)
            stream.write(text)
            stream.flush()
            os.fsync(descriptor)
        new.replace(target)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    directory = os.open(str(target.parent), os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


@contextmanager
def short_lived(root: str, name: str, text: str) -> Iterator[str]:
    """Hold a file that only its owner reads, in memory, for as long as a program needs it; yields its path."""
    directory = place(root, _RUN)
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    path.unlink(missing_ok=True)
    descriptor = os.open(str(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        yield str(path)
    finally:
        path.unlink(missing_ok=True)


def standing(root: str, node: str) -> Membership:
    """Return where the machine stands, by the same rule as the preflight."""
    files = {path: text for path in (CA_FILE, JOURNAL) if (text := read_text(root, path)) is not None}
    present = [path for path in TRACES if place(root, path).exists()]
    return read_membership(Snapshot(node, files, facts={"bootstrap": {"present": present}}))


def note(root: str, role: str, state: str, authority: str) -> None:
    """Write the journal: what began or ended, in which cluster, and when. It holds no secret."""
    entry: Mapping[str, object] = {
        "format": 1,
        "role": role,
        "state": state,
        "cluster_ca": authority,
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    write_whole(root, JOURNAL, json.dumps(entry, indent=1) + "\n", 0o600)
