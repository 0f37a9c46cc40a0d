# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How a node's kubelet is started: from the running process, else from its systemd unit."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .snapshot import Snapshot

_UNIT = "kubelet.service"
# systemd reads the unit from the first of these that has it, drop-ins from all, the first directory winning by name.
_UNIT_DIRECTORIES = ("/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system")
_LISTS = ("Environment", "EnvironmentFile", "ExecStart")


@dataclass(frozen=True)
class KubeletCommand:
    """The kubelet's command line. Shape: `words` without the program; `source` is the file that tells them, or ""."""

    words: tuple[str, ...] = ()
    source: str = ""

    def flags(self) -> Iterator[tuple[str, str]]:
        """Yield (name, value) in order; a flag without value has ""."""
        words = list(self.words)
        while words:
            name, equals, value = words.pop(0).lstrip("-").partition("=")
            if not equals and words and not words[0].startswith("-"):
                value = words.pop(0)
            yield name, value

    def flag(self, name: str) -> str:
        """Return the value of the last flag of that name, "" when it is not given."""
        return next((value for one, value in reversed(list(self.flags())) if one == name), "")


def kubelet_command(snapshot: Snapshot) -> KubeletCommand:
    """Return how the kubelet runs, or how systemd would start it; empty when nothing tells.

    Source: systemd.service(5) and systemd.exec(5): an empty assignment resets a list, files of EnvironmentFile=
    come after Environment=, an unbraced variable is split into words.
    """
    for path in process_files(snapshot).get("kubelet", ()):
        line = path[: -len("comm")] + "cmdline"
        words = [word for word in snapshot.files.get(line, "").split("\0") if word]
        if words:
            return KubeletCommand(tuple(words[1:]), line)
    return _from_unit(snapshot)


def process_files(snapshot: Snapshot) -> dict[str, tuple[str, ...]]:
    """Return the processes of the snapshot: the name of each program with the `comm` files that say it."""
    found: dict[str, tuple[str, ...]] = {}
    for path in snapshot.proc_files:
        if path.endswith("/comm"):
            name = snapshot.files[path].strip()
            found[name] = (*found.get(name, ()), path)
    return found


def has_kubelet(snapshot: Snapshot, command: KubeletCommand) -> bool:
    """Return whether the node has a kubelet: running, as a unit, or configured."""
    paths = (f"{directory}/{_UNIT}" for directory in _UNIT_DIRECTORIES)
    known = any(path in snapshot.files for path in (*paths, "/var/lib/kubelet/config.yaml"))
    return known or bool(snapshot.facts.get("kubelet_binary")) or bool(command.source)


@dataclass(frozen=True)
class KubeletUnit:
    """How systemd starts the kubelet: the command as written, the variables that it may use, and the file of it."""

    command: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    source: str = ""


def kubelet_unit(snapshot: Snapshot) -> KubeletUnit:
    """Return the kubelet's unit with its drop-ins; empty when there is none."""
    values: dict[str, list[str]] = {name: [] for name in _LISTS}
    source = ""
    for path in _unit_files(snapshot):
        for name, value in _assignments(snapshot.files[path]):
            if name in values:
                values[name] = [*values[name], value] if value else []
                source = path if name == "ExecStart" and value else source
    if not values["ExecStart"]:
        return KubeletUnit()
    environment = _environment(snapshot, values["Environment"], values["EnvironmentFile"])
    return KubeletUnit(values["ExecStart"][-1], environment, source)


def _from_unit(snapshot: Snapshot) -> KubeletCommand:
    unit = kubelet_unit(snapshot)
    words: list[str] = []
    for word in unit.command.split():
        words += _split(unit.environment.get(word.strip("${}"), "")) if word.startswith("$") else [word]
    return KubeletCommand(tuple(words[1:]), unit.source)


def _unit_files(snapshot: Snapshot) -> Iterator[str]:
    paths = [f"{directory}/{_UNIT}" for directory in _UNIT_DIRECTORIES]
    yield from [path for path in paths if path in snapshot.files][:1]
    dropins: dict[str, str] = {}
    for directory in reversed(_UNIT_DIRECTORIES):
        for name in snapshot.names(f"{directory}/{_UNIT}.d"):
            path = f"{directory}/{_UNIT}.d/{name}"
            if name.endswith(".conf") and path in snapshot.files:
                dropins[name] = path
    for name in sorted(dropins):
        yield dropins[name]


def _assignments(text: str) -> Iterator[tuple[str, str]]:
    for line in text.replace("\\\n", " ").splitlines():
        name, equals, value = line.strip().partition("=")
        if equals and not name.startswith(("#", ";")):
            yield name.strip(), value.strip()


def _environment(snapshot: Snapshot, inline: Sequence[str], files: Sequence[str]) -> dict[str, str]:
    environment: dict[str, str] = {}
    for line in inline:
        for word in _split(line):
            name, _equals, value = word.partition("=")
            environment[name] = value
    for path in files:
        for name, value in _assignments(snapshot.files.get(path.lstrip("-"), "")):
            environment[name] = " ".join(_split(value)) if value[:1] in ('"', "'") else value
    return environment


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        # An open quote: systemd takes the rest as it is.
        return text.split()
