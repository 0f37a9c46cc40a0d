# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The machines of a bootstrap as an inventory describes them: cluster, members, and the tier of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.tunectl.node.plugins.module_utils.core.bootstrap.cluster import Cluster, Member, read_cluster
from ansible_collections.tunectl.node.plugins.module_utils.core.errors import InputError, problem
from ansible_collections.tunectl.node.plugins.module_utils.core.tier import Tier
from ansible_collections.tunectl.node.plugins.module_utils.planning.tier_file import load_tier
from ansible_collections.tunectl.node.plugins.module_utils.pool_hosts import Hosts, find_members

CONTROL_PLANES, WORKERS = "kube_control_plane", "kube_workers"


@dataclass(frozen=True)
class ClusterHosts:
    """Who takes part in a bootstrap.

    Shape: `control_planes` in inventory order, the first of which makes the cluster; `members` by inventory name, in
    the order of the inventory; `tiers` by inventory name, for machines that have one.
    """

    cluster: Cluster
    control_planes: tuple[str, ...]
    members: Mapping[str, Member]
    tiers: Mapping[str, Tier]

    @property
    def first(self) -> str:
        """The machine that makes the cluster."""
        return self.control_planes[0]

    @property
    def api_server(self) -> str:
        """Where machines find the API server: the endpoint, else the address of the first control plane."""
        return self.cluster.endpoint or f"{_bracketed(self.members[self.first].address)}:6443"


def read_hosts(
    groups: Mapping[str, Sequence[str]],
    hostvars: Mapping[str, Mapping[str, Any]],
    tiers: Mapping[str, str],
    tier_dirs: Sequence[str],
) -> ClusterHosts:
    """Return who takes part in a bootstrap, from Ansible's groups and host variables.

    Shape: control planes are the group `kube_control_plane`, workers the group `kube_workers`; `tiers` is pool -> tier.
    Sad paths: `InputError` TUN-1920 to TUN-1923 from the variables, TUN-1925 for a pool that the tier is not for and
    machines of a pool outside of both groups, TUN-1926 without an address where one is needed, those of the pools
    and of tier files.
    """
    planes = tuple(groups.get(CONTROL_PLANES, ()))
    names = tuple(dict.fromkeys((*planes, *groups.get(WORKERS, ()))))
    cluster = read_cluster(hostvars[planes[0]] if planes else {}, planes)
    by_host = _tiers_of(Hosts(names, groups, _pools(names, hostvars)), tiers, tier_dirs)
    members = {name: _member(name, hostvars[name], name in planes, by_host.get(name)) for name in names}
    if not cluster.endpoint and not members[planes[0]].address:
        raise InputError(
            (
                problem(
                    "TUN-1926",
                    "nobody knows where the API server will be",
                    where=f"inventory, {planes[0]}",
                    why="there is neither tunectl_kube_endpoint nor tunectl_kube_address of the first control plane",
                    fix=f"set tunectl_kube_address of {planes[0]} to the address that the other machines reach",
                ),
            )
        )
    return ClusterHosts(cluster, planes, members, by_host)


def hosts_of(args: Mapping[str, Any], variables: Mapping[str, Any]) -> ClusterHosts:
    """Return who takes part, from the arguments of a task and the variables of its host; see `read_hosts`."""
    tier_dirs = [str(one) for one in args.get("tier_dirs") or ()]
    return read_hosts(variables["groups"], variables["hostvars"], args.get("tiers") or {}, tier_dirs)


def _pools(names: Sequence[str], hostvars: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    return {name: str(hostvars[name].get("tunectl_pool") or "") for name in names}


def _tiers_of(hosts: Hosts, tiers: Mapping[str, str], tier_dirs: Sequence[str]) -> dict[str, Tier]:
    found: dict[str, Tier] = {}
    for pool, name in tiers.items():
        tier = load_tier(name, [str(one) for one in tier_dirs])
        if tier.pool_name.replace("_", "-") != pool.replace("_", "-"):
            raise InputError(
                (
                    problem(
                        "TUN-1925",
                        f"tier {tier.name} is not for the pool {pool}",
                        where=f"tunectl_tiers, {pool}",
                        why=f"its file says pool {tier.pool_name}",
                        fix=f"name the pool {tier.pool_name}, or a copy of the tier with pool: {pool}",
                    ),
                )
            )
        found |= dict.fromkeys(find_members(hosts, tier.pool_name, (), (*tiers, tier.pool_name)), tier)
    return found


def _member(name: str, variables: Mapping[str, Any], is_control_plane: bool, tier: Tier | None) -> Member:  # noqa: FBT001  a plain fact
    return Member(
        name=str(variables.get("tunectl_kube_node_name") or name),
        address=str(variables.get("tunectl_kube_address") or ""),
        is_control_plane=is_control_plane,
        labels=dict(tier.placement.labels) if tier else {},
        taints=tuple(tier.placement.taints) if tier else (),
    )


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address
