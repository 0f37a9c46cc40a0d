# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Kernel arguments of one node for playbooks that set nothing else; a tier's own arguments are apart from these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .boot_loader_files import BootChange, BootLoaderFiles
from .core.boot_arguments import Arguments, contains
from .core.boot_menu import BootEntry, next_entry
from .core.cmdline import format_cmdline, parse_cmdline
from .core.errors import InputError, UndoneError, problem
from .core.grammar import check_grub_value
from .core.node_software import boot_loader
from .core.snapshot import Snapshot
from .generation_actions import ActionError, Commands
from .generation_disk import Disk, DiskError, Image
from .generation_lock import held
from .generation_room import refuse_no_room
from .snapshot_reader import read_snapshot

DROP_IN = "/etc/default/grub.d/98-tunectl-arguments.cfg"
STATE = "/var/lib/tunectl/node-cmdline.json"


@dataclass(frozen=True)
class Outcome:
    """What was, or would be, done; `entry` is what boots next, None when the files do not tell."""

    loader: str
    change: BootChange
    entry: BootEntry | None = None
    needs_reboot: bool = False
    notes: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """Return the result of the module, without contents of files."""
        return {
            "changed": self.change.changed,
            "loader": self.loader,
            "files": sorted(self.change.files),
            "commands": [list(command) for command in self.change.commands],
            "next_boot": format_cmdline(self.entry.arguments) if self.entry else "",
            "needs_reboot": self.needs_reboot,
            "notes": list(self.notes),
        }

    def diff(self) -> list[dict[str, str]]:
        """Return before and after of each file, as Ansible shows them."""
        return [
            {"before_header": path, "after_header": path, "before": before, "after": after}
            for path, (before, after) in self.change.files.items()
        ]


class NodeArguments:
    """The arguments that this module has put into the next boot of the system below `root`."""

    def __init__(self, root: str, commands: Commands | None = None) -> None:
        """Look at nothing yet; `commands` run programs, on a live system only unless they are given."""
        self._root = root
        self._disk = Disk(root)
        self._commands = commands or (Commands() if self._disk.is_live else None)

    def make(self, wanted: Iterable[str], *, check: bool = False) -> Outcome:
        """Make the next boot have these arguments of the module and no others of it.

        Raises `InputError` (TUN-3423) for arguments that cannot be kept, `RefusedError` (TUN-3420 to TUN-3422, room)
        before anything is written, `UndoneError` (TUN-4404, TUN-4420) when they did not arrive.
        """
        arguments = _parsed(wanted)
        before = self._look()
        loader = boot_loader(before)
        if check:
            change = self._put(loader, arguments, check=True)
        else:
            with held(self._disk, "kernel arguments"):
                change = self._put(loader, arguments, check=False)
        after = before if check else self._look()
        return Outcome(loader, change, next_entry(after), self._differs(after, arguments, change), self._notes(change))

    def _look(self) -> Snapshot:
        return read_snapshot(self._root, "node")

    def _put(self, loader: str, wanted: Arguments, *, check: bool) -> BootChange:
        if loader == "grub":
            return self._put_drop_in(wanted, check=check)
        run = self._commands.output_of if self._commands else None
        try:
            return BootLoaderFiles(self._disk, run, state=STATE).put(wanted, check=check)
        except ActionError as error:
            raise _undone(error) from error

    def _put_drop_in(self, wanted: Arguments, *, check: bool) -> BootChange:
        before = self._disk.image(DROP_IN)
        text = f'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {format_cmdline(wanted)}"\n' if wanted else ""
        old = (before.content or b"").decode("utf-8", "surrogateescape")
        if old == text:
            return BootChange()
        change = BootChange({DROP_IN: (old, text)}, (("update-grub",),))
        if check:
            return change
        boot = BootLoaderFiles(self._disk, drop_in=DROP_IN)
        boot.refuse_unreadable(("update-grub",))
        new = Image(DROP_IN, text.encode("utf-8")) if wanted else Image(DROP_IN, None)
        refuse_no_room(self._disk, [new, *boot.expected_writes(("update-grub",))])
        self._switch(before, new, boot)
        return change

    def _switch(self, before: Image, new: Image, boot: BootLoaderFiles) -> None:
        for directory in self._disk.missing_directories(DROP_IN):
            self._disk.make_directory(directory)
        try:
            self._disk.put(new)
            self._update(boot)
        except (ActionError, DiskError) as error:
            self._disk.put(before)
            self._update(boot, prove=False)
            raise _undone(error) from error

    def _update(self, boot: BootLoaderFiles, *, prove: bool = True) -> None:
        if self._commands is None:
            return
        self._commands.boot = boot if prove else None
        self._commands.after(("update-grub",))

    def _notes(self, change: BootChange) -> tuple[str, ...]:
        if self._commands is None and change.commands:
            return ("no program was run: the root is not that of a running system",)
        return ()

    @staticmethod
    def _differs(snapshot: Snapshot, wanted: Arguments, change: BootChange) -> bool:
        running = snapshot.text("/proc/cmdline")
        if running is None:
            return change.changed
        return not contains(parse_cmdline(running), wanted) if wanted else change.changed


def _parsed(words: Iterable[str]) -> Arguments:
    found: list[Any] = []
    for word in words:
        parts: Sequence[Any] = parse_cmdline(check_grub_value(word, "arguments"))
        if len(parts) != 1:
            why = "each item of the list is one argument, name or name=value"
            raise InputError((problem("TUN-3423", f"{word!r} is not one kernel argument", where="arguments", why=why),))
        found += parts
    return tuple(found)


def _undone(error: ActionError | DiskError) -> UndoneError:
    where = error.command if isinstance(error, ActionError) else error.path
    why = error.why if isinstance(error, ActionError) else error.reason
    found = problem("TUN-4404", "the arguments of the next boot could not be changed", where=where, why=why)
    return UndoneError((found,), "Everything was undone: the next boot is as it was before.")
