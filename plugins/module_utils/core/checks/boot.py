# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Does the running kernel have the arguments that the next boot will have."""

from __future__ import annotations

from collections.abc import Iterator

from ..comparison import holds
from ..desired import Area, DesiredState, Impact, Setting
from ..findings import Evidence, Finding, Severity, Verdict
from ..observed import CMDLINE_FILE, ObservedState, actual_of
from ..owned_settings import settings_in
from .statement import Statement, finding, verdict_of

GRUB_FILE = "/etc/default/grub.d/99-tunectl.cfg"
_MOST_SHOWN = 5


def check_pending_boot(desired: DesiredState, observed: ObservedState) -> Iterator[Finding]:
    """Yield whether arguments are written that the running kernel lacks; nothing where none were written."""
    text = observed.snapshot.files.get(GRUB_FILE)
    written = settings_in(GRUB_FILE, text) if text is not None else {}
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


def _waiting(written: dict[str, str], desired: DesiredState, observed: ObservedState) -> Iterator[Setting]:
    """Yield the written arguments that the running kernel does not have."""
    for setting_id, value in written.items():
        known = desired.get(setting_id)
        name = known.name if known else setting_id.removeprefix("cmdline.").partition("#")[0]
        setting = Setting(setting_id, Area.CMDLINE, name, value, Impact.REBOOT)
        if not holds(setting, actual_of(observed, setting, desired if known else None)):
            yield setting
