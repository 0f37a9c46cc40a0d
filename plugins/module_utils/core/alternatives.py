# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Better splits of the same size for a split that cuts cores in two."""

from __future__ import annotations

from dataclasses import dataclass

from .core_choice import reordered, stock_of, take_cores
from .cpuset import CpuSet
from .desired import Partition
from .tier import Tier
from .topology import Topology


@dataclass(frozen=True)
class Alternative:
    """Another reserved and isolated set; the other sets stay. `reason` says in one sentence what is better."""

    reserved: CpuSet
    isolated: CpuSet
    reason: str


def alternatives_to(partition: Partition, machine: Topology, tier: Tier) -> tuple[Alternative, ...]:
    """Return a split with as many isolated CPUs as asked that cuts no core, when the given one does.

    Shape: empty when no core is cut, when the tier allows it, or when the other sets themselves cut cores. Reserved is
    whole cores, evenly over the NUMA nodes, first those that already hold the most reserved CPUs; together with
    isolated it covers the online CPUs that no other set has. When whole cores cannot leave exactly as many isolated
    CPUs, isolated is the largest number below.
    """
    others = partition.shared | partition.offlined | partition.ovs_dpdk
    room = machine.online - others
    if tier.cpu.allow_split_cores or not partition.reserved or machine.split_cores(room):
        return ()
    if not machine.split_cores(partition.reserved & room, partition.isolated & room):
        return ()
    stock = reordered(stock_of(machine, room), lambda core: -len(core & partition.reserved))
    asked = len(partition.isolated & room)
    for isolated_count in range(min(asked, len(room) - 1), 0, -1):
        reserved = take_cores(stock, len(room) - isolated_count, even=True, start=_boot_core(machine, room, tier))
        if reserved is not None:
            isolated = room - reserved
            return (Alternative(reserved, isolated, _reason(machine, partition, reserved, isolated, asked)),)
    return ()


def _boot_core(machine: Topology, room: CpuSet, tier: Tier) -> CpuSet:
    core = machine.siblings_of(CpuSet((0,)))
    return core if tier.cpu.reserve_cpu0 and core <= room else CpuSet()


def _reason(machine: Topology, partition: Partition, reserved: CpuSet, isolated: CpuSet, asked: int) -> str:
    whole = sum(len(core) for core in machine.cores_in(partition.isolated))
    share = [
        f"{len(machine.cores_in(cpus))} on node {node}"
        for node, cpus in machine.spread(reserved).items()
        if machine.numa_node(node).cpus
    ]
    same = "the same" if len(isolated) == asked else f"{len(isolated)} instead of {asked}"
    size = f"{same} {asked} isolated CPUs" if len(isolated) == asked else f"{same} isolated CPUs"
    kept = len(reserved & partition.reserved)
    return (
        f"{size}, and no core is split: reserved is {len(machine.cores_in(reserved))} whole cores "
        f"({', '.join(share)}; {kept} of the reserved CPUs stay), so a whole-cores policy can hand out "
        f"all {len(isolated)} isolated CPUs instead of {whole}"
    )
