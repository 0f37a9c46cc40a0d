"""Output formats: what was asked for, and writing it. stdout is the product, stderr the talk."""

from __future__ import annotations

import json
import os
import select
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tunectl.core.errors import FailedError, InputError, problem
from tunectl.view.screen import Screen

MACHINE_FORMATS = ("json", "yaml", "junit", "sarif")

Renderer = Callable[[Screen], str]


@dataclass(frozen=True)
class OutputSpec:
    """One `-o FORMAT[=FILE]`; without a file it goes to stdout."""

    format: str
    target: Path | None = None


def parse_outputs(values: Sequence[str], formats: Sequence[str], *, quiet: bool = False) -> tuple[OutputSpec, ...]:
    """Return the outputs asked for, the first format to stdout where none was named for it.

    Shape: with `quiet`, nothing is added to outputs that go to files.

    Sad paths: `InputError` TUN-1001 for a format the command does not have, TUN-1002 when two go to stdout.
    """
    specs = tuple(_parse_output(value, formats) for value in values)
    on_stdout = [spec for spec in specs if spec.target is None]
    if len(on_stdout) > 1:
        names = " and ".join(spec.format for spec in on_stdout)
        raise InputError(
            (
                problem(
                    "TUN-1002",
                    "stdout takes one format",
                    where=f"--output {on_stdout[1].format}",
                    why=f"{names} were both asked for on stdout",
                    fix=f"write the second into a file: -o {on_stdout[1].format}=FILE",
                ),
            )
        )
    return specs if on_stdout or (quiet and specs) else (OutputSpec(formats[0]), *specs)


def _parse_output(value: str, formats: Sequence[str]) -> OutputSpec:
    name, equals, target = value.partition("=")
    if name in formats and not (equals and not target):
        return OutputSpec(name, Path(target) if equals else None)
    raise InputError(
        (
            problem(
                "TUN-1001",
                f"this command has no output {value!r}",
                where=f"--output {value}",
                why=f"it has: {', '.join(formats)}; each may be followed by =FILE",
                fix=f"-o {formats[0]}",
            ),
        )
    )


def asked_outputs(args: Sequence[str]) -> tuple[OutputSpec, ...]:
    """Return the machine outputs in a raw command line, also in one that does not parse.

    Failures need it: a command line with a wrong flag still owes its reader one document.
    """
    values: list[str] = []
    rest = iter(args)
    for arg in rest:
        if arg == "--":
            break
        if arg in ("-o", "--output"):
            values.append(next(rest, ""))
        elif arg.startswith("--output="):
            values.append(arg.partition("=")[2])
        elif arg.startswith("-") and not arg.startswith("--") and "o" in arg:
            flags, _, value = arg[1:].partition("o")
            if set(flags) <= set("qvy"):  # only flags without a value may stand before it
                values.append(value or next(rest, ""))
    specs = (OutputSpec(name, Path(target) if target else None) for name, _, target in map(_split, values))
    return tuple(spec for spec in specs if spec.format in MACHINE_FORMATS)


def _split(value: str) -> tuple[str, str, str]:
    return value.partition("=")


def document_text(document: Mapping[str, Any], format_name: str) -> str:
    """Return a document as `json` or `yaml` text that ends with a newline."""
    if format_name == "yaml":
        import yaml  # noqa: PLC0415  loaded only when asked for

        return str(yaml.safe_dump(document, sort_keys=False, width=120, allow_unicode=True))
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def write_stdout(text: str) -> None:
    """Write the product. A reader that has gone away is no failure; a full disk is one."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        forget_stdout()
    except OSError as error:
        forget_stdout()
        raise FailedError(
            (problem("TUN-4901", "the result could not be written to stdout", why=error.strerror or str(error)),),
            state="",
        ) from error


def stdout_is_closed() -> bool:
    """Return whether nobody can read stdout any more."""
    watch = select.poll()
    watch.register(sys.stdout.fileno(), 0)
    return bool(watch.poll(0))


def forget_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's own flush at exit stays silent."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, sys.stdout.fileno())
    os.close(sink)


def write_file(path: Path, text: str) -> None:
    """Write a file as a whole: readers see the old one or the new one.

    Sad paths: `InputError` TUN-1003 when the directory cannot be written.
    """
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", newline="", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as handle:
            try:
                handle.write(text)
                handle.flush()
                os.fsync(handle.fileno())
                Path(handle.name).chmod(0o666 & ~_umask())
                Path(handle.name).replace(path)
            except BaseException:
                Path(handle.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise InputError(
            (
                problem(
                    "TUN-1003",
                    "the output file cannot be written",
                    where=str(path),
                    why=error.strerror or str(error),
                    fix="name a file in a directory that exists and can be written",
                ),
            )
        ) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
