"""A directory of generated files: written whole files at a time, stale ones removed, nothing foreign touched."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from tunectl.core.errors import InputError, Problem, RefusedError, problem

# Without an ending: `kubectl apply -f DIR` takes every file that ends in .json or .yaml, hidden ones too.
MARKER = ".tunectl-rendered"
_FORMAT = "tunectl.io/rendered/v1"


@dataclass(frozen=True)
class TreeChange:
    """What writing did, as relative paths in order."""

    written: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def write_tree(directory: Path, files: Mapping[str, str]) -> TreeChange:
    """Make `directory` hold exactly these files of ours and return what changed.

    Shape: `files` by relative path with slashes. A marker in the directory lists the files with their digests; files
    that it does not list are never touched. Each file is replaced as a whole; interrupted work is finished by the
    next call.
    Sad paths: `RefusedError` TUN-3020 for a directory with files and without marker, TUN-3021 for files of ours that
    were edited and foreign files in the way; `InputError` TUN-1062 for a marker or directory that cannot be used.
    """
    target = {path: content.encode() for path, content in files.items()}
    try:
        known = _read_marker(directory)
        _refuse_foreign(directory, known, target)
        return _write(directory, known, target)
    except OSError as error:
        where = error.filename or directory
        raise InputError(
            (
                problem(
                    "TUN-1062",
                    "the directory cannot be written",
                    where=str(where),
                    why=error.strerror or str(error),
                    fix="-o dir=DIR with a directory that can be written",
                ),
            )
        ) from error


def _write(directory: Path, known: Mapping[str, list[str]], target: Mapping[str, bytes]) -> TreeChange:
    wanted = {path: _digest(content) for path, content in target.items()}
    dirty = [path for path in sorted(target) if _digest_of(directory / path) != wanted[path]]
    stale = [path for path in sorted(known) if path not in target]
    clean = {path: [digest] for path, digest in wanted.items()}
    if dirty or stale or clean != known or not (directory / MARKER).exists():
        # Until all is done the marker knows the old and the new content, so that a second try recognises both.
        _write_marker(directory, {path: [*known.get(path, []), *clean.get(path, [])] for path in {*known, *clean}})
        for path in dirty:
            _replace(directory / path, target[path])
        for path in stale:
            _remove(directory, path)
        _write_marker(directory, clean)
    return TreeChange(tuple(dirty), tuple(sorted(set(target) - set(dirty))), tuple(stale))


def _read_marker(directory: Path) -> dict[str, list[str]]:
    path = directory / MARKER
    if directory.exists() and not path.exists() and any(directory.iterdir()):
        raise RefusedError(
            (
                problem(
                    "TUN-3020",
                    "the directory holds files that tunectl did not write",
                    where=str(directory),
                    why=f"there is no {MARKER} in it, so nothing in it may be replaced or removed",
                    fix="name a new or empty directory",
                ),
            )
        )
    if not path.exists():
        return {}
    try:
        return _marked_files(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            (
                problem(
                    "TUN-1062",
                    "the marker of the directory cannot be read",
                    where=str(path),
                    why=str(error),
                    fix="name a new directory",
                ),
            )
        ) from error


def _marked_files(data: dict[str, Any]) -> dict[str, list[str]]:
    if data["format"] != _FORMAT:
        raise ValueError(f"its format is not {_FORMAT}")
    known = {str(name): [str(one) for one in digests] for name, digests in data["files"].items()}
    outside = [name for name in known if not _is_inside(name)]
    if outside:
        raise ValueError(f"it names {outside[0]!r}, which is not inside the directory")
    return known


def _refuse_foreign(directory: Path, known: Mapping[str, list[str]], target: Mapping[str, bytes]) -> None:
    problems = [
        _foreign(directory / path, is_ours=path in known)
        for path in sorted({*known, *target})
        if _is_foreign(directory / path, known.get(path, []), target.get(path))
    ]
    if problems:
        raise RefusedError(tuple(problems))


def _is_foreign(path: Path, digests: list[str], content: bytes | None) -> bool:
    found = _digest_of(path)
    return found is not None and found not in digests and (content is None or found != _digest(content))


def _foreign(path: Path, *, is_ours: bool) -> Problem:
    return problem(
        "TUN-3021",
        "a file was edited since tunectl wrote it" if is_ours else "a file is in the way that tunectl did not write",
        where=str(path),
        why="what is in it would be lost",
        fix=f"keep what you need of it, remove it (rm {path}) and render again",
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digest_of(path: Path) -> str | None:
    """Return the digest of a file, None where nothing is; anything that is no plain file has a digest of its own."""
    if path.is_symlink() or path.is_dir():
        return "not a plain file"
    try:
        return _digest(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None


def _is_inside(path: str) -> bool:
    pure = PurePosixPath(path)
    return bool(pure.parts) and not pure.is_absolute() and ".." not in pure.parts


def _write_marker(directory: Path, files: Mapping[str, list[str]]) -> None:
    document = {"format": _FORMAT, "files": {path: sorted(set(files[path])) for path in sorted(files)}}
    _replace(directory / MARKER, (json.dumps(document, indent=1) + "\n").encode())


def _replace(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("wb", dir=path.parent, prefix=f".{path.name}.", delete=False) as handle:
        try:
            handle.write(content)
            handle.flush()
            os.fsync(handle.fileno())
            mask = os.umask(0)
            os.umask(mask)
            Path(handle.name).chmod(0o666 & ~mask)
            Path(handle.name).replace(path)
        except BaseException:
            Path(handle.name).unlink(missing_ok=True)
            raise


def _remove(directory: Path, path: str) -> None:
    (directory / path).unlink(missing_ok=True)
    for parent in PurePosixPath(path).parents:
        if parent != PurePosixPath():
            # A directory with files of others stays.
            with contextlib.suppress(OSError):
                (directory / parent).rmdir()
