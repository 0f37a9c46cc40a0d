"""The entry: parses, runs one command, and turns every outcome into an exit code."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Sequence

import click

from tunectl.cli.commands import LazyGroup
from tunectl.cli.failure import INTERNAL, INTERRUPTED, UNKNOWN, crashed, interrupted, kind_of, report, usage_error
from tunectl.cli.output import asked_outputs, forget_stdout, stdout_is_closed
from tunectl.cli.session import Session
from tunectl.core.errors import StoppedError, TunectlError

COMPLETE_VARIABLE = "_TUNECTL_COMPLETE"

_HELP = """Plan, simulate, apply and prove the tuning of Kubernetes nodes.

A tier says what a pool of nodes is for; tunectl finds out what each node must run, does it as one
transaction a node, and checks that it holds.
"""


@click.group(
    cls=LazyGroup,
    help=_HELP,
    epilog="`tunectl COMMAND --help` shows the options of a command. Start with: tunectl lab up",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="tunectl", message="tunectl %(version)s")
def cli() -> None:
    """Do nothing: the commands do."""


def main() -> None:
    """Run the command line of the process, or answer the shell that completes one."""
    instruction = os.environ.get(COMPLETE_VARIABLE)
    if instruction:
        from click.shell_completion import shell_complete  # noqa: PLC0415  needed by shells only

        sys.exit(shell_complete(cli, {}, "tunectl", COMPLETE_VARIABLE, instruction))
    sys.exit(run(sys.argv[1:]))


def run(args: Sequence[str]) -> int:
    """Run one command line and return its exit code; nothing but the result is left on stdout."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a file name must not end the run
    session = Session(args=tuple(args), failure_outputs=asked_outputs(args), debug="--debug" in args)
    try:
        return _guarded(session, args)
    except TunectlError as error:  # the message itself could not be written
        with contextlib.suppress(OSError):
            sys.stderr.write(f"{error}\n")
        return error.exit_code
    finally:
        session.stop_timer()


def _guarded(session: Session, args: Sequence[str]) -> int:
    try:
        with cli.make_context("tunectl", list(args), obj=session) as ctx:
            return cli.invoke(ctx) or 0
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "")
        return 0
    except click.ClickException as error:
        session.kind = kind_of(error, session.kind)
        return report(session, usage_error(error))
    except (click.Abort, KeyboardInterrupt):
        return report(session, interrupted(session), UNKNOWN if session.timed_out else INTERRUPTED)
    except StoppedError as error:
        return report(session, interrupted(session, error), UNKNOWN if session.timed_out else INTERRUPTED)
    except TunectlError as error:
        if session.debug:
            _traceback(error)
        return report(session, error)
    except BrokenPipeError as error:
        return _reader_gone(session, error, args)
    except Exception as error:  # noqa: BLE001  the last line of defence
        return _defect(session, error, args)


def _reader_gone(session: Session, error: BrokenPipeError, args: Sequence[str]) -> int:
    if stdout_is_closed():
        forget_stdout()
        return 0
    return _defect(session, error, args)


def _defect(session: Session, error: Exception, args: Sequence[str]) -> int:
    if session.debug:
        _traceback(error)
    return report(session, crashed(error, args), INTERNAL)


def _traceback(error: BaseException) -> None:
    import traceback  # noqa: PLC0415  needed on failure only

    traceback.print_exception(error, file=sys.stderr)
