# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""One transaction on a node: everything is as the goal says afterwards, or everything is as it was."""

from __future__ import annotations

import dataclasses
import datetime as dt
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .core.errors import FailedError, Problem, TunectlError, UndoneError, problem
from .core.kernel_value import same_kernel_value
from .generation_actions import REBOOT, ActionError, Commands
from .generation_disk import Disk, DiskError, Image
from .generation_journal import COMMITTED, UNDONE, UNFINISHED, Journal, Manifest, Records
from .generation_runtime import Kernel


@dataclass(frozen=True)
class Goal:
    """What a transaction brings about.

    Shape: `files` are the images to put in place (absent ones are removed), only such that differ from what is
    there; `runtime` is path -> value to set, `restored` path -> text to put back; `emptied` are directories that go
    when nothing is left in them, outermost first; `releases` says that only the ownership changes, which is work too.
    """

    kind: str
    files: tuple[Image, ...] = ()
    runtime: Mapping[str, str] = field(default_factory=dict)
    restored: Mapping[str, str] = field(default_factory=dict)
    emptied: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    tier: str = ""
    plan_id: str = ""
    restores: int = -1
    boot_id: str = ""
    releases: bool = False

    @property
    def is_reached(self) -> bool:
        """Whether nothing is to be done."""
        return not (self.files or self.runtime or self.restored or self.releases)


@dataclass(frozen=True)
class Recovery:
    """Unfinished work that was undone: paths put back, and paths left alone because somebody changed them since."""

    number: int
    restored: tuple[str, ...] = ()
    left_alone: tuple[str, ...] = ()


def digest(image: Image) -> str:
    """Return the SHA-256 of the bytes as hex, empty for an absent file."""
    return hashlib.sha256(image.content).hexdigest() if image.content is not None else ""


