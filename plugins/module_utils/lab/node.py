# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A simulated node: the machine and the software that its directory tree stands for, kept in the marker file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..core.errors import InputError, problem
from ..core.machine import topology_from_facts
from ..core.topology import Topology
from .profiles import Profile, load_profile

MARKER = "/run/tunectl/simulated"
_STATEMENT = "This directory tree stands for a node. Its kernel, reboots and kubelet are simulated."


@dataclass(frozen=True)
class SimulatedNode:
    """One node of a lab. `facts` describe the machine with all its CPUs."""

    name: str
    facts: Mapping[str, Any]
    profile: Profile

    @cached_property
    def topology(self) -> Topology:
        """The machine."""
        return topology_from_facts(self.facts)

    @cached_property
    def l3_sizes(self) -> dict[int, str]:
        """Sizes of the last-level cache by CPU, as sysfs writes them."""
        return {row["cpu"]: row["l3_size"] for row in self.facts["cpus"] if row.get("l3_size")}

    @property
    def pmu_name(self) -> str:
        """What /sys/devices/cpu/caps/pmu_name says, empty where the file is missing."""
        return str(self.facts.get("pmu_name", ""))

    @property
    def is_virtual(self) -> bool:
        """Whether the machine is a virtual one, without drivers for frequencies and idle states."""
        return bool(self.facts.get("virtual", False))

    def marker(self) -> str:
        """Return the text of the marker file."""
        data = {"simulated": _STATEMENT, "name": self.name, "profile": self.profile.name, "machine": self.facts}
        return json.dumps(data, separators=(",", ":")) + "\n"


def load_node(root: Path) -> SimulatedNode:
    """Return the node that a tree stands for; raises `InputError` TUN-1603 for a directory that is none."""
    marker = root / MARKER.lstrip("/")
    try:
        data = json.loads(marker.read_text(encoding="utf-8"))
        return SimulatedNode(data["name"], data["machine"], load_profile(data["profile"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            (
                problem(
                    "TUN-1603",
                    "this directory is not a simulated node",
                    where=str(root),
                    why=f"{MARKER} below it cannot be read: {error}",
                    fix="tunectl lab up",
                ),
            )
        ) from error
