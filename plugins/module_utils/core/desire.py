# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What every node of a tier on one hardware shall run: all settings in order, and all that was found on the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .alternatives import Alternative
from .desire_context import DesireContext, Wanted
from .desire_kernel import desire_kernel
from .desire_kubelet import NUMA_OPTION, desire_kubelet
from .desire_runtime import desire_runtime
from .desired import DesiredState, Partition, Platform
from .environment import NodeEnvironment
from .findings import Finding, Severity
from .hugepage_plan import judge_hugepages
from .kubelet_config_dir import DEFAULT_KUBELET_DIR, SINCE
from .partition import PartitionResult, partition_cpus
from .tier import Tier
from .topology import Topology


@dataclass(frozen=True)
class Desire:
    """A desired state, the findings about it, and better partitions where the tier's own is a bad one."""

    desired: DesiredState
    findings: tuple[Finding, ...] = ()
    alternatives: tuple[Alternative, ...] = ()


def desire(
    tier: Tier,
    topology: Topology,
    environment: NodeEnvironment,
    platform: Platform,
    partition: Partition | None = None,
) -> Desire:
    """Return what nodes with this hardware and software shall run.

    Shape: settings in the order kubelet, kernel arguments, module options, sysctls, runtime values, swap, with unique
    ids; equal arguments give equal results. With `partition` that split is taken as it is and not judged again.
    Sad paths: `RefusedError` TUN-2101, TUN-2103, TUN-2104 from the partition, `InputError` TUN-2200 for a reservation
    that is no quantity. Everything else that is wrong is a finding.
    """
    split = partition_cpus(tier, topology) if partition is None else PartitionResult(partition)
    context = DesireContext(tier, topology, environment, platform, split.partition)
    wanted = desire_kubelet(context) + desire_kernel(context) + desire_runtime(context)
    findings = (
        *(one for one in split.findings if not _is_settled(one, wanted)),
        *judge_hugepages(context),
        *wanted.findings,
        *_kubelet_directory(context, has_settings=any(one.area.value == "kubelet" for one in wanted.settings)),
    )
    state = DesiredState(
        tier=tier.name,
        pool=tier.pool_name,
        platform=platform,
        partition=split.partition,
        settings=wanted.settings,
        labels=dict(tier.placement.labels),
        taints=tuple(tier.placement.taints),
    )
    return Desire(state, findings, split.alternatives)


def _is_settled(finding: Finding, wanted: Wanted) -> bool:
    """Whether the rest of the state answers a finding about the split, or says the same more exactly."""
    if finding.id == "cpu.numa.too-many":
        options = (one.value for one in wanted.settings if one.name == "topologyManagerPolicyOptions")
        return any(NUMA_OPTION in value for value in options)
    return finding.id == "cpu.reserved.too-few" and any(
        one.id == "kubelet.static-without-reservation" for one in wanted.findings
    )


def _kubelet_directory(context: DesireContext, *, has_settings: bool) -> Iterator[Finding]:
    environment = context.environment
    if not has_settings or not context.on_node or not context.knows_node:
        return
    if not environment.has_kubelet:
        yield context.finding(
            "kubelet.absent",
            Severity.WARNING,
            "there is no kubelet on this node; its settings are written for the one that comes",
            path="kubelet",
            expected="a kubelet",
            actual="none",
            remedy="install the kubelet, or use a tier without kubelet settings",
        )
    elif not environment.kubelet_config_dir:
        version = environment.kubelet_version
        is_old = (0, 0) < version < SINCE
        yield context.finding(
            "kubelet.config-dir",
            Severity.CRITICAL,
            "the kubelet of this node reads no drop-in directory",
            path="kubelet",
            expected="--config-dir",
            actual=f"kubelet {version[0]}.{version[1]}, which has none" if is_old else "no --config-dir",
            why="the settings of the tier would be written and never read",
            remedy="upgrade the kubelet to 1.28 or newer"
            if is_old
            else f"add --config-dir={DEFAULT_KUBELET_DIR} to KUBELET_EXTRA_ARGS (/etc/default/kubelet or "
            "/etc/sysconfig/kubelet), create the directory and restart the kubelet",
        )
