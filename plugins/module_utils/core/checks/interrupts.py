# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Do device interrupts stay off the isolated CPUs, where the tier bans them for good.

Source: kernel core-api/irq/irq-affinity: `effective_affinity_list` is where an interrupt really goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..cpuset import CpuSet
from ..desired import DesiredState
from ..findings import Evidence, Finding, Verdict
from ..observed import ObservedState
from .statement import Statement, finding, verdict_of

_BAN = "runtime./proc/irq/default_smp_affinity"
_PATH = re.compile(r"/proc/irq/(\d+)/(effective_affinity_list|smp_affinity_list)\Z")
_REFUSED = "/run/tunectl/irq-refused"
_MOST_SHOWN = 6


def check_interrupts(desired: DesiredState, observed: ObservedState) -> Iterator[Finding]:
    """Yield whether no interrupt is delivered to an isolated CPU; nothing where the tier does not ask for it."""
    ban = desired.get(_BAN)
    isolated = desired.partition.isolated | desired.partition.ovs_dpdk
    if ban is None or not isolated:
        return
    check = "irq.affinity.reserved-only"
    places = interrupts(observed)
    allowed = desired.partition.reserved | desired.partition.shared
    if not places:
        why = observed.snapshot.why_missing("/proc/irq")
        said = Statement(f"no interrupt could be looked at: {why}", allowed.format(), asked_in=ban.asked_in)
        yield finding(check, Verdict.UNKNOWN, observed, said)
        return
    there = {number: place for number, place in places.items() if place[1] & isolated}
    fixed = {number for number in there if number in _fixed(observed)}
    asked = {number: _asked(observed, number) for number in there if number not in fixed}
    moving = {number for number, cpus in asked.items() if cpus and not cpus & isolated}
    bad = {number: place for number, place in there.items() if number not in fixed | moving}
    shown = list(bad.items())[:_MOST_SHOWN]
    yield finding(
        check,
        verdict_of(not bad),
        observed,
        Statement(
            _message(bad, isolated, len(places)) + _rest_text(len(fixed), len(moving)),
            allowed.format(),
            "; ".join(f"irq {number} on {cpus}" for number, (_path, cpus) in shown),
            evidence=tuple(Evidence(path, cpus.format()) for _number, (path, cpus) in shown),
            asked_in=ban.asked_in,
        ),
    )


def _fixed(observed: ObservedState) -> frozenset[int]:
    """Return the interrupts that the kernel did not let our unit move: managed, per CPU, timers."""
    words = (observed.snapshot.text(_REFUSED) or "").split()
    return frozenset(int(word) for word in words if word.isdecimal())


def _asked(observed: ObservedState, number: int) -> CpuSet:
    """Return where an interrupt shall go: x86 moves many only when they next arrive, and shows the old place till then.

    Source: kernel core-api/irq/irq-affinity, `kernel/irq/migration.c`.
    """
    return _cpus(observed.snapshot.files.get(f"/proc/irq/{number}/smp_affinity_list", ""))


def _rest_text(fixed: int, moving: int) -> str:
    texts = (
        f"; {fixed} on isolated CPUs cannot be moved (the kernel refused: managed by their driver)" if fixed else "",
        f"; {moving} leave them with their next interrupt" if moving else "",
    )
    return "".join(texts)


def _message(bad: dict[int, tuple[str, CpuSet]], isolated: CpuSet, total: int) -> str:
    if not bad:
        return f"of {total} interrupts all that can be moved stay off the isolated CPUs"
    numbers = ", ".join(str(number) for number in list(bad)[:_MOST_SHOWN])
    more = f" and {len(bad) - _MOST_SHOWN} more" if len(bad) > _MOST_SHOWN else ""
    return f"{len(bad)} of {total} interrupts go to isolated CPUs {isolated}: irq {numbers}{more}"


def interrupts(observed: ObservedState) -> dict[int, tuple[str, CpuSet]]:
    """Return by number where each interrupt goes, with the file that says so: the effective place where known."""
    found: dict[int, tuple[str, CpuSet]] = {}
    for path in sorted(observed.snapshot.files):
        match = _PATH.match(path)
        if match:
            cpus = _cpus(observed.snapshot.files[path])
            # Sorted, the effective place comes first; an interrupt that was never set up has an empty one.
            if cpus and int(match.group(1)) not in found:
                found[int(match.group(1))] = (path, cpus)
    return dict(sorted(found.items()))


def _cpus(text: str) -> CpuSet:
    try:
        return CpuSet.parse(text)
    except ValueError:
        return CpuSet()
