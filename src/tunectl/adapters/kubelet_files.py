"""Files of a kubelet on this computer: configurations, drop-in directories, checkpoints."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from tunectl.app.validate import NamedText
from tunectl.core.errors import InputError, problem
from tunectl.core.kubelet.config_start import Checkpoints

_LARGEST = 4 << 20
_STDIN = "-"


def read_config_file(path: Path) -> NamedText:
    """Return a configuration file, `-` for standard input; raises `InputError` TUN-1810 when it cannot be read."""
    if str(path) == _STDIN:
        return NamedText("<stdin>", _decoded("<stdin>", sys.stdin.buffer.read(_LARGEST + 1)))
    return NamedText(str(path), _text(path))


def read_dropins(directory: Path) -> tuple[NamedText, ...]:
    """Return the drop-ins of a directory in the order in which they count; raises `InputError` TUN-1810.

    Source: kubelet `--config-dir`: only `.conf`, directories below are walked in lexical order.
    """
    if not directory.is_dir():
        raise _unreadable(directory, "it is no directory", "name the directory that --config-dir names")
    return tuple(NamedText(str(path), _text(path)) for path in _walk(directory))


def read_checkpoints(directory: Path) -> Checkpoints:
    """Return cpu_manager_state and memory_manager_state of a directory; raises `InputError` TUN-1810."""
    if not directory.is_dir():
        raise _unreadable(directory, "it is no directory", "name the kubelet's root directory, /var/lib/kubelet")
    paths = {name: directory / f"{name}_manager_state" for name in ("cpu", "memory")}
    texts = {name: _text(path) for name, path in paths.items() if path.exists()}
    if not texts:
        raise _unreadable(directory, "it has no checkpoint", "name the kubelet's root directory, /var/lib/kubelet")
    return Checkpoints(texts.get("cpu"), texts.get("memory"))


def _walk(directory: Path) -> Iterator[Path]:
    for path in sorted(directory.iterdir(), key=lambda one: one.name):
        if path.is_dir():
            yield from _walk(path)
        elif path.suffix == ".conf":
            yield path


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return _decoded(str(path), file.read(_LARGEST + 1))
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error), "name a file that can be read") from error


def _decoded(name: str, data: bytes) -> str:
    if len(data) > _LARGEST:
        raise _unreadable(name, f"it is larger than {_LARGEST >> 20} MiB", "name a file of the kubelet")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unreadable(name, f"byte {error.start} is not UTF-8", "write it as UTF-8 text") from error


def _unreadable(path: Path | str, why: str, fix: str) -> InputError:
    return InputError((problem("TUN-1810", "a file of the kubelet cannot be read", where=str(path), why=why, fix=fix),))
