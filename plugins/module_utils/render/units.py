# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Units for what tmpfiles.d cannot do: what needs retries, comes up late, or is a command, before the kubelet starts.

- Hugepages of one NUMA node: the kernel gives as many as it finds at once, so the count is asked for again
  until it is there. A kubelet that starts earlier would advertise fewer.
- debugfs and cpufreq: systemd-tmpfiles may run before /sys/kernel/debug is mounted and the driver is loaded, and
  would skip the value without a word.
- Swap: no file switches it off.
- Interrupts that were set up before the default affinity was: each is moved by itself, and moved back when the unit
  stops. The kernel refuses some (managed, per CPU, timers); their numbers are kept for whoever verifies.

All units are plain files. A drop-in of the kubelet's unit wants them, so that no link has to be made (and undone),
and each kubelet restart runs them again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..core.cpuset import CpuSet
from ..core.desired import Area, DesiredState, Setting
from ..core.environment import NodeEnvironment
from ..core.grammar import check_unit_value
from ..core.plan import NodeFile
from .jinja_env import render_template

UNIT_DIRECTORY = "/etc/systemd/system"
WANTS_FILE = "20-tunectl.conf"

_DEBUGFS = "/sys/kernel/debug/"
_FREQUENCY = re.compile(r"/sys/devices/system/cpu/cpu\d+/cpufreq/", re.ASCII)
_HUGEPAGES = re.compile(r"/sys/devices/system/node/node\d+/hugepages/hugepages-\d+kB/nr_hugepages\Z", re.ASCII)
_SHELL = ("/bin/sh", "-c")
# The name under which the script runs, by which the simulated kernel knows it too.
INTERRUPTS = "tunectl-interrupts"
_TRIES = 60
# $1 count, $2 file: as operands they need no quoting inside the script.
_ALLOCATE = (
    f'n=0; while [ "$n" -lt {_TRIES} ]; do echo "$1" > "$2"; [ "$(cat "$2")" -ge "$1" ] && exit 0; '
    "n=$((n + 1)); sleep 1; done; exit 1"
)
# Pairs of value and file; one that fails does not keep the others from being written.
_WRITE = 'failed=0; while [ "$#" -gt 1 ]; do echo "$1" > "$2" || failed=1; shift 2; done; exit "$failed"'
# $1 CPU list. What was before is kept once, so that a second run does not take our own place for it.
_MOVE = (
    "mkdir -p /run/tunectl/irq; : > /run/tunectl/irq-refused; cd /proc/irq || exit 1; for n in [0-9]*; do "
    "old=$(cat $n/smp_affinity_list 2>/dev/null) || continue; "
    "[ -e /run/tunectl/irq/$n ] || echo $old > /run/tunectl/irq/$n; "
    "echo $1 2>/dev/null > $n/smp_affinity_list || echo $n >> /run/tunectl/irq-refused; done"
)
_MOVE_BACK = (
    "cd /run/tunectl/irq || exit 0; for n in [0-9]*; do "
    "cat $n 2>/dev/null > /proc/irq/$n/smp_affinity_list; rm -f $n; done; rm -f /run/tunectl/irq-refused"
)
_DEFAULT_AFFINITY = "runtime./proc/irq/default_smp_affinity"


@dataclass(frozen=True)
class Unit:
    """A oneshot unit that runs before the kubelet.

    Shape: `lines` are further lines of its [Unit] section, `service_lines` of its [Service] section; `stops` are run
    when a unit that stays active is stopped.
    """

    name: str
    what: str
    why: str
    commands: tuple[tuple[str, ...], ...]
    lines: tuple[str, ...] = ()
    stops: tuple[tuple[str, ...], ...] = ()
    service_lines: tuple[str, ...] = ()


def is_late(setting: Setting) -> bool:
    """Whether a RUNTIME setting is left to a unit, because tmpfiles.d comes too early or does not try again."""
    return setting.name.startswith(_DEBUGFS) or bool(_FREQUENCY.match(setting.name)) or _is_hugepages(setting)


def render_units(desired: DesiredState, environment: NodeEnvironment) -> Iterator[NodeFile]:
    """Yield the unit files, then the drop-in that wants them; nothing when no setting needs a unit."""
    units = tuple(unit for unit in _units(desired) if unit.commands)
    for unit in units:
        yield NodeFile(
            path=f"{UNIT_DIRECTORY}/{unit.name}",
            content=render_template("node/unit.service.j2", tier=desired.tier, what=unit.what, unit=unit),
            why=unit.why,
        )
    if units:
        # Without a kubelet the boot itself wants them.
        anchor = "kubelet.service" if environment.has_kubelet else "multi-user.target"
        yield NodeFile(
            path=f"{UNIT_DIRECTORY}/{anchor}.d/{WANTS_FILE}",
            content=render_template(
                "node/wants.conf.j2",
                tier=desired.tier,
                what=f"units that run before {anchor}",
                units=[unit.name for unit in units],
            ),
            why=f"{anchor} starts the units of tunectl first",
        )


def _units(desired: DesiredState) -> Iterator[Unit]:
    late = sorted((setting for setting in desired.of(Area.RUNTIME) if is_late(setting)), key=lambda one: one.name)
    pairs = [word for setting in late if not _is_hugepages(setting) for word in _operands(setting)]
    yield Unit(
        name="tunectl-hugepages.service",
        what="hugepages of single NUMA nodes",
        why="asks for the hugepages of each NUMA node until the kernel has found them all",
        commands=tuple((*_SHELL, _ALLOCATE, "tunectl", *_operands(one)) for one in late if _is_hugepages(one)),
    )
    yield Unit(
        name="tunectl-runtime.service",
        what="values of the running kernel whose files come up late",
        why="writes values of debugfs and cpufreq once their files are there",
        commands=((*_SHELL, _WRITE, "tunectl", *pairs),) if pairs else (),
        lines=("RequiresMountsFor=/sys/kernel/debug",) if any(_DEBUGFS in word for word in pairs) else (),
    )
    ban = desired.get(_DEFAULT_AFFINITY)
    allowed = CpuSet.parse_mask(str(ban.value)).format() if ban else ""
    yield Unit(
        name="tunectl-interrupts.service",
        what="interrupts off the isolated CPUs",
        why="moves the interrupts that were set up before the default affinity was",
        commands=((*_SHELL, _MOVE, INTERRUPTS, check_unit_value(allowed, _DEFAULT_AFFINITY)),) if ban else (),
        stops=((*_SHELL, _MOVE_BACK),),
        service_lines=("RemainAfterExit=yes",),
    )
    swap_off = any(str(setting.value) == "off" for setting in desired.of(Area.SWAP))
    yield Unit(
        name="tunectl-swap.service",
        what="swap off",
        why="switches off whatever swap the boot has activated",
        commands=((*_SHELL, "swapoff -a"),) if swap_off else (),
        lines=("After=swap.target",),
    )


def _is_hugepages(setting: Setting) -> bool:
    return bool(_HUGEPAGES.match(setting.name))


def _operands(setting: Setting) -> tuple[str, str]:
    return check_unit_value(str(setting.value), setting.id), check_unit_value(setting.name, setting.id)
