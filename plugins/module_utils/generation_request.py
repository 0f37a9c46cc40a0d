# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a node is asked to become, and what came of it."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .core.errors import InputError, Problem, RefusedError, problem
from .core.node_file import NodeFile, RuntimeValue
from .generation_disk import Image
from .generation_transaction import Recovery

FILE_PREFIXES = ("/etc/",)
RUNTIME_PREFIXES = ("/proc/sys/", "/proc/irq/", "/sys/")


@dataclass(frozen=True)
class Request:
    """What a node shall be.

    Shape: `files` and `runtime` are all that tunectl shall own afterwards; what it owned before and is not named is
    put back as it was before tunectl, or with `forget` left as it is. `overwrite` replaces files that were changed
    by somebody else.
    """

    files: tuple[NodeFile, ...] = ()
    runtime: tuple[RuntimeValue, ...] = ()
    actions: tuple[str, ...] = ()
    tier: str = ""
    plan_id: str = ""
    overwrite: bool = False
    forget: bool = False


@dataclass(frozen=True)
class FileChange:
    """One file before and after."""

    before: Image
    after: Image

    @property
    def kind(self) -> str:
        """Return created, removed, updated or mode."""
        if not self.before.exists:
            return "created"
        if not self.after.exists:
            return "removed"
        return "mode" if self.before.content == self.after.content else "updated"


@dataclass(frozen=True)
class Result:
    """What a transaction did, or in check mode would do.

    Shape: `generation` is the number now current (0 = none), `previous` the one before; `values` is
    (path, before, after); `foreign` are owned files that somebody changed; `left_alone` were not put back because
    somebody changed them; `notes` are remarks in sentences; `recovered` is unfinished work that was undone first.
    """

    changed: bool
    generation: int = 0
    previous: int = 0
    files: tuple[FileChange, ...] = ()
    values: tuple[tuple[str, str, str], ...] = ()
    foreign: tuple[str, ...] = ()
    left_alone: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    recovered: tuple[Recovery, ...] = ()
    needs_reboot: bool = False
    skipped_actions: tuple[Mapping[str, str], ...] = ()
    actions: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the small form: names and numbers, never contents."""
        return {
            "changed": self.changed,
            "generation": self.generation,
            "before_generation": self.previous,
            "files": [{"path": item.after.path, "change": item.kind} for item in self.files],
            "runtime": [{"path": path, "before": before, "after": after} for path, before, after in self.values],
            "foreign": list(self.foreign),
            "left_alone": list(self.left_alone),
            "notes": list(self.notes),
            "recovered": [
                {"generation": item.number, "restored": list(item.restored), "left_alone": list(item.left_alone)}
                for item in self.recovered
            ],
            "needs_reboot": self.needs_reboot,
            "actions": list(self.actions),
            "skipped_actions": [dict(item) for item in self.skipped_actions],
        }

    def diff(self) -> list[dict[str, str]]:
        """Return one before and after for each file and value, as Ansible shows them."""
        return [*file_diff(self.files), *value_diff(self.values)]


def refuse_other_boot(seen: str, running: str) -> None:
    """Raise `RefusedError` (TUN-3470) when the node was rebooted since it was looked at; empty ids tell nothing."""
    if seen and running and seen != running:
        found = problem(
            "TUN-3470",
            "the node was rebooted since it was looked at",
            where="boot",
            why=f"it ran boot {seen} then and runs {running} now, so that what was read does not hold any more",
            fix="run the command again: it looks at the node anew",
        )
        raise RefusedError((found,))


def file_diff(files: Sequence[FileChange]) -> list[dict[str, str]]:
    """Return before and after of each file; permissions are shown in the headers."""
    return [
        {
            "before_header": _header(item.before),
            "after_header": _header(item.after),
            "before": _text(item.before),
            "after": _text(item.after),
        }
        for item in files
    ]


def value_diff(values: Sequence[tuple[str, str, str]]) -> list[dict[str, str]]:
    """Return before and after of each runtime value."""
    return [
        {"before_header": path, "after_header": path, "before": f"{before}\n", "after": f"{after}\n"}
        for path, before, after in values
    ]


def _header(image: Image) -> str:
    return f"{image.path} (mode {image.mode:04o})" if image.exists else f"{image.path} (absent)"


def _text(image: Image) -> str:
    if image.content is None:
        return ""
    try:
        return image.content.decode("utf-8")
    except UnicodeDecodeError:
        return f"({len(image.content)} bytes that are no text)\n"


@dataclass(eq=False)
class ForeignChangeError(RefusedError):
    """Somebody else changed owned files; `files` is what would be overwritten and with what."""

    files: tuple[FileChange, ...] = ()
    result_extras: Mapping[str, Any] = field(default_factory=dict)


def request_from_json(data: Mapping[str, Any]) -> Request:
    """Return the request of module parameters or of a node plan; raises `InputError` (TUN-3410) for malformed ones."""
    desired = data.get("desired")
    tier = data.get("tier") or (desired.get("tier") if isinstance(desired, Mapping) else "") or ""
    try:
        return Request(
            files=tuple(
                NodeFile(item["path"], item["content"], mode_of(item.get("mode"))) for item in data.get("files") or ()
            ),
            runtime=tuple(
                RuntimeValue(item["path"], str(item["value"]), bool(item.get("optional")))
                for item in data.get("runtime") or ()
            ),
            actions=tuple(data.get("actions") or ()),
            tier=str(tier),
            plan_id=str(data.get("plan_id") or data.get("id") or ""),
            overwrite=bool(data.get("overwrite")),
            forget=bool(data.get("forget")),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        missing = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise InputError((problem("TUN-3410", "the plan of the node is malformed", why=missing),)) from error


def mode_of(value: Any) -> int:
    """Return permissions from a number or an octal text such as `"0644"`; 0644 when absent.

    Raises `ValueError` for anything outside 0-07777.
    """
    if value is None or value == "":
        return 0o644
    mode = int(value, 8) if isinstance(value, str) else int(value)
    if not 0 <= mode <= 0o7777:  # noqa: PLR2004 - all permission bits
        raise ValueError(f"{value!r} is not a file mode")
    return mode


def refuse_bad_paths(request: Request) -> None:
    """Raise `InputError` (TUN-3403) naming every path that tunectl does not write, and every path named twice."""
    found: list[Problem] = []
    for kind, paths, prefixes in (
        ("file", [item.path for item in request.files], FILE_PREFIXES),
        ("value", [item.path for item in request.runtime], RUNTIME_PREFIXES),
    ):
        found += [_bad(kind, path, prefixes) for path in paths if not _is_good(path, prefixes)]
        found += [
            problem("TUN-3403", f"the {kind} is named twice", where=path)
            for path in sorted({path for path in paths if paths.count(path) > 1})
        ]
    if found:
        raise InputError(tuple(found))


def _is_good(path: str, prefixes: Sequence[str]) -> bool:
    return (
        path.startswith(tuple(prefixes))
        and path == posixpath.normpath(path)
        and not path.startswith("//")
        and path.isprintable()
    )


def _bad(kind: str, path: str, prefixes: Sequence[str]) -> Problem:
    return problem(
        "TUN-3403",
        f"tunectl does not write the {kind} {path!r}",
        where=path,
        why="a path is absolute, without . and .. and double slashes",
        fix=f"use a path below {' or '.join(prefixes)}",
    )
