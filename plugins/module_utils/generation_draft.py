# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Works out what a transaction will do: reads the node and the records, writes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from .core.errors import Problem, RefusedError, problem
from .core.kernel_value import chosen, same_kernel_value
from .core.node_file import NodeFile, RuntimeValue
from .generation_actions import CHECKPOINT_FILES, CHECKPOINTS, REBOOT
from .generation_disk import Disk, Image
from .generation_journal import COMMITTED, Journal, Manifest, OwnedFile, Records
from .generation_request import FileChange, ForeignChangeError, Request
from .generation_runtime import Kernel
from .generation_transaction import Goal, digest

BOOT_ID = "/proc/sys/kernel/random/boot_id"


@dataclass
class Draft:
    """A goal with what is to be said about it."""

    goal: Goal
    manifest: Manifest
    files: tuple[FileChange, ...] = ()
    values: tuple[tuple[str, str, str], ...] = ()
    foreign: tuple[str, ...] = ()
    left_alone: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    needs_reboot: bool = False
    previous: int = 0


@dataclass
class _Values:
    """Runtime values as they are worked out."""

    set: dict[str, str] = field(default_factory=dict)
    restored: dict[str, str] = field(default_factory=dict)
    owned: dict[str, str] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    shown: list[tuple[str, str, str]] = field(default_factory=list)
    left_alone: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def put_back(self, path: str, found: str | None, written: str, text: str) -> None:
        """Decide about a value that shall be as `text` again: only what we wrote ourselves is put back."""
        if found is None:
            self.notes.append(f"{path} is gone from this kernel, there is nothing to put back")
        elif found == text:
            return
        elif same_kernel_value(path, found, written):
            self.restored[path] = text
            self.shown.append((path, chosen(found), chosen(text)))
        elif not same_kernel_value(path, found, text):
            self.left_alone.append(path)

    def draft(self, goal: Goal, manifest: Manifest, files: Sequence[FileChange], foreign: Sequence[str]) -> Draft:
        """Return the draft of these values and of the rest."""
        return Draft(
            goal,
            manifest,
            tuple(files),
            tuple(self.shown),
            tuple(foreign),
            tuple(self.left_alone),
            tuple(self.notes),
        )


