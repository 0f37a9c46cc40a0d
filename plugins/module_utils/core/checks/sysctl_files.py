# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Will a file that is read later set a kernel parameter differently at the next boot.

Source: sysctl.d(5): files are read in the order of their names over all directories; of one name, the first
directory wins; the last assignment counts; /etc/sysctl.conf is read last where systemd links it as 99-sysctl.conf.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..desired import Area, DesiredState, Setting
from ..findings import Evidence, Finding, Severity
from ..kernel_value import same_value
from ..observed import ObservedState
from ..sysctl import canonical_name, canonical_value, sysctl_path
from .statement import Statement, finding, verdict_of

OWN_FILE = "/etc/sysctl.d/99-tunectl.conf"
_DIRECTORIES = ("/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d")
_LAST = "/etc/sysctl.conf"
_MOST_SHOWN = 6


@dataclass(frozen=True)
class Assignment:
    """One line of a sysctl file. Scale: `line` from 1."""

    file: str
    line: int
    name: str
    value: str


def check_overrides(desired: DesiredState, observed: ObservedState) -> Iterator[Finding]:
    """Yield whether another file has the last word on a parameter of the tier; nothing while ours is not there."""
    if OWN_FILE not in observed.snapshot.files:
        return
    settings = {sysctl_path(setting.name): setting for setting in desired.of(Area.SYSCTL)}
    lost = [(settings[path], line) for path, line in _last_words(observed).items() if path in settings]
    lost = [(setting, line) for setting, line in lost if _is_other(setting, line)]
    shown = lost[:_MOST_SHOWN]
    places = "; ".join(f"{line.file}:{line.line} sets {setting.name} to {line.value}" for setting, line in shown)
    yield finding(
        "sysctl.overridden",
        verdict_of(not lost),
        observed,
        Statement(
            f"{places}; it is read after {OWN_FILE}" if lost else "no other file has the last word on a parameter",
            "; ".join(f"{setting.name}={setting.value}" for setting, _line in shown),
            places,
            remedy="; ".join(f"remove line {line.line} of {line.file}" for _setting, line in shown),
            evidence=tuple(Evidence(line.file, f"{line.line}: {line.name} = {line.value}") for _setting, line in shown),
            asked_in=shown[0][0].asked_in if shown else Statement("").asked_in,
            severity=Severity.WARNING,
        ),
    )


def _is_other(setting: Setting, line: Assignment) -> bool:
    return line.file != OWN_FILE and not same_value(str(setting.value), line.value)


def _last_words(observed: ObservedState) -> dict[str, Assignment]:
    """Return the last assignment of each parameter, by its path below /proc/sys."""
    last: dict[str, Assignment] = {}
    for path in _in_order(observed):
        for assignment in assignments(path, observed.snapshot.files[path]):
            last[sysctl_path(canonical_name(assignment.name))] = assignment
    return last


def _in_order(observed: ObservedState) -> list[str]:
    by_name: dict[str, str] = {}
    for directory in reversed(_DIRECTORIES):
        for path in observed.snapshot.files:
            head, _slash, name = path.rpartition("/")
            if head == directory and name.endswith(".conf"):
                by_name[name] = path
    paths = [by_name[name] for name in sorted(by_name)]
    return [*paths, _LAST] if _LAST in observed.snapshot.files and "99-sysctl.conf" not in by_name else paths


def assignments(path: str, text: str) -> Iterator[Assignment]:
    """Yield the assignments of a sysctl file in order; comments, patterns and lines without `=` are passed over."""
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        name, equals, value = stripped.lstrip("-").partition("=")
        if stripped and stripped[0] not in "#;" and equals and "*" not in name:
            yield Assignment(path, number, name.strip(), canonical_value(value))
