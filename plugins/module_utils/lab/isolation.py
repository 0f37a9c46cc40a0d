# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a kernel makes of isolcpus=, nohz_full= and irqaffinity=, whatever it was meant to do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..core.cmdline import Argument
from ..core.cpuset import CpuSet

_DOMAIN, _TICK, _MANAGED_IRQ = "domain", "tick", "managed_irq"
_KERNEL_NOISE = ("wq", "timer", "rcu", "misc", "kthread")
_ISOLCPUS_FLAGS = {"nohz": _TICK, "domain": _DOMAIN, "managed_irq": _MANAGED_IRQ}
_FLAG = re.compile(r"([A-Za-z_]+),")
_LAST_CPU = re.compile(r"(?<![A-Za-z0-9])N(?![A-Za-z0-9])")
# Since this release each kind of housekeeping has a mask of its own; before, all kinds share one.
_OWN_MASKS = (5, 18)


@dataclass(frozen=True)
class Machine:
    """What decides about these arguments. `possible` are the CPU ids the kernel made room for."""

    possible: CpuSet
    present: CpuSet
    boot_cpu: int
    kernel: tuple[int, int]
    has_nohz_full: bool


@dataclass(frozen=True)
class Isolation:
    """The outcome.

    Shape: `housekeeping` maps a kind of work to the CPUs that do it, kinds not limited are absent; `nohz_full` is
    None when no CPU was asked for; `warnings` are what the kernel logs when it drops an argument.
    """

    housekeeping: tuple[tuple[str, CpuSet], ...] = ()
    nohz_full: CpuSet | None = None
    irq_default: CpuSet | None = None
    warnings: tuple[str, ...] = ()

    def allowed(self, kind: str, possible: CpuSet) -> CpuSet:
        """Return the CPUs that do one kind of work."""
        return dict(self.housekeeping).get(kind, possible)

    def isolated(self, possible: CpuSet) -> CpuSet:
        """Return what /sys/devices/system/cpu/isolated shows: the CPUs out of the scheduling domains, nothing else."""
        return possible - self.allowed(_DOMAIN, possible)

    def unbound_work(self, possible: CpuSet) -> CpuSet:
        """Return the CPUs of unbound workqueues."""
        return self.allowed("wq", possible) & self.allowed(_DOMAIN, possible)

    def watchdog(self, possible: CpuSet) -> CpuSet:
        """Return the CPUs that the lockup detector watches."""
        return self.allowed("timer", possible)

    def managed_irq(self, possible: CpuSet) -> CpuSet:
        """Return the CPUs that managed interrupts prefer."""
        return self.allowed(_MANAGED_IRQ, possible)


def isolation(args: Iterable[Argument], machine: Machine) -> Isolation:
    """Return what the kernel makes of the arguments, taken in order.

    Source: kernel `kernel/sched/isolation.c` (`housekeeping_setup`), `kernel/time/tick-sched.c` (`tick_nohz_init`),
    `kernel/irq/irqdesc.c` (`irq_affinity_setup`).
    """
    outcome = Isolation()
    for arg in args:
        if arg.name == "nohz_full" and arg.value is not None and machine.has_nohz_full:
            outcome = _housekeeping(outcome, arg.value, (_TICK, *_KERNEL_NOISE), machine)
        elif arg.name == "isolcpus" and arg.value is not None:
            outcome = _isolcpus(outcome, arg.value, machine)
        elif arg.name == "irqaffinity" and arg.value is not None:
            outcome = _irqaffinity(outcome, arg.value, machine)
    if outcome.nohz_full is None:
        return outcome
    # Timekeeping needs one CPU with a tick: the boot CPU leaves the set, its housekeeping does not.
    return replace(outcome, nohz_full=outcome.nohz_full - CpuSet([machine.boot_cpu]))


def parse_kernel_list(text: str, possible: CpuSet) -> CpuSet:
    """Return a CPU list as the kernel reads it: `N` is the last CPU, `all` every CPU, ids beyond are an error.

    Sad paths: `ValueError`, upon which the kernel drops the whole argument.
    """
    spelled = _LAST_CPU.sub(str(possible.last), text.strip()).replace("all", f"0-{possible.last}")
    cpus = CpuSet.parse(spelled)
    if cpus and cpus.last > possible.last:
        raise ValueError(f"CPU {cpus.last} is beyond the last possible CPU {possible.last}")
    return cpus


def _isolcpus(outcome: Isolation, value: str, machine: Machine) -> Isolation:
    kinds: list[str] = []
    rest = value
    while rest[:1].isalpha():
        match = _FLAG.match(rest)
        if not match:
            return _warn(outcome, f"isolcpus: Invalid flag {rest}")
        if match.group(1) in _ISOLCPUS_FLAGS:
            kinds.append(_ISOLCPUS_FLAGS[match.group(1)])
        else:
            outcome = _warn(outcome, f"isolcpus: Skipped unknown flag {match.group(1)}")
        rest = rest[match.end() :]
    if _TICK in kinds and not machine.has_nohz_full:
        return _warn(outcome, "Housekeeping: nohz unsupported. Build with CONFIG_NO_HZ_FULL")
    return _housekeeping(outcome, rest, tuple(kinds) or (_DOMAIN,), machine)


def _housekeeping(outcome: Isolation, text: str, kinds: tuple[str, ...], machine: Machine) -> Isolation:
    try:
        excluded = parse_kernel_list(text, machine.possible)
    except ValueError:
        return _warn(outcome, "Housekeeping: nohz_full= or isolcpus= incorrect CPU range")
    working = machine.possible - excluded
    if working.isdisjoint(machine.present):
        outcome = _warn(outcome, f"Housekeeping: must include one present CPU, using boot CPU:{machine.boot_cpu}")
        working |= CpuSet([machine.boot_cpu])
        excluded -= CpuSet([machine.boot_cpu])
    if not excluded:
        return outcome
    known = dict(outcome.housekeeping)
    shared = known.values() if machine.kernel < _OWN_MASKS else [known[kind] for kind in kinds if kind in known]
    if any(mask != working for mask in shared):
        return _warn(outcome, "Housekeeping: nohz_full= must match isolcpus=")
    first_tick = _TICK in kinds and _TICK not in known
    return replace(
        outcome,
        housekeeping=(*outcome.housekeeping, *((kind, working) for kind in kinds if kind not in known)),
        nohz_full=excluded if first_tick else outcome.nohz_full,
    )


def _irqaffinity(outcome: Isolation, text: str, machine: Machine) -> Isolation:
    try:
        cpus = parse_kernel_list(text, machine.possible)
    except ValueError:
        cpus = CpuSet()
    return replace(outcome, irq_default=cpus | CpuSet([machine.boot_cpu]))


def _warn(outcome: Isolation, line: str) -> Isolation:
    return replace(outcome, warnings=(*outcome.warnings, line))
