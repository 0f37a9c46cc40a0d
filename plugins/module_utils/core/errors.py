# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Errors with stable codes. Every error says what, where, why and what to do.

The numbering follows the stage that speaks: 1xxx input files, 2xxx planning,
3xxx guards before a change, 4xxx applying, 5xxx could not look, 9xxx a defect in tunectl.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Problem:
    """One statement of what is wrong.

    Shape: `what` is a sentence in the user's terms; `where` names file:line:column, node,
    object or setting; `why` gives the values that disagree; `fix` is the exact edit or command.
    `path` is the dotted field of the tier that the problem is about, where there is one.
    """

    code: str
    what: str
    where: str = ""
    why: str = ""
    fix: str = ""
    path: str = ""

    def to_json(self) -> dict[str, str]:
        """Return the problem as the `errors[]` item of the published schemas; `path` only where it is known."""
        item = {
            "code": self.code,
            "message": self.what,
            "location": self.where,
            "why": self.why,
            "hint": self.fix,
        }
        return {**item, "path": self.path} if self.path else item


@dataclass(eq=False)
class TunectlError(Exception):
    """Base of every error that tunectl raises on purpose; carries all problems at once.

    Shape: `problems` is not empty; `state` says what happened to the system.
    """

    problems: tuple[Problem, ...]
    state: str = "Nothing was changed."

    exit_code: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Give `Exception` its arguments, so that the error also prints without a view."""
        super().__init__("; ".join(_sentence(problem) for problem in self.problems))


def _sentence(problem: Problem) -> str:
    parts = [problem.where, problem.what, problem.why]
    return ": ".join(part for part in parts if part) + f" [{problem.code}]"


@dataclass(eq=False)
class InputError(TunectlError):
    """A file, flag or tier is wrong; nothing was contacted (exit code 2)."""

    exit_code: ClassVar[int] = 2


@dataclass(eq=False)
class FailedError(TunectlError):
    """Work failed on at least one node and was not undone (exit code 1)."""


@dataclass(eq=False)
class RefusedError(TunectlError):
    """A guard said no before anything was changed (exit code 4)."""

    exit_code: ClassVar[int] = 4


@dataclass(eq=False)
class UnknownError(TunectlError):
    """Something could not be reached or measured (exit code 5)."""

    exit_code: ClassVar[int] = 5


@dataclass(eq=False)
class DeclinedError(TunectlError):
    """The user said no, or an answer was needed and could not be asked for (exit code 6)."""

    exit_code: ClassVar[int] = 6


@dataclass(eq=False)
class UndoneError(TunectlError):
    """Apply failed and everything was rolled back (exit code 7)."""

    exit_code: ClassVar[int] = 7


@dataclass(eq=False)
class BusyError(TunectlError):
    """Another run holds the lock (exit code 8)."""

    exit_code: ClassVar[int] = 8


@dataclass(eq=False)
class StoppedError(TunectlError):
    """The user stopped the run at once (exit code 130); `state` says what that left behind."""

    exit_code: ClassVar[int] = 130


def problem(code: str, what: str, *, where: str = "", why: str = "", fix: str = "") -> Problem:
    """Return a `Problem`; the keyword form keeps call sites readable."""
    return Problem(code=code, what=what, where=where, why=why, fix=fix)
