"""Merging of hints: the short way gives what trying every permutation gives; sums over sets are sums."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from tunectl.core.kubelet.hints import Hint, Merger, TopologyPolicy, mask, node_subsets, subset_sums

_NODES = (0, 1, 2, 3)
_SETS = st.one_of(st.none(), st.frozensets(st.sampled_from(_NODES), min_size=1))
_HINTS = st.lists(st.builds(Hint, _SETS, st.booleans()), min_size=1, max_size=4)
_DISTANCES = {node: [10 if node == other else 11 + abs(node - other) for other in _NODES] for node in _NODES}


def _better(new: Hint, old: Hint | None, width: int, *, closest: bool) -> bool:
    """The kubelet's own rule, for one permutation after the other. Source: Kubernetes 1.36, topology manager."""
    if not new.nodes:
        return False
    if old is None or (new.preferred and not old.preferred):
        return True
    if old.preferred and not new.preferred:
        return False
    have, offered = len(old.nodes or ()), len(new.nodes)
    if old.preferred or have > width:
        return _fitter(new, old, closest=closest)
    if have == width:
        return offered == width and _fitter(new, old, closest=closest)
    if offered > width or offered < have:
        return False
    return offered > have or _fitter(new, old, closest=closest)


def _fitter(new: Hint, old: Hint, *, closest: bool) -> bool:
    one, other = new.nodes or frozenset(), old.nodes or frozenset()
    if len(one) != len(other):
        return len(one) < len(other)
    if closest and _mean(one) != _mean(other):
        return _mean(one) < _mean(other)
    return mask(one) < mask(other)


def _mean(nodes: frozenset[int]) -> float:
    values = [_DISTANCES[one][other] for one in nodes for other in nodes]
    return sum(values) / len(values)


def _permuted(lists: Sequence[Sequence[Hint]], *, closest: bool) -> Hint:
    every = frozenset(_NODES)
    width = max(min((len(one.nodes) for one in hints if one.nodes is not None), default=0) for hints in lists)
    best: Hint | None = None
    for permutation in itertools.product(*lists):
        masks = [one.nodes for one in permutation if one.nodes is not None]
        nodes = every.intersection(*masks)
        same = all(one == masks[0] for one in masks)
        new = Hint(nodes, same and all(one.preferred for one in permutation))
        if _better(new, best, width, closest=closest):
            best = new
    return best or Hint(every, preferred=False)


@settings(max_examples=400, deadline=None)
@given(st.lists(_HINTS, min_size=1, max_size=3), st.booleans())
def test_the_best_hint_is_the_one_that_all_permutations_lead_to(lists: list[list[Hint]], closest: bool) -> None:  # noqa: FBT001  drawn
    merger = Merger(TopologyPolicy.BEST_EFFORT, _NODES, closest, _DISTANCES)
    best, admit = merger.merge([{f"r{index}": hints} for index, hints in enumerate(lists)])
    assert admit
    assert best == _permuted(lists, closest=closest)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6, unique=True), st.data())
def test_sums_over_sets(nodes: list[int], data: st.DataObject) -> None:
    values = {node: data.draw(st.integers(-5, 2**70)) for node in nodes}
    subsets = node_subsets(tuple(nodes))
    assert len(subsets) == 2 ** len(nodes) - 1
    assert subset_sums(subsets, values) == [sum(values[node] for node in one.nodes) for one in subsets]
    assert [one.bits for one in subsets] == [mask(frozenset(one.nodes)) for one in subsets]
