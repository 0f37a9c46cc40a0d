"""Errors for people: what, where, why, fix, code, and what happened to the system."""

from __future__ import annotations

import textwrap

from tunectl.core.errors import Problem, TunectlError
from tunectl.view.problem_table import mistakes_text
from tunectl.view.screen import Screen

_LABEL = 9


def error_text(error: TunectlError, screen: Screen, word: str = "error") -> str:
    """Return the message of an error: one block a problem, then what happened to the system.

    Mistakes in the fields of a file are one list instead, by their places.
    """
    if all(problem.path for problem in error.problems):
        return mistakes_text(error.problems, error.state, screen)
    blocks = [_block(problem, screen, word) for problem in error.problems]
    closing = [error.state] if error.state else []
    return "\n".join([*blocks, *closing]) + "\n"


def _block(problem: Problem, screen: Screen, word: str) -> str:
    code = screen.paint(f"[{problem.code}]", "dim")
    lines = [_part(word, problem.what, screen, "bad") + f" {code}"]
    lines += [
        _part(label, text, screen, "dim")
        for label, text in (("where", problem.where), ("why", problem.why), ("fix", problem.fix))
        if text
    ]
    return "\n".join(lines)


def _part(label: str, text: str, screen: Screen, role: str) -> str:
    width = screen.width - _LABEL - 1
    lines = [
        line
        for paragraph in screen.text(text).splitlines() or [""]
        for line in textwrap.wrap(paragraph, width, break_long_words=False, break_on_hyphens=False) or [""]
    ]
    head = screen.paint(label.ljust(_LABEL - 1), role) + " " + lines[0]
    return "\n".join([head, *(" " * _LABEL + line for line in lines[1:])])