class Drafts:
    """Works out transactions for one node."""

    def __init__(self, disk: Disk, kernel: Kernel, records: Records) -> None:
        """Read through these."""
        self._disk = disk
        self._kernel = kernel
        self._records = records

    def apply(self, request: Request) -> Draft:
        """Return the draft that makes the node what the request says.

        Raises `ForeignChangeError` (TUN-3402), `RefusedError` (TUN-3409), `DiskError` when something cannot be read.
        """
        current = self._records.current()
        changes = [self._change(_wanted(item)) for item in request.files]
        changes += self._dropped(current, request)
        changed = [item for item in changes if not item.before.same_as(item.after)]
        foreign = _foreign(changed, {path: item.sha256 for path, item in current.owned.items()})
        self._refuse_foreign(changed, foreign, overwrite=request.overwrite)
        values = self._values(current, request)
        if CHECKPOINTS in request.actions and (changed or values.set or values.restored):
            changed += [item for item in map(self._removed, CHECKPOINT_FILES) if item.before.exists]
        manifest = self._manifest(current, request, changes, values)
        goal = Goal(
            kind="apply",
            files=tuple(item.after for item in changed),
            runtime=values.set,
            restored=values.restored,
            emptied=tuple(one for one in current.directories if one not in manifest.directories),
            actions=request.actions,
            tier=request.tier,
            plan_id=request.plan_id,
            releases=request.forget and any(path not in manifest.owned for path in current.owned),
        )
        draft = values.draft(goal, manifest, changed, foreign)
        return replace(draft, previous=current.number, needs_reboot=REBOOT in request.actions)

    def back(self, to: int | None, *, overwrite: bool) -> Draft:
        """Return the draft that puts back what was after generation `to`, by default before the current one.

        Raises `RefusedError` (TUN-3408) when there is no such generation, and as `apply` does.
        """
        current = self._records.current()
        target = self._target(current, to)
        undone = self._since(target.number)
        changes = [self._change(image) for image in _earliest(undone)]
        changed = [item for item in changes if not item.before.same_as(item.after)]
        foreign = _foreign([item for item in changed if item.after.path not in CHECKPOINT_FILES], _written(undone))
        self._refuse_foreign(changed, foreign, overwrite=overwrite)
        values = self._values_back(undone)
        actions = _union(undone)
        manifest = replace(
            target,
            number=self._next(),
            parent=target.parent if target.number else -1,
        )
        made = [one for journal in undone for one in journal.directories]
        goal = Goal(
            kind="rollback",
            files=tuple(item.after for item in changed),
            restored=values.restored,
            emptied=tuple(one for one in dict.fromkeys(made) if one not in target.directories),
            actions=actions,
            tier=self._tier_of(target.number),
            restores=target.number,
            releases=not self._is_back_at(target.number, current.number),
        )
        draft = values.draft(goal, manifest, changed, foreign)
        return replace(draft, previous=current.number, needs_reboot=self._booted_since(undone))

    # -- files -------------------------------------------------------------------------------------------------

    def _change(self, after: Image) -> FileChange:
        before = self._disk.image(after.path)
        return FileChange(before, replace(after, selinux=after.selinux or before.selinux))

    def _removed(self, path: str) -> FileChange:
        return self._change(Image(path, None))

    def _dropped(self, current: Manifest, request: Request) -> list[FileChange]:
        wanted = {item.path for item in request.files}
        if request.forget:
            return []
        return [self._change(current.origins[path]) for path in current.owned if path not in wanted]

    def _refuse_foreign(self, changed: Sequence[FileChange], foreign: Sequence[str], *, overwrite: bool) -> None:
        # a file that somebody removed is written again: nothing of theirs is lost
        lost = [item for item in changed if item.after.path in foreign and item.before.exists]
        if lost and not overwrite:
            raise ForeignChangeError(tuple(_foreign_problem(item) for item in lost), files=tuple(lost))

    def _manifest(
        self, current: Manifest, request: Request, changes: Sequence[FileChange], values: _Values
    ) -> Manifest:
        wanted = {item.path for item in request.files}
        before = {item.after.path: item.before for item in changes}
        directories = [one for one in current.directories if any(path.startswith(f"{one}/") for path in wanted)]
        for path in wanted:
            directories += [one for one in self._disk.missing_directories(path) if one not in directories]
        return Manifest(
            number=self._next(),
            state=COMMITTED,
            parent=current.number,
            files=tuple(OwnedFile(item.path, digest(_wanted(item)), item.mode) for item in request.files),
            runtime=values.owned,
            origins={path: current.origins.get(path, before[path]) for path in sorted(wanted)},
            runtime_origins=values.origins,
            directories=tuple(sorted(directories)),
            tier=request.tier,
        )

    # -- runtime values ----------------------------------------------------------------------------------------

    def _values(self, current: Manifest, request: Request) -> _Values:
        values = _Values()
        missing: list[Problem] = []
        for item in request.runtime:
            found = self._kernel.read(item.path)
            if found is not None:
                self._take(values, current, item, found)
            elif item.optional:
                values.notes.append(f"{item.path} does not exist on this kernel, {item.value!r} was not set")
            else:
                missing.append(_missing_value(item))
        if missing:
            raise RefusedError(tuple(missing))
        wanted = {item.path for item in request.runtime}
        for path, written in current.runtime.items():
            if path not in wanted and not request.forget:
                values.put_back(path, self._kernel.read(path), written, current.runtime_origins[path])
        return values

    @staticmethod
    def _take(values: _Values, current: Manifest, item: RuntimeValue, found: str) -> None:
        values.owned[item.path] = item.value
        values.origins[item.path] = current.runtime_origins.get(item.path, found)
        if not same_kernel_value(item.path, found, item.value):
            values.set[item.path] = item.value
            values.shown.append((item.path, chosen(found), item.value))

    def _values_back(self, undone: Sequence[Journal]) -> _Values:
        values = _Values()
        before: dict[str, str] = {}
        written: dict[str, str] = {}
        for journal in undone:
            for path, text in journal.runtime_before.items():
                before.setdefault(path, text)
            written.update(journal.runtime_after)
        for path, text in reversed(list(before.items())):
            values.put_back(path, self._kernel.read(path), written[path], text)
        return values

    # -- records -----------------------------------------------------------------------------------------------

    def _next(self) -> int:
        return max(self._records.numbers(), default=0) + 1

    def _target(self, current: Manifest, to: int | None) -> Manifest:
        number = current.parent if to is None else to
        if number == 0 and current.number:
            return Manifest(0, COMMITTED)
        found = self._records.manifest(number) if number > 0 else None
        if current.number and found is not None and found.state == COMMITTED:
            return found
        raise RefusedError((self._no_target(number),))

    def _no_target(self, number: int) -> Problem:
        known = [one for one in self._records.numbers() if self._is_committed(one)]
        return problem(
            "TUN-3408",
            "there is nothing to go back to" if number < 0 else f"there is no generation {number} to go back to",
            where="generations",
            why=f"committed are: {', '.join(map(str, known)) or 'none'}"
            + (", and 0 is before tunectl" if known else ""),
        )

    def _is_committed(self, number: int) -> bool:
        manifest = self._records.manifest(number)
        return manifest is not None and manifest.state == COMMITTED

    def _since(self, number: int) -> list[Journal]:
        later = [one for one in self._records.numbers() if one > number and self._is_committed(one)]
        return [journal for journal in map(self._records.journal, later) if journal is not None]

    def _tier_of(self, number: int) -> str:
        journal = self._records.journal(number) if number else None
        return journal.tier if journal is not None else ""

    def _is_back_at(self, target: int, current: int) -> bool:
        """Return whether the current generation is a rollback to just that one: then nothing is left to be released."""
        journal = self._records.journal(current) if current else None
        return target == current or (journal is not None and journal.restores == target)

    def _booted_since(self, undone: Sequence[Journal]) -> bool:
        """Return whether going back needs a reboot; not when the node never booted into what is taken back."""
        boot = self.boot_id() if self._disk.is_live else ""
        return any(REBOOT in journal.actions and (not boot or journal.boot_id != boot) for journal in undone)

    def boot_id(self) -> str:
        """Return what names the running boot of the node, empty when the node does not say."""
        return (self._kernel.read(BOOT_ID) or "").strip()


