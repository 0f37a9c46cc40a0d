"""Every way in which a command can end badly: its message, its document, its exit code."""

from __future__ import annotations

import os
import platform
import re
import sys
import tempfile
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from tunectl import __version__
from tunectl.cli.output import document_text, write_file, write_stdout
from tunectl.cli.session import Session
from tunectl.core.errors import InputError, StoppedError, TunectlError, problem
from tunectl.view.envelope import Result

INTERNAL = 70
INTERRUPTED = 130
UNKNOWN = 5
_CHANGING = ("Run",)

_WORDS = {4: "refused", 5: "unknown", 6: "declined", 7: "undone", 8: "busy", 70: "internal", 130: "stopped"}


def report(session: Session, error: TunectlError, exit_code: int | None = None) -> int:
    """Tell about an error on stderr, leave its document where one was asked for, and return the exit code."""
    from tunectl.view.problem import error_text  # noqa: PLC0415  needed on failure only

    code = error.exit_code if exit_code is None else exit_code
    sys.stderr.write(error_text(error, session.talk_screen, _WORDS.get(code, "error")))
    sys.stderr.flush()
    result = Result(kind=session.kind, exit_code=code, summary={"state": error.state}, errors=error.problems)
    on_stdout = [spec for spec in session.failure_outputs if spec.target is None]
    for spec in session.failure_outputs:
        if spec.target is not None:
            _write_beside(spec.target, _failure_text(session, result, spec.format))
    for spec in on_stdout[:1]:  # however many were asked for, stdout carries one document
        write_stdout(_failure_text(session, result, spec.format))
    return code


def _write_beside(path: Path, text: str) -> None:
    try:
        write_file(path, text)
    except TunectlError as error:  # the first failure is the one to report; this one adds a line
        sys.stderr.write(f"{error}\n")


def _failure_text(session: Session, result: Result, format_name: str) -> str:
    if format_name == "junit":
        from tunectl.view.junit import failure_junit  # noqa: PLC0415  needed on failure only

        return failure_junit(session.kind, result.errors)
    if format_name == "sarif":
        from tunectl.view.sarif import failure_sarif  # noqa: PLC0415  needed on failure only

        return failure_sarif(session.kind.lower(), result.errors)
    return document_text(session.document(result), format_name)


def usage_error(error: click.ClickException) -> InputError:
    """Return click's complaint as our error, with the command's own help as the way out."""
    ctx = getattr(error, "ctx", None)
    path = ctx.command_path if ctx is not None else "tunectl"
    return InputError(
        (
            problem(
                "TUN-1000",
                error.format_message().rstrip("."),
                where=f"{path} …" if ctx is not None else path,
                fix=f"{path} --help",
            ),
        )
    )


def kind_of(error: click.ClickException, default: str) -> str:
    """Return the kind of document that the command in which click gave up would have written."""
    ctx = getattr(error, "ctx", None)
    return str(getattr(ctx.command, "kind", default)) if ctx is not None else default


def interrupted(session: Session, said: StoppedError | None = None) -> TunectlError:
    """Return the error of a Ctrl-C, or of a time that is over; `said` is what a use case says."""
    changes = session.kind in _CHANGING
    state = "Nodes may be changed: tunectl history shows how far it got." if changes else "Nothing was changed."
    state = said.state if said is not None else state
    if not session.timed_out:
        return said or TunectlError((problem("TUN-4900", "interrupted"),), state=state)
    why = f"it did not end within {session.settings.values['timeout'].text}"
    fix = "give it more time with --timeout, or fewer nodes with --node"
    return TunectlError((problem("TUN-5010", "the time is over", where="--timeout", why=why, fix=fix),), state=state)


def crashed(error: BaseException, args: Sequence[str]) -> TunectlError:
    """Write the report of a defect and return the error that names it."""
    path = _crash_file(error, args)
    return TunectlError(
        (
            problem(
                "TUN-9000",
                "this is a bug in tunectl",
                where=f"{type(error).__name__} in {_place(error)}",
                fix=f"report it with {path} (no secrets inside)" if path else "run again with --debug and report it",
            ),
        ),
        state="",
    )


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "tunectl"


def _crash_file(error: BaseException, args: Sequence[str]) -> Path | None:
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H%M%SZ")
    text = crash_text(error, args, stamp)
    for directory in (Path(".tunectl") / "crash", Path(tempfile.gettempdir()) / f"tunectl-crash-{os.getuid()}"):
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            path = directory / f"{stamp}-{os.getpid()}.txt"
            path.write_text(text, encoding="utf-8")
        except OSError:  # a folder that cannot be written is no reason to hide the defect
            continue
        return path
    return None


def crash_text(error: BaseException, args: Sequence[str], stamp: str) -> str:
    """Return the report: versions, the command line without values set on it, the traceback without variables."""
    lines = [
        f"tunectl {__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}",
        f"time {stamp}",
        "command tunectl " + " ".join(_without_values(args)),
        "",
        *traceback.format_exception(error),
    ]
    return "\n".join(line.rstrip("\n") for line in lines) + "\n"


def _without_values(args: Sequence[str]) -> list[str]:
    return [re.sub(r"=.*", "=***", arg, flags=re.DOTALL) for arg in args]
