# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What makes written files effective on a live node: the commands, and their order around the writing."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from .core.errors import RefusedError, problem
from .kubelet_health import kubelet_place, unhealthy

REBOOT = "reboot"
CHECKPOINTS = "kubelet-checkpoints"
KUBELET_RESTART = "kubelet-restart"
BOOT_ARGUMENTS = "boot-arguments"
# Our own units: the old ones are stopped before the writing, the new ones started after it.
UNITS = "units"

# Source: kubelet pkg/kubelet/cm; a changed policy or reservation does not start on the old files.
CHECKPOINT_FILES = ("/var/lib/kubelet/cpu_manager_state", "/var/lib/kubelet/memory_manager_state")

# Each step is tried with the first of its commands whose program this node has.
_COMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "kubelet-stop": (("systemctl", "stop", "kubelet.service"),),
    "daemon-reload": (("systemctl", "daemon-reload"),),
    "update-grub": (("update-grub",), ("grub2-mkconfig", "-o", "/boot/grub2/grub.cfg")),
    "kubelet-start": (("systemctl", "start", "kubelet.service"),),
}
_KUBELET_ACTIVE = ("systemctl", "is-active", "--quiet", "kubelet.service")
_UNITS_STOP, _UNITS_START = "units-stop", "units-start"
# What it said when it ended, without systemd's own lines.
_KUBELET_SAID = ("journalctl", "--unit=kubelet.service", "--lines=20", "--output=cat", "--no-pager", "_COMM=kubelet")
_MOST_LINES = 3
_BEFORE = ("kubelet-stop", _UNITS_STOP)
_AFTER = ("daemon-reload", "update-grub", BOOT_ARGUMENTS, _UNITS_START, "kubelet-start")
_OWN_UNITS = "tunectl-*.service"

ACTIONS = frozenset({REBOOT, CHECKPOINTS, KUBELET_RESTART, UNITS, BOOT_ARGUMENTS, "daemon-reload", "update-grub"})


@dataclass(frozen=True)
class CommandResult:
    """How a command ended; `output` is the last of what it said."""

    code: int
    output: str = ""


Runner = Callable[[Sequence[str], float], CommandResult]


# A command line of the kernel fits in several times over.
_MOST_OUTPUT = 16384
_MOST_SAID = 600


class ActionError(Exception):
    """A step failed: its name, the command line, and why."""

    def __init__(self, step: str, command: str, why: str) -> None:
        """Keep the parts."""
        self.step = step
        self.command = command
        self.why = why
        super().__init__(f"{command}: {why}")


def run_command(command: Sequence[str], timeout_s: float) -> CommandResult:
    """Run a program and return how it ended; code 127 when it is not there, 124 when it took too long."""
    try:
        done = subprocess.run(  # noqa: S603 - one of the fixed commands above, never a shell
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout_s,
            check=False,
        )
    except FileNotFoundError:
        return CommandResult(127, f"{command[0]} is not installed")
    except subprocess.TimeoutExpired:
        return CommandResult(124, f"not done after {timeout_s:g} s")
    except OSError as error:
        return CommandResult(126, error.strerror or str(error))
    return CommandResult(done.returncode, done.stdout.decode("utf-8", "replace").strip()[-_MOST_OUTPUT:])


def refuse_unknown(actions: Sequence[str]) -> None:
    """Raise `RefusedError` (TUN-3407) naming the actions that nobody knows."""
    unknown = [name for name in actions if name not in ACTIONS]
    if unknown:
        raise RefusedError(
            tuple(
                problem(
                    "TUN-3407",
                    f"{name!r} is not an action",
                    where="actions",
                    fix=f"one of: {', '.join(sorted(ACTIONS))}",
                )
                for name in unknown
            )
        )


class BootStep(Protocol):
    """Puts the listed arguments into what the boot loader reads, and looks whether they arrived."""

    def put_listed(self, run: Callable[[Sequence[str]], str]) -> object:
        """Make the next boot have what the list file says; raises `RefusedError`."""
        ...

    def missing_from_menu(self) -> str:
        """Return why GRUB's menu would not boot with our arguments; nothing when it does."""
        ...


