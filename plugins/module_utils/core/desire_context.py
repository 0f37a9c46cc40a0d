# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What all parts of a desired state are computed from, and how they speak: one context, one way to make a setting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .desired import Area, Impact, Partition, Platform, Setting
from .environment import NodeEnvironment
from .findings import Finding, Severity, Verdict
from .tier import Manifest, Tier, WorkloadHints
from .topology import Topology

_NEEDS_WHOLE_MACHINE = ("restricted", "single-numa-node")


@dataclass(frozen=True)
class DesireContext:
    """A tier on a machine: everything that a setting can depend on."""

    tier: Tier
    topology: Topology
    environment: NodeEnvironment
    platform: Platform
    partition: Partition

    @property
    def hints(self) -> WorkloadHints:
        """The workload hints in force; absent ones are the operator's defaults."""
        return self.tier.workload_hints or WorkloadHints()

    @property
    def is_partitioned(self) -> bool:
        """Whether the tier says which CPUs are reserved or isolated."""
        return self.tier.cpu.reserved is not None or self.tier.cpu.isolated is not None

    @property
    def is_profile(self) -> bool:
        """Whether a PerformanceProfile carries the tier: its manifest says so, or its CPUs are partitioned."""
        manifest = self.tier.openshift.manifest
        return self.is_partitioned if manifest is None else manifest is Manifest.PERFORMANCE_PROFILE

    @property
    def is_operated(self) -> bool:
        """Whether the node tuning operator derives the settings from a PerformanceProfile."""
        return self.platform is Platform.OPENSHIFT and self.is_profile

    @property
    def on_node(self) -> bool:
        """Whether tunectl itself writes the node's files."""
        return self.platform is Platform.KUBEADM

    @property
    def knows_node(self) -> bool:
        """Whether the environment was read from a node, rather than assumed."""
        return bool(self.environment.kernel_release)

    @property
    def topology_policy(self) -> str:
        """The topology manager policy in force, `` when the kubelet keeps its own."""
        return self.tier.kubelet.topology_manager_policy or ("best-effort" if self.is_profile else "")

    @property
    def cpu_policy(self) -> str:
        """The CPU manager policy in force, `` when the kubelet keeps its own."""
        return self.tier.kubelet.cpu_manager_policy or ("static" if self.is_profile else "")

    @property
    def memory_policy(self) -> str:
        """The memory manager policy in force, `` when the kubelet keeps its own."""
        derived = "Static" if self.is_profile and self.topology_policy in _NEEDS_WHOLE_MACHINE else ""
        return self.tier.kubelet.memory_manager_policy or derived

    def finding(  # noqa: PLR0913  the parts of one statement
        self,
        check: str,
        severity: Severity,
        message: str,
        *,
        path: str = "",
        expected: str = "",
        actual: str = "",
        why: str = "",
        remedy: str = "",
        setting: str = "",
    ) -> Finding:
        """Return a failing finding about the tier; `path` is the tier field that asked for it."""
        return Finding(
            id=check,
            verdict=Verdict.FAIL,
            severity=severity,
            subject=self.tier.name,
            message=message,
            expected=expected,
            actual=actual,
            why=why,
            remedy=remedy,
            asked_in=self.tier.origin(path),
            setting=setting,
        )

    def setting(  # noqa: PLR0913  the parts of one setting
        self,
        area: Area,
        name: str,
        value: Any,
        impact: Impact,
        *,
        why: str,
        source: str,
        path: str,
        setting_id: str = "",
    ) -> Setting:
        """Return a setting of this tier; `path` is the tier field that asked for it."""
        return Setting(
            id=setting_id or f"{area.value}.{name}",
            area=area,
            name=name,
            value=value,
            impact=impact,
            why=why,
            source=source,
            asked_in=self.tier.origin(path),
        )


@dataclass(frozen=True)
class Wanted:
    """A part of a desired state: settings in order, and what was found while computing them."""

    settings: tuple[Setting, ...] = ()
    findings: tuple[Finding, ...] = ()

    def __add__(self, other: Wanted) -> Wanted:
        """Return both parts, this one first."""
        return Wanted(self.settings + other.settings, self.findings + other.findings)


def plain(value: Any) -> Any:
    """Return JSON data: mappings as dicts, tuples as lists, at any depth."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value
