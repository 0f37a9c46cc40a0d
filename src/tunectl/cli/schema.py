"""`tunectl schema NAME`: the published JSON schemas."""

from __future__ import annotations

import click

from tunectl.app.schemas import schema_names, schema_text
from tunectl.cli.options import command
from tunectl.cli.output import write_stdout
from tunectl.cli.session import Session


@command("schema", kind="Schema", formats=())
@click.argument("name", required=False)
def schema(session: Session, name: str | None) -> int:
    """Print the JSON schema of a document; without NAME, the names there are.

    Editors check tier files as you type with a first line like
    `# yaml-language-server: $schema=tier.json`.
    """
    del session
    write_stdout(schema_text(name) if name else "".join(f"{known}\n" for known in schema_names()))
    return 0
