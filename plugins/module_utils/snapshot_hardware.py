# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The part of a snapshot that tells the hardware: CPUs, caches, NUMA nodes, devices and where interrupts go."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .rooted_files import RootedFiles
from .snapshot_paths import (
    CPU,
    CPU_FILES,
    DEVICE_CLASSES,
    HUGEPAGE_COUNTS,
    HYBRID_CPUS,
    NUMA,
    PCI_CLASSES,
    PCI_DEVICES,
    SIBLING_FILES,
    TOPOLOGY_FILES,
)

_CPU_DIRECTORY = re.compile(r"cpu[0-9]+\Z")
_NODE_DIRECTORY = re.compile(r"node[0-9]+\Z")
_LEVEL = re.compile(r"[0-9]{1,3}\Z")
# Outputs of a card and its second node are no devices of their own.
_DEVICE_NAME = re.compile(r"(?!card\d+-)(?!renderD)")
# Below this many separators a path is a bus, not a device.
_SHALLOWEST_DEVICE = 3


def read_hardware(files: RootedFiles) -> None:
    """Record what the topology and the interrupt checks are made from.

    Shape: the listings of the CPU and the NUMA directory hold only the CPUs and the nodes; of the caches of a CPU
    only the last level is recorded; `links` leads from the names of devices to their places.
    """
    _cpus(files)
    _numa(files)
    _devices(files)
    _irqs(files)


def _cpus(files: RootedFiles) -> None:
    names = [name for name in files.entries(CPU) or () if _CPU_DIRECTORY.match(name)]
    if names:
        files.listings[CPU] = tuple(names)
    for name in CPU_FILES:
        files.read(f"{CPU}/{name}")
    for path in HYBRID_CPUS:
        files.read(path)
    # Without the summary each CPU says for itself whether it is online.
    singly = f"{CPU}/online" not in files.files
    capacity = bool(names) and files.exists(f"{CPU}/{names[0]}/cpu_capacity")
    scaled = bool(names) and files.exists(f"{CPU}/{names[0]}/cpufreq/scaling_max_freq")
    for name in names:
        _cpu(files, f"{CPU}/{name}")
        if singly:
            files.read(f"{CPU}/{name}/online")
        if capacity:
            files.read(f"{CPU}/{name}/cpu_capacity")
        if scaled:
            files.read(f"{CPU}/{name}/cpufreq/scaling_max_freq")


def _cpu(files: RootedFiles, directory: str) -> None:
    for name in TOPOLOGY_FILES:
        files.read(f"{directory}/topology/{name}")
    for name in SIBLING_FILES:
        if files.read(f"{directory}/topology/{name}") is not None:
            break
    _last_level_cache(files, f"{directory}/cache")


def _last_level_cache(files: RootedFiles, directory: str) -> None:
    """Record level, sharers and id of the highest cache; a level that is no number is recorded too, to be reported."""
    last, best = "", -1
    for name in files.entries(directory) or ():
        if not name.startswith("index"):
            continue
        level = (files.probe(f"{directory}/{name}/level") or "").strip()
        if not _LEVEL.match(level):
            files.read(f"{directory}/{name}/level")
        elif int(level) > best:
            last, best = name, int(level)
    if last:
        for leaf in ("level", "shared_cpu_list", "id"):
            files.read(f"{directory}/{last}/{leaf}")


def _numa(files: RootedFiles) -> None:
    _hugepages(files, "/sys/kernel/mm/hugepages", (*HUGEPAGE_COUNTS, "nr_overcommit_hugepages"))
    names = [name for name in files.entries(NUMA) or () if _NODE_DIRECTORY.match(name)]
    if not names:
        return
    files.listings[NUMA] = tuple(names)
    files.read(f"{NUMA}/online")
    for name in names:
        for leaf in ("cpulist", "meminfo", "distance"):
            files.read(f"{NUMA}/{name}/{leaf}")
        _hugepages(files, f"{NUMA}/{name}/hugepages", HUGEPAGE_COUNTS)


def _hugepages(files: RootedFiles, directory: str, leaves: Sequence[str]) -> None:
    for name in files.listing(directory):
        for leaf in leaves:
            files.read(f"{directory}/{name}/{leaf}")


def _devices(files: RootedFiles) -> None:
    for kind in DEVICE_CLASSES:
        for name in files.entries(f"/sys/class/{kind}") or ():
            path = f"/sys/class/{kind}/{name}/device"
            # Virtual functions have their physical function's place, and outputs of a card are no devices.
            if _DEVICE_NAME.match(name) and files.exists(path) and not files.exists(f"{path}/physfn"):
                _place(files, files.link(path) or path)
    for address in files.entries(PCI_DEVICES) or ():
        path = f"{PCI_DEVICES}/{address}"
        code = (files.probe(f"{path}/class") or "").strip()
        if code.startswith(PCI_CLASSES) and not files.exists(f"{path}/physfn"):
            place = files.link(path) or path
            files.read(f"{place}/class")
            _place(files, place)


def _place(files: RootedFiles, device: str) -> None:
    """Read the NUMA node of a device from the nearest of its parents that tells it."""
    while device.count("/") > _SHALLOWEST_DEVICE:
        if files.exists(f"{device}/numa_node"):
            files.read(f"{device}/numa_node")
            files.read(f"{device}/local_cpulist")
            return
        device = device.rpartition("/")[0]


def _irqs(files: RootedFiles) -> None:
    for name in files.entries("/proc/irq") or ():
        if name.isdigit():
            files.read(f"/proc/irq/{name}/smp_affinity_list")
            files.read(f"/proc/irq/{name}/effective_affinity_list")
