# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The container runtime's side of the cgroup driver: containerd's configuration by its release.

Source: containerd docs/cri/config.md; configuration version 2 is of 1.x, version 3 of 2.x, and each has its own table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Optional

from ..errors import InputError, problem
from .version import Version

MARK = "# Written by tunectl bootstrap."
_TABLES = {2: "io.containerd.grpc.v1.cri", 3: "io.containerd.cri.v1.runtime"}
_FORMATS = {1: 2, 2: 3}
_VERSION_LINE = re.compile(r"^[ \t]*version[ \t]*=.*\n?", re.MULTILINE)
_DISABLED = re.compile(r"^([ \t]*disabled_plugins[ \t]*=[ \t]*)\[([^\]]*)\]", re.MULTILINE)
_QUOTED = re.compile(r"[\"']([^\"']+)[\"']")
_DRIVER_OFF = re.compile(r"^([ \t]*SystemdCgroup[ \t]*=[ \t]*)false\b", re.MULTILINE)
Parse = Callable[[str], Optional[Mapping[str, Any]]]
_CRI_NAMES = frozenset({"cri", "io.containerd.grpc.v1.cri", "io.containerd.cri.v1.runtime"})


@dataclass(frozen=True)
class RuntimePlan:
    """What becomes of a configuration file. Shape: `text` is None where it stays; `refusal` says why it may not."""

    text: str | None
    why: str
    refusal: str = ""


def config_format(version: Version | None) -> int:
    """Return the version of the configuration file for a release of containerd.

    Sad paths: `InputError` TUN-1924 for a release whose configuration nobody has looked at.
    """
    if version is None or version.major not in _FORMATS:
        raise InputError(
            (
                problem(
                    "TUN-1924",
                    "the configuration of this containerd is not known",
                    where="containerd",
                    why=f"wanted release 1.x or 2.x, found {version or 'no version'}",
                    fix="install containerd 1.7 or 2.x, or configure the runtime yourself and skip the phase runtime",
                ),
            )
        )
    return _FORMATS[version.major]


def render_containerd(version: Version | None) -> str:
    """Return the text of config.toml: what a kubelet with the systemd cgroup driver needs, the rest by default."""
    number = config_format(version)
    head = f"{MARK} containerd takes defaults for everything that is not here.\nversion = {number}\n"
    return head + _driver_tables(number)


def _driver_tables(number: int) -> str:
    runc = f'[plugins."{_TABLES[number]}".containerd.runtimes.runc'
    return f"""
{runc}]
  runtime_type = "io.containerd.runc.v2"

{runc}.options]
  SystemdCgroup = true
"""


def config_mistakes(document: Mapping[str, Any], version: Version | None) -> list[str]:
    """Return what keeps a configuration, or the daemon's dump of it, from what a kubelet needs; empty when right."""
    number = config_format(version)
    found = document.get("version", 1)
    mistakes = []
    disabled = sorted(_CRI_NAMES & {str(one) for one in document.get("disabled_plugins") or ()})
    if disabled:
        mistakes.append(f"disabled_plugins names {', '.join(disabled)}, so that there is no CRI")
    if found not in _TABLES:
        mistakes.append(f"version is {found}, and tables of that version are not read by the CRI plugin")
        return mistakes
    if found > number:
        mistakes.append(f"version is {found}, which this containerd does not read; it knows {number}")
    driver = _at(document, "plugins", _TABLES[found], "containerd", "runtimes", "runc", "options", "SystemdCgroup")
    if driver is not True:
        wrong = next((name for name in _TABLES.values() if name != _TABLES[found] and _has_driver(document, name)), "")
        beside = f"; it is set in the table {wrong}, which version {found} ignores" if wrong else ""
        mistakes.append(f"SystemdCgroup is not true in the table {_TABLES[found]}{beside}")
    return mistakes


def plan_runtime(text: str | None, parse: Parse, version: Version | None, *, overwrite: bool = False) -> RuntimePlan:
    """Return what becomes of a machine's config.toml.

    Shape: `parse` reads TOML and gives None for what is none. A file that is right stays, whoever wrote it; one of ours
    is rendered again; another keeps everything that it says and gets what it lacks, and the result is read again
    before anybody writes it. What cannot be completed so is refused, unless it may be overwritten.
    """
    wanted = render_containerd(version)
    if text is None or not text.strip():
        return RuntimePlan(wanted, "there is none")
    if text.startswith(MARK):
        return RuntimePlan(None, "as wanted") if text == wanted else RuntimePlan(wanted, "ours, of another release")
    document = parse(text)
    mistakes = ["it is not TOML"] if document is None else config_mistakes(document, version)
    if not mistakes:
        return RuntimePlan(None, "it has the systemd cgroup driver")
    if document is not None:
        for candidate in _completed(text, document, version):
            read = parse(candidate)
            if read is not None and not config_mistakes(read, version):
                return RuntimePlan(candidate, "; ".join(mistakes))
    if overwrite:
        return RuntimePlan(wanted, "replaced as asked for")
    return RuntimePlan(None, "somebody else's", "; ".join(mistakes))


def _completed(text: str, document: Mapping[str, Any], version: Version | None) -> Iterator[str]:
    """Yield the text with its mistakes corrected in the ways that may do; each is to be read again."""
    number = document.get("version", 1)
    if number not in _TABLES:
        if set(document) - {"version", "disabled_plugins"}:
            return  # its other tables are of a version whose names nobody would translate
        number = config_format(version)
        text = f"version = {number}\n" + _VERSION_LINE.sub("", text)
    enabled = _DISABLED.sub(_without_cri, text)
    yield enabled
    yield _DRIVER_OFF.sub(r"\1true", enabled)
    yield f"{enabled.rstrip()}\n\n{MARK}{_driver_tables(number)}"


def _without_cri(match: re.Match[str]) -> str:
    names = [name for name in _QUOTED.findall(match.group(2)) if name not in _CRI_NAMES]
    return match.group(1) + "[" + ", ".join(f'"{name}"' for name in names) + "]"


def _has_driver(document: Mapping[str, Any], table: str) -> bool:
    return _at(document, "plugins", table, "containerd", "runtimes", "runc", "options", "SystemdCgroup") is not None


def _at(document: Any, *keys: str) -> Any:
    for key in keys:
        if not isinstance(document, Mapping):
            return None
        document = document.get(key)
    return document
