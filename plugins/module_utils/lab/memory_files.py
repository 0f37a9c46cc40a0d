# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the kernel shows of memory: hugepages by size and node, and the counts of meminfo."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.topology import Topology
from .cpu_files import NODE
from .hugepages import sizes_of, used_kib

HUGEPAGES = "/sys/kernel/mm/hugepages"


def node_pages_path(node: int, size_kib: int) -> str:
    """Return the file that sets the hugepages of one size on one node."""
    return f"{NODE}/node{node}/hugepages/hugepages-{size_kib}kB/nr_hugepages"


def pages_path(size_kib: int) -> str:
    """Return the file that sets the hugepages of one size on all nodes."""
    return f"{HUGEPAGES}/hugepages-{size_kib}kB/nr_hugepages"


def hugepage_files(topology: Topology, pages: Mapping[tuple[int, int], int], default_kib: int) -> dict[str, str]:
    """Return the hugepage counts everywhere the kernel shows them; all of them are free."""
    files: dict[str, str] = {}
    for size in sizes_of(topology):
        for node in topology.numa_nodes:
            here = node_pages_path(node.id, size).rpartition("/")[0]
            count = pages.get((node.id, size), 0)
            files.update(
                {
                    f"{here}/nr_hugepages": f"{count}\n",
                    f"{here}/free_hugepages": f"{count}\n",
                    f"{here}/surplus_hugepages": "0\n",
                }
            )
        total = _total(pages, size)
        here = f"{HUGEPAGES}/hugepages-{size}kB"
        counts = {
            "nr_hugepages": total,
            "nr_hugepages_mempolicy": total,
            "free_hugepages": total,
            "resv_hugepages": 0,
            "surplus_hugepages": 0,
            "nr_overcommit_hugepages": 0,
        }
        files.update({f"{here}/{name}": f"{count}\n" for name, count in counts.items()})
    for name in ("nr_hugepages", "nr_hugepages_mempolicy"):
        files[f"/proc/sys/vm/{name}"] = f"{_total(pages, default_kib)}\n"
    return files


def meminfo_files(topology: Topology, pages: Mapping[tuple[int, int], int], default_kib: int) -> dict[str, str]:
    """Return meminfo of the machine and of each node."""
    files = {}
    free = 0
    for node in topology.numa_nodes:
        taken = sum(count * size for (owner, size), count in pages.items() if owner == node.id)
        # Described hugepages may exceed the memory of a made-up machine; a count below zero is no count.
        left = max(0, node.memory_kib - used_kib(node.memory_kib) - taken)
        free += left
        here = pages.get((node.id, default_kib), 0)
        rows = {"MemTotal": node.memory_kib, "MemFree": left, "MemUsed": node.memory_kib - left}
        files[f"{NODE}/node{node.id}/meminfo"] = "".join(
            f"Node {node.id} {name + ':':<15} {value:>8} kB\n" for name, value in rows.items()
        ) + "".join(
            f"Node {node.id} HugePages_{name + ':':<5} {count:>5}\n"
            for name, count in (("Total", here), ("Free", here), ("Surp", 0))
        )
    files["/proc/meminfo"] = _meminfo(topology.memory_kib, free, pages, default_kib)
    return files


def _meminfo(total: int, free: int, pages: Mapping[tuple[int, int], int], default_kib: int) -> str:
    count = _total(pages, default_kib)
    rows = {
        "MemTotal": total,
        "MemFree": free,
        "MemAvailable": free,
        "Buffers": 0,
        "Cached": 0,
        "SwapCached": 0,
        "SwapTotal": 0,
        "SwapFree": 0,
        "AnonHugePages": 0,
    }
    lines = [f"{name + ':':<15} {value:>8} kB\n" for name, value in rows.items()]
    lines += [
        f"HugePages_{name + ':':<6} {number:>7}\n"
        for name, number in (("Total", count), ("Free", count), ("Rsvd", 0), ("Surp", 0))
    ]
    lines += [
        f"Hugepagesize:   {default_kib:>8} kB\n",
        f"Hugetlb:        {sum(one * size for (_node, size), one in pages.items()):>8} kB\n",
    ]
    return "".join(lines)


def _total(pages: Mapping[tuple[int, int], int], size: int) -> int:
    return sum(count for (_node, one), count in pages.items() if one == size)
