# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Puts arguments of the next boot where a node's boot loader takes them from, and proves that they are there.

Loader entries (RHEL, Fedora), rpm-ostree, and GRUB with drop-ins (Debian, Ubuntu). What was put in is remembered, so
that exactly that can be taken out again, from entries too that a kernel update has made in the meantime.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .boot_loader_shell import no_shell, refuse_failing_shell
from .core.boot_arguments import (
    ARGUMENTS_FILE,
    KERNEL_OPTIONS,
    Arguments,
    contains,
    edit_default_grub,
    edit_entry,
    edit_environment,
    edit_line,
    entry_options,
    environment_of,
    put_in,
    read_list,
    take_out,
)
from .core.boot_menu import DROP_IN, DROP_IN_DIRECTORY, ENTRIES, ENVIRONMENTS, MENUS, default_entry, drop_in_arguments
from .core.cmdline import format_cmdline, parse_cmdline
from .core.errors import Problem, RefusedError, problem
from .generation_disk import Disk, Image

STATE = "/var/lib/tunectl/boot-arguments.json"
KERNEL_CMDLINE = "/etc/kernel/cmdline"
DEFAULT_GRUB = "/etc/default/grub"
OSTREE = "/run/ostree-booted"

Runner = Callable[[Sequence[str]], str]
"""Runs a program and returns what it printed; raises an exception of the caller's when it fails."""


@dataclass(frozen=True)
class BootChange:
    """What was, or would be, done: `files` are path -> (before, after), `commands` argument vectors in order."""

    files: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    commands: tuple[tuple[str, ...], ...] = ()

    @property
    def changed(self) -> bool:
        """Whether the next boot will be another one."""
        return bool(self.files or self.commands)


