# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Will the kernel parameters of a tier be the same after the next boot, or after somebody reloads them.

Source: sysctl.d(5) for the boot; sysctl(8) of procps for `sysctl --system`, which reads /etc/sysctl.conf last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..desired import Area, DesiredState, Setting
from ..findings import Evidence, Finding, Origin, Severity, Verdict
from ..kernel_value import same_value
from ..observed import ObservedState, actual_of
from ..sysctl import sysctl_path
from ..sysctl_boot import Assignment, BootSysctls, assignments, boot_sysctls, merged, unread_files
from .statement import Statement, finding, verdict_of

OWN_FILE = "/etc/sysctl.d/99-tunectl.conf"
_OLD_FILE = "/etc/sysctl.conf"
_MOST_SHOWN = 6


@dataclass(frozen=True)
class _Loss:
    """A parameter that will not stay: what is said about it, and the line that is to blame, if one is."""

    setting: Setting
    text: str
    line: Assignment | None = None

    @property
    def remedy(self) -> str:
        return f"remove line {self.line.line} of {self.line.file}" if self.line else ""

    @property
    def evidence(self) -> Evidence:
        if self.line is None:
            return Evidence(OWN_FILE, f"no line sets {self.setting.name}")
        value = "taken out" if self.line.value is None else self.line.value
        return Evidence(self.line.file, f"{self.line.line}: {self.setting.name} = {value}")


def check_overrides(desired: DesiredState, observed: ObservedState) -> Iterator[Finding]:
    """Yield whether another file has the last word on a parameter of the tier; nothing while ours is not there.

    Shape: `sysctl.overridden` fails for a line of another file that wins at boot, by a value or by taking the name out;
    it is unknown when a file could not be read. `sysctl.reload` is about /etc/sysctl.conf where the boot does not read
    it: `sysctl --system` does.
    """
    if OWN_FILE not in observed.snapshot.files:
        return
    boot = boot_sysctls(observed.snapshot)
    lost = list(_overridden(desired, boot))
    unread = unread_files(observed.snapshot)
    if unread and not lost:
        places = "; ".join(f"{path}: {why}" for path, why in unread.items())
        said = Statement(f"what the next boot sets is not known: {places}", severity=Severity.WARNING)
        yield finding("sysctl.overridden", Verdict.UNKNOWN, observed, said)
    else:
        yield _judged("sysctl.overridden", observed, lost, "no other file has the last word on a parameter")
    yield from _reload(desired, observed, boot)


def check_persistence(desired: DesiredState, observed: ObservedState) -> Iterator[Finding]:
    """Yield whether running values and those of the next boot are the same; nothing while our file is not there.

    Shape: `sysctl.persisted` fails for a running value of the tier that no file keeps, and for a value that our file
    keeps and the running kernel does not have; what another file overrides is `sysctl.overridden`.
    """
    settings = list(desired.of(Area.SYSCTL))
    if OWN_FILE not in observed.snapshot.files or not settings:
        return
    unread = unread_files(observed.snapshot)
    lost = list(_unkept(settings, observed, boot_sysctls(observed.snapshot)))
    if unread and not lost:
        said = Statement("not all sysctl files could be read", actual=", ".join(unread), severity=Severity.WARNING)
        yield finding("sysctl.persisted", Verdict.UNKNOWN, observed, said)
        return
    yield _judged("sysctl.persisted", observed, lost, "the running parameters are those of the next boot")


def _overridden(desired: DesiredState, boot: BootSysctls) -> Iterator[_Loss]:
    for setting in desired.of(Area.SYSCTL):
        line = boot.of(sysctl_path(setting.name))
        if line is None or line.file == OWN_FILE:
            continue
        if line.value is None:
            yield _Loss(setting, f"{line.place} takes {setting.name} out; it is read after {OWN_FILE}", line)
        elif not same_value(str(setting.value), line.value):
            by = " by a pattern" if line.is_pattern else ""
            yield _Loss(setting, f"{line.place} sets {setting.name} to {line.value}{by}; {_why_it_wins(line)}", line)


def _why_it_wins(line: Assignment) -> str:
    if line.is_pattern:
        return f"{OWN_FILE} does not name it"
    is_later = line.file.rpartition("/")[2] > OWN_FILE.rpartition("/")[2]
    return f"it is read after {OWN_FILE}" if is_later else f"{OWN_FILE} does not set it"


def _reload(desired: DesiredState, observed: ObservedState, boot: BootSysctls) -> Iterator[Finding]:
    text = observed.snapshot.files.get(_OLD_FILE)
    if text is None:
        return
    old = merged(assignments(_OLD_FILE, text))
    lost: list[_Loss] = []
    for setting in desired.of(Area.SYSCTL):
        path = sysctl_path(setting.name)
        # Only a line that names the parameter counts here: what procps makes of a pattern differs by version.
        line = old.lines.get(path)
        if line is None or line.value is None or same_value(str(setting.value), line.value):
            continue
        winner = boot.of(path)
        if winner is not None and winner.value is not None and same_value(winner.value, line.value):
            continue
        said = f"{line.place} sets {setting.name} to {line.value}: the boot keeps ours, `sysctl --system` takes this"
        lost.append(_Loss(setting, said, line))
    yield _judged("sysctl.reload", observed, lost, f"{_OLD_FILE} sets no parameter of the tier differently")


def _unkept(settings: list[Setting], observed: ObservedState, boot: BootSysctls) -> Iterator[_Loss]:
    for setting in settings:
        actual = actual_of(observed, setting)
        if actual.unknown:
            continue
        line = boot.of(sysctl_path(setting.name))
        runs = actual.value is not None and same_value(str(setting.value), actual.value)
        if line is None and runs:
            yield _Loss(setting, f"{setting.name} is {actual.value} now, and no file sets it at the next boot")
        elif line is not None and line.file == OWN_FILE and line.value is not None:
            keeps = same_value(str(setting.value), line.value)
            if keeps != runs and actual.value is not None:
                yield _Loss(setting, f"{setting.name} is {actual.value} now; {line.place} sets {line.value} at boot")


def _judged(check: str, observed: ObservedState, lost: list[_Loss], good: str) -> Finding:
    shown = lost[:_MOST_SHOWN]
    more = f"; and {len(lost) - len(shown)} more" if len(lost) > len(shown) else ""
    text = "; ".join(loss.text for loss in shown) + more
    return finding(
        check,
        verdict_of(not lost),
        observed,
        Statement(
            text or good,
            "; ".join(f"{loss.setting.name}={loss.setting.value}" for loss in shown),
            text,
            remedy="; ".join(dict.fromkeys(loss.remedy for loss in shown if loss.remedy)),
            evidence=tuple(loss.evidence for loss in shown),
            asked_in=shown[0].setting.asked_in if shown else Origin(),
            severity=Severity.WARNING,
        ),
    )