@dataclass
class Commands:
    """Runs the steps of a transaction on a live node.

    Scale, in seconds: `timeout_s` is for one command, `health_s` for the kubelet to say that it is healthy, `settle_s`
    how long it must stay up then (twice as long where it has no health endpoint). `kubelet_place` tells where the
    kubelet says how it is, `unhealthy` what it says.
    """

    runner: Runner = run_command
    which: Callable[[str], str | None] = shutil.which
    sleep: Callable[[float], None] = time.sleep
    timeout_s: float = 120.0
    settle_s: float = 5.0
    health_s: float = 120.0
    kubelet_place: Callable[[], tuple[str, int] | None] = kubelet_place
    unhealthy: Callable[[tuple[str, int]], str] = unhealthy
    unit_directory: Path = Path("/etc/systemd/system")
    boot: BootStep | None = None

    def before(self, actions: Sequence[str]) -> None:
        """Run what comes before the writing; raises `ActionError`."""
        for step in _BEFORE:
            if step in expanded(actions):
                self._run(step)

    def after(self, actions: Sequence[str]) -> None:
        """Run what comes after the writing; raises `ActionError`."""
        for step in _AFTER:
            if step in expanded(actions):
                self._run(step)

    def _run(self, step: str) -> None:
        if step == BOOT_ARGUMENTS:
            self._put_boot_arguments()
            return
        command = self._command(step)
        if not command:
            return
        result = self.runner(command, self.timeout_s)
        if result.code != 0:
            raise ActionError(step, " ".join(command), result.output[-_MOST_SAID:] or f"it ended with {result.code}")
        if step == "kubelet-start":
            self._watch_kubelet()
        if step == "update-grub":
            self._prove_menu()

    def _put_boot_arguments(self) -> None:
        if self.boot is None:
            return
        try:
            self.boot.put_listed(self.output_of)
        except RefusedError as error:
            found = error.problems[0]
            raise ActionError(BOOT_ARGUMENTS, found.where, f"{found.what}: {found.why}") from error

    def output_of(self, command: Sequence[str]) -> str:
        """Return what a program printed; raises `ActionError` when it fails."""
        result = self.runner(command, self.timeout_s)
        if result.code != 0:
            raise ActionError(
                BOOT_ARGUMENTS, " ".join(command), result.output[-_MOST_SAID:] or f"it ended with {result.code}"
            )
        return result.output

    def _prove_menu(self) -> None:
        why = self.boot.missing_from_menu() if self.boot is not None else ""
        if why:
            raise ActionError("update-grub", "update-grub", why)

    def _command(self, step: str) -> tuple[str, ...]:
        if step in (_UNITS_STOP, _UNITS_START):
            units = sorted(path.name for path in self.unit_directory.glob(_OWN_UNITS))
            return ("systemctl", step.rpartition("-")[2], *units) if units else ()
        choices = _COMMANDS[step]
        return next((command for command in choices if self.which(command[0])), choices[0])

    def _watch_kubelet(self) -> None:
        """Raise `ActionError` when the kubelet does not become healthy, or does not stay up: systemd starts it anew."""
        place = self.kubelet_place()
        waited, why = 0.0, ""
        while place is not None:
            self._need_active()
            why = self.unhealthy(place)
            if not why:
                break
            if waited >= self.health_s:
                raise self._kubelet_failed(f"the kubelet is not healthy after {self.health_s:g} s: {why}")
            self.sleep(1.0)
            waited += 1.0
        watched = 0.0
        while watched < (self.settle_s if place is not None else 2 * self.settle_s):
            self.sleep(1.0)
            watched += 1.0
            self._need_active()

    def _need_active(self) -> None:
        if self.runner(_KUBELET_ACTIVE, self.timeout_s).code != 0:
            raise self._kubelet_failed("the kubelet does not stay up")

    def _kubelet_failed(self, what: str) -> ActionError:
        said = self.runner(_KUBELET_SAID, self.timeout_s)
        lines = [line.strip() for line in said.output.splitlines() if line.strip()] if said.code == 0 else []
        words = "; its last words: " + " | ".join(lines[-_MOST_LINES:]) if lines else ": journalctl -u kubelet says why"
        return ActionError("kubelet-start", " ".join(_KUBELET_ACTIVE), f"{what}{words}")


def expanded(actions: Sequence[str]) -> tuple[str, ...]:
    """Return the steps of the actions: a kubelet restart is a stop before and a start after the writing.

    Units of ours are not started where the boot does it anyway: what they ask for may be there only then.
    """
    steps = [name for name in actions if name in _COMMANDS or name == BOOT_ARGUMENTS]
    if UNITS in actions:
        steps += [_UNITS_STOP] if REBOOT in actions else [_UNITS_STOP, _UNITS_START]
    return ("kubelet-stop", *steps, "kubelet-start") if KUBELET_RESTART in actions else tuple(steps)


def commands_of(actions: Sequence[str]) -> tuple[str, ...]:
    """Return the actions that need a command on the node: not files to move, not the reboot."""
    return tuple(name for name in actions if name not in (REBOOT, CHECKPOINTS))
