"""The directory of openshift-install between `create manifests` and the next step, which consumes it."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tunectl.adapters.output_tree import TreeChange
from tunectl.core.errors import InputError, Problem, RefusedError, problem

_MARK = "# Written by tunectl bootstrap openshift; sha256 of what follows: "
_PREFIX = "99_tunectl-"


def write_manifests(directory: Path, files: Mapping[str, str]) -> TreeChange:
    """Make the manifests of an installation hold exactly these files of ours and return what changed.

    Shape: `files` by name, written into the subdirectory `openshift`, whose files the installer takes as they are. Each
    begins with a line that says whose it is and the digest of the rest, so that an edit is noticed; other files of ours
    there are removed, files of others never touched.
    Sad paths: `RefusedError` TUN-3740 before `create manifests`, TUN-3741 after they were consumed, TUN-3742 for a
    file in the way that is not ours, or that was edited; `InputError` TUN-1933 when nothing can be written.
    Source: openshift-install, `create manifests` writes `manifests` and `openshift`; `create ignition-configs` reads
    and removes both.
    """
    _refuse_stage(directory)
    target = directory / "openshift"
    wanted = {name: _marked(content) for name, content in files.items()}
    there = {path.name: path.read_text(encoding="utf-8", errors="replace") for path in target.glob(f"{_PREFIX}*")}
    clashes = [_clash(target / name) for name, text in there.items() if text != wanted.get(name) and not _is_ours(text)]
    if clashes:
        raise RefusedError(tuple(clashes))
    written = tuple(name for name in sorted(wanted) if there.get(name) != wanted[name])
    removed = tuple(sorted(set(there) - set(wanted)))
    try:
        for name in written:
            _replace(target / name, wanted[name])
        for name in removed:
            (target / name).unlink()
    except OSError as error:
        why = error.strerror or str(error)
        fix = "make the directory writable and run this again"
        raise InputError(
            (problem("TUN-1933", "the manifests cannot be written", where=str(target), why=why, fix=fix),),
            "Files that were written before stay.",
        ) from error
    return TreeChange(written, tuple(sorted(set(wanted) - set(written))), removed)


def _refuse_stage(directory: Path) -> None:
    consumed = sorted(path.name for path in directory.glob("*.ign")) + [
        name for name in ("metadata.json", "terraform.tfstate") if (directory / name).exists()
    ]
    if consumed:
        raise RefusedError(
            (
                problem(
                    "TUN-3741",
                    "the installer has consumed its manifests already",
                    where=str(directory),
                    why=f"there is {', '.join(consumed)}",
                    fix="tunectl apply brings the tier to the running cluster; or start over with a new directory",
                ),
            )
        )
    if not ((directory / "manifests").is_dir() and (directory / "openshift").is_dir()):
        has_config = (directory / "install-config.yaml").is_file()
        raise RefusedError(
            (
                problem(
                    "TUN-3740",
                    "the installer has not made its manifests yet",
                    where=str(directory),
                    why="there are no directories manifests and openshift"
                    + ("" if has_config else ", nor an install-config.yaml to make them of"),
                    fix=f"openshift-install create manifests --dir {directory}",
                ),
            )
        )


def _marked(content: str) -> str:
    return f"{_MARK}{_digest(content)}\n{content}"


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


def _is_ours(text: str) -> bool:
    head, _, rest = text.partition("\n")
    return head == _MARK + _digest(rest)


def _clash(path: Path) -> Problem:
    return problem(
        "TUN-3742",
        "a file in the way is not as tunectl wrote it",
        where=str(path),
        why="it was edited, or is somebody else's",
        fix="put the change into the tier and remove the file, or rename it",
    )


def _replace(path: Path, text: str) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".tunectl-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
