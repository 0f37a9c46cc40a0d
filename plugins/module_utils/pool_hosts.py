# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which hosts of an inventory form a pool."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .core.errors import InputError, Problem, problem
from .host_patterns import match_hosts

_OWN_GROUPS = ("all", "ungrouped")


@dataclass(frozen=True)
class Hosts:
    """An inventory: hosts in its order, groups with all their hosts, and the pool that a host's variable names."""

    names: tuple[str, ...]
    groups: Mapping[str, Sequence[str]]
    pool_variable: Mapping[str, str]


def find_members(hosts: Hosts, pool: str, patterns: Sequence[str], known: Iterable[str]) -> dict[str, str]:
    """Return host -> pool for the hosts of `pool` that match the patterns, in inventory order.

    Shape: an empty `pool` means every host, an empty pool of a host that it is in none; no patterns means all hosts.
    A host is in the pool that its variable names, else in the pool whose group it is in; group names may have `_`
    for `-`. `known` are the names of all pools, so that a host in two of them is noticed.
    Sad paths: `InputError` with all of TUN-1503 (a pattern that matches nothing), TUN-1501 (a host in two pools),
    TUN-1502 (the pool, or what the patterns leave of it, is empty).
    """
    selected, unknown = match_hosts(patterns, hosts.names, hosts.groups)
    problems = [_unknown_pattern(term, hosts) for term in unknown]
    if problems:
        raise InputError(tuple(problems))
    pools = sorted({*known, *hosts.pool_variable.values(), *([pool] if pool else [])} - {""})
    inside = {name: {host for group in _spellings(name) for host in hosts.groups.get(group, ())} for name in pools}
    members: dict[str, str] = {}
    for host in selected:
        mine = _pools_of(host, hosts.pool_variable.get(host, ""), inside)
        if len(mine) > 1 and (not pool or pool in mine):
            problems.append(_two_pools(host, mine))
        elif not pool or mine == [pool]:
            members[host] = mine[0] if mine else ""
    if problems:
        raise InputError(tuple(problems))
    if pool and not members:
        raise InputError((_empty_pool(pool, patterns, hosts),))
    return members


def _spellings(pool: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((pool, pool.replace("-", "_"))))


def _pools_of(host: str, named: str, inside: Mapping[str, set[str]]) -> list[str]:
    grouped = [pool for pool, hosts in inside.items() if host in hosts]
    # the variable decides between groups; against all of them it is a contradiction
    return [named] if named and (named in grouped or not grouped) else grouped + ([named] if named else [])


def _unknown_pattern(term: str, hosts: Hosts) -> Problem:
    near = difflib.get_close_matches(term.lstrip("&!~"), [*hosts.names, *hosts.groups], 3, 0.6)
    return problem(
        "TUN-1503",
        f"no host of the inventory matches {term!r}",
        where="host pattern",
        why=f"the inventory has {_count(len(hosts.names), 'host')} in the groups {_listed(_groups(hosts))}",
        fix=f"did you mean {' or '.join(map(repr, near))}?" if near else "ansible-inventory --graph lists all of them",
    )


def _two_pools(host: str, pools: Sequence[str]) -> Problem:
    return problem(
        "TUN-1501",
        "a node belongs to two pools",
        where=host,
        why=f"the inventory puts it into {' and '.join(pools)}",
        fix=f"take it out of one of the groups, or set the host variable tunectl_pool: {pools[0]}",
    )


def _empty_pool(pool: str, patterns: Sequence[str], hosts: Hosts) -> Problem:
    narrowed = f" that matches {', '.join(patterns)}" if patterns else ""
    near = difflib.get_close_matches(pool.replace("-", "_"), _groups(hosts), 1, 0.6)
    spelled = " or ".join(_spellings(pool))
    return problem(
        "TUN-1502",
        f"the pool {pool} has no host{narrowed}",
        where="inventory",
        why=f"no such host is in a group {spelled} or has tunectl_pool: {pool}; groups are {_listed(_groups(hosts))}",
        fix=f"did you mean the group {near[0]!r}?" if near else f"put the nodes of the tier into a group {pool}",
    )


def _groups(hosts: Hosts) -> list[str]:
    return [name for name in hosts.groups if name not in _OWN_GROUPS]


def _listed(names: Sequence[str], limit: int = 8) -> str:
    more = [f"and {len(names) - limit} more"] if len(names) > limit else []
    return ", ".join([*names[:limit], *more]) or "(none)"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
