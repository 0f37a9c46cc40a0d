"""Look at saved snapshots: what they hold, and what differs between two of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tunectl.core.fingerprint import hardware_fingerprint
from tunectl.core.snapshot import Snapshot
from tunectl.core.sysfs import read_topology

# Values that differ between any two readings of a node that nobody touched.
_RESTLESS = (
    "/meminfo",
    "/free_hugepages",
    "/proc/meminfo",
    "/proc/uptime",
    "/proc/loadavg",
    "/proc/stat",
    "/proc/sys/kernel/random/boot_id",
)


@dataclass(frozen=True)
class Difference:
    """One path that differs on one node; None means that it was not there."""

    node: str
    path: str
    before: str | None
    after: str | None


def describe(snapshot: Snapshot) -> dict[str, Any]:
    """Return one row about a snapshot: node, hardware in numbers, fingerprint, when it was taken."""
    topology = read_topology(snapshot)
    return {
        "node": snapshot.node,
        "taken_at": str(snapshot.facts.get("taken_at", "")),
        "arch": topology.arch,
        "sockets": len(topology.sockets),
        "cores": len(topology.cores),
        "cpus": len(topology.cpus),
        "numa_nodes": len(topology.numa_nodes),
        "memory_kib": topology.memory_kib,
        "fingerprint": hardware_fingerprint(snapshot)[:12],
        "files": len(snapshot.files),
        "unreadable": len(snapshot.unreadable),
        "simulated": snapshot.simulated,
    }


def compare(before: Sequence[Snapshot], after: Sequence[Snapshot]) -> list[Difference]:
    """Return what differs, by node and path; counters that never stand still are left out."""
    old, new = {one.node: one for one in before}, {one.node: one for one in after}
    found: list[Difference] = []
    for node in dict.fromkeys([*old, *new]):
        if node not in old or node not in new:
            found.append(Difference(node, "", _presence(node in old), _presence(node in new)))
            continue
        found += _paths(node, old[node].files, new[node].files)
    return found


def _presence(there: bool) -> str | None:  # noqa: FBT001  a private word for a truth value
    return "present" if there else None


def _paths(node: str, old: Mapping[str, str], new: Mapping[str, str]) -> list[Difference]:
    return [
        Difference(node, path, old.get(path), new.get(path))
        for path in sorted({*old, *new})
        if old.get(path) != new.get(path)
        and path not in _RESTLESS
        and not path.endswith(("/meminfo", "/free_hugepages"))
    ]
