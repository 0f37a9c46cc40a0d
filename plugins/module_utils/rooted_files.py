# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Files below a root directory, read as the node whose root it is would read them: links never lead outside."""

# Thousands of system calls: pathlib would double their time.
# ruff: noqa: PTH112, PTH115, PTH118, PTH208

from __future__ import annotations

import errno
import fnmatch
import os

MAX_BYTES = 1 << 20
_MAX_LINKS = 40
_ABSENT = (errno.ENOENT, errno.ENOTDIR)


class RootedFiles:
    """What was read below a root, in the four kinds that a snapshot knows.

    Shape: all paths are absolute as the node knows them. Nothing raises: what cannot be read is recorded with the
    reason, what is not there as absent.
    """

    def __init__(self, root: str) -> None:
        """Start with nothing read; `root` is `/` or the directory of another system."""
        self.base = "" if os.path.normpath(root) == "/" else os.path.normpath(root)
        self.files: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self.listings: dict[str, tuple[str, ...]] = {}
        self.unreadable: dict[str, str] = {}
        self.absent: set[str] = set()
        self._directories: dict[str, str] = {}
        self._plain: set[str] = set()

    def read(self, path: str) -> str | None:
        """Record the file and return its text, or None when it has none for us."""
        text = self.peek(path)
        if text is not None:
            self.files[path] = text
        return text

    def peek(self, path: str) -> str | None:
        """Return the text of a file without recording it; why there is none is recorded."""
        try:
            return self._text(path)
        except OSError as error:
            self._record(path, error)
            return None

    def probe(self, path: str) -> str | None:
        """Return the text of a file, recording neither text nor failure."""
        try:
            return self._text(path)
        except OSError:
            return None

    def listing(self, path: str) -> tuple[str, ...]:
        """Record and return the sorted names in a directory, empty when there are none for us."""
        names = self.entries(path)
        if names is not None:
            self.listings[path] = names
        return names or ()

    def entries(self, path: str) -> tuple[str, ...] | None:
        """Return the sorted names in a directory without recording them; why there are none is recorded."""
        try:
            return tuple(sorted(os.listdir(self._followed(path))))
        except OSError as error:
            self._record(path, error)
            return None

    def link(self, path: str) -> str | None:
        """Record and return where a link leads in the end, also when nothing is there; None when it is no link."""
        directory, _slash, name = path.rpartition("/")
        try:
            parent = self._real(directory)
            target = os.readlink(f"{self.base}{parent}/{name}")
        except OSError as error:
            if error.errno != errno.EINVAL:
                self._record(path, error)
            return None
        try:
            self.links[path] = self._real(path)
        except OSError:
            self.links[path] = os.path.normpath(os.path.join(parent or "/", target))
        return self.links[path]

    def is_directory(self, path: str) -> bool:
        """Return whether a directory is there; nothing is recorded."""
        try:
            return os.path.isdir(self._followed(path))
        except OSError:
            return False

    def exists(self, path: str) -> bool:
        """Return whether something is there, itself readable or not; nothing is recorded."""
        try:
            return os.path.lexists(self._place(path))
        except OSError:
            return False

    def glob(self, pattern: str) -> list[str]:
        """Return the existing paths that a pattern with `*`, `?` or `[` in its components names, sorted."""
        found = [""]
        for part in pattern.strip("/").split("/"):
            if not any(mark in part for mark in "*?["):
                found = [f"{path}/{part}" for path in found]
                continue
            found = [f"{path}/{name}" for path in found for name in self._matching(path or "/", part)]
        return sorted(path for path in found if self.exists(path))

    def _matching(self, directory: str, pattern: str) -> list[str]:
        try:
            return fnmatch.filter(os.listdir(self._followed(directory)), pattern)
        except OSError:
            return []

    def _record(self, path: str, error: OSError) -> None:
        if error.errno in _ABSENT:
            self.absent.add(path)
        else:
            self.unreadable[path] = os.strerror(error.errno).lower() if error.errno else str(error)

    def _text(self, path: str) -> str:
        place = self._place(path)
        try:
            data = _read_bytes(place, os.O_NOFOLLOW if self.base else 0)
        except OSError as error:
            if error.errno != errno.ELOOP or not self.base:
                raise
            data = _read_bytes(self.base + self._real(path), os.O_NOFOLLOW)
        return data.decode("utf-8", "replace")

    def _place(self, path: str) -> str:
        """Return the path on this system, its last component unresolved; raises `OSError` as opening it would."""
        if not self.base:
            return path
        directory, _slash, name = path.rpartition("/")
        real = self._directories.get(directory)
        if real is None:
            real = self._directories[directory] = self._real(directory)
        return f"{self.base}{real}/{name}"

    def _followed(self, path: str) -> str:
        """Return the path on this system, links resolved below the root."""
        return self.base + self._real(path) if self.base else path

    def _real(self, path: str) -> str:
        """Return the path with every link resolved below the root, `..` stopping there; the root itself is ""."""
        real, hops = "", 0
        todo = path.split("/")[::-1]
        while todo:
            part = todo.pop()
            if part in ("", "."):
                continue
            if part == "..":
                real = real.rpartition("/")[0]
                continue
            here = f"{real}/{part}"
            target = None if here in self._plain else _link_target(self.base + here)
            if target is None:
                self._plain.add(here)
                real = here
                continue
            hops += 1
            if hops > _MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            real = "" if target.startswith("/") else real
            todo += target.split("/")[::-1]
        return real


def _link_target(place: str) -> str | None:
    try:
        return os.readlink(place)
    except OSError as error:
        if error.errno == errno.EINVAL:
            return None
        raise


def _read_bytes(place: str, flags: int) -> bytes:
    # A pipe somebody left in a configuration directory must not block us.
    descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags)
    try:
        chunks: list[bytes] = []
        size = 0
        while True:
            chunk = os.read(descriptor, MAX_BYTES)
            if not chunk:
                return b"".join(chunks)
            size += len(chunk)
            if size > MAX_BYTES:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
            chunks.append(chunk)
    finally:
        os.close(descriptor)
