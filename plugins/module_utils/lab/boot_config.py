# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What user space sets at each boot: sysctl.d, tmpfiles.d and the oneshot units that the kubelet wants, as writes."""

from __future__ import annotations

import fnmatch
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ..core.sysctl_boot import SYSCTL_DIRECTORIES, assignments, merged

Write = tuple[str, str]

_TMPFILES_DIRECTORIES = ("/etc/tmpfiles.d", "/run/tmpfiles.d", "/usr/local/lib/tmpfiles.d", "/usr/lib/tmpfiles.d")
UNIT_DIRECTORIES = ("/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system")
_ARGUMENT_FIELD = 6
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "s": " "}


def sysctl_writes(root: Path, known: Iterable[str]) -> list[Write]:
    """Return (path below /proc/sys, value) in the order in which they are written; patterns go over the paths `known`.

    Source: sysctl.d(5), systemd-sysctl(8); the rules are those of `core.sysctl_boot`.
    """
    files = files_by_name(root, SYSCTL_DIRECTORIES, ".conf")
    texts = ((str(path), path.read_text(encoding="utf-8", errors="replace")) for path in files)
    return merged(line for path, text in texts for line in assignments(path, text)).writes(known)


def tmpfiles_writes(root: Path, known: Iterable[str]) -> list[Write]:
    """Return (path, value) of the `w` lines in order; a pattern goes over `known`. Source: tmpfiles.d(5)."""
    existing = sorted(known)
    writes: list[Write] = []
    for path in files_by_name(root, _TMPFILES_DIRECTORIES, ".conf"):
        for line in _lines(path):
            fields = line.split(None, _ARGUMENT_FIELD)
            if len(fields) <= _ARGUMENT_FIELD or fields[0].rstrip("+!-=~^$") != "w":
                continue
            value = _unescape(fields[_ARGUMENT_FIELD].rstrip()).replace("%%", "%")
            target = _unescape(fields[1]).replace("%%", "%")
            matches = fnmatch.filter(existing, target) if any(mark in target for mark in "*?[") else [target]
            writes += [(match, value) for match in matches]
    return writes


def unit_commands(root: Path, wanted_by: str) -> list[list[str]]:
    """Return the commands of the services that a unit wants, in the order in which its files name them.

    Source: systemd.unit(5) (Wants=), systemd.service(5) (ExecStart=, command lines).
    """
    commands: list[list[str]] = []
    for name in unit_values(root, wanted_by, "Wants"):
        for unit in name.split():
            if unit.endswith(".service"):
                commands += [command_words(line) for line in unit_values(root, unit, "ExecStart") if line]
    return commands


def unit_values(root: Path, unit: str, key: str) -> list[str]:
    """Return the values of a key of a unit and its drop-ins in order; an empty assignment forgets those before it."""
    values: list[str] = []
    for path in unit_files(root, unit):
        for line in _lines(path):
            name, equals, value = line.partition("=")
            if equals and name.strip() == key:
                values = [*values, value.strip()] if value.strip() else []
    return values


def unit_files(root: Path, unit: str) -> list[Path]:
    """Return the file of a unit, first directory first, then its drop-ins by name."""
    places = [root / directory.lstrip("/") / unit for directory in UNIT_DIRECTORIES]
    main = [place for place in places if place.is_file()][:1]
    return main + files_by_name(root, [f"{directory}/{unit}.d" for directory in UNIT_DIRECTORIES], ".conf")


def command_words(line: str) -> list[str]:
    """Return the words of an ExecStart line as the process gets them."""
    words = shlex.split(line.lstrip("@-:+!"), posix=True)
    return [word.replace("$$", "$").replace("%%", "%") for word in words]


def files_by_name(root: Path, directories: Sequence[str], suffix: str) -> list[Path]:
    """Return the files of several directories by base name; of equal names the one of the first directory.

    Shape: hidden files do not count; a link to /dev/null, or to nowhere, hides the later files of its name.
    """
    found: dict[str, Path] = {}
    for directory in directories:
        for path in (root / directory.lstrip("/")).glob(f"[!.]*{suffix}"):
            found.setdefault(path.name, path)
    return [found[name] for name in sorted(found) if found[name].is_file()]


def _lines(path: Path) -> Iterator[str]:
    joined = path.read_text(encoding="utf-8", errors="replace").replace("\\\n", " ")
    return (line for line in joined.splitlines() if line.strip() and line.lstrip()[0] not in "#;")


def _unescape(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        code = match.group(1)
        return chr(int(code[1:], 16)) if code[0] == "x" and len(code) > 1 else _ESCAPES.get(code, code)

    stripped = text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text
    return _ESCAPE.sub(one, stripped)
