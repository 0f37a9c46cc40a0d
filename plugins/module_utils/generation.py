# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Generations of a node: numbered transactions that are applied as a whole and can be taken back.

Everything happens below a root: `/` on a live node, a directory for an image or a simulated node.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .boot_loader_files import BootLoaderFiles
from .core.errors import UnknownError, problem
from .generation_actions import Commands, commands_of, refuse_unknown
from .generation_disk import Disk, DiskError, Step
from .generation_draft import Draft, Drafts
from .generation_journal import UNFINISHED, Journal, Manifest, Records
from .generation_lock import held
from .generation_request import Request, Result, refuse_bad_paths
from .generation_room import refuse_no_room
from .generation_runtime import Kernel
from .generation_transaction import Recovery, Transaction


class Generations:
    """The generations of the node below `root`.

    `step` is told of each change before it is made; `commands` runs programs, on a live node only unless it is given.
    """

    def __init__(self, root: str = "/", *, step: Step | None = None, commands: Commands | None = None) -> None:
        """Look at nothing yet; raises `UnknownError` (TUN-5401) when the root is no directory."""
        try:
            self._disk = Disk(root, step)
        except OSError as error:
            raise UnknownError((problem("TUN-5401", "the root is not a directory", where=root),)) from error
        kernel = Kernel(self._disk, step)
        self._records = Records(self._disk)
        self._drafts = Drafts(self._disk, kernel, self._records)
        self._commands = commands or (Commands() if self._disk.is_live else None)
        self._boot = BootLoaderFiles(self._disk)
        if self._commands is not None:
            self._commands.boot = self._boot
        self._transaction = Transaction(self._disk, kernel, self._records, self._commands)

    @property
    def boot_id(self) -> str:
        """What names the running boot of the node, empty when the node does not say."""
        return self._drafts.boot_id()

    def apply(self, request: Request, *, check: bool = False) -> Result:
        """Make the node what the request says, and return what was done; with `check` what would be.

        When nothing differs nothing is written: no generation, `changed` false. Raises `InputError` and
        `RefusedError` before anything is touched, `BusyError`, and `UndoneError` or `FailedError` afterwards.
        """
        refuse_bad_paths(request)
        refuse_unknown(request.actions)
        return self._do(lambda: self._drafts.apply(request), f"apply {request.tier}".strip(), check=check)

    def rollback(self, to: int | None = None, *, overwrite: bool = False, check: bool = False) -> Result:
        """Put back what was before the current generation, or what was after generation `to` (0 = before tunectl).

        Files come back byte for byte; a runtime value that somebody changed since is left alone and reported.
        The rollback is a generation of its own. Raises as `apply` does.
        """
        return self._do(lambda: self._drafts.back(to, overwrite=overwrite), "rollback", check=check)

    def recover(self) -> tuple[Recovery, ...]:
        """Undo what an interrupted process left half done, and return what was put back."""
        if self._records.is_settled():
            return ()
        with held(self._disk, "recover"):
            return self._transaction.recover()

    def history(self) -> list[dict[str, Any]]:
        """Return the generations, oldest first: number, state, kind, tier, plan, times, what it touched and why."""
        current = self._records.current().number
        return [self._entry(number, current) for number in self._records.numbers()]

    def _entry(self, number: int, current: int) -> dict[str, Any]:
        journal = self._records.journal(number) or Journal(number, "apply", "")
        manifest = self._records.manifest(number) or Manifest(number, UNFINISHED)
        return {
            "generation": number,
            "state": manifest.state,
            "current": number == current,
            "kind": journal.kind,
            "restores": journal.restores if journal.restores >= 0 else None,
            "tier": journal.tier,
            "plan_id": journal.plan_id,
            "started": journal.started,
            "ended": manifest.ended,
            "files": [image.path for image in journal.before],
            "runtime": list(journal.runtime_before),
            "actions": list(journal.actions),
            "problem": manifest.problem,
        }

    def _do(self, work_out: Callable[[], Draft], what: str, *, check: bool) -> Result:
        if check:
            return self._preview(_drafted(work_out), unfinished=bool(self._records.unfinished()))
        if self._records.is_settled():
            draft = _drafted(work_out)
            if self._is_reached(draft):
                return self._result(draft)
        with held(self._disk, what):
            recovered = self._transaction.recover()
            draft = _drafted(work_out)
            if not self._is_reached(draft):
                self._boot.refuse_unreadable(draft.goal.actions)
                refuse_no_room(self._disk, (*draft.goal.files, *self._boot.expected_writes(draft.goal.actions)))
                self._transaction.run(replace(draft.goal, boot_id=self.boot_id), draft.manifest)
            # putting back unfinished work is a change too
            result = self._result(draft)
            return replace(result, recovered=recovered, changed=result.changed or bool(recovered))

    def _is_reached(self, draft: Draft) -> bool:
        return draft.goal.is_reached and not self._is_behind(draft)

    def _is_behind(self, draft: Draft) -> bool:
        """Return whether what boots next lacks arguments that the files hold already: a kernel came without them."""
        return self._commands is not None and self._boot.is_behind(draft.goal.actions, self._commands.output_of)

    def _preview(self, draft: Draft, *, unfinished: bool) -> Result:
        result = self._result(draft)
        if not unfinished:
            return result
        note = "unfinished work of an interrupted process would be undone first"
        return replace(result, changed=True, notes=(*result.notes, note))

    def _result(self, draft: Draft) -> Result:
        changed = not self._is_reached(draft)
        current = self._records.current().number
        return Result(
            changed=changed,
            generation=current,
            previous=draft.previous,
            files=draft.files,
            values=draft.values,
            foreign=draft.foreign,
            left_alone=draft.left_alone,
            notes=draft.notes,
            needs_reboot=draft.needs_reboot,
            actions=draft.goal.actions if changed else (),
            skipped_actions=self._skipped(draft) if changed else (),
        )

    def _skipped(self, draft: Draft) -> tuple[dict[str, str], ...]:
        if self._commands is not None:
            return ()
        reason = f"{self._disk.root} is not the root of a running system"
        return tuple({"action": name, "reason": reason} for name in commands_of(draft.goal.actions))


def _drafted(work_out: Callable[[], Draft]) -> Draft:
    try:
        return work_out()
    except DiskError as error:
        fix = "become root on the node (become: true), or put a regular file in its place"
        found = problem("TUN-5402", "a file or value could not be read", where=error.path, why=error.reason, fix=fix)
        raise UnknownError((found,)) from error