def _wanted(item: NodeFile) -> Image:
    return Image(item.path, item.content.encode("utf-8"), item.mode)


def _foreign(changed: Sequence[FileChange], written: dict[str, str]) -> tuple[str, ...]:
    """Return the paths whose present bytes are not what tunectl wrote, or that it never wrote."""
    return tuple(
        item.after.path
        for item in changed
        if item.before.content != item.after.content and digest(item.before) != written.get(item.after.path, "")
    )


def _foreign_problem(item: FileChange) -> Problem:
    return problem(
        "TUN-3402",
        "somebody else wrote this file; tunectl does not overwrite it unasked",
        where=item.before.path,
        why=f"its content (SHA-256 {digest(item.before)[:12]}…) is not what tunectl wrote",
        fix="move it away, or have it overwritten: --overwrite, in playbooks tunectl_overwrite: true",
    )


def _missing_value(item: RuntimeValue) -> Problem:
    return problem(
        "TUN-3409",
        "this kernel has no such value",
        where=item.path,
        why=f"{item.value!r} is wanted there",
        fix="leave it out of the tier, or make it optional",
    )


def _earliest(undone: Sequence[Journal]) -> list[Image]:
    images: dict[str, Image] = {}
    for journal in undone:
        for image in journal.before:
            images.setdefault(image.path, image)
    return list(images.values())


def _written(undone: Sequence[Journal]) -> dict[str, str]:
    written: dict[str, str] = {}
    for journal in undone:
        written.update(journal.digests)
    return written


def _union(undone: Sequence[Journal]) -> tuple[str, ...]:
    names = list(dict.fromkeys(name for journal in undone for name in journal.actions))
    return tuple(sorted(names, key=lambda name: name == REBOOT))
