# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# Paths are strings as the node knows them, and each system call stands where it is made.
# ruff: noqa: PTH101, PTH102, PTH104, PTH106, PTH108, PTH112, PTH115, PTH118, PTH120
"""Files below a node's root: read as they are, replaced atomically, never through a link that leads outside."""

from __future__ import annotations

import base64
import errno
import os
import stat
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

TEMPORARY_SUFFIX = ".tunectl-new"
_MAX_LINKS = 40  # as the kernel, MAXSYMLINKS
_CHUNK = 1 << 20
_SELINUX = "security.selinux"

Step = Callable[[str], None]


class DiskError(Exception):
    """An operation on one file failed. `path` is as the node knows it, `doing` a verb, `reason` the system's words."""

    def __init__(self, path: str, doing: str, error: OSError) -> None:
        """Keep the words of `error`, and whether the disk is full or read-only."""
        self.path = path
        self.doing = doing
        self.reason = error.strerror or str(error)
        self.errno = error.errno
        super().__init__(f"{doing} {path}: {self.reason}")

    @property
    def is_full(self) -> bool:
        """Whether there was no room."""
        return self.errno in (errno.ENOSPC, errno.EDQUOT)

    @property
    def is_read_only(self) -> bool:
        """Whether the file system takes no changes."""
        return self.errno == errno.EROFS


@dataclass(frozen=True)
class Image:
    """A file as it was or shall be.

    Shape: `content` None means that there is no file, all else is then meaningless. `mtime_ns` 0 leaves the time
    to the clock; `selinux` is the security context, empty where there is none; `uid` and `gid` -1 mean whoever writes.
    """

    path: str
    content: bytes | None
    mode: int = 0o644
    uid: int = -1
    gid: int = -1
    mtime_ns: int = 0
    selinux: str = ""

    @property
    def exists(self) -> bool:
        """Whether there is a file."""
        return self.content is not None

    def same_as(self, other: Image) -> bool:
        """Return whether both are absent, or have equal bytes and permissions."""
        return self.content == other.content and (not self.exists or self.mode == other.mode)

    def to_json(self) -> dict[str, Any]:
        """Return plain data; text stays readable, other bytes are base64."""
        if self.content is None:
            return {"path": self.path, "absent": True}
        data: dict[str, Any] = {"path": self.path, "mode": f"{self.mode:04o}", "uid": self.uid, "gid": self.gid}
        data["mtime_ns"] = self.mtime_ns
        if self.selinux:
            data["selinux"] = self.selinux
        try:
            data["text"] = self.content.decode("utf-8")
        except UnicodeDecodeError:
            data["base64"] = base64.b64encode(self.content).decode("ascii")
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Image:
        """Return the image of `to_json`; raises `KeyError` or `ValueError` for anything else."""
        if data.get("absent"):
            return cls(data["path"], None)
        content = data["text"].encode("utf-8") if "text" in data else base64.b64decode(data["base64"])
        return cls(
            data["path"],
            content,
            int(data["mode"], 8),
            data["uid"],
            data["gid"],
            data["mtime_ns"],
            data.get("selinux", ""),
        )


