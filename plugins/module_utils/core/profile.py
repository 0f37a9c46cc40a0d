# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The whole profile that a request of the OpenShift profile creator leads to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .desired import Partition
from .hardware import same_hardware
from .pools import NodePool, own_label
from .profile_creator import (
    POWER_MODES,
    TOPOLOGY_POLICIES,
    ProfileRequest,
    choice,
    create_profile_sets,
    refuse,
)
from .topology import Topology

_ULTRA, _DEFAULT = "ultra-low-latency", "default"


@dataclass(frozen=True)
class Profile:
    """What a PerformanceProfile of the request says."""

    name: str
    partition: Partition
    topology_policy: str
    real_time_kernel: bool = False
    real_time: bool = False
    high_power_consumption: bool = False
    per_pod_power_management: bool = False
    user_level_networking: bool = False
    node_selector: Mapping[str, str] = field(default_factory=dict)
    pool_selector: Mapping[str, str] = field(default_factory=dict)
    kernel_args: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the profile with the field names of PerformanceProfile v2, CPU sets as kernel lists."""
        return {
            "name": self.name,
            "reserved": self.partition.reserved.format(),
            "isolated": self.partition.isolated.format(),
            "offlined": self.partition.offlined.format(),
            "topologyPolicy": self.topology_policy,
            "realTimeKernel": self.real_time_kernel,
            "realTime": self.real_time,
            "highPowerConsumption": self.high_power_consumption,
            "perPodPowerManagement": self.per_pod_power_management,
            "userLevelNetworking": self.user_level_networking,
            "nodeSelector": dict(self.node_selector),
            "machineConfigPoolSelector": dict(self.pool_selector),
            "additionalKernelArgs": list(self.kernel_args),
        }


def create_profile(
    request: ProfileRequest, pool: NodePool, pools: Iterable[NodePool], topologies: Mapping[str, Topology]
) -> Profile:
    """Return the profile of the request for a pool; `topologies` are those of the pool's nodes, by name.

    Shape: values in the spelling that the API accepts, whatever the case they were asked in.
    Sad paths: `RequestRefusedError`: TUN-2105 for a pool without a known machine, with unequal machines or without a
    label of its own; TUN-2106 for options that are unknown or exclude each other; those of `create_profile_sets`.
    Source: the OpenShift profile creator.
    """
    mode = _checked_mode(request)
    policy = choice(request.topology_policy, TOPOLOGY_POLICIES, "unknown_topology_policy", "topology policy")
    selector = own_label(pool, pools)
    return Profile(
        name=request.profile_name,
        partition=create_profile_sets(_common_topology(pool, topologies), request),
        topology_policy=policy,
        real_time_kernel=request.rt_kernel,
        real_time=mode != _DEFAULT,
        high_power_consumption=mode == _ULTRA,
        per_pod_power_management=request.per_pod_power_management,
        user_level_networking=request.user_level_networking,
        node_selector=pool.node_selector,
        pool_selector=selector,
        kernel_args=kernel_arguments(request),
    )


def kernel_arguments(request: ProfileRequest) -> tuple[str, ...]:
    """Return the additional kernel arguments that a request needs: `nosmt` under `disable_ht`, else none."""
    return ("nosmt",) if request.disable_ht else ()


def _checked_mode(request: ProfileRequest) -> str:
    mode = choice(request.power_mode, POWER_MODES, "unknown_power_mode", "power mode")
    if request.rt_kernel and mode == _DEFAULT:
        raise refuse(
            "rt_kernel_needs_low_latency",
            "TUN-2106",
            "a real-time kernel needs a low-latency power mode",
            why="power mode default turns the real-time hint off",
            fix="use power mode low-latency or ultra-low-latency",
        )
    if request.per_pod_power_management and mode == _ULTRA:
        raise refuse(
            "per_pod_power_with_ultra_low_latency",
            "TUN-2106",
            "per-pod power management and ultra-low-latency exclude each other",
            why="ultra-low-latency keeps all CPUs at high power",
            fix="use power mode low-latency, or leave per-pod power management out",
        )
    return mode


def _common_topology(pool: NodePool, topologies: Mapping[str, Topology]) -> Topology:
    names = list(topologies)
    if not names:
        raise refuse(
            "no_usable_node",
            "TUN-2105",
            f"pool {pool.name} has no node whose machine is known",
            why="the CPU split is computed from a node's topology",
            fix="label a node for the pool, or take a snapshot of one of its nodes",
        )
    for name in names[1:]:
        compared = same_hardware(topologies[names[0]], topologies[name])
        if not compared.equal:
            raise refuse(
                "nodes_differ",
                "TUN-2105",
                f"nodes {names[0]} and {name} of pool {pool.name} are built differently",
                why="; ".join(compared.differences),
                fix=f"put {name} into a pool of its own",
            )
    return topologies[names[0]]
