# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Devices with a place, and their interrupts: a few the machine always has, queues of its network cards and disks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ..core.cpuset import CpuSet
from ..core.topology import Device, Topology
from .boot import Boot

_NET_CLASS, _NVME_CLASS, _GPU_CLASS = "0x020000", "0x010802", "0x030200"
_CLASSES = {"net": _NET_CLASS, "nvme": _NVME_CLASS, "gpu": _GPU_CLASS}
_IDS = {"net": ("0x8086", "0x1592"), "nvme": ("0x144d", "0xa824"), "gpu": ("0x10de", "0x20b5")}
_CLASS_DIRECTORY = {"net": "net", "nvme": "nvme", "gpu": "drm"}
_FIRST_MSI = 24
_NET_QUEUES = 8
_NVME_QUEUES = 8
_CPUS_PER_QUEUE = 4
# Interrupts every PC has: number, name, whether user space may move it.
_LEGACY = ((0, "timer", False), (8, "rtc0", True), (9, "acpi", True))


@dataclass(frozen=True)
class Interrupt:
    """One interrupt line. `managed` ones are placed by the kernel alone: writing their affinity is refused."""

    number: int
    name: str
    node: int
    affinity: CpuSet
    effective: CpuSet
    managed: bool = False
    movable: bool = True


def device_files(topology: Topology) -> dict[str, str]:
    """Return the PCI functions with vendor, class and place."""
    files: dict[str, str] = {}
    for device in topology.devices:
        here = _place(device)
        vendor, model = _IDS.get(device.kind, ("0x8086", "0x0000"))
        numa = -1 if device.numa is None else device.numa
        values = {
            "vendor": vendor,
            "device": model,
            "class": _CLASSES.get(device.kind, "0x088000"),
            "numa_node": str(numa),
            "local_cpulist": device.local_cpus.format(),
        }
        files.update({f"{here}/{name}": f"{text}\n" for name, text in values.items()})
    return files


def queue_files(topology: Topology) -> dict[str, str]:
    """Return the switches of receive packet steering, off as after boot."""
    nobody = f"{CpuSet().mask(topology.present.last + 1)}\n"
    return {
        f"/sys/class/net/{device.name}/queues/rx-{queue}/rps_cpus": nobody
        for device in topology.devices
        if device.kind == "net"
        for queue in range(_queues(device, topology))
    }


def device_links(topology: Topology) -> dict[str, str]:
    """Return the links from bus and class entries to the functions, target relative as in sysfs."""
    links = {}
    for device in topology.devices:
        up = "../../.." + _place(device).removeprefix("/sys")
        links[f"/sys/bus/pci/devices/{device.address}"] = up
        if device.kind in _CLASS_DIRECTORY:
            links[f"/sys/class/{_CLASS_DIRECTORY[device.kind]}/{device.name}/device"] = up
    return links


def _place(device: Device) -> str:
    return f"/sys/devices/pci{device.address[:7]}/{device.address}"


def interrupts(
    topology: Topology, boot: Boot, online: CpuSet, placed: Mapping[int, CpuSet] | None = None
) -> tuple[Interrupt, ...]:
    """Return the interrupts; `placed` are affinities that user space has set since boot, by number.

    Shape: queues of network cards start on the default affinity, one CPU near the card each being effective; queues
    of NVMe disks are managed, spread over all CPUs, and prefer the housekeeping CPUs of `isolcpus=managed_irq`.
    Source: kernel core-api/irq/irq-affinity, `kernel/irq/affinity.c`, `kernel/irq/cpuhotplug.c`.
    """
    default = boot.irq_default & boot.present
    lines = [
        Interrupt(number, name, 0, default, _one(default & online), movable=movable)
        for number, name, movable in _LEGACY
    ]
    for device in topology.devices:
        number = max(_FIRST_MSI, lines[-1].number + 1)
        lines += _device_interrupts(device, topology, boot, online, number)
    return tuple(_moved(line, (placed or {}).get(line.number), online) for line in lines)


def _moved(line: Interrupt, cpus: CpuSet | None, online: CpuSet) -> Interrupt:
    if cpus is None:
        return line
    return replace(line, affinity=cpus, effective=_pick((cpus & online) or online, line.number))


def interrupt_files(lines: tuple[Interrupt, ...], default: CpuSet, present: CpuSet, online: CpuSet) -> dict[str, str]:
    """Return /proc/irq and /proc/interrupts."""
    width = present.last + 1
    files = {"/proc/irq/default_smp_affinity": f"{default.mask(width)}\n"}
    cpus = list(online)
    table = ["      " + "".join(f"{f'CPU{cpu}':>11}" for cpu in cpus) + "\n"]
    for line in lines:
        here = f"/proc/irq/{line.number}"
        files.update(
            {
                f"{here}/smp_affinity_list": f"{line.affinity.format()}\n",
                f"{here}/smp_affinity": f"{line.affinity.mask(width)}\n",
                f"{here}/effective_affinity_list": f"{line.effective.format()}\n",
                f"{here}/node": f"{line.node}\n",
            }
        )
        table.append(f"{line.number:>4}: " + f"{0:>11}" * len(cpus) + f"  IR-PCI-MSI  {line.name}\n")
    files["/proc/interrupts"] = "".join(table)
    return files


def _device_interrupts(
    device: Device, topology: Topology, boot: Boot, online: CpuSet, first: int
) -> Iterator[Interrupt]:
    node = -1 if device.numa is None else device.numa
    near = (device.local_cpus & online) or online
    count = _queues(device, topology)
    default = boot.irq_default & boot.present
    if device.kind == "net":
        for queue in range(count):
            reachable = (default & near) or (default & online)
            yield Interrupt(first + queue, f"{device.name}-TxRx-{queue}", node, default, _pick(reachable, queue))
    elif device.kind == "nvme":
        yield Interrupt(first, f"{device.name}q0", node, default, _one(default & online))
        preferred = boot.isolation.managed_irq(boot.present)
        for queue, cpus in enumerate(_split(boot.present, count)):
            target = (cpus & preferred & online) or (cpus & online)
            yield Interrupt(first + 1 + queue, f"{device.name}q{queue + 1}", node, cpus, _one(target), managed=True)


def _queues(device: Device, topology: Topology) -> int:
    limit = {"net": _NET_QUEUES, "nvme": _NVME_QUEUES}.get(device.kind, 0)
    return min(limit, max(1, len(topology.online) // _CPUS_PER_QUEUE))


def _split(cpus: CpuSet, parts: int) -> list[CpuSet]:
    members = list(cpus)
    return [CpuSet(members[part::parts]) for part in range(parts)]


def _pick(cpus: CpuSet, index: int) -> CpuSet:
    members = list(cpus)
    return CpuSet([members[index % len(members)]]) if members else CpuSet()


def _one(cpus: CpuSet) -> CpuSet:
    return CpuSet([cpus.first]) if cpus else CpuSet()
