"""Settings and where each came from: flag > TUNECTL_* > tunectl.yaml > user file > built-in."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tunectl.core.errors import InputError, problem

PROJECT_FILE = "tunectl.yaml"
BUILT_IN = "built-in"
_MOST_FORKS = 500
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?\Z", re.ASCII)


@dataclass(frozen=True)
class Definition:
    """One setting: its name in files, its default, how its text is read, and what it is for."""

    name: str
    default: str
    read: Callable[[str], Any]
    help: str

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return f"TUNECTL_{self.name.upper()}"


@dataclass(frozen=True)
class Value:
    """A setting as it counts: the text, what it means, and who said it."""

    text: str
    value: Any
    source: str


def duration_s(text: str) -> float:
    """Return seconds from `90s`, `10m`, `1h30m` or a plain number; raises `ValueError`."""
    if text.isascii() and text.isdigit():
        return float(text)
    match = _DURATION.match(text)
    if not text or match is None:
        raise ValueError("a duration is written like 90s, 10m or 1h30m")
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return float(3600 * hours + 60 * minutes + seconds)


def _one_of(*names: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in names:
            raise ValueError(f"it is one of {', '.join(names)}")
        return text

    return read


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false", "1", "0", "yes", "no"):
        raise ValueError("it is true or false")
    return text.lower() in ("true", "1", "yes")


def _forks(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= _MOST_FORKS):
        raise ValueError(f"it is a number from 0 (what Ansible is set to) to {_MOST_FORKS}")
    return int(text)


def _path(text: str) -> Path | None:
    return Path(text).expanduser() if text else None


def _duration(text: str) -> float | None:
    return duration_s(text) if text else None


SETTINGS = (
    Definition("inventory", "", _path, "Ansible inventory; empty means inventories/hosts*, else the simulated lab"),
    Definition("platform", "kubeadm", _one_of("kubeadm", "openshift"), "how a tier reaches its nodes"),
    Definition("forks", "0", _forks, "how many nodes are worked on at once; 0 leaves it to Ansible's own setting"),
    Definition("color", "auto", _one_of("auto", "always", "never"), "colours"),
    Definition("progress", "auto", _one_of("auto", "plain", "json", "off"), "how progress is shown"),
    Definition("no_input", "false", _truth, "never ask"),
    Definition("timeout", "", _duration, "limit for a whole command; empty means none"),
)
_BY_NAME = {definition.name: definition for definition in SETTINGS}


@dataclass(frozen=True)
class Settings:
    """All settings, by name."""

    values: Mapping[str, Value]

    def __getitem__(self, name: str) -> Any:
        """Return what a setting means."""
        return self.values[name].value

    def with_flags(self, flags: Mapping[str, str | None]) -> Settings:
        """Return the settings under flags that were given; None means that one was not.

        Sad paths: `InputError` TUN-1021 for a value that the setting cannot have.
        """
        given = {
            name: _value(_BY_NAME[name], text, f"flag --{name.replace('_', '-')}")
            for name, text in flags.items()
            if text is not None
        }
        return Settings({**self.values, **given})


def load_settings(folder: Path, user_file: Path, environ: Mapping[str, str]) -> Settings:
    """Return the settings of a folder without flags. Relative paths of a file count from the file.

    Sad paths: `InputError` TUN-1020 for a file that cannot be read or has an unknown key, TUN-1021 for a wrong value.
    """
    values = {one.name: _value(one, one.default, BUILT_IN) for one in SETTINGS}
    for path in (user_file, folder / PROJECT_FILE):
        for name, text in _read_file(path).items():
            values[name] = _value(_BY_NAME[name], text, str(path))
    for one in SETTINGS:
        if one.variable in environ:
            values[one.name] = _value(one, environ[one.variable], one.variable)
    return Settings(values)


def _value(definition: Definition, text: str, source: str) -> Value:
    try:
        return Value(text, definition.read(text), source)
    except ValueError as error:
        raise InputError(
            (
                problem(
                    "TUN-1021",
                    f"{text!r} is no value for {definition.name}",
                    where=source,
                    why=str(error),
                    fix=f"correct it there (default: {definition.default!r}); tunectl doctor --settings shows all",
                ),
            )
        ) from error


def _read_file(path: Path) -> dict[str, str]:
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise _bad_file(path, getattr(error, "strerror", None) or str(error), "make it readable, or move it") from error
    data = _parse(path, text)
    for key in data:
        if key not in _BY_NAME:
            near = difflib.get_close_matches(str(key), _BY_NAME, n=1)
            fix = f"did you mean {near[0]!r}?" if near else f"known settings: {', '.join(_BY_NAME)}"
            raise _bad_file(path, f"there is no setting {key!r}", fix)
    return {key: _text(path, key, value) for key, value in data.items()}


def _parse(path: Path, text: str) -> Mapping[str, Any]:
    import yaml  # noqa: PLC0415  most folders have no such file

    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise _bad_file(path, f"it is not YAML: {' '.join(str(error).split())}", "correct the file") from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise _bad_file(path, "it is not a map of settings", "write one `name: value` a line")
    return data


def _text(path: Path, key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return _BY_NAME[key].default
    if isinstance(value, (dict, list)):
        raise _bad_file(path, f"{key} is a collection", "write one value")
    if _BY_NAME[key].read is _path and not Path(str(value)).expanduser().is_absolute():
        return str(path.parent / str(value))
    return str(value)


def _bad_file(path: Path, why: str, fix: str) -> InputError:
    return InputError((problem("TUN-1020", "the settings file cannot be used", where=str(path), why=why, fix=fix),))
