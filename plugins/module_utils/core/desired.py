# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What every node of a tier shall run: the settings, each with its value, reason and origin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any

from .cpuset import CpuSet
from .findings import Origin


class Platform(Enum):
    """Where a tier is applied: through the OpenShift API, or on the node itself."""

    OPENSHIFT = "openshift"
    KUBEADM = "kubeadm"


class Area(Enum):
    """What a setting belongs to; decides where it is rendered and how it is verified."""

    KUBELET = "kubelet"
    CMDLINE = "cmdline"
    SYSCTL = "sysctl"
    RUNTIME = "runtime"
    MODULE = "module"
    SERVICE = "service"
    SWAP = "swap"
    LABEL = "label"
    TAINT = "taint"


class Impact(Enum):
    """The price of a change, ascending."""

    NONE = "none"
    LIVE = "live"
    RESTART = "restart"
    DRAIN = "drain"
    REBOOT = "reboot"

    @property
    def rank(self) -> int:
        """Return the position in the order of prices."""
        return list(Impact).index(self)


def highest(impacts: list[Impact]) -> Impact:
    """Return the dearest of the impacts, `NONE` of none."""
    return max(impacts, key=lambda impact: impact.rank, default=Impact.NONE)


@dataclass(frozen=True)
class Partition:
    """The split of a machine's CPUs, with the words of PerformanceProfile v2.

    Shape: pairwise disjoint. `shared` and `ovs_dpdk` are mostly empty. Scale: kernel logical CPU ids.
    `reasons` explain the choice, one sentence each, in the order of the decisions.
    """

    reserved: CpuSet = CpuSet()
    isolated: CpuSet = CpuSet()
    shared: CpuSet = CpuSet()
    offlined: CpuSet = CpuSet()
    ovs_dpdk: CpuSet = CpuSet()
    reasons: tuple[str, ...] = ()

    def role_of(self, cpu: int) -> str:
        """Return the name of the set that holds the CPU, `unassigned` when none does."""
        for name in ("reserved", "isolated", "shared", "offlined", "ovs_dpdk"):
            if cpu in getattr(self, name):
                return name
        return "unassigned"


@dataclass(frozen=True)
class Setting:
    """One wanted value.

    Shape: `id` is unique within a desired state: `<area>.<name>` (`sysctl.vm.stat_interval`,
    `kubelet.cpuManagerPolicy`, `cmdline.nohz_full`, `runtime./sys/kernel/mm/transparent_hugepage/enabled`);
    `name` is the field, key, argument name or absolute path; `value` is JSON data for KUBELET and text elsewhere.
    A CMDLINE value is the text after `=`, or None for a bare flag. Kernel arguments are written in the order of the
    settings. Where a name may stand more than once its id says which one is meant: `cmdline.hugepagesz.1G` and,
    right after it, `cmdline.hugepages.1G` are one pair; `cmdline.tsc#2` is the second `tsc=`.
    A KUBELET value is the whole field; of a map, the keys that it names must hold, others may be there.
    SWAP has one setting, `swap.devices` with the value `off`. `source` names the document that makes it true.
    """

    id: str
    area: Area
    name: str
    value: Any
    impact: Impact
    why: str = ""
    source: str = ""
    asked_in: Origin = Origin()


@dataclass(frozen=True)
class DesiredState:
    """All settings of one tier for one hardware, in the order in which they are rendered."""

    tier: str
    pool: str
    platform: Platform
    partition: Partition
    settings: tuple[Setting, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[str, ...] = ()

    def of(self, area: Area) -> Iterator[Setting]:
        """Yield the settings of one area, in order."""
        return iter(self._by_area.get(area, ()))

    @cached_property
    def _by_area(self) -> dict[Area, tuple[Setting, ...]]:
        return {
            area: tuple(setting for setting in self.settings if setting.area is area)
            for area in {setting.area for setting in self.settings}
        }

    def get(self, setting_id: str) -> Setting | None:
        """Return the setting of that id, or None."""
        return next((setting for setting in self.settings if setting.id == setting_id), None)
