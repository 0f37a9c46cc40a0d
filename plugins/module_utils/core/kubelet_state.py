# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The configuration that a node's kubelet makes of its files and flags, and which of them says what."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .kubelet.config_decode import path_text
from .kubelet.config_merge import ConfigFile, MergedConfig, Reason, merge_config
from .kubelet.config_types import FIELDS
from .kubelet_command import KubeletCommand, has_kubelet, kubelet_command
from .kubelet_flags import read_flags
from .snapshot import Snapshot

MAIN_FILE = "/var/lib/kubelet/config.yaml"
_MOST_KNOWN = 256
_KNOWN: dict[Hashable, tuple[tuple[ConfigFile | None, ...], MergedConfig]] = {}


@dataclass(frozen=True)
class KubeletState:
    """What a kubelet runs with when it starts on the files of the node.

    Shape: `config` is KubeletConfiguration with the defaults that tunectl knows; `sources` names for each field the
    file that set it last (a field that is not in it has its default); `config_dir` is the drop-in directory that
    the kubelet reads, "" when none; `trouble` says why nobody can tell, or why the kubelet would not start.
    """

    present: bool = False
    command: KubeletCommand = KubeletCommand()
    main_file: str = ""
    config_dir: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    trouble: str = ""


def configuration_files(snapshot: Snapshot) -> tuple[str, ...]:
    """Return the kubelet's configuration files in the order in which they count: main file, drop-ins by path.

    Source: kubelet `--config-dir`: only `.conf`, directories below it are walked in lexical order.
    """
    return _files(snapshot, kubelet_command(snapshot))


def _files(snapshot: Snapshot, command: KubeletCommand) -> tuple[str, ...]:
    main = command.flag("config") or ("" if command.source else MAIN_FILE)
    mains = (main,) if main else ()
    directory = command.flag("config-dir").rstrip("/")
    return (*mains, *(_walk(snapshot, directory) if directory else ()))


def kubelet_state(snapshot: Snapshot, documents: Mapping[str, Any]) -> KubeletState:
    """Return the effective configuration; `documents` are the decoded files by path, None for an empty one."""
    command = kubelet_command(snapshot)
    if not has_kubelet(snapshot, command):
        return KubeletState(trouble="the node has no kubelet")
    directory = command.flag("config-dir").rstrip("/")
    main, dropins = configuration_inputs(snapshot, documents, command)
    merged = _merged(main, dropins, command)
    return KubeletState(
        present=True,
        command=command,
        main_file=main_file(snapshot, command),
        config_dir=directory,
        config=merged.config,
        sources={str(path[0]): file for path, file in merged.sources.items() if len(path) == 1 and path[0] in FIELDS},
        trouble="; ".join(_trouble(reason) for reason in merged.reasons),
    )


def _merged(main: ConfigFile | None, dropins: tuple[ConfigFile, ...] | None, command: KubeletCommand) -> MergedConfig:
    """Return the configuration in force; nodes whose files are the same values share one answer.

    Gates are the business of whoever judges the configuration: an unknown one hides nothing else.
    """
    files = (main, *(dropins or ()))
    key = (command, dropins is None, tuple(file and (file.path, id(file.document), file.unreadable) for file in files))
    if key not in _KNOWN:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        # The files are kept beside the answer, so that their identities stay theirs.
        _KNOWN[key] = (files, merge_config(main, dropins, read_flags(command), tolerant=True))
    return _KNOWN[key][1]


def _trouble(reason: Reason) -> str:
    at = f"{path_text(reason.path)}: " if reason.path else ""
    return f"{reason.file}: {at}{reason.what}; the kubelet does not start on it"


def main_file(snapshot: Snapshot, command: KubeletCommand) -> str:
    """Return the main file of a node's kubelet, "" when it has none."""
    files = _files(snapshot, command)
    directory = command.flag("config-dir").rstrip("/")
    return files[0] if files and not (directory and files[0].startswith(f"{directory}/")) else ""


def configuration_inputs(
    snapshot: Snapshot, documents: Mapping[str, Any], command: KubeletCommand
) -> tuple[ConfigFile | None, tuple[ConfigFile, ...] | None]:
    """Return main file and drop-ins, each None when the kubelet reads none; `documents` are decoded files by path."""
    files, main = _files(snapshot, command), main_file(snapshot, command)
    rest = tuple(_input(snapshot, documents, path) for path in (files[1:] if main else files))
    # Nothing may say that the kubelet's usual file is used.
    assumed = not command.source and main not in snapshot.files
    first = None if not main or assumed else _input(snapshot, documents, main)
    return first, rest if command.flag("config-dir") else None


def _input(snapshot: Snapshot, documents: Mapping[str, Any], path: str) -> ConfigFile:
    if path not in snapshot.files:
        return ConfigFile(path, unreadable=f"it could not be read: {snapshot.why_missing(path)}")
    if path not in documents:
        return ConfigFile(path, unreadable="it was not decoded")
    return ConfigFile(path, documents[path])


def _walk(snapshot: Snapshot, directory: str) -> Iterator[str]:
    for name in sorted(snapshot.names(directory)):
        path = f"{directory}/{name}"
        if path in snapshot.listings:
            yield from _walk(snapshot, path)
        elif name.endswith(".conf"):
            yield path
