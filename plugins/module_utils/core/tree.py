# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The files of a snapshot read as what the kernel writes: numbers, CPU lists. Every complaint names the file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .cpuset import CpuSet
from .errors import InputError, problem
from .snapshot import Snapshot

_NUMBER = re.compile(r"-?[0-9]{1,18}\Z")


class Tree:
    """A snapshot with typed access to its files.

    Sad paths of all methods: `InputError` TUN-1701 for a text that is not what belongs there, TUN-1702 for a file
    that is needed and has none.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        """Wrap a snapshot."""
        self.snapshot = snapshot

    def has(self, path: str) -> bool:
        """Return whether the file was read."""
        return path in self.snapshot.files

    def text(self, path: str) -> str:
        """Return the stripped text of a file that is needed."""
        text = self.snapshot.text(path)
        if text is None:
            raise self.missing(path)
        return text

    def number(self, path: str, default: int | None = None) -> int:
        """Return the whole number in a file; the default when the file is absent, unless that is None."""
        if default is not None and path not in self.snapshot.files and path not in self.snapshot.unreadable:
            return default
        text = self.text(path)
        if not _NUMBER.match(text):
            raise self.fault(path, f"it holds {text[:60]!r} where a number belongs")
        return int(text)

    def count(self, path: str, default: int | None = None) -> int:
        """Return a number that is not negative."""
        number = self.number(path, default)
        if number < 0:
            raise self.fault(path, f"it holds {number} where a count belongs")
        return number

    def cpus(self, path: str) -> CpuSet:
        """Return the CPUs of a file that is needed: a mask where the file is not called a list."""
        text = self.text(path)
        try:
            return CpuSet.parse_mask(text) if path.endswith(("siblings", "core_cpus")) else CpuSet.parse(text)
        except ValueError as error:
            raise self.fault(path, str(error)) from None

    def numbered(self, directory: str, prefix: str) -> Iterator[tuple[int, str]]:
        """Yield (number, path) of the entries `prefix<number>` of a directory, ascending."""
        found = []
        for name in self.snapshot.names(directory):
            digits = name[len(prefix) :]
            if name.startswith(prefix) and _NUMBER.match(digits) and digits[0] != "-":
                found.append((int(digits), f"{directory}/{name}"))
        yield from sorted(found)

    def fault(self, path: str, why: str) -> InputError:
        """Return the error for a file that contradicts the kernel's format or another file."""
        return InputError(
            (
                problem(
                    "TUN-1701",
                    "the hardware cannot be told from this file",
                    where=f"{self.snapshot.node}:{path}",
                    why=why,
                    fix="Take a new snapshot of the node; if it says the same, the file is damaged at its source.",
                ),
            )
        )

    def missing(self, path: str) -> InputError:
        """Return the error for a file that is needed and was not read."""
        return InputError(
            (
                problem(
                    "TUN-1702",
                    "a file that tells the hardware was not read",
                    where=f"{self.snapshot.node}:{path}",
                    why=self.snapshot.why_missing(path),
                    fix="Read the node as root, with /proc and /sys mounted below the root that is read.",
                ),
            )
        )
