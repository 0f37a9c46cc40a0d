# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether the shell gets through the settings of GRUB: valid files may still end it, and update-grub with it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from .core.errors import Problem, RefusedError, problem

_LIMIT_S = 30
# As grub-mkconfig reads them: one after the other, in one shell that ends at the first error.
_READ = """
trap 'ended=$?; [ $ended -eq 0 ] || echo "$tunectl_reads: the shell ended here with $ended" >&2' EXIT
set -e
cd /
for tunectl_reads in "$@"; do
  . "$tunectl_reads"
done >/dev/null
"""


def refuse_failing_shell(files: Sequence[Path]) -> None:
    """Raise `RefusedError` (TUN-3422) when one of the files, read in this order, ends the shell with an error.

    The files are carried out, as update-grub would do next: only for the root of a running system.
    Source: `util/grub-mkconfig.in` of GRUB 2.06 and 2.12: /etc/default/grub is sourced under `set -e`; Debian adds
    /etc/default/grub.d/*.cfg.
    """
    names = [str(file) for file in files]
    if not names:
        return
    try:
        done = subprocess.run(  # noqa: S603 - what update-grub does with these files
            ["/bin/sh", "-c", _READ, "grub-mkconfig", *names],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise RefusedError((no_shell(files[0], f"the shell did not get through it within {_LIMIT_S} s"),)) from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        named = next((name for name in reversed(names) if f"{name}: the shell ended" in said), names[0])
        raise RefusedError((no_shell(Path(named), " ".join(said.split())),))


def no_shell(file: Path, why: str) -> Problem:
    """Return the problem of a file of settings, with what the shell said."""
    fix = "correct the line that the shell names; update-grub fails on it too"
    return problem("TUN-3422", "a file of GRUB's defaults is no valid shell", where=str(file), why=why, fix=fix)
