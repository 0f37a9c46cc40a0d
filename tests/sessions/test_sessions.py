"""Golden terminal sessions: every file of this directory that ends in .session is typed, and must read as written.

A line that begins with `$ ` is a command; what follows is its output, both streams, and its exit code when it is
not 0. Times, ids and digests differ from run to run and are written as <time>, <id>, <sha> and <hardware>.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

_HERE = Path(__file__).parent
_REPOSITORY = _HERE.parents[1]
_SESSIONS = sorted(_HERE.glob("*.session"))
_PROGRAM = [sys.executable, "-c", "from tunectl.cli.main import main; main()"]
_VOLATILE = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:?\d\d:?\d\dZ(?:-\d+)?"), "<time>"),
    (re.compile(r"\b\d+(?:\.\d)? s\b"), "<time>"),
    (re.compile(r"\b\d+m\d\ds\b|(?<=, )\d+s\b"), "<time>"),
    (re.compile(r"(?<=duration_s=)[\d.]+|(?<=\"duration_s\": )[\d.]+"), "<time>"),
    (re.compile(r"/\w+/tunectl-[a-z]+-\w+"), "<scratch>"),
    (re.compile(r"(?<=sha256 )[0-9a-f]{12}"), "<sha>"),
    (re.compile(r"(?<=GiB  )[0-9a-f]{12}"), "<hardware>"),
    (re.compile(r"<time> +simulated"), "<time>  simulated"),
    (
        re.compile(r"(?<=plan )[0-9a-f]{8}\b|(?<=plans/)[0-9a-f]{8}|(?<=apply )[0-9a-f]{8}\b|(?<=Plan `)[0-9a-f]{8}"),
        "<id>",
    ),
)
_WIDEST = 80


def _commands(session: Path) -> Iterator[str]:
    for line in session.read_text(encoding="utf-8").splitlines():
        if line.startswith("$ "):
            yield line[2:]


def _type(command: str, folder: Path) -> str:
    words = shlex.split(command)
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("TUNECTL_", "ANSIBLE_", "LC_", "LANG"))
    }
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    assert words[0] == "tunectl", f"sessions type tunectl only, not {command!r}"
    environment.setdefault("XDG_CONFIG_HOME", str(folder / "no-settings"))
    done = subprocess.run(
        [*_PROGRAM, *words[1:]],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    text = done.stdout.decode("utf-8").replace(str(folder), "<folder>").replace(str(_REPOSITORY), "<tunectl>")
    for pattern, name in _VOLATILE:
        text = pattern.sub(name, text)
    return text + (f"[exit {done.returncode}]\n" if done.returncode else "")


@pytest.mark.ansible
@pytest.mark.parametrize("session", _SESSIONS, ids=lambda path: path.stem)
def test_session(session: Path, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    folder = tmp_path / "work"
    shutil.copytree(_HERE / "files", folder)
    typed = "\n".join(f"$ {command}\n{_type(command, folder)}" for command in _commands(session))
    if pytestconfig.getoption("--update-golden"):
        session.write_text(typed, encoding="utf-8")
    assert typed == session.read_text(encoding="utf-8")


@pytest.mark.parametrize("session", _SESSIONS, ids=lambda path: path.stem)
def test_nothing_is_wider_than_a_terminal(session: Path) -> None:
    lines = session.read_text(encoding="utf-8").splitlines()
    # Commands, files as they are, markdown and paths of the machine are as long as they are.
    wide = [line for line in lines if len(line) > _WIDEST and line[0] not in "$+-|" and "<folder>" not in line]
    assert wide == []


def test_there_are_sessions() -> None:
    assert len(_SESSIONS) >= 4
