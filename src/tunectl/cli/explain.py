"""`tunectl explain`."""

from __future__ import annotations

import click

from tunectl.app.explain import Explanation
from tunectl.app.explain import explain as explain_word
from tunectl.cli.complete import words
from tunectl.cli.options import command
from tunectl.cli.session import Session
from tunectl.view.envelope import Result
from tunectl.view.screen import Screen
from tunectl.view.table import labelled


@command("explain", kind="Explanation")
@click.argument("what", shell_complete=words)
def explain(session: Session, what: str) -> int:
    """Explain WHAT: an error code, a check id, a tier field or a kubelet or kernel name that a field writes."""
    found = explain_word(what)
    items = [{"name": one.name, "kind": one.kind, "title": one.title, **dict(one.parts)} for one in found]
    return session.emit(
        Result("Explanation", summary={"found": len(items)}, items=items),
        {"table": lambda screen: _text(found, screen)},
    )


def _text(found: tuple[Explanation, ...], screen: Screen) -> str:
    blocks = []
    for one in found:
        lines = [f"{screen.paint(one.name, 'strong')}   {screen.paint(one.kind, 'dim')}"]
        lines += labelled("", one.title, screen, 0, 2)
        for label, text in one.parts:
            lines += labelled(label, text, screen, 2, 9)
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"
