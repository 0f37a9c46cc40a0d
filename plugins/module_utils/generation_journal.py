# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# Paths are strings as the node knows them, and each system call stands where it is made.
# ruff: noqa: PTH110, PTH120, PTH208
"""The records of a node's generations: what was before, what was written, how it ended.

A directory `/var/lib/tunectl/generations/NNNN` holds `journal.json`, written before anything is touched, and
`manifest.json`, which is the outcome: `committed` or `undone`. A journal without a manifest is unfinished work.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .core.errors import FailedError, problem
from .generation_disk import Disk, DiskError, Image

HOME = "/var/lib/tunectl"
GENERATIONS = f"{HOME}/generations"
CURRENT = f"{HOME}/current"
LOCK = f"{HOME}/lock"
_FORMAT = 1

COMMITTED = "committed"
UNDONE = "undone"
UNFINISHED = "unfinished"


@dataclass(frozen=True)
class OwnedFile:
    """A file that tunectl wrote: SHA-256 of the bytes as hex, permissions."""

    path: str
    sha256: str
    mode: int


@dataclass(frozen=True)
class Journal:
    """What a generation is about to do and what was there before.

    Shape: `before` holds every file that will be written or removed, `digests` what each will be (empty = absent);
    `runtime_before` is path -> text as read, `runtime_after` path -> value; `directories` will be created,
    outermost first. `kind` is apply or rollback; a rollback `restores` the state after that generation.
    """

    number: int
    kind: str
    started: str
    before: tuple[Image, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)
    runtime_before: Mapping[str, str] = field(default_factory=dict)
    runtime_after: Mapping[str, str] = field(default_factory=dict)
    directories: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    tier: str = ""
    plan_id: str = ""
    restores: int = -1
    boot_id: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "format": _FORMAT,
            "state": "staged",
            "generation": self.number,
            "kind": self.kind,
            "started": self.started,
            "tier": self.tier,
            "plan_id": self.plan_id,
            "restores": self.restores,
            "boot_id": self.boot_id,
            "actions": list(self.actions),
            "directories": list(self.directories),
            "files": [image.to_json() for image in self.before],
            "digests": dict(self.digests),
            "runtime_before": dict(self.runtime_before),
            "runtime_after": dict(self.runtime_after),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Journal:
        """Return the journal of `to_json`; raises `KeyError`, `TypeError` or `ValueError` for anything else."""
        return cls(
            number=data["generation"],
            kind=data["kind"],
            started=data["started"],
            before=tuple(Image.from_json(item) for item in data["files"]),
            digests=data["digests"],
            runtime_before=data["runtime_before"],
            runtime_after=data["runtime_after"],
            directories=tuple(data["directories"]),
            actions=tuple(data["actions"]),
            tier=data["tier"],
            plan_id=data["plan_id"],
            restores=data["restores"],
            boot_id=data["boot_id"],
        )


@dataclass(frozen=True)
class Manifest:
    """How a generation ended and what tunectl owns since.

    Shape: `parent` is the generation that a rollback goes back to, 0 the node without tunectl, -1 nothing;
    `origins` is what each owned file was before tunectl, `runtime_origins` the same for runtime values;
    `directories` were created by tunectl and go when they are empty. `problem` says why it was undone;
    `tier` is the tier that the node runs since.
    """

    number: int
    state: str
    ended: str = ""
    parent: int = -1
    files: tuple[OwnedFile, ...] = ()
    runtime: Mapping[str, str] = field(default_factory=dict)
    origins: Mapping[str, Image] = field(default_factory=dict)
    runtime_origins: Mapping[str, str] = field(default_factory=dict)
    directories: tuple[str, ...] = ()
    problem: str = ""
    tier: str = ""

    @property
    def owned(self) -> dict[str, OwnedFile]:
        """The owned files by path."""
        return {item.path: item for item in self.files}

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "format": _FORMAT,
            "state": self.state,
            "generation": self.number,
            "ended": self.ended,
            "parent": self.parent,
            "problem": self.problem,
            "tier": self.tier,
            "files": [{"path": item.path, "sha256": item.sha256, "mode": f"{item.mode:04o}"} for item in self.files],
            "runtime": dict(self.runtime),
            "origins": [image.to_json() for image in self.origins.values()],
            "runtime_origins": dict(self.runtime_origins),
            "directories": list(self.directories),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Manifest:
        """Return the manifest of `to_json`; raises `KeyError`, `TypeError` or `ValueError` for anything else."""
        images = [Image.from_json(item) for item in data["origins"]]
        return cls(
            number=data["generation"],
            state=data["state"],
            ended=data["ended"],
            parent=data["parent"],
            files=tuple(OwnedFile(item["path"], item["sha256"], int(item["mode"], 8)) for item in data["files"]),
            runtime=data["runtime"],
            origins={image.path: image for image in images},
            runtime_origins=data["runtime_origins"],
            directories=tuple(data["directories"]),
            problem=data["problem"],
            tier=data.get("tier", ""),
        )


class Records:
    """The generations of one node, on its disk."""

    def __init__(self, disk: Disk) -> None:
        """Use the paths of `disk`."""
        self._disk = disk

    def numbers(self) -> list[int]:
        """Return the numbers in use, ascending."""
        try:
            names = os.listdir(self._disk.locate(GENERATIONS, follow=True))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise DiskError(GENERATIONS, "list", error) from error
        return sorted(int(name) for name in names if name.isdigit())

    def journal(self, number: int) -> Journal | None:
        """Return the journal, None when the generation has none; raises `FailedError` (TUN-4405) if unreadable."""
        data = self._read(_record(number, "journal"))
        try:
            return None if data is None else Journal.from_json(data)
        except (KeyError, TypeError, ValueError) as error:
            raise _unreadable(_record(number, "journal"), error) from error

    def manifest(self, number: int) -> Manifest | None:
        """Return the manifest, None when there is none; raises `FailedError` (TUN-4405) if unreadable."""
        data = self._read(_record(number, "manifest"))
        try:
            return None if data is None else Manifest.from_json(data)
        except (KeyError, TypeError, ValueError) as error:
            raise _unreadable(_record(number, "manifest"), error) from error

    def current(self) -> Manifest:
        """Return the newest committed manifest; number 0 when tunectl owns nothing here."""
        for number in reversed(self.numbers()):
            found = self.manifest(number)
            if found is not None and found.state == COMMITTED:
                return found
        return Manifest(0, COMMITTED)

    def unfinished(self) -> list[int]:
        """Return the generations that have no outcome, newest first: at most one unless a disk failed."""
        found: list[int] = []
        for number in reversed(self.numbers()):
            if os.path.exists(self._disk.locate(_record(number, "manifest"))):
                break
            found.append(number)
        return found

    def begin(self, journal: Journal) -> None:
        """Write the journal and bring it onto the disk; only then may anything be touched."""
        directory = _directory(journal.number)
        for missing in self._disk.missing_directories(f"{directory}/journal.json"):
            self._disk.make_directory(missing, 0o755 if missing != directory else 0o700)
        self._write(_record(journal.number, "journal"), journal.to_json())

    def close(self, manifest: Manifest) -> None:
        """Write the outcome; with state `committed` this is the moment in which the new generation holds."""
        self._write(_record(manifest.number, "manifest"), manifest.to_json())

    def reopen(self, number: int) -> None:
        """Take the outcome back, so that the generation counts as unfinished."""
        self._disk.remove(_record(number, "manifest"))

    def is_settled(self) -> bool:
        """Return whether no generation is unfinished and `current` names the newest committed one."""
        number = self.current().number
        return not self.unfinished() and self._pointer() == (f"{number}\n".encode("ascii") if number else None)

    def _pointer(self) -> bytes | None:
        try:
            return self._disk.image(CURRENT).content
        except DiskError:
            return b""

    def point(self) -> None:
        """Write the number of the newest committed generation to `current`, for people and other programs.

        It is a convenience: where it cannot be written the next contact does it.
        """
        number = self.current().number
        self._disk.drop_staged(CURRENT)
        try:
            if number and self._pointer() != f"{number}\n".encode("ascii"):
                self._disk.put(Image(CURRENT, f"{number}\n".encode("ascii")))
                self._disk.sync()
        except DiskError:
            self._disk.drop_staged(CURRENT)

    def forget(self, number: int) -> None:
        """Remove a generation that did not come to touch anything; what cannot be removed is unfinished work."""
        self._disk.drop_staged(_record(number, "journal"))
        try:
            self._disk.remove(_record(number, "journal"))
            self._disk.remove_directory(_directory(number))
        except DiskError:
            return

    def drop_staged(self, number: int) -> None:
        """Remove the outcome that an interrupted `close` left beside its place."""
        self._disk.drop_staged(_record(number, "manifest"))

    def _write(self, path: str, data: Mapping[str, Any]) -> None:
        content = (json.dumps(data, indent=1, sort_keys=True) + "\n").encode("utf-8")
        self._disk.put(Image(path, content, 0o600))
        self._disk.sync()

    def _read(self, path: str) -> Any:
        try:
            content = self._disk.image(path).content
            return None if content is None else json.loads(content)
        except (DiskError, ValueError) as error:
            raise _unreadable(path, error) from error


def _directory(number: int) -> str:
    return f"{GENERATIONS}/{number:04d}"


def _record(number: int, name: str) -> str:
    return f"{_directory(number)}/{name}.json"


def _unreadable(path: str, error: Exception) -> FailedError:
    missing = f"it has no {error}" if isinstance(error, KeyError) else str(error)
    return FailedError(
        (
            problem(
                "TUN-4405",
                "a record of an earlier transaction cannot be read",
                where=path,
                why=missing,
                fix=f"look at the files it names, then move {os.path.dirname(path)} out of {GENERATIONS}",
            ),
        )
    )