class Disk:
    """The files of one node.

    Shape: every path is absolute as the node knows it; `root` is the directory that stands for its `/`.
    `step` is told each change just before it is made; what it raises happens instead of the change.
    """

    def __init__(self, root: str, step: Step | None = None) -> None:
        """Remember the root; raises `NotADirectoryError` when there is none."""
        self.root = os.path.realpath(root)
        if not os.path.isdir(self.root):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), root)
        self._prefix = "" if self.root == "/" else self.root
        self._step = step or _no_step
        self._dirty: dict[str, str] = {}

    @property
    def is_live(self) -> bool:
        """Whether the root is this machine's own."""
        return not self._prefix

    def locate(self, path: str, *, follow: bool = False) -> str:
        """Return where the node's `path` really is, links read as the node would read them.

        Shape: the last component is followed only with `follow`; the result is always below the root.
        Raises `OSError` (ELOOP) for links that go in circles.
        """
        done: list[str] = []
        todo = deque(path.split("/"))
        links = 0
        while todo:
            part = todo.popleft()
            if part in ("", "."):
                continue
            if part == "..":
                del done[-1:]
                continue
            target = self._link("/".join((self._prefix, *done, part))) if todo or follow else None
            if target is None:
                done.append(part)
                continue
            links += 1
            if links > _MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            if target.startswith("/"):
                done.clear()
            todo.extendleft(reversed(target.split("/")))
        return "/".join((self._prefix, *done))

    def inside(self, where: str) -> str:
        """Return the path as the node knows it of a place that `locate` returned."""
        return where[len(self._prefix) :]

    @staticmethod
    def _link(where: str) -> str | None:
        try:
            return os.readlink(where)
        except OSError:
            return None

    def image(self, path: str) -> Image:
        """Return the file as it is; raises `DiskError` when it cannot be read or is no regular file."""
        try:
            # O_NONBLOCK: a pipe in the place of a file must not stop the run
            handle = os.open(self.locate(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return Image(path, None)
        except OSError as error:
            raise DiskError(path, "read", error) from error
        try:
            return _image_of(path, handle)
        except OSError as error:
            raise DiskError(path, "read", error) from error
        finally:
            os.close(handle)

    def stage(self, image: Image, *, durable: bool = True) -> None:
        """Write the new content beside its place, complete and on the disk; `switch` puts it there."""
        try:
            where = self.locate(image.path)
            self._step(f"create {image.path}")
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            handle = os.open(_temporary(where), flags, 0o600)
            try:
                self._fill(handle, image, durable=durable)
            finally:
                os.close(handle)
        except OSError as error:
            raise DiskError(image.path, "write", error) from error

    def _fill(self, handle: int, image: Image, *, durable: bool) -> None:
        rest = memoryview(image.content or b"")
        while rest:
            self._step(f"write {image.path}")
            rest = rest[os.write(handle, rest) :]
        if image.uid >= 0 and os.geteuid() == 0:
            os.fchown(handle, image.uid, image.gid)
        os.fchmod(handle, image.mode)
        if image.selinux:
            _label(handle, image.selinux)
        if image.mtime_ns:
            os.utime(handle, ns=(image.mtime_ns, image.mtime_ns))
        if durable:
            self._step(f"sync {image.path}")
            os.fsync(handle)

    def switch(self, path: str) -> None:
        """Put the staged content in its place, in one step."""
        try:
            where = self.locate(path)
            self._step(f"rename {path}")
            os.rename(_temporary(where), where)
        except OSError as error:
            raise DiskError(path, "replace", error) from error
        self._dirty[os.path.dirname(where)] = path

    def put(self, image: Image, *, durable: bool = True) -> None:
        """Make the file what `image` says: written, replaced or removed."""
        if image.exists:
            self.stage(image, durable=durable)
            self.switch(image.path)
        else:
            self.remove(image.path)

    def remove(self, path: str) -> None:
        """Remove the file; nothing happens when there is none."""
        try:
            where = self.locate(path)
            self._step(f"remove {path}")
            os.unlink(where)
        except FileNotFoundError:
            return
        except OSError as error:
            raise DiskError(path, "remove", error) from error
        self._dirty[os.path.dirname(where)] = path

    def drop_staged(self, path: str) -> None:
        """Remove what was staged for `path` and never put in place."""
        try:
            os.unlink(_temporary(self.locate(path)))
        except OSError:
            return

    def missing_directories(self, path: str) -> list[str]:
        """Return the directories that `path` needs and that do not exist, outermost first."""
        missing: list[str] = []
        parent = os.path.dirname(path)
        while parent not in ("/", "") and not os.path.isdir(self.locate(parent, follow=True)):
            missing.insert(0, parent)
            parent = os.path.dirname(parent)
        return missing

    def make_directory(self, path: str, mode: int = 0o755) -> None:
        """Create one directory; nothing happens when it exists."""
        try:
            where = self.locate(path, follow=True)
            self._step(f"mkdir {path}")
            os.mkdir(where, mode)
            os.chmod(where, mode)  # mkdir's mode passes through the umask
        except FileExistsError:
            return
        except OSError as error:
            raise DiskError(path, "create the directory", error) from error
        self._dirty[os.path.dirname(where)] = path

    def remove_directory(self, path: str) -> bool:
        """Remove the directory if it is empty, and return whether it is gone."""
        try:
            where = self.locate(path)
            self._step(f"rmdir {path}")
            os.rmdir(where)
        except FileNotFoundError:
            return True
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR, errno.EBUSY):
                return False
            raise DiskError(path, "remove the directory", error) from error
        self._dirty[os.path.dirname(where)] = path
        return True

    def sync(self) -> None:
        """Bring the names that were changed since the last call onto the disk."""
        for directory, path in list(self._dirty.items()):
            try:
                self._step(f"sync directory of {path}")
                _sync_directory(directory)
            except FileNotFoundError:  # removed again since
                pass
            except OSError as error:
                raise DiskError(path, "sync the directory of", error) from error
            del self._dirty[directory]


def _image_of(path: str, handle: int) -> Image:
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    chunks: list[bytes] = []
    while chunk := os.read(handle, _CHUNK):
        chunks.append(chunk)
    try:
        label = os.getxattr(handle, _SELINUX).decode("utf-8").rstrip("\0")
    except (OSError, UnicodeDecodeError):
        label = ""
    mode = stat.S_IMODE(found.st_mode)
    return Image(path, b"".join(chunks), mode, found.st_uid, found.st_gid, found.st_mtime_ns, label)


def _no_step(_label: str) -> None:
    return


def _temporary(where: str) -> str:
    head, tail = os.path.split(where)
    return os.path.join(head, f".{tail}{TEMPORARY_SUFFIX}")


def _label(handle: int, label: str) -> None:
    try:
        os.setxattr(handle, _SELINUX, label.encode("utf-8"))
    except OSError:  # without the privilege, or without SELinux, the directory's default has to do
        return


def _sync_directory(where: str) -> None:
    handle = os.open(where, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
