# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Where tiers are: by name in directories, by path, and the text of their files."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path

from ..core.errors import InputError, Problem, problem
from ..core.tier_forms import did_you_mean, nearest
from .paths import tiers_dir

_ENDINGS = (".yaml", ".yml")
_LARGEST_FILE = 1 << 20


def is_path(name_or_path: str) -> bool:
    """Return whether a tier is given by its file rather than by its name."""
    return "/" in name_or_path or name_or_path.endswith(_ENDINGS)


def find_tier(name_or_path: str, search: Sequence[str | Path] = ()) -> Path:
    """Return the file of a tier; raises `TUN-1109` with the nearest name and the list for a name that is unknown.

    Shape: a file name alone that is not in this folder is looked for where tiers are found by name.
    """
    if is_path(name_or_path):
        return Path(name_or_path) if "/" in name_or_path else _file_of(Path(name_or_path), search)
    known = tier_files(search)
    if name_or_path in known:
        return known[name_or_path]
    raise InputError(
        (
            problem(
                "TUN-1109",
                f"there is no tier {name_or_path!r}",
                where=", ".join(str(directory) for directory in _directories(search)),
                why=f"known tiers: {', '.join(sorted(known))}",
                fix=did_you_mean(name_or_path, known) or "tunectl tier list",
            ),
        )
    )


def _file_of(path: Path, search: Sequence[str | Path]) -> Path:
    if path.exists():
        return path
    return next((found for found in tier_files(search).values() if found.name == path.name), path)


def tier_files(search: Sequence[str | Path] = ()) -> dict[str, Path]:
    """Return the files of all tiers that can be named, by name; directories of `search` win over the built-in ones."""
    found: dict[str, Path] = {}
    for directory in _directories(search):
        for ending in _ENDINGS:
            for path in sorted(directory.glob(f"*{ending}")) if directory.is_dir() else []:
                found.setdefault(path.stem, path)
    return found


def _directories(search: Sequence[str | Path]) -> list[Path]:
    return [*(Path(directory) for directory in search), tiers_dir()]


def shown_path(path: Path) -> str:
    """Return how a tier file is named in messages and plans: `tiers/NAME.yaml` when built in, else as it was given."""
    builtin = tiers_dir()
    return f"{builtin.name}/{path.name}" if path.parent == builtin else str(path)


def read_text(path: Path) -> str:
    """Return the text of a file; raises `TUN-1101` naming it when it is missing, no file, too large or not UTF-8."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            kind = "a directory" if stat.S_ISDIR(status.st_mode) else "not a regular file"
            raise _unreadable(path, f"it is {kind}", "name a file")
        if status.st_size > _LARGEST_FILE:
            raise _unreadable(path, "it is larger than 1 MiB", "is this really a tier file?")
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unreadable(path, f"byte {error.start} is not UTF-8", "save it as UTF-8") from error
    except (OSError, ValueError) as error:
        raise _unreadable(path, getattr(error, "strerror", None) or str(error), _near_file(path)) from error


def _near_file(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir() if entry.suffix in _ENDINGS]
    except (OSError, ValueError):
        return ""
    name = nearest(path.name, names)
    return f"did you mean {str(path.parent / name)!r}?" if name else ""


def _unreadable(path: Path, why: str, fix: str) -> InputError:
    where = shown_path(path)
    return InputError((Problem("TUN-1101", "the tier file cannot be read", where, why, fix),), "Nothing was contacted.")
