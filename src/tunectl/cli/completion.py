"""`tunectl completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from tunectl.cli.options import command
from tunectl.cli.output import write_stdout
from tunectl.cli.session import Session

SHELLS = ("bash", "zsh", "fish")


@command("completion", kind="Completion", formats=())
@click.argument("shell", type=click.Choice(SHELLS))
def completion(session: Session, shell: str) -> int:
    """Print the completion script of a shell.

    For bash: eval "$(tunectl completion bash)"
    """
    del session
    from tunectl.cli.main import COMPLETE_VARIABLE, cli  # noqa: PLC0415  the entry imports this module

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"there is no completion for {shell}")
    write_stdout(kind(cli, {}, "tunectl", COMPLETE_VARIABLE).source() + "\n")
    return 0
