# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Network cards, NVMe disks, accelerators: what has a place on the machine."""

from __future__ import annotations

import re

from .cpuset import CpuSet
from .topology import Device
from .tree import Tree

_CLASS_LINK = re.compile(r"/sys/class/([^/]+)/([^/]+)/device\Z")
_PCI_LINK = re.compile(r"/sys/bus/pci/devices/([^/]+)\Z")
_PCI_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\Z")
_KINDS = {"net": "net", "nvme": "nvme", "infiniband": "infiniband", "drm": "gpu"}
# PCI base classes; the longest prefix that fits speaks. Source: PCI Code and ID Assignment Specification.
_PCI_KINDS = (("0x0207", "infiniband"), ("0x0108", "nvme"), ("0x02", "net"), ("0x03", "gpu"), ("0x12", "accelerator"))


def read_devices(tree: Tree) -> tuple[Device, ...]:
    """Return the devices by kind and name; those without a driver have their PCI address as name.

    Sad paths: `InputError` naming the file whose NUMA node or CPU list is malformed.
    """
    devices: dict[tuple[str, str], Device] = {}
    named = set()
    for path, target in sorted(tree.snapshot.links.items()):
        match = _CLASS_LINK.match(path)
        if match:
            kind = _KINDS.get(match.group(1), match.group(1))
            devices[kind, match.group(2)] = _device(tree, match.group(2), kind, target)
            named.add(_address(target))
    for path, target in sorted(tree.snapshot.links.items()):
        match = _PCI_LINK.match(path)
        kind = _pci_kind(tree.snapshot.text(f"{target}/class") or "") if match else ""
        if match and kind and match.group(1) not in named:
            devices[kind, match.group(1)] = _device(tree, match.group(1), kind, target)
    return tuple(devices[key] for key in sorted(devices))


def _device(tree: Tree, name: str, kind: str, target: str) -> Device:
    place = target
    while place and not tree.has(f"{place}/numa_node"):
        place = place.rpartition("/")[0]
    if not place:
        return Device(name=name, kind=kind, address=_address(target))
    numa = tree.number(f"{place}/numa_node")
    local = f"{place}/local_cpulist"
    return Device(
        name=name,
        kind=kind,
        address=_address(target),
        numa=None if numa < 0 else numa,
        local_cpus=tree.cpus(local) if tree.has(local) else CpuSet(),
    )


def _address(target: str) -> str:
    """Return the PCI address nearest to a device, "" when it is on no PCI bus."""
    return next((part for part in reversed(target.split("/")) if _PCI_ADDRESS.match(part)), "")


def _pci_kind(code: str) -> str:
    return next((kind for prefix, kind in _PCI_KINDS if code.startswith(prefix)), "")
