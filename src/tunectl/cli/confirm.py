"""The one question that tunectl asks."""

from __future__ import annotations

import sys

from tunectl.cli.session import Session
from tunectl.core.errors import DeclinedError, problem


def confirm_changes(session: Session, price: str, *, yes: bool) -> None:
    """Ask whether to go on, showing the price; return when the answer is yes.

    Sad paths: `DeclinedError` TUN-3002 when nobody can be asked, TUN-3003 when the answer is no.
    """
    if yes:
        return
    if not session.interactive:
        raise DeclinedError(
            (
                problem(
                    "TUN-3002",
                    f"{price}, and there is nobody to ask",
                    why="no terminal" if not session.no_input else "--no-input",
                    fix="add --yes, or look first with tunectl plan",
                ),
            )
        )
    sys.stderr.write(session.talk_screen.text(f"{price}. Proceed? [y/N] "))
    sys.stderr.flush()
    answer = sys.stdin.readline().strip().lower()
    if answer not in ("y", "yes"):
        raise DeclinedError((problem("TUN-3003", "declined", fix="tunectl apply asks again whenever you want"),))
