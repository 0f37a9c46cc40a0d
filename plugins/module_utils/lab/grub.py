# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""GRUB as Debian and its relatives have it: the defaults as the shell reads them, the menu made of them, the boot."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

from ..core.errors import FailedError, problem

DEFAULTS = "/etc/default/grub"
DROPINS = "/etc/default/grub.d"
MENU = "/boot/grub/grub.cfg"

_LIMIT_S = 10
_LINUX_LINE = re.compile(r"^\s*linux\s+(\S.*)$", re.MULTILINE)
_PLAIN = re.compile(r"[A-Za-z0-9_./:=,@%+-]*\Z")
# Read as grub-mkconfig does, then both variables printed, each ended by a character that cannot be in them.
_SCRIPT = """
cd / || exit 9
for file in "$@"; do
  . "$file" || exit 9
done
printf '%s\\001%s\\001' "${GRUB_CMDLINE_LINUX}" "${GRUB_CMDLINE_LINUX_DEFAULT}"
"""


def assignments(values: Mapping[str, str]) -> str:
    """Return shell assignments, one a line, quoted where the value needs it."""
    return "".join(
        f"{name}={value if value and _PLAIN.match(value) else _quoted(value)}\n" for name, value in values.items()
    )


def kernel_arguments_of(root: Path) -> str:
    """Return the arguments that grub-mkconfig would put into the normal entry.

    Shape: GRUB_CMDLINE_LINUX, then GRUB_CMDLINE_LINUX_DEFAULT, each as the shell leaves it after /etc/default/grub
    and then grub.d/*.cfg in the order of their names; a later file may append to or replace what an earlier one set.
    Sad paths: `FailedError` TUN-4800 with the shell's message, when a file is no valid shell: update-grub fails then.
    Source: GNU GRUB manual, grub-mkconfig; `util/grub-mkconfig.in` of Debian, which adds grub.d.
    """
    inside = root / DROPINS.lstrip("/")
    files = [root / DEFAULTS.lstrip("/"), *sorted(inside.glob("*.cfg"))]
    present = [str(file.resolve()) for file in files if file.is_file()]
    try:
        done = subprocess.run(  # noqa: S603  the shell is what reads these files on a node
            ["/bin/sh", "-c", _SCRIPT, "grub-mkconfig", *present],
            capture_output=True,
            env={"PATH": os.defpath, "LC_ALL": "C"},
            text=True,
            errors="surrogateescape",
            timeout=_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _broken(root, f"the shell did not end within {_LIMIT_S} s") from error
    parts = done.stdout.split("\001")
    if done.returncode != 0 or len(parts) != 3:  # noqa: PLR2004  two variables and what follows the last mark
        raise _broken(root, done.stderr.strip() or f"the shell ended with {done.returncode}")
    return " ".join(part for part in parts[:2] if part)


def menu(release: str, root_uuid: str, arguments: str) -> str:
    """Return grub.cfg with one entry. The arguments stand in it as they are, for GRUB to read."""
    return (
        "# simulated: made by the lab in place of update-grub\n"
        f"menuentry 'Linux {release}' {{\n"
        f"\tlinux\t/boot/vmlinuz-{release} root=UUID={root_uuid} ro {arguments}\n"
        f"\tinitrd\t/boot/initrd.img-{release}\n"
        "}\n"
    )


def booted_cmdline(menu_text: str) -> str:
    """Return the command line that GRUB hands to the kernel from the first entry.

    Shape: words are split and unquoted as GRUB's script language does, variables are empty, and a word with blanks is
    quoted again. Source: GNU GRUB manual, Quoting; `grub-core/lib/cmdline.c`.
    """
    match = _LINUX_LINE.search(menu_text)
    line = match.group(1) if match else ""
    try:
        image, *words = shlex.split(_without_variables(line), posix=True)
    except ValueError:
        # An open quote swallows the rest of the entry: GRUB refuses it and boots nothing; we stop at the quote.
        image, *words = line.split("'")[0].split('"')[0].split()
    return " ".join([f"BOOT_IMAGE={image}", *(_as_kernel_word(word) for word in words)])


def _without_variables(line: str) -> str:
    # Inside single quotes GRUB expands nothing, as the shell.
    parts = line.split("'")
    return "'".join(part if index % 2 else re.sub(r"\$(\{\w*\}|\w+)", "", part) for index, part in enumerate(parts))


def _as_kernel_word(word: str) -> str:
    return f'"{word}"' if " " in word else word


def _quoted(value: str) -> str:
    escaped = re.sub(r'([\\"$`])', r"\\\1", value)
    return f'"{escaped}"'


def _broken(root: Path, why: str) -> FailedError:
    return FailedError(
        (
            problem(
                "TUN-4800",
                "update-grub would fail on this simulated node",
                where=f"{root.name}:{DEFAULTS}, {DROPINS}/*.cfg",
                why=why,
                fix="correct the file that the message names",
            ),
        ),
        state="The node was not rebooted.",
    )
