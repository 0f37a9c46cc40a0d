"""`tunectl version`."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version

from tunectl import __version__
from tunectl.cli.options import command
from tunectl.cli.session import Session
from tunectl.view.envelope import Result


@command("version", kind="Version")
def version(session: Session) -> int:
    """Print the version of tunectl and of what it runs on."""
    summary = {"tunectl": __version__, "python": platform.python_version(), "ansible-core": _version("ansible-core")}
    lines = [f"tunectl {__version__}", f"  Python {summary['python']}, ansible-core {summary['ansible-core']}"]
    text = "\n".join(lines[:1] if session.quiet else lines) + "\n"
    return session.emit(Result("Version", summary=summary), {"table": lambda _: text})


def _version(package: str) -> str:
    try:
        return installed_version(package)
    except PackageNotFoundError:
        return "not installed"