class BootLoaderFiles:
    """The boot loader of the system below a disk's root, as far as it takes arguments from entries or rpm-ostree."""

    def __init__(self, disk: Disk, run: Runner | None = None, *, state: str = STATE, drop_in: str = DROP_IN) -> None:
        """Look at nothing yet; `run` is for systems whose arguments are set by a command.

        Shape: `state` is the file that remembers what was put in, `drop_in` that of GRUB's defaults.
        """
        self._disk = disk
        self._run = run or _nothing_to_run
        self._state = state
        self._drop_in = drop_in

    def put(self, wanted: Arguments, *, owned: Arguments = (), check: bool = False) -> BootChange:
        """Make the next boot have `wanted` and nothing else of ours; return what that took.

        Shape: `owned` are arguments of ours beside those that are remembered. Refuses before anything is written:
        `RefusedError` TUN-3420 for a boot loader that nobody can edit, TUN-3421 for a file that is no plain text.
        Raises `RefusedError` TUN-4420 when the arguments are not in what boots next afterwards.
        """
        blocks = self._blocks(owned)
        change = self._ostree(wanted, blocks) if self._exists(OSTREE) else self._entries(wanted, blocks)
        if check:
            return change
        if change.changed:
            # Interrupted from here on, both blocks are ours.
            self._remember((*blocks, wanted))
            for path, (_before, after) in change.files.items():
                image = self._disk.image(path)
                self._disk.put(Image(path, after.encode("utf-8", "surrogateescape"), image.mode))
            for command in change.commands:
                self._run(command)
            self._prove(wanted)
        self._remember((wanted,) if wanted else ())
        return change

    def put_listed(self, run: Runner) -> BootChange:
        """Make the next boot have what the list file of the current generation says; without one nothing of ours."""
        self._run = run
        return self.put(read_list(self._text(ARGUMENTS_FILE) or ""))

    def expected_writes(self, actions: Sequence[str]) -> list[Image]:
        """Return the files that the actions will write beside those of the transaction, at their present size."""
        paths: list[str] = []
        if "update-grub" in actions:
            paths += [path for path in MENUS if self._exists(path)]
        if "boot-arguments" in actions:
            paths += [path for path in (*self.entry_paths(), *ENVIRONMENTS) if self._exists(path)]
        return [self._disk.image(path) for path in paths]

    def refuse_unreadable(self, actions: Sequence[str]) -> None:
        """Raise `RefusedError` (TUN-3422) when update-grub would fail on files that are no valid shell."""
        if "update-grub" not in actions:
            return
        directory = Path(self._disk.locate(DROP_IN_DIRECTORY, follow=True))
        places = [Path(self._disk.locate(DEFAULT_GRUB, follow=True)), *sorted(directory.glob("*.cfg"))]
        files = [file for file in places if file.is_file()]
        for file in files:
            done = subprocess.run(  # noqa: S603 - the shell that update-grub runs, told only to read
                ["/bin/sh", "-n", str(file)], stdin=subprocess.DEVNULL, capture_output=True, check=False
            )
            if done.returncode:
                raise RefusedError((no_shell(file, done.stderr.decode("utf-8", "replace").strip()),))
        if self._disk.is_live:
            refuse_failing_shell(files)

    def is_behind(self, actions: Sequence[str], run: Runner) -> bool:
        """Return whether the actions would change what boots next, though no file of ours changes."""
        if "boot-arguments" in actions:
            self._run = run
            return self.put(read_list(self._text(ARGUMENTS_FILE) or ""), check=True).changed
        return "update-grub" in actions and bool(self.missing_from_menu())

    def missing_from_menu(self) -> str:
        """Return why GRUB's menu would not boot with the arguments of our drop-in; nothing when it does."""
        wanted = drop_in_arguments(self._text(self._drop_in) or "")
        if not wanted:
            return ""
        for path in MENUS:
            text = self._text(path)
            if text is not None:
                entry = default_entry(text)
                missing = () if entry and contains(entry.arguments, wanted) else wanted
                return f"the entry of {path} that boots next lacks {format_cmdline(missing)}" if missing else ""
        return f"there is no {' and no '.join(MENUS)} after it"

    # -- what is remembered ------------------------------------------------------------------------------------

    def _blocks(self, owned: Arguments) -> tuple[Arguments, ...]:
        text = self._text(self._state)
        try:
            stored = json.loads(text)["blocks"] if text else []
            blocks = [parse_cmdline(str(one)) for one in stored]
        except (ValueError, KeyError, TypeError):
            blocks = []
        return tuple(block for block in dict.fromkeys((*reversed(blocks), owned)) if block)

    def _remember(self, blocks: Sequence[Arguments]) -> None:
        data: dict[str, Any] = {"blocks": [format_cmdline(block) for block in blocks if block]}
        text = json.dumps(data) + "\n"
        if self._text(self._state) == text or not (data["blocks"] or self._exists(self._state)):
            return
        for directory in self._disk.missing_directories(self._state):
            self._disk.make_directory(directory, 0o700)
        self._disk.put(Image(self._state, text.encode("utf-8"), 0o600))

    # -- loader entries ----------------------------------------------------------------------------------------

    def _entries(self, wanted: Arguments, blocks: Sequence[Arguments]) -> BootChange:
        paths = self.entry_paths()
        if not paths:
            raise RefusedError((_no_entries(),))
        found: dict[str, tuple[str, str]] = {}
        editors: list[tuple[str, Callable[[str, Arguments, Sequence[Arguments]], str]]] = [
            *((path, edit_entry) for path in paths),
            *((path, edit_environment) for path in ENVIRONMENTS),
            (KERNEL_CMDLINE, _edit_kernel_cmdline),
            (DEFAULT_GRUB, edit_default_grub),
        ]
        problems: list[Problem] = []
        for path, edit in editors:
            text = self._text(path)
            if text is None:
                continue
            try:
                after = edit(text, wanted, blocks)
            except ValueError as error:
                problems.append(_not_plain(path, str(error)))
                continue
            if after != text:
                found[path] = (text, after)
        if problems:
            raise RefusedError(tuple(problems))
        return BootChange(files=found)

    def entry_paths(self) -> list[str]:
        """Return the loader entries of installed kernels, rescue entries left out."""
        try:
            names = sorted(path.name for path in Path(self._disk.locate(ENTRIES, follow=True)).iterdir())
        except OSError:
            return []
        return [f"{ENTRIES}/{name}" for name in names if name.endswith(".conf") and "-0-rescue" not in name]

    # -- rpm-ostree --------------------------------------------------------------------------------------------

    def _ostree(self, wanted: Arguments, blocks: Sequence[Arguments]) -> BootChange:
        before = parse_cmdline(self._run(("rpm-ostree", "kargs")))
        after = put_in(before, wanted, blocks)
        if after == before:
            return BootChange()
        gone, new = _difference(before, after)
        flags = (*(f"--delete={one}" for one in gone), *(f"--append={one}" for one in new))
        return BootChange(commands=(("rpm-ostree", "kargs", *flags),))

    # -- proof -------------------------------------------------------------------------------------------------

    def _prove(self, wanted: Arguments) -> None:
        for place, line in self._next_lines():
            if not contains(parse_cmdline(line), wanted):
                raise RefusedError((_not_there(place, wanted),))

    def _next_lines(self) -> Iterator[tuple[str, str]]:
        if self._exists(OSTREE):
            yield "rpm-ostree kargs", self._run(("rpm-ostree", "kargs"))
            return
        environment: dict[str, str] = {}
        for path in ENVIRONMENTS:
            environment.update(environment_of(self._text(path) or ""))
        for path in self.entry_paths():
            options = entry_options(self._text(path) or "")
            yield path, options.replace(f"${KERNEL_OPTIONS}", environment.get(KERNEL_OPTIONS, ""))

    # -- files -------------------------------------------------------------------------------------------------

    def _exists(self, path: str) -> bool:
        return self._disk.image(path).exists

    def _text(self, path: str) -> str | None:
        content = self._disk.image(path).content
        return None if content is None else content.decode("utf-8", "surrogateescape")


