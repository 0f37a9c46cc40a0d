# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What systemd-sysctl sets at the next boot, and which line of which file says so.

Source: sysctl.d(5), systemd-sysctl.service(8), src/sysctl/sysctl.c of systemd 252. /etc/sysctl.conf counts only where
a link in one of the directories leads to it; the initrd's files and the credential `sysctl.extra` are not looked at.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from .snapshot import Snapshot
from .sysctl import canonical_name, canonical_value, sysctl_path

SYSCTL_DIRECTORIES = (
    "/etc/sysctl.d",
    "/run/sysctl.d",
    "/usr/local/lib/sysctl.d",
    "/usr/lib/sysctl.d",
    "/lib/sysctl.d",
)
_GLOB_MARKS = "*?["


@dataclass(frozen=True)
class Assignment:
    """One line of a sysctl file.

    Shape: `line` from 1; `path` below /proc/sys, maybe a pattern; `value` is in normal form, None where the line only
    takes the name out (`-name`).
    """

    file: str
    line: int
    path: str
    value: str | None

    @property
    def is_pattern(self) -> bool:
        """Whether the name stands for all existing parameters that it matches."""
        return any(mark in self.path for mark in _GLOB_MARKS)

    @property
    def place(self) -> str:
        """File and line, as an editor takes them."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class BootSysctls:
    """The lines that count, by their path below /proc/sys, patterns too, in the order in which they are applied."""

    lines: Mapping[str, Assignment]

    def of(self, path: str) -> Assignment | None:
        """Return the line that decides a parameter, None when no line does; its value is None when it takes it out."""
        named = self.lines.get(path)
        if named is not None:
            return named
        patterns = (line for line in self.lines.values() if line.is_pattern and line.value is not None)
        matching = [line for line in patterns if matches(line.path, path)]
        return matching[-1] if matching else None

    def writes(self, known: Iterable[str]) -> list[tuple[str, str]]:
        """Return (path, value) in the order in which they are written; patterns go over the paths `known`."""
        existing = sorted(known)
        found: list[tuple[str, str]] = []
        for line in self.lines.values():
            if line.value is None:
                continue
            if not line.is_pattern:
                found.append((line.path, line.value))
                continue
            found += [(path, line.value) for path in existing if path not in self.lines and matches(line.path, path)]
        return found


def matches(pattern: str, path: str) -> bool:
    """Return whether a pattern names a path; no mark stands for a `/` or a leading dot. Source: glob(7)."""
    parts, names = pattern.split("/"), path.split("/")
    return len(parts) == len(names) and all(
        fnmatch.fnmatchcase(name, part) and (not name.startswith(".") or part.startswith("."))
        for part, name in zip(parts, names)
    )


def assignments(file: str, text: str) -> Iterator[Assignment]:
    """Yield the lines of a sysctl file that say something, in order; a backslash at the end continues nothing."""
    for number, raw in enumerate(text.split("\n"), 1):
        stripped = raw.strip()
        if not stripped or stripped[0] in "#;":
            continue
        name, equals, value = stripped.partition("=")
        if not equals and not name.startswith("-"):
            continue
        key = re.sub("/+", "/", name.removeprefix("-")).strip().strip("/")
        path = sysctl_path(canonical_name(key))
        yield Assignment(file, number, path, canonical_value(value) if equals else None)


def merged(lines: Iterable[Assignment]) -> BootSysctls:
    """Return what counts of lines in reading order: the last for each name, which then stands at the end."""
    kept: dict[str, Assignment] = {}
    for line in lines:
        earlier = kept.get(line.path)
        if earlier is not None and earlier.value == line.value:
            continue
        kept.pop(line.path, None)
        kept[line.path] = line
    return BootSysctls(kept)


def boot_files(snapshot: Snapshot) -> tuple[str, ...]:
    """Return the files in reading order: by name over all directories, of one name that of the first directory.

    Shape: a name that is there without a text (a link to nowhere, a directory) is in the list too: it hides those of
    its name in later directories.
    """
    names: dict[str, set[str]] = {directory: set(snapshot.names(directory)) for directory in SYSCTL_DIRECTORIES}
    for path in (*snapshot.files, *snapshot.unreadable):
        directory, _slash, name = path.rpartition("/")
        if directory in names:
            names[directory].add(name)
    chosen: dict[str, str] = {}
    for directory in SYSCTL_DIRECTORIES:
        for name in names[directory]:
            if name.endswith(".conf") and not name.startswith("."):
                chosen.setdefault(name, f"{directory}/{name}")
    return tuple(chosen[name] for name in sorted(chosen))


def boot_sysctls(snapshot: Snapshot) -> BootSysctls:
    """Return what the files of a node say; `unread_files` tells which of them nobody could read."""
    files = boot_files(snapshot)
    return merged(line for path in files for line in assignments(path, snapshot.files.get(path, "")))


def unread_files(snapshot: Snapshot) -> dict[str, str]:
    """Return the sysctl directories and counting files that could not be read, with the reason."""
    return {
        path: snapshot.unreadable[path]
        for path in (*SYSCTL_DIRECTORIES, *boot_files(snapshot))
        if path in snapshot.unreadable
    }
