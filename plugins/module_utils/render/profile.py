# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The PerformanceProfile (v2) of a tier."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..core.desired import DesiredState
from ..core.errors import Problem, problem
from ..core.operator_args import own_args
from ..core.tier import Tier
from .kubelet_settings import ordered
from .openshift_kubelet import forbidden_fields, overwritten_fields, snippet
from .pool import Pool

API_VERSION = "performance.openshift.io/v2"
SNIPPET_ANNOTATION = "kubeletconfig.experimental"
RPS_ANNOTATION = "performance.openshift.io/enable-rps"
# One line with sorted keys: equal data are equal bytes.
_COMPACT = (",", ":")


def profile_name(tier: Tier) -> str:
    """Return the name of the profile: the tier's own, else the pool's with `-profile`."""
    return tier.openshift.name or f"{tier.pool_name}-profile"


def profile_problems(tier: Tier, desired: DesiredState, pool: Pool) -> Iterator[Problem]:
    """Yield what keeps a tier from being a PerformanceProfile: `TUN-2242` fields, `TUN-2243` CPU lists."""
    partition = desired.partition
    if not partition.reserved or not partition.isolated:
        missing = "reserved" if not partition.reserved else "isolated"
        yield problem(
            "TUN-2243",
            f"tier {tier.name} is to be a PerformanceProfile and has no {missing} CPUs",
            where=str(tier.origin(f"cpu.{missing}")) or f"tier {tier.name}",
            why="a profile needs both lists, and neither may be empty",
            fix=f"set cpu.{missing} in the tier, or openshift.manifest: kubelet-config",
        )
    if len(pool.node_selector) > 1:
        yield _inexpressible(tier, "openshift.node_selector", "more than one label", "a profile takes exactly one")
    if not tier.cpu.enforce_isolation:
        yield _inexpressible(tier, "cpu.enforce_isolation", "false", "a profile always isolates by kernel arguments")
    if tier.hugepages.pages and not tier.hugepages.default_size:
        yield _inexpressible(tier, "hugepages.default_size", "nothing", "pages without a default size are refused")
    if bool(tier.frequency.isolated_khz) != bool(tier.frequency.reserved_khz):
        yield _inexpressible(tier, "frequency", "one frequency", "a profile takes both or none")
    if SNIPPET_ANNOTATION in tier.openshift.annotations and snippet(desired):
        yield _inexpressible(
            tier, "openshift.annotations", SNIPPET_ANNOTATION, "tunectl writes it: " + ", ".join(snippet(desired))
        )
    yield from overwritten_fields(desired)
    yield from forbidden_fields(desired)


def profile_document(tier: Tier, desired: DesiredState, pool: Pool) -> dict[str, object]:
    """Return the PerformanceProfile; what would say the operator's default is left out.

    Source: PerformanceProfile v2; annotations of cluster-node-tuning-operator.
    """
    annotations = _annotations(tier, desired)
    metadata: dict[str, object] = {"name": profile_name(tier)}
    if annotations:
        metadata["annotations"] = annotations
    return {
        "apiVersion": API_VERSION,
        "kind": "PerformanceProfile",
        "metadata": metadata,
        "spec": _spec(tier, desired, pool),
    }


def _spec(tier: Tier, desired: DesiredState, pool: Pool) -> dict[str, Any]:
    policy = tier.kubelet.topology_manager_policy
    parts: dict[str, Any] = {
        "additionalKernelArgs": list(own_args(tier)),
        "cpu": _cpu(tier, desired),
        "globallyDisableIrqLoadBalancing": not tier.irq.balance_isolated,
        "hardwareTuning": _frequencies(tier),
        "hugepages": _hugepages(tier),
        "kernelPageSize": tier.kernel.page_size,
        "net": _net(tier),
        "numa": {"topologyPolicy": policy} if policy else {},
        "workloadHints": _hints(tier),
    }
    if not pool.has_derived_role:
        # The operator would label its machine configurations for a pool of the selector's name.
        parts["machineConfigLabel"] = pool.role
    if pool.labels != pool.role or not pool.has_derived_role:
        parts["machineConfigPoolSelector"] = dict(sorted(pool.labels.items())[:1])
    parts = {name: value for name, value in parts.items() if value}
    parts["nodeSelector"] = ordered(pool.node_selector)
    parts["realTimeKernel"] = {"enabled": tier.kernel.realtime}
    return {name: parts[name] for name in sorted(parts)}


def _cpu(tier: Tier, desired: DesiredState) -> dict[str, Any]:
    partition = desired.partition
    sets = {
        "isolated": partition.isolated,
        "offlined": partition.offlined,
        "ovsDpdk": partition.ovs_dpdk,
        "reserved": partition.reserved,
        "shared": partition.shared,
    }
    balance = {} if tier.cpu.balance_isolated else {"balanceIsolated": False}
    return {**balance, **{name: cpus.format() for name, cpus in sets.items() if cpus}}


def _frequencies(tier: Tier) -> dict[str, int]:
    # One without the other was refused before.
    pair = {"isolatedCpuFreq": tier.frequency.isolated_khz, "reservedCpuFreq": tier.frequency.reserved_khz}
    return {name: khz for name, khz in pair.items() if khz}


def _hugepages(tier: Tier) -> dict[str, Any]:
    spec = tier.hugepages
    pages = [
        {"count": page.count, **({} if page.node is None else {"node": page.node}), "size": page.size}
        for page in spec.pages
    ]
    found = {"defaultHugepagesSize": spec.default_size, "pages": pages}
    return {name: value for name, value in found.items() if value}


def _net(tier: Tier) -> dict[str, Any]:
    devices = []
    for device in tier.net.devices:
        named = {"deviceID": device.device_id, "interfaceName": device.interface_name, "vendorID": device.vendor_id}
        devices.append({name: value for name, value in named.items() if value})
    found: dict[str, Any] = {"devices": devices} if devices else {}
    return {**found, "userLevelNetworking": True} if tier.net.user_level_networking else found


def _hints(tier: Tier) -> dict[str, bool]:
    hints = tier.workload_hints
    if hints is None:
        return {}
    optional = {
        "highPowerConsumption": hints.high_power_consumption,
        "mixedCpus": hints.mixed_cpus,
        "perPodPowerManagement": hints.per_pod_power_management,
    }
    return {**{name: True for name, value in optional.items() if value}, "realTime": hints.real_time}


def _annotations(tier: Tier, desired: DesiredState) -> dict[str, str]:
    fields = snippet(desired)
    own = {RPS_ANNOTATION: "enable"} if tier.irq.rps else {}
    if fields:
        own[SNIPPET_ANNOTATION] = json.dumps(fields, separators=_COMPACT, ensure_ascii=True)
    return dict(sorted({**own, **tier.openshift.annotations}.items()))


def _inexpressible(tier: Tier, path: str, asked: str, why: str) -> Problem:
    return problem(
        "TUN-2242",
        f"a PerformanceProfile cannot express {path}: {asked}",
        where=str(tier.origin(path)) or f"tier {tier.name}",
        why=why,
        fix=f"change {path}, or set openshift.manifest: kubelet-config",
    )
