# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The border between Ansible and tunectl: the one place that turns errors into failed results."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from typing import Any

from .core.errors import TunectlError, UndoneError, problem

ERRORS = "tunectl_errors"


def failure(error: BaseException) -> dict[str, Any]:
    """Return the failed result of an error: a readable `msg`, all problems as data, whether all was undone.

    Anything that is no `TunectlError` is a defect of tunectl (TUN-9002) and carries its traceback.
    """
    if isinstance(error, TunectlError):
        return {
            "failed": True,
            "msg": sentences(error),
            ERRORS: [item.to_json() for item in error.problems],
            "state": error.state,
            "exit_code": error.exit_code,
            "undone": isinstance(error, UndoneError),
        }
    found = problem("TUN-9002", "this is a defect in tunectl", why=f"{type(error).__name__}: {error}")
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return {
        "failed": True,
        "msg": f"{found.what}: {found.why} [{found.code}]",
        ERRORS: [found.to_json()],
        "state": "",
        "exit_code": 70,
        "undone": False,
        "tunectl_traceback": text,
    }


def sentences(error: TunectlError) -> str:
    """Return every problem on its own lines: what and where, why, and what to do."""
    lines: list[str] = []
    for item in error.problems:
        where = f"{item.where}: " if item.where else ""
        lines.append(f"{where}{item.what} [{item.code}]")
        lines += [f"  why  {item.why}"] if item.why else []
        lines += [f"  fix  {item.fix}"] if item.fix else []
    return "\n".join([*lines, error.state]).strip()


def run_module(module: Any, work: Callable[[Mapping[str, Any]], dict[str, Any]]) -> None:
    """Run `work` on the module's parameters and end the module with its result, or with the failure it raised."""
    try:
        result = work(module.params)
    except Exception as error:  # noqa: BLE001 - nothing may reach the user as a traceback
        module.exit_json(**{**failure(error), **extras_of(error)})
    else:
        module.exit_json(**result)


def extras_of(error: BaseException) -> dict[str, Any]:
    """Return what an error wants to add to its failed result (`result_extras`), mostly nothing."""
    extras = getattr(error, "result_extras", None)
    return dict(extras) if isinstance(extras, Mapping) else {}
