# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Does the running kernel have the arguments that the next boot will have."""

from __future__ import annotations

from collections.abc import Iterator

from ..boot_arguments import contains
from ..boot_menu import next_entry, owned_arguments
from ..cmdline import format_cmdline
from ..comparison import holds
from ..desired import Area, DesiredState, Impact, Setting
from ..findings import Evidence, Finding, Severity, Verdict
from ..node_software import kernel_release
from ..observed import CMDLINE_FILE, ObservedState, actual_of
from ..owned_settings import settings_in
from .statement import Statement, finding, verdict_of

_MOST_SHOWN = 5


def check_pending_boot(desired: DesiredState, observed: ObservedState) -> Iterator[Finding]:
    """Yield whether arguments are written that the running kernel lacks; nothing where none were written."""
    path, _arguments = owned_arguments(observed.snapshot)
    written = settings_in(path, observed.snapshot.files[path]) if path else {}
    if not written:
        return
    check = "boot.pending"
    if observed.cmdline is None:
        why = observed.snapshot.why_missing(CMDLINE_FILE)
        yield finding(check, Verdict.UNKNOWN, observed, Statement(f"{CMDLINE_FILE} could not be read: {why}"))
        return
    waiting = list(_waiting(written, desired, observed))
    names = ", ".join(setting.name for setting in waiting[:_MOST_SHOWN])
    more = f" and {len(waiting) - _MOST_SHOWN} more" if len(waiting) > _MOST_SHOWN else ""
    message = f"a reboot is pending: {names}{more} are written but not in force" if waiting else "no reboot is pending"
    yield finding(
        check,
        verdict_of(not waiting),
        observed,
        Statement(
            message,
            "the written arguments are in force",
            "reboot pending" if waiting else "in force",
            remedy=f"reboot the node, or tunectl apply --tier {desired.tier} (reboot)",
            evidence=tuple(
                Evidence(CMDLINE_FILE, f"{setting.name}: {actual_of(observed, setting).value or 'not there'}")
                for setting in waiting[:_MOST_SHOWN]
            ),
            severity=Severity.WARNING,
        ),
    )


def check_next_boot(desired: DesiredState, observed: ObservedState) -> Iterator[Finding]:
    """Yield whether the entry that boots next has our arguments; nothing where none were written.

    It lacks them when a kernel update came with an entry of its own, when the menu was not made anew, or when another
    entry was chosen. Source: GNU GRUB manual; UAPI boot loader specification.
    """
    path, wanted = owned_arguments(observed.snapshot)
    if not wanted:
        return
    check = "boot.next"
    entry = next_entry(observed.snapshot)
    if entry is None:
        said = Statement("the boot loader's files do not tell which entry boots next", severity=Severity.WARNING)
        yield finding(check, Verdict.UNKNOWN, observed, said)
        return
    good = contains(entry.arguments, wanted)
    running = kernel_release(observed.snapshot)
    other = f", with kernel {entry.release} (running: {running})" if entry.release not in ("", running) else ""
    place = f"{entry.file}:{entry.line}"
    has = "has" if good else "lacks"
    yield finding(
        check,
        verdict_of(good),
        observed,
        Statement(
            f"the entry that boots next, {entry.title!r}{other}, {has} the arguments of {path}",
            format_cmdline(wanted),
            format_cmdline(entry.arguments),
            remedy=f"tunectl apply --tier {desired.tier} puts them there again",
            evidence=(Evidence(place, format_cmdline(entry.arguments)),),
        ),
    )


def _waiting(written: dict[str, str], desired: DesiredState, observed: ObservedState) -> Iterator[Setting]:
    """Yield the written arguments that the running kernel does not have."""
    for setting_id, value in written.items():
        known = desired.get(setting_id)
        name = known.name if known else setting_id.removeprefix("cmdline.").partition("#")[0]
        setting = Setting(setting_id, Area.CMDLINE, name, value, Impact.REBOOT)
        if not holds(setting, actual_of(observed, setting, desired if known else None)):
            yield setting
