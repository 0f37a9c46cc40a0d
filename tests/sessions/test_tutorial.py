"""The tutorial is typed as it stands: every console block runs, and says what the page says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"
_PROGRAM = [sys.executable, "-c", "from tunectl.cli.main import main; main()"]
_BLOCK = re.compile(r"^```(console|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LEFT_OUT = "…"


def _commands(block: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block with the output that the page shows."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def _pattern(shown: str) -> re.Pattern[str]:
    """Return what output must look like; a line of dots stands for any lines, dots inside one for any characters."""
    text = ""
    for line in shown.rstrip("\n").split("\n"):
        text += r"(?:.*\n)*?" if line == _LEFT_OUT else ".*?".join(map(re.escape, line.split(_LEFT_OUT))) + r".*\n"
    return re.compile(text)


def _run(command: str, folder: Path) -> tuple[int, str]:
    words = shlex.split(command)
    assert words[0] == "tunectl"
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("TUNECTL_", "ANSIBLE_"))}
    done = subprocess.run(
        [*_PROGRAM, *words[1:]],
        cwd=folder,
        env={**environment, "XDG_CONFIG_HOME": str(folder / "no-settings"), "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.ansible
def test_the_tutorial_works_as_written(tmp_path: Path) -> None:
    count = 0
    for kind, block in _BLOCK.findall(_PAGE.read_text(encoding="utf-8")):
        if kind == "yaml":
            (tmp_path / "pod.yaml").write_text(block, encoding="utf-8")
            continue
        for command, shown in _commands(block):
            code, output = _run(command, tmp_path)
            assert code == 0, f"{command}\n{output}"
            assert _pattern(shown).search(output), f"{command}\nshown:\n{shown}\nprinted:\n{output}"
            count += 1
    assert count > 10