def _nothing_to_run(command: Sequence[str]) -> str:
    raise RefusedError((_no_runner(command),))


def _no_runner(command: Sequence[str]) -> Problem:
    why = "the root is not that of a running system"
    return problem("TUN-3420", f"{command[0]} cannot be run here", where=" ".join(command), why=why)


def _edit_kernel_cmdline(text: str, wanted: Arguments, owned: Sequence[Arguments]) -> str:
    body = text.rstrip("\n")
    edited = edit_line(body.replace("\n", " "), wanted, owned)
    return text if edited == body else f"{edited}\n"


def _difference(before: Arguments, after: Arguments) -> tuple[Arguments, Arguments]:
    """Return what is only in the first and only in the second, each in order; repeated ones count."""
    return take_out_each(before, after), take_out_each(after, before)


def take_out_each(arguments: Arguments, others: Arguments) -> Arguments:
    """Return the arguments that are left when each of `others` has taken one like it away."""
    left = arguments
    for other in others:
        left = take_out(left, (other,)) if other in left else left
    return left


def _no_entries() -> Problem:
    return problem(
        "TUN-3420",
        "kernel arguments cannot be set through this node's boot loader",
        where=ENTRIES,
        why="there are no loader entries, and the system is no ostree",
        fix="with GRUB set them in /etc/default/grub.d; a unified kernel image is built anew with its arguments, "
        "an EFI stub's entry is changed with efibootmgr",
    )


def _not_plain(path: str, why: str) -> Problem:
    fix = f'write the line in {path} as NAME="text", then run again'
    return problem("TUN-3421", "a file of the boot loader cannot be edited safely", where=path, why=why, fix=fix)


def _not_there(place: str, wanted: Arguments) -> Problem:
    return problem(
        "TUN-4420",
        "the arguments are not in what boots next",
        where=place,
        why=f"{format_cmdline(wanted)} was put in and is not there",
        fix="see what else writes the boot loader's files on this node",
    )
