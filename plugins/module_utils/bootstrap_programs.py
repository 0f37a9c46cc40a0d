# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Runs the programs of a node for a bootstrap: no shell, no secret on a command line, no secret in what is reported."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from .core.errors import FailedError, problem

PATHS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/bin"
_TAIL = 12
_SECRETS = re.compile(r"\b[a-z0-9]{6}\.[a-z0-9]{16}\b|\b[0-9a-f]{64}\b")


@dataclass(frozen=True)
class Done:
    """How a program ended. Shape: `out` and `err` as text; `code` is -1 for one that could not be started."""

    code: int
    out: str
    err: str

    @property
    def last_words(self) -> str:
        """The end of what it said, without tokens and keys."""
        lines = [line.strip() for line in (self.err or self.out).splitlines() if line.strip()]
        return redacted("; ".join(lines[-_TAIL:])) or f"it ended with {self.code} and without a word"


def redacted(text: str) -> str:
    """Return a text without bootstrap tokens and certificate keys; hashes after `sha256:` are public and stay."""
    return _SECRETS.sub(lambda found: _shown(text, found), text)


def _shown(text: str, found: re.Match[str]) -> str:
    return found.group(0) if text[: found.start()].endswith("sha256:") else "(secret)"


def run(command: Sequence[str], *, text: str | None = None, timeout_s: int = 120) -> Done:
    """Run a program to its end and return how it ended; `text` is what it reads on its standard input."""
    environment = {**os.environ, "PATH": PATHS, "LC_ALL": "C"}
    try:
        done = subprocess.run(  # noqa: S603  programs of the node, no shell
            list(command),
            input=None if text is None else text.encode(),
            stdin=subprocess.DEVNULL if text is None else None,
            capture_output=True,
            timeout=timeout_s,
            check=False,
            env=environment,
        )
    except subprocess.TimeoutExpired as error:
        said = (error.stdout or b"").decode("utf-8", "replace")
        return Done(-1, said, f"{said}\nit did not end within {timeout_s} s")
    except OSError as error:
        return Done(-1, "", f"it cannot be started: {error.strerror or error}")
    return Done(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


def must(command: Sequence[str], code: str, what: str, *, text: str | None = None, timeout_s: int = 120) -> Done:
    """Run a program that has to succeed and return how it ended; raises `FailedError` with `code` otherwise."""
    done = run(command, text=text, timeout_s=timeout_s)
    if done.code:
        raise FailedError(
            (
                problem(
                    code,
                    what,
                    where=" ".join(command),
                    why=done.last_words,
                    fix="correct what it says and run the same command again; finished steps are not done twice",
                ),
            ),
            "What was done before this step stays.",
        )
    return done
