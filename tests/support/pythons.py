"""The oldest Python that nodes may have, where this machine has one."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

_VERSIONS = ("3.9", "3.10")


def oldest_python() -> str:
    """Return the path of a Python 3.9 or else 3.10, from PATH or pyenv; skips the test where there is neither.

    Never a failure, even where all parts are required: no package of the supported Debian brings one. What nodes run is
    held to 3.9 by `make lint` everywhere.
    """
    for place in _places():
        # A version manager's stand-in on PATH is there, and refuses.
        done = subprocess.run(
            [place, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            return done.stdout.strip()
    pytest.skip(f"no Python {' or '.join(_VERSIONS)} on PATH or below ~/.pyenv to run what nodes run")


def _places() -> Iterator[str]:
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for version in _VERSIONS:
        if found := shutil.which(f"python{version}"):
            yield found
        yield from map(str, sorted(pyenv.glob(f"versions/{version}.*/bin/python")))
