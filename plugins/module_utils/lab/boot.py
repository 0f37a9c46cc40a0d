# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a kernel comes up with on a machine, given its command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..core.cmdline import Argument, find_last, kernel_arguments, last_value, parse_cmdline
from ..core.cpuset import CpuSet
from ..core.topology import Topology
from .hugepages import allocate, boot_requests, sizes_of
from .isolation import Isolation, Machine, isolation

THP_CHOICES = ("always", "madvise", "never")


@dataclass(frozen=True)
class Kernel:
    """The kernel that boots. `thp` is what it was built to default to."""

    version: tuple[int, int]
    has_nohz_full: bool = True
    thp: str = "always"


@dataclass(frozen=True)
class Boot:
    """The state after boot, before any configuration of user space.

    Shape: `online` and `present` are CPU ids; `pages` counts hugepages by (node id, size in KiB);
    `nohz_full` is None where no CPU was asked for or the kernel cannot.
    """

    cmdline: str
    present: CpuSet
    online: CpuSet
    isolation: Isolation = Isolation()
    smt_control: str = "on"
    thp: str = "always"
    default_page_kib: int = 2048
    pages: Mapping[tuple[int, int], int] = field(default_factory=dict)

    @property
    def isolated(self) -> CpuSet:
        """The CPUs that /sys/devices/system/cpu/isolated shows."""
        return self.isolation.isolated(self.present)

    @property
    def nohz_full(self) -> CpuSet | None:
        """The CPUs that /sys/devices/system/cpu/nohz_full shows."""
        return self.isolation.nohz_full

    @property
    def irq_default(self) -> CpuSet:
        """Where interrupts go that nobody placed."""
        return self.present if self.isolation.irq_default is None else self.isolation.irq_default


def boot(cmdline: str, topology: Topology, kernel: Kernel) -> Boot:
    """Return what the kernel makes of the command line on the machine; `topology` shows it with all CPUs online."""
    args = tuple(kernel_arguments(parse_cmdline(cmdline)))
    present = _present(args, topology)
    machine = Machine(present, present, topology.online.first, kernel.version, kernel.has_nohz_full)
    default_page, requests = boot_requests(args, sizes_of(topology), kernel.version)
    control = _smt_control(args, topology)
    return Boot(
        cmdline=cmdline,
        present=present,
        online=_online(args, topology, present, control),
        isolation=isolation(args, machine),
        smt_control=control,
        thp=_thp(args, kernel.thp),
        default_page_kib=default_page,
        pages=allocate(topology, requests),
    )


def primary_threads(topology: Topology) -> CpuSet:
    """Return the first thread of every core."""
    return CpuSet(core.first for core in topology.cores)


def _present(args: Sequence[Argument], topology: Topology) -> CpuSet:
    limit = _number(last_value(args, "nr_cpus"))
    return topology.present if not limit else CpuSet(list(topology.present)[:limit])


def _online(args: Sequence[Argument], topology: Topology, present: CpuSet, control: str) -> CpuSet:
    online = topology.online & present
    if control in ("off", "forceoff"):
        online &= primary_threads(topology)
    limit = _number(last_value(args, "maxcpus"))
    if limit is None:
        return online
    return CpuSet(list(online)[: max(1, limit)])


def _smt_control(args: Sequence[Argument], topology: Topology) -> str:
    if not topology.smt:
        return "notsupported"
    nosmt = find_last(args, "nosmt")
    if nosmt is None:
        return "on"
    return "forceoff" if nosmt.value == "force" else "off"


def _thp(args: Sequence[Argument], built: str) -> str:
    chosen = built
    for arg in args:
        if arg.name == "transparent_hugepage" and arg.value in THP_CHOICES:
            chosen = arg.value
    return chosen


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() else None
