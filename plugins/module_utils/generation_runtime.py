# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# Paths are strings as the node knows them, and each system call stands where it is made.
# ruff: noqa: PTH116, PTH123
"""Values of the running kernel, below /proc and /sys: compared by meaning, written so that they can be put back."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable

from .core.kernel_value import chosen, same_kernel_value, with_choice
from .generation_disk import Disk, DiskError, Image

# File systems whose files are the kernel itself: a write is a command, not a change of bytes.
KERNEL_FILE_SYSTEMS = frozenset(
    {"proc", "sysfs", "debugfs", "tracefs", "configfs", "cgroup", "cgroup2", "resctrl", "securityfs"}
)


class Kernel:
    """The values of one node's kernel.

    Below a root that is a mere directory tree the values are plain files; they are then replaced like files, and a
    file that shows a choice goes on showing one.
    """

    def __init__(self, disk: Disk, step: Callable[[str], None] | None = None) -> None:
        """Use the paths of `disk`."""
        self._disk = disk
        self._step = step or (lambda _label: None)
        self._devices: dict[int, bool] = {}
        self._mounted: dict[str, str] | None = None

    def read(self, path: str) -> str | None:
        """Return the text of a value, None when this kernel has no such file; raises `DiskError`."""
        try:
            with open(self._disk.locate(path, follow=True), "rb") as stream:
                return stream.read().decode("utf-8", "surrogateescape")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise DiskError(path, "read", error) from error

    def write(self, path: str, value: str) -> None:
        """Set a value and look whether it holds; raises `DiskError` naming what the kernel said or shows."""
        self._set(path, value, exactly=False)

    def restore(self, path: str, text: str) -> None:
        """Set the value that `text`, read earlier, shows; raises `DiskError` like `write`."""
        self._set(path, text, exactly=True)

    def _set(self, path: str, value: str, *, exactly: bool) -> None:
        try:
            where = self._disk.locate(path, follow=True)
            if self._is_kernel(where):
                self._command(path, where, chosen(value))
            else:
                self._replace(path, where, value, exactly=exactly)
        except OSError as error:
            raise DiskError(path, "set", error) from error
        found = self.read(path)
        if found is None or not same_kernel_value(path, found, value):
            shown = "nothing" if found is None else repr(chosen(found))
            raise DiskError(path, "set", OSError(errno.EIO, f"{chosen(value)!r} was written, {shown} is there"))

    def _command(self, path: str, where: str, value: str) -> None:
        handle = os.open(where, os.O_WRONLY | os.O_CLOEXEC)
        try:
            self._step(f"set {path}")
            # without a line break: text values would keep it; an empty write would be none
            os.write(handle, (value or "\n").encode("utf-8", "surrogateescape"))
        finally:
            os.close(handle)

    def _replace(self, path: str, where: str, value: str, *, exactly: bool) -> None:
        with open(where, "rb") as stream:
            found = os.fstat(stream.fileno())
            before = stream.read().decode("utf-8", "surrogateescape")
        text = value if exactly else _shown(before, value)
        self._step(f"set {path}")
        image = Image(
            self._disk.inside(where),
            text.encode("utf-8", "surrogateescape"),
            stat.S_IMODE(found.st_mode),
            found.st_uid,
            found.st_gid,
        )
        # such a tree does not stand for anything that outlives a power failure
        self._disk.put(image, durable=False)

    def drop_staged(self, path: str) -> None:
        """Remove what an interrupted write left beside a value that is a plain file."""
        try:
            where = self._disk.locate(path, follow=True)
        except OSError:
            return
        if not self._is_kernel(where):
            self._disk.drop_staged(self._disk.inside(where))

    def _is_kernel(self, where: str) -> bool:
        try:
            device = os.stat(where).st_dev
        except OSError:
            return False
        if device not in self._devices:
            key = f"{os.major(device)}:{os.minor(device)}"
            self._devices[device] = self._mounts().get(key, "") in KERNEL_FILE_SYSTEMS
        return self._devices[device]

    def _mounts(self) -> dict[str, str]:
        if self._mounted is None:
            self._mounted = _file_systems()
        return self._mounted


def _shown(before: str, value: str) -> str:
    """Return what a file that showed `before` shows with `value` set; raises `OSError` (EINVAL) as a kernel would."""
    try:
        text = with_choice(before, value.strip())
    except ValueError as error:
        raise OSError(errno.EINVAL, str(error)) from error
    return text if text is not None else value.rstrip("\n") + "\n"


def _file_systems() -> dict[str, str]:
    """Return device number `major:minor` -> type of what is mounted here. Source: proc_pid_mountinfo(5)."""
    types: dict[str, str] = {}
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as stream:
            for line in stream:
                front, _dash, back = line.partition(" - ")
                types[front.split(" ")[2]] = back.split(" ")[0]
    except OSError:
        return types
    return types
