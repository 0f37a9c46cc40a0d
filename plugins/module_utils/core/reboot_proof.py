# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether a node was really rebooted, told from the identity of its boots before and after.

Source: Linux Documentation/admin-guide/sysctl/kernel.rst, `random/boot_id`: a UUID made once at each boot. Uptime
and the time of the boot are no proof: they move with the clock, and an error text differs from any time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .errors import Problem, problem

BOOT_ID = "/proc/sys/kernel/random/boot_id"
# Ends with 0 once systemd has started what it starts at boot, and where there is no systemd. `degraded` counts: a unit
# that failed does not get better by waiting; verification says what it broke.
SYSTEM_IS_UP = (
    'case "$(systemctl is-system-running 2>/dev/null || true)" in initializing|starting|stopping) exit 1;; esac'
)
_UUID = re.compile(r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$", re.MULTILINE)


@dataclass(frozen=True)
class Reboot:
    """What is known after a node was told to reboot.

    Shape: `before` and `after` are boot ids, `after` empty when the node did not answer; `asked_at` is ISO 8601 UTC;
    `limit_s` is how many seconds it had; `said` is what the reboot command or the waiting ended with, empty when it
    ended well; `generation` is what was written before.
    """

    node: str
    generation: int
    before: str
    after: str
    asked_at: str
    limit_s: int
    said: str = ""


def boot_id_in(text: str) -> str:
    """Return the boot id in what a node printed, whatever a login banner prints around it; empty without one."""
    found = _UUID.search(text.replace("\r", ""))
    return found.group(0) if found else ""


def reboot_problem(reboot: Reboot) -> Problem | None:
    """Return what is wrong with a reboot, None when it is proved and the node is up.

    TUN-4472: the node did not come back. TUN-4473: it never went down. TUN-4474: it came back and is not up.
    """
    if not reboot.after:
        return _not_back(reboot)
    if reboot.after == reboot.before:
        return _never_down(reboot)
    return _not_up(reboot) if reboot.said else None


def unknown_boot(node: str, generation: int, why: str) -> Problem:
    """Return the problem of a node that does not say which boot it runs, so that no reboot could be proved."""
    return problem(
        "TUN-4471",
        f"{node} was not rebooted: it does not say which boot it runs",
        where=node,
        why=f"{why or 'it printed no boot id'}; {_written(generation)}",
        fix=f"cat {BOOT_ID} on {node} must print a UUID; then tunectl apply again, or reboot it and tunectl verify",
    )


def own_machine(node: str, generation: int) -> Problem:
    """Return the problem of a node that is the machine tunectl runs on."""
    return problem(
        "TUN-4475",
        f"{node} was not rebooted: it is the machine that tunectl runs on",
        where=node,
        why=f"its connection is local, so that the reboot would end this run; {_written(generation)}",
        fix="systemctl reboot, then tunectl verify; --reboot never leaves the reboot to you from the start",
    )


def _written(generation: int) -> str:
    return f"generation {generation} is written on the node and not proven"


def _not_back(reboot: Reboot) -> Problem:
    return problem(
        "TUN-4472",
        f"{reboot.node} did not come back within {reboot.limit_s} s of its reboot",
        where=reboot.node,
        why=f"last seen at {reboot.asked_at} in boot {reboot.before}, when it was told to reboot; "
        + _written(reboot.generation),
        fix="look at its console (BMC, virsh console): if the new kernel arguments stop it, remove them with `e` in the"
        f" boot menu; when it answers, tunectl verify --node {reboot.node} proves it and tunectl rollback takes it"
        " back; a machine that starts slowly needs a higher tunectl_reboot_timeout",
    )


def _never_down(reboot: Reboot) -> Problem:
    said = f"; the reboot ended with: {reboot.said}" if reboot.said else ""
    return problem(
        "TUN-4473",
        f"{reboot.node} was told to reboot and did not",
        where=reboot.node,
        why=f"it answers in the same boot {reboot.before} as at {reboot.asked_at}{said}; {_written(reboot.generation)}",
        fix=f"on {reboot.node}: systemd-inhibit --list and systemctl list-jobs show what holds it; reboot it by hand,"
        " then tunectl verify",
    )


def _not_up(reboot: Reboot) -> Problem:
    return problem(
        "TUN-4474",
        f"{reboot.node} was rebooted and has not finished starting within {reboot.limit_s} s",
        where=reboot.node,
        why=f"boot {reboot.after} answers; {reboot.said}; {_written(reboot.generation)}",
        fix=f"on {reboot.node}: systemctl list-jobs shows what is still starting, systemctl --failed what is not;"
        f" then tunectl verify --node {reboot.node}",
    )
