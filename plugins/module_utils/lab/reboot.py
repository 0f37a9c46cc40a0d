# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The simulated reboot, and the settling of a tree whose kernel files were written like ordinary files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import FailedError, problem
from .boot_config import Write, sysctl_writes, tmpfiles_writes, unit_commands
from .grub import MENU, booted_cmdline, kernel_arguments_of, menu
from .kernel import RunningKernel
from .kubelet import KubeletState, start_kubelet
from .kubelet_config import UNIT
from .node import load_node
from .system_files import root_uuid
from .tree import BOOT_ID, SWAPS, new_boot_id, read_kernel, write_files, write_hardware, write_kernel

_WRITING = ("/bin/sh", "-c")
_OPERANDS = 4
_INTERRUPTS = "tunectl-interrupts"
_AFFINITY = re.compile(r"/proc/irq/\d+/smp_affinity_list\Z")
_SWAPS_HEAD = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
_SWAP_FIELDS = 4


@dataclass(frozen=True)
class Outcome:
    """What the lab did.

    Shape: `changed` whether any file reads differently now; `refused` are writes that the kernel did not take, as
    `path: value`; `kubelet` is None where it was not restarted; `log` are warnings of the simulated boot.
    """

    changed: bool
    refused: tuple[str, ...] = ()
    kubelet: KubeletState | None = None
    log: tuple[str, ...] = ()
    cmdline: str = ""


def settle(root: Path, *, restart_kubelet: bool = False) -> Outcome:
    """Make a tree read as a running kernel would after the writes since the last look.

    Shape: a kernel file that was written is taken as a write to the kernel: accepted values show in the kernel's own
    form and in every file that depends on them, refused ones are undone. grub.cfg is made anew, as update-grub does.
    """
    node = load_node(root)
    kernel = read_kernel(root, node)
    before = kernel.online
    changes = _written_since(root, kernel)
    refused = tuple(f"{path}: {value.strip()}" for path, value in changes if not kernel.write(path, value))
    arguments = kernel_arguments_of(root)
    new_menu = menu(node.profile.kernel_release, root_uuid(node.name), arguments)
    moved = _read(root, MENU) != new_menu
    write_files(root, {MENU: new_menu})
    _move_interrupts(kernel, unit_commands(root, UNIT))
    kubelet = _restart_kubelet(root, kernel) if restart_kubelet else None
    if kernel.online != before:
        write_hardware(root, kernel, before - kernel.online)
    write_kernel(root, kernel)
    changed = bool(changes) or moved or restart_kubelet
    return Outcome(changed=changed, refused=refused, kubelet=kubelet, cmdline=kernel.boot.cmdline)


def reboot(root: Path) -> Outcome:
    """Boot the node's tree anew: boot loader, kernel, what user space sets at boot, kubelet.

    Shape: the kernel starts from its defaults; sysctl.d is applied before tmpfiles.d, then the units the kubelet
    wants run. What was set by hand and is in no file is gone. Sad paths: `InputError` TUN-1603, `FailedError`
    TUN-4800 where GRUB's files are no shell.
    """
    node = load_node(root)
    arguments = kernel_arguments_of(root)
    text = menu(node.profile.kernel_release, root_uuid(node.name), arguments)
    kernel = RunningKernel.start(node, booted_cmdline(text))
    old = read_kernel(root, node)
    swaps = _swaps(root)
    refused = _configure(root, kernel)
    commands = unit_commands(root, UNIT)
    refused += _run_units(kernel, commands)
    if any("swapoff -a" in " ".join(command) for command in commands):
        swaps = _SWAPS_HEAD
    write_files(root, {MENU: text, SWAPS: swaps, BOOT_ID: new_boot_id()})
    kubelet = _restart_kubelet(root, kernel)
    if kernel.online != old.online:
        write_hardware(root, kernel, old.boot.present - kernel.online)
    write_kernel(root, kernel)
    return Outcome(
        changed=True,
        refused=tuple(refused),
        kubelet=kubelet,
        log=kernel.boot.isolation.warnings,
        cmdline=kernel.boot.cmdline,
    )


def _written_since(root: Path, kernel: RunningKernel) -> list[Write]:
    changes = []
    for path, shown in kernel.files().items():
        found = _read(root, path)
        if found is not None and found != shown:
            changes.append((path, found))
    # Totals of hugepages follow the counts of the nodes: the written ones go last, so that they win.
    return sorted(changes, key=lambda change: "/node/" not in change[0])


def _configure(root: Path, kernel: RunningKernel) -> list[str]:
    known = kernel.files()
    writes = [*sysctl_writes(root, known), *tmpfiles_writes(root, known)]
    # systemd passes over a parameter that this kernel does not have.
    return [f"{path}: {value}" for path, value in writes if path in known and not kernel.write(path, value)]


def _run_units(kernel: RunningKernel, commands: list[list[str]]) -> list[str]:
    # `sh -c SCRIPT NAME VALUE FILE [VALUE FILE]...` is how values are written to files of the kernel.
    writes = [
        pair
        for command in commands
        if tuple(command[:2]) == _WRITING
        for pair in zip(command[_OPERANDS::2], command[_OPERANDS + 1 :: 2])
    ]
    _move_interrupts(kernel, commands)
    return [f"{path}: {value}" for value, path in writes if not kernel.write(path, value)]


def _move_interrupts(kernel: RunningKernel, commands: list[list[str]]) -> None:
    """Move what can be moved, as the unit does that `commands` may hold; what the kernel refuses stays."""
    for command in commands:
        if command[_OPERANDS - 1 : _OPERANDS] == [_INTERRUPTS]:
            for path in kernel.files():
                if _AFFINITY.match(path):
                    kernel.write(path, command[_OPERANDS])


def _restart_kubelet(root: Path, kernel: RunningKernel) -> KubeletState:
    state, files = start_kubelet(root, kernel)
    write_files(root, files)
    return state


def _swaps(root: Path) -> str:
    rows = []
    for line in (_read(root, "/etc/fstab") or "").splitlines():
        fields = line.split()
        if len(fields) >= _SWAP_FIELDS and not line.startswith("#") and fields[2] == "swap":
            rows.append(f"{fields[0]:<40}partition\t1048572\t\t0\t\t-2\n")
    return _SWAPS_HEAD + "".join(rows)


def _read(root: Path, path: str) -> str | None:
    try:
        return (root / path.lstrip("/")).read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FailedError(
            (problem("TUN-4801", "a file of a simulated node cannot be read", where=f"{root}{path}", why=str(error)),)
        ) from error