def now() -> str:
    """Return the time as ISO 8601 UTC, in seconds."""
    return dt.datetime.now(dt.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass
class Transaction:
    """Brings goals about on one node, and undoes what did not work. The caller holds the lock."""

    disk: Disk
    kernel: Kernel
    records: Records
    commands: Commands | None

    def run(self, goal: Goal, manifest: Manifest) -> None:
        """Reach the goal and commit `manifest`.

        Raises `UndoneError` when something failed and all is as before, `FailedError` when not all could be undone.
        """
        journal = self._begin(goal, manifest.number)
        try:
            self._perform(goal, journal)
            self.disk.sync()
            self.records.close(dataclasses.replace(manifest, state=COMMITTED, ended=now()))
        except (Exception, KeyboardInterrupt) as error:
            raise self._undone(journal, manifest.parent, error) from error
        self.records.point()

    def _begin(self, goal: Goal, number: int) -> Journal:
        try:
            journal = self._journal(goal, number)
            self.records.begin(journal)
        except (DiskError, KeyboardInterrupt) as error:
            self.records.forget(number)
            raise UndoneError((_as_problem(error),)) from error
        return journal

    def _journal(self, goal: Goal, number: int) -> Journal:
        directories: list[str] = []
        for image in goal.files:
            if image.exists:
                directories += [one for one in self.disk.missing_directories(image.path) if one not in directories]
        values = {**goal.runtime, **goal.restored}
        return Journal(
            number=number,
            kind=goal.kind,
            started=now(),
            before=tuple(self.disk.image(image.path) for image in goal.files),
            digests={image.path: digest(image) for image in goal.files},
            runtime_before={path: self.kernel.read(path) or "" for path in values},
            runtime_after=values,
            directories=tuple(directories),
            actions=goal.actions,
            tier=goal.tier,
            plan_id=goal.plan_id,
            restores=goal.restores,
            boot_id=goal.boot_id,
        )

    def _perform(self, goal: Goal, journal: Journal) -> None:
        if self.commands is not None:
            self.commands.before(goal.actions)
        for directory in journal.directories:
            self.disk.make_directory(directory)
        self._write_files(goal.files)
        for directory in reversed(goal.emptied):
            self.disk.remove_directory(directory)
        for path, value in goal.runtime.items():
            self.kernel.write(path, value)
        for path, text in goal.restored.items():
            self.kernel.restore(path, text)
        if self.commands is not None:
            self.commands.after(goal.actions)

    def _write_files(self, files: Sequence[Image]) -> None:
        written = [image for image in files if image.exists]
        # all bytes are on the disk before the first file is touched: a full disk then costs nothing
        for image in written:
            self.disk.stage(image)
        for image in written:
            self.disk.switch(image.path)
        for image in files:
            if not image.exists:
                self.disk.remove(image.path)

    def _undone(self, journal: Journal, parent: int, error: BaseException) -> TunectlError:
        found = _as_problem(error)
        try:
            self.records.reopen(journal.number)
            recovery = self._restore(journal)
            self._commands_back(journal, error)
        except (DiskError, ActionError) as second:
            return _not_undone(found, second, journal.number)
        self._close_undone(journal.number, parent, f"{found.what}: {found.why}")
        if recovery.left_alone:
            return _left_changed(found, recovery)
        return UndoneError((found,), "Everything was undone: the node is as it was before.")

    def _close_undone(self, number: int, parent: int, why: str) -> None:
        try:
            self.records.close(Manifest(number, UNDONE, now(), parent, problem=why))
        except DiskError:  # the next contact finds nothing left to undo and closes it
            return

    def _commands_back(self, journal: Journal, error: BaseException | None) -> None:
        """Make what was put back effective; a kubelet that could not even be stopped is not started either."""
        stopped = not (isinstance(error, ActionError) and error.step == "kubelet-stop")
        if self.commands is not None and stopped:
            # No boot follows, which would start our units.
            self.commands.after([name for name in journal.actions if name != REBOOT])

    def recover(self) -> tuple[Recovery, ...]:
        """Undo what an earlier process began and did not finish; raises `FailedError` when that does not work."""
        done: list[Recovery] = []
        for number in self.records.unfinished():
            journal = self.records.journal(number)
            if journal is None:
                self.records.forget(number)
                continue
            try:
                done.append(self._restore(journal))
                self.records.drop_staged(number)
                self._commands_back(journal, None)
                self.records.close(
                    Manifest(number, UNDONE, now(), self.records.current().number, problem="it was interrupted")
                )
            except (DiskError, ActionError) as error:
                first = problem("TUN-4404", "an earlier transaction was interrupted", where=f"generation {number}")
                raise _not_undone(first, error, number) from error
        self.records.point()
        return tuple(done)

    def _restore(self, journal: Journal) -> Recovery:
        """Put back what the journal recorded, except what somebody else changed in the meantime."""
        restored: list[str] = []
        left: list[str] = []
        for image in reversed(journal.before):
            self.disk.drop_staged(image.path)
            self._restore_file(image, journal.digests[image.path], restored, left)
        for path, text in reversed(list(journal.runtime_before.items())):
            self.kernel.drop_staged(path)
            self._restore_value(path, text, journal.runtime_after[path], restored, left)
        for directory in reversed(journal.directories):
            self.disk.remove_directory(directory)
        self.disk.sync()
        return Recovery(journal.number, tuple(restored), tuple(left))

    def _restore_file(self, image: Image, written: str, restored: list[str], left: list[str]) -> None:
        found = self.disk.image(image.path)
        if found.same_as(image):
            return
        if digest(found) not in (written, digest(image)):
            left.append(image.path)
            return
        if image.exists:
            for directory in self.disk.missing_directories(image.path):
                self.disk.make_directory(directory)
        self.disk.put(image)
        restored.append(image.path)

    def _restore_value(self, path: str, text: str, written: str, restored: list[str], left: list[str]) -> None:
        found = self.kernel.read(path)
        if found is None or found == text:
            return
        if not any(same_kernel_value(path, found, one) for one in (written, text)):
            left.append(path)
            return
        self.kernel.restore(path, text)
        restored.append(path)


def _as_problem(error: BaseException) -> Problem:
    if isinstance(error, DiskError):
        code = "TUN-4403" if error.doing == "set" else "TUN-4401"
        what = f"could not {error.doing} {error.path}"
        return problem(code, what, where=error.path, why=error.reason, fix=_remedy(error))
    if isinstance(error, ActionError):
        fix = f"run it by hand on the node: {error.command}"
        return problem("TUN-4404", f"the step {error.step} failed", where=error.command, why=error.why, fix=fix)
    if isinstance(error, KeyboardInterrupt):
        return problem("TUN-4406", "the transaction was interrupted", why="the process was told to stop")
    return problem("TUN-9002", "the transaction met a defect in tunectl", why=f"{type(error).__name__}: {error}")


def _remedy(error: DiskError) -> str:
    if error.is_full:
        return "make room on the node's disk, then try again"
    if error.is_read_only:
        return "find out why the file system is read-only (dmesg, mount), then try again"
    if error.doing == "set":
        return "leave the value out of the tier, or one that this kernel takes"
    return "become root on the node (become: true), or look at the permissions of its directory"


def _not_undone(first: Problem, error: DiskError | ActionError, number: int) -> FailedError:
    second = _as_problem(error)
    also = problem(
        "TUN-4402",
        "not everything could be put back",
        where=second.where,
        why=second.why,
        fix=f"remove the cause; the next run, or tunectl rollback, finishes undoing generation {number}",
    )
    return FailedError((first, also), f"Generation {number} is {UNFINISHED}: the node is between old and new.")


def _left_changed(first: Problem, recovery: Recovery) -> FailedError:
    also = problem(
        "TUN-4407",
        "somebody else changed files or values while the transaction ran",
        where=", ".join(recovery.left_alone),
        why="they are neither what was before nor what was written, so they were left as they are",
        fix="look at them by hand",
    )
    return FailedError((first, also), "All else was undone.")
