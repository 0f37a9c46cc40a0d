# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Topology hints and how the topology manager merges them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Optional

Nodes = frozenset  # a set of NUMA node ids


class TopologyPolicy(Enum):
    """Topology manager policies."""

    NONE = "none"
    BEST_EFFORT = "best-effort"
    RESTRICTED = "restricted"
    SINGLE_NUMA_NODE = "single-numa-node"


@dataclass(frozen=True)
class Hint:
    """A set of NUMA nodes that would do, None for any; and whether it is as narrow as can be."""

    nodes: frozenset[int] | None
    preferred: bool


# What one provider says about one resource: None means no preference, an empty list means impossible.
ResourceHints = Optional[Sequence[Hint]]
ProviderHints = Optional[Mapping[str, ResourceHints]]


class DistanceError(Exception):
    """The kubelet would index a distance row beyond its end and crash: sparse NUMA node ids."""


@dataclass(frozen=True)
class Merger:
    """Merges hints of providers. Shape: `nodes` are all NUMA node ids, `distances` rows by node id."""

    policy: TopologyPolicy
    nodes: tuple[int, ...]
    prefer_closest: bool = False
    distances: Mapping[int, Sequence[int]] | None = None

    def merge(self, providers: Sequence[ProviderHints]) -> tuple[Hint, bool]:
        """Return the best hint and whether the policy admits the container.

        Raises `DistanceError` where the real kubelet crashes. Source: Kubernetes 1.36, topology manager.
        """
        lists = _lists(providers)
        if self.policy is TopologyPolicy.SINGLE_NUMA_NODE:
            lists = [[hint for hint in hints if _is_single(hint)] for hints in lists]
        best = self._best(lists)
        if self.policy is TopologyPolicy.SINGLE_NUMA_NODE and best.nodes == frozenset(self.nodes):
            best = Hint(None, best.preferred)
        return best, self.policy is TopologyPolicy.BEST_EFFORT or best.preferred

    def _best(self, lists: Sequence[Sequence[Hint]]) -> Hint:
        every = frozenset(self.nodes)
        agreed = _agreed(every, lists)
        if agreed:
            best = agreed[0]
            for candidate in agreed[1:]:
                if self._is_fitter(candidate, best):
                    best = candidate
            return best
        width = max((_narrowest(hints) for hints in lists), default=0)
        found: Hint | None = None
        for nodes in _merged(every, lists):
            candidate = Hint(nodes, preferred=False)
            if found is None or self._replaces(found, candidate, width):
                found = candidate
        return found or Hint(every, preferred=False)

    def _replaces(self, current: Hint, candidate: Hint, width: int) -> bool:
        """Return whether the candidate beats the current best of the ones not preferred, which aim at `width`."""
        have, offered = len(current.nodes or ()), len(candidate.nodes or ())
        if have > width:
            return self._is_fitter(candidate, current)
        if have == width:
            return offered == width and self._is_fitter(candidate, current)
        if offered > width or offered < have:
            return False
        return offered > have or self._is_fitter(candidate, current)

    def _is_fitter(self, candidate: Hint, current: Hint) -> bool:
        new, old = candidate.nodes or frozenset(), current.nodes or frozenset()
        if len(new) != len(old):
            return len(new) < len(old)
        if self.prefer_closest and self.policy is not TopologyPolicy.SINGLE_NUMA_NODE:
            near, far = self._distance(new), self._distance(old)
            if near != far:
                return near < far
        return mask(new) < mask(old)

    def _distance(self, nodes: frozenset[int]) -> float:
        rows = self.distances or {}
        try:
            values = [rows[one][other] for one in sorted(nodes) for other in sorted(nodes)]
        except IndexError as error:
            raise DistanceError from error
        return sum(values) / len(values)


@dataclass(frozen=True)
class Subset:
    """A set of NUMA nodes with its two hints, made once for each machine.

    Shape: `bits` has a bit per node id; `parent` is the index of the set without its last node, -1 for the empty set.
    """

    nodes: tuple[int, ...]
    preferred: Hint
    other: Hint
    bits: int
    parent: int

    def hint(self, *, preferred: bool) -> Hint:
        """Return the hint of this set."""
        return self.preferred if preferred else self.other


@lru_cache(maxsize=64)
def node_subsets(nodes: tuple[int, ...]) -> tuple[Subset, ...]:
    """Return every non-empty subset, small ones first, each size in lexical order."""
    found: list[Subset] = []
    index: dict[tuple[int, ...], int] = {(): -1}
    for width in range(1, len(nodes) + 1):
        for combination in itertools.combinations(sorted(nodes), width):
            members = frozenset(combination)
            hints = Hint(members, preferred=True), Hint(members, preferred=False)
            index[combination] = len(found)
            found.append(Subset(combination, *hints, mask(members), index[combination[:-1]]))
    return tuple(found)


def subset_sums(subsets: Sequence[Subset], values: Mapping[int, int]) -> list[int]:
    """Return the sum of a value per node over each of the sets of `node_subsets`."""
    sums: list[int] = []
    for subset in subsets:
        value = values[subset.nodes[-1]]
        sums.append(value if subset.parent < 0 else sums[subset.parent] + value)
    return sums


@lru_cache(maxsize=65536)
def mask(nodes: frozenset[int]) -> int:
    """Return the set as a number with a bit per node id."""
    return sum(1 << node for node in nodes)


def _lists(providers: Sequence[ProviderHints]) -> list[Sequence[Hint]]:
    lists: list[Sequence[Hint]] = []
    for provider in providers:
        if not provider:
            lists.append([Hint(None, preferred=True)])
            continue
        for hints in provider.values():
            if hints is None:
                lists.append([Hint(None, preferred=True)])
            else:
                lists.append(hints or [Hint(None, preferred=False)])
    return lists


def _agreed(every: frozenset[int], lists: Sequence[Sequence[Hint]]) -> list[Hint]:
    """Return the preferred hints on which all lists agree.

    A permutation is preferred only when all its sets are equal and all its hints preferred, and a preferred result
    beats every other: where lists agree, the other permutations need not be tried. A hint of no set agrees with all.
    """
    offered = [{hint.nodes for hint in hints if hint.preferred} for hints in lists]
    strict = [sets for sets in offered if None not in sets]
    agreed = set.intersection(*strict) if strict else set().union(*offered, {every})
    return [Hint(nodes & every, preferred=True) for nodes in agreed if nodes is not None and nodes & every]


def _is_single(hint: Hint) -> bool:
    return hint.preferred and (hint.nodes is None or len(hint.nodes) == 1)


def _narrowest(hints: Sequence[Hint]) -> int:
    return min((len(hint.nodes) for hint in hints if hint.nodes is not None), default=0)


def _merged(every: frozenset[int], lists: Sequence[Sequence[Hint]]) -> tuple[frozenset[int], ...]:
    """Return the different sets, none of them empty, that the permutations of the lists have in common.

    Which of them is best does not depend on their order, nor on how often one comes up.
    """
    return _common(
        every, tuple(frozenset(every if hint.nodes is None else hint.nodes for hint in hints) for hints in lists)
    )


@lru_cache(maxsize=256)
def _common(every: frozenset[int], lists: tuple[frozenset[frozenset[int]], ...]) -> tuple[frozenset[int], ...]:
    merged = {every}
    for sets in lists:
        merged = {left & right for left in merged for right in sets}
    return tuple(nodes for nodes in merged if nodes)
