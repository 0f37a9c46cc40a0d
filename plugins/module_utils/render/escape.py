# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Escaping, one function a format: what a value must look like so that the reader of the file gets it back."""

from __future__ import annotations

import re

_PLAIN_WORD = re.compile(r"[A-Za-z0-9_@:/.,+=-]+\Z", re.ASCII)


def comment(text: str) -> str:
    """Return text that stays on one comment line: every control character becomes `?`."""
    return "".join(character if character.isprintable() else "?" for character in text)


def tmpfiles_argument(value: str) -> str:
    r"""Return the argument of a tmpfiles.d line: `%` and `\` doubled, and a lone `-` (which means none) spelled out.

    Source: tmpfiles.d(5), "Specifiers" and C-style escapes of the argument.
    """
    if value == "-":
        return "\\x2d"
    return value.replace("\\", "\\\\").replace("%", "%%")


def unit_word(value: str) -> str:
    r"""Return one word of an `ExecStart=` line: quoted where needed, with `%` and `$` doubled.

    Source: systemd.service(5), "Command lines"; systemd.syntax(7), "Quoting".
    """
    if _PLAIN_WORD.match(value):
        return value
    for special, escaped in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%"), ("$", "$$"), ("\n", "\\n")):
        value = value.replace(special, escaped)
    return f'"{value}"'
