"""Debian root file systems, made with mmdebstrap from the sources that this computer's apt uses."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tunectl.core.errors import FailedError, RefusedError, problem

# Debian's own names for what `--distro` calls by number.
SUITES = {"debian12": "bookworm", "debian13": "trixie"}
_TARGETS = ("apt-get", "indextargets", "--format", "$(REPO_URI) $(COMPONENT)", "Created-By: Packages")
_ARCHIVE = "/debian"
_LAST_LINES = 12


@dataclass(frozen=True)
class DebianRoot:
    """What a root file system holds.

    Shape: `suite` is Debian's name of the release; `hooks` are commands as mmdebstrap's --customize-hook takes them.
    """

    suite: str
    packages: tuple[str, ...]
    hooks: tuple[str, ...] = ()


def build_root(root: DebianRoot, target: Path) -> None:
    """Write the root file system as a tar archive to `target`.

    Works without root where user namespaces are allowed: mmdebstrap chooses. Raises `RefusedError` (TUN-3620) without
    mmdebstrap, `FailedError` (TUN-4820) with its last words when it does not succeed.
    """
    need_programs({"mmdebstrap": "mmdebstrap"}, "build an image")
    command = [
        "mmdebstrap",
        "--quiet",
        "--variant=minbase",
        "--format=tar",
        f"--include={','.join(root.packages)}",
        *(f"--customize-hook={hook}" for hook in root.hooks),
        root.suite,
        str(target),
        *sources(root.suite),
    ]
    done = subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL)  # noqa: S603
    if done.returncode:
        target.unlink(missing_ok=True)
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise FailedError(
            (
                problem(
                    "TUN-4820",
                    f"a Debian {root.suite} root file system could not be made",
                    where=str(target),
                    why="\n".join(said[-_LAST_LINES:]) or f"mmdebstrap ended with {done.returncode}",
                    fix="check that apt-get update works on this computer and that the disk has room",
                ),
            )
        )


def sources(suite: str) -> tuple[str, ...]:
    """Return sources.list lines for a suite at the archives that apt of this computer is configured with.

    Shape: none on a computer without apt; mmdebstrap then takes Debian's default.
    """
    try:
        done = subprocess.run(_TARGETS, capture_output=True, text=True, check=False)  # noqa: S603
    except FileNotFoundError:
        return ()
    return sources_lines(suite, done.stdout if done.returncode == 0 else "")


def sources_lines(suite: str, targets: str) -> tuple[str, ...]:
    """Return the lines for a suite from what `apt-get indextargets` says: `REPO_URI COMPONENT` a line."""
    found: dict[str, None] = {}
    for line in targets.splitlines():
        uri, _blank, component = line.strip().partition(" ")
        # The archive of other releases is the same one; security and third-party archives have other suites.
        if component == "main" and urlsplit(uri).path.rstrip("/").endswith(_ARCHIVE):
            found[f"deb {uri} {suite} main"] = None
    return tuple(found)


def need_programs(packages: dict[str, str], what: str) -> None:
    """Raise `RefusedError` (TUN-3620) naming the programs that are not installed; `packages` is program -> package."""
    missing = [program for program in packages if shutil.which(program, path=search_path()) is None]
    if missing:
        names = " ".join(dict.fromkeys(packages[program] for program in missing))
        raise RefusedError(
            (
                problem(
                    "TUN-3620",
                    f"{', '.join(missing)} is needed to {what} and is not installed",
                    where="this computer",
                    why="lab machines are made with the distribution's own programs",
                    fix=f"apt-get install {names}   (as root, on Debian or Ubuntu)",
                ),
            ),
            "Nothing was changed.",
        )


def search_path() -> str:
    """Return where programs are looked for: PATH, and where Debian keeps those of administrators."""
    return os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))


def program(name: str) -> str:
    """Return the path of a program, its bare name when it is not there."""
    return shutil.which(name, path=search_path()) or name


def last_lines(text: str, count: int = _LAST_LINES) -> str:
    """Return the last lines that are not empty."""
    return "\n".join([line for line in text.splitlines() if line.strip()][-count:])
