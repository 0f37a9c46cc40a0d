"""Pages whose blocks are executed: files are written, commands are typed, and their output must read as shown.

A fenced block `yaml pods.yaml` is written to that file. In a block `console`, a line that begins with `$ ` is a
command for bash; a backslash at its end continues it. What follows is its output, both streams, and `[exit N]` where
its exit code is not 0. `…` stands for any characters, alone on a line for any lines. What differs from run to run is
not compared: times, digests, ids.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

LEFT_OUT = "…"
_FENCE = re.compile(r"^```(.*)$")
_EXIT = re.compile(r"\[exit (\d+)\]$")
_VOLATILE = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:?\d\d:?\d\dZ(?:-\d+)?"), "<time>"),
    (re.compile(r"\b\d+(?:\.\d)? s\b"), "<time>"),
    (re.compile(r"\b[0-9a-f]{8,}\b"), "<id>"),
    (re.compile(r"[ \t]+$", re.MULTILINE), ""),
)


@dataclass(frozen=True)
class Step:
    """One command of a page with what it shall print, empty where nothing is shown. `line` is where it stands."""

    command: str
    output: str
    line: int
    exit_code: int = 0

    def matches(self, code: int, printed: str) -> bool:
        """Return whether a run is as shown; a command that shows nothing may print what it likes."""
        if code != self.exit_code:
            return False
        return not self.output or _pattern(self.output).fullmatch(_settled(printed)) is not None


@dataclass(frozen=True)
class FileBlock:
    """A file that a page tells to write."""

    name: str
    text: str


@dataclass
class Folder:
    """Where the commands of a page are typed: a folder with a `tunectl` of this checkout on the search path."""

    path: Path

    def type(self, command: str) -> tuple[int, str]:
        """Return exit code and output of a command."""
        shims = self.path.parent / f"{self.path.name}-bin"
        shims.mkdir(exist_ok=True)
        shim = shims / "tunectl"
        program = shlex.join([sys.executable, "-c", "from tunectl.cli.main import main; main()"])
        shim.write_text(f'#!/bin/sh\nexec {program} "$@"\n')
        shim.chmod(0o755)
        kept = {name: text for name, text in os.environ.items() if not name.startswith(("TUNECTL_", "ANSIBLE_", "LC_"))}
        search = os.pathsep.join([str(shims), str(Path(sys.executable).parent), kept.get("PATH", os.defpath)])
        environment = {**kept, "PATH": search, "LC_ALL": "C.UTF-8", "XDG_CONFIG_HOME": str(shims / "no-settings")}
        collections = Path(__file__).resolve().parents[2] / ".collections"
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.path,
            env={**environment, "ANSIBLE_COLLECTIONS_PATH": str(collections), "ANSIBLE_LOCALHOST_WARNING": "False"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout


def steps_of(page: str, kinds: tuple[str, ...] = ("console",)) -> Iterator[Step | FileBlock]:
    """Yield what a page tells to do, in order."""
    lines = page.splitlines()
    at = 0
    while at < len(lines):
        opened = _FENCE.match(lines[at])
        at += 1
        if not opened:
            continue
        end = next(index for index in range(at, len(lines)) if lines[index].startswith("```"))
        kind, _, name = opened.group(1).partition(" ")
        if kind in kinds:
            yield from _commands(lines[at:end], at + 1)
        elif name:
            yield FileBlock(name, "\n".join(lines[at:end]) + "\n")
        at = end + 1


def _commands(lines: list[str], first: int) -> Iterator[Step]:
    step: Step | None = None
    for number, line in enumerate(lines, start=first):
        if step is not None and step.command.endswith("\\") and not step.output:
            step = replace(step, command=f"{step.command}\n{line}")
        elif line.startswith("$ "):
            if step is not None:
                yield _closed(step)
            step = Step(line[2:], "", number)
        elif step is not None:
            step = replace(step, output=f"{step.output}{line}\n")
    if step is not None:
        yield _closed(step)


def _closed(step: Step) -> Step:
    shown = step.output.rstrip("\n").split("\n")
    code = _EXIT.match(shown[-1])
    return replace(step, output="\n".join(shown[:-1]), exit_code=int(code.group(1))) if code else step


def _pattern(shown: str) -> re.Pattern[str]:
    text = ""
    for line in _settled(shown).strip("\n").split("\n"):
        text += r"(?:.*\n)*?" if line == LEFT_OUT else ".*?".join(map(re.escape, line.split(LEFT_OUT))) + r"\n"
    return re.compile(r"\n*" + text + r"\n*")


def _settled(text: str) -> str:
    for pattern, name in _VOLATILE:
        text = pattern.sub(name, text)
    return text.strip("\n") + "\n"


def run_page(page: Path, folder: Path, kinds: tuple[str, ...] = ("console",)) -> list[Step]:
    """Do what a page says in a folder and return the commands; fails with page and line where one is not as shown."""
    done = []
    for step in steps_of(page.read_text(encoding="utf-8"), kinds):
        if isinstance(step, FileBlock):
            (folder / step.name).parent.mkdir(parents=True, exist_ok=True)
            (folder / step.name).write_text(step.text, encoding="utf-8")
            continue
        code, printed = Folder(folder).type(step.command)
        where = f"{page}:{step.line}: {step.command}"
        assert step.matches(code, printed), (
            f"{where}\nshown [exit {step.exit_code}]:\n{step.output}\nprinted [exit {code}]:\n{printed}"
        )
        done.append(step)
    return done


def updated(page: Path, folder: Path) -> str:
    """Return the page with the output of each command as it is now; one that leaves something out is kept."""
    lines = page.read_text(encoding="utf-8").splitlines()
    result = list(lines)
    shift = 0
    for step in steps_of(page.read_text(encoding="utf-8")):
        if isinstance(step, FileBlock):
            (folder / step.name).parent.mkdir(parents=True, exist_ok=True)
            (folder / step.name).write_text(step.text, encoding="utf-8")
            continue
        code, printed = Folder(folder).type(step.command)
        start = step.line - 1 + step.command.count("\n") + 1
        end = next(index for index in range(start, len(lines)) if lines[index].startswith(("$ ", "```")))
        if LEFT_OUT in "".join(lines[start:end]) or start == end:
            continue
        new = [line.rstrip() for line in printed.rstrip("\n").split("\n")] + ([f"[exit {code}]"] if code else [])
        result[start + shift : end + shift] = new
        shift += len(new) - (end - start)
    return "\n".join(result) + "\n"
