"""Ways out of a refusal: each one, done from the beginning, admits the pod."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.simulations import burstable, container, guaranteed, planned_node, pod

from tunectl.core.kubelet.admission import Rejection
from tunectl.core.kubelet.node import KubeletNode
from tunectl.core.kubelet.other_pods import other_pods, with_request
from tunectl.core.kubelet.planned_node import PlannedNode, Scheduler
from tunectl.core.kubelet.pod import Pod
from tunectl.core.kubelet.refused import Refused
from tunectl.core.kubelet.simulation import simulate
from tunectl.core.kubelet.ways_out import WayOut, ways_out

_SHAPES = {"2s4c2t": "0,8", "2s4c2t4n": "0,8", "1s6c1t": "0", "2s3c2t": "0-1"}
_SIZES = st.sampled_from(["64Mi", "1Gi", "6Gi", "13Gi", "17Gi", "30Gi", "40Gi"])


def _at(planned: PlannedNode, before: Sequence[Pod], refused: Pod) -> Refused:
    node, scheduler = planned.boot(), planned.scheduler()
    admitted: list[Pod] = []
    for one in before:
        if not scheduler.lacking(one):
            try:
                node.admit(one)
            except Rejection:
                continue
            scheduler.take(one)
            admitted.append(one)
    return Refused(planned, node, scheduler, admitted, refused, _container(node, scheduler, refused))


def _container(node: KubeletNode, scheduler: Scheduler, refused: Pod) -> str:
    if scheduler.lacking(refused):
        return ""
    try:
        node.fork().admit(refused)
    except Rejection as rejection:
        return rejection.container
    raise AssertionError("the pod is admitted")


@st.composite
def _nodes(draw: Any) -> PlannedNode:
    shape = draw(st.sampled_from(sorted(_SHAPES)))
    config: dict[str, Any] = {
        "topologyManagerPolicy": draw(st.sampled_from(["none", "best-effort", "restricted", "single-numa-node"])),
        "topologyManagerScope": draw(st.sampled_from(["container", "pod"])),
        "memoryManagerPolicy": draw(st.sampled_from(["None", "Static"])),
    }
    if draw(st.booleans()):
        config["cpuManagerPolicyOptions"] = {"full-pcpus-only": "true"}
    alternatives = ("0,8",) if shape.startswith("2s4c2t") and draw(st.booleans()) else ()
    reserved = "0-1" if alternatives else _SHAPES[shape]
    return planned_node(shape, reserved=reserved, max_pods=draw(st.integers(1, 6)), alternatives=alternatives, **config)


@st.composite
def _pods(draw: Any, name: str) -> Pod:
    if draw(st.integers(0, 5)) == 0:
        return burstable(name, draw(st.sampled_from(["100m", "3", "20"])), draw(_SIZES))
    count = draw(st.integers(1, 2))
    cpus = st.sampled_from(["500m", "1", "2", "3", "4", "5", "7", "9", "10", "14", "15"])
    containers = [container(f"c{index}", draw(cpus), draw(_SIZES)) for index in range(count)]
    init = [container("setup", draw(cpus), draw(_SIZES))] if draw(st.integers(0, 3)) == 0 else []
    return pod(name, *containers, initContainers=init)


@settings(max_examples=150, deadline=None)
@given(_nodes(), st.lists(_pods("x"), max_size=4), _pods("refused"))
def test_every_way_out_admits_the_pod_from_the_beginning(planned: PlannedNode, shapes: list[Pod], last: Pod) -> None:
    before = [with_name(one, f"p{number}") for number, one in enumerate(shapes)]
    outcome = simulate(planned, [*before, last]).outcomes[-1]
    if outcome.admitted or outcome.same_as:
        return
    at = _at(planned, before, last)
    found = list(ways_out(at))
    assert [way.text for way in found] == list(outcome.changes)
    for way in found:
        _check(way, at)


def with_name(one: Pod, name: str) -> Pod:
    """Return the pod under another name."""
    return Pod(name, one.app, one.init, one.requests, one.limits)


def _check(way: WayOut, at: Refused) -> None:
    assert (way.pod != at.pod) is ("pod: " in way.text), way.text
    assert (way.planned != at.planned) is ("tier: " in way.text), way.text
    again = simulate(way.planned, [*at.before, way.pod], explain=False)
    assert again.trouble == ""
    assert [outcome.admitted for outcome in again.outcomes] == [True] * (len(at.before) + 1), way.text


def test_fewer_cpus_are_as_many_as_are_admitted() -> None:
    planned = planned_node(topologyManagerPolicy="single-numa-node")
    for cpus in range(9, 15):
        (outcome,) = simulate(planned, [guaranteed("a", cpus)]).outcomes
        assert outcome.changes[0] == f"pod: cpu 8 instead of {cpus} for container c"


def test_a_request_of_more_cpus_than_there_ever_were_is_answered_from_what_there_is() -> None:
    planned = planned_node("1s4c2t", reserved="0-1")
    tried: list[Pod] = []

    class Counting(Refused):
        def admits(self, pod: Pod) -> bool:
            tried.append(pod)
            return super().admits(pod)

    at = _at(planned, [], guaranteed("p", "177516000000", "1Gi"))
    counting = Counting(at.planned, at.node, at.scheduler, at.before, at.pod, at.container)
    texts = [text for text, _pod in other_pods(counting)]
    assert any(text.startswith("cpu 6 instead of") for text in texts)
    assert len(tried) < 50


def test_what_nothing_admits_has_no_way_out() -> None:
    one = pod("a", container("a", 100), container("b", 100))
    (outcome,) = simulate(planned_node(), [one]).outcomes
    assert outcome.changes == ()


def test_two_changes_where_none_alone_will_do() -> None:
    (outcome,) = simulate(planned_node(max_pods=0), [guaranteed("a", 100)]).outcomes
    assert outcome.changes == (
        "tier: kubelet.max_pods=1 (instead of 0) and pod: cpu 14 instead of 100 for container c",
    )
    config: dict[str, Any] = {"topologyManagerPolicy": "single-numa-node", "memoryManagerPolicy": "Static"}
    whole = {"full-pcpus-only": "true"}
    (outcome,) = simulate(planned_node(cpuManagerPolicyOptions=whole, **config), [guaranteed("a", 3, "40Gi")]).outcomes
    assert (
        outcome.changes[0] == "pod: cpu 2 instead of 3 for container c and memory 32Gi instead of 40Gi for container c"
    )


def test_a_change_that_would_turn_an_earlier_pod_away_is_not_offered() -> None:
    # Four CPUs fewer reserved would do for the pod, but what is reserved is the tier's to keep: all of it.
    planned = planned_node(reserved="0-1,8-9")
    outcome = simulate(planned, [guaranteed("a", 12), guaranteed("b", 5)]).outcomes[1]
    assert outcome.code == "does-not-fit"
    assert outcome.changes == ()


def test_limits_follow_requests_only_where_they_must() -> None:
    bounded = pod("p", {"name": "c", "resources": {"requests": {"cpu": "4"}, "limits": {"cpu": "8"}}})
    two, eight, nine = Fraction(2), Fraction(8), Fraction(9)
    fewer, more = (with_request(bounded, "c", "cpu", size).app[0] for size in (two, nine))
    assert (fewer.requests["cpu"], fewer.limits["cpu"]) == (two, eight)
    assert (more.requests["cpu"], more.limits["cpu"]) == (nine, nine)
    equal = with_request(guaranteed("p", 4), "c", "cpu", two).app[0]
    assert (equal.requests["cpu"], equal.limits["cpu"]) == (two, two)


@pytest.mark.parametrize("scope", ["container", "pod"])
def test_the_other_scope_is_a_way_out(scope: str) -> None:
    planned = planned_node(topologyManagerPolicy="single-numa-node", topologyManagerScope=scope)
    one = pod("p", container("a", 6), container("b", 6))
    (outcome,) = simulate(planned, [one]).outcomes
    assert outcome.admitted is (scope == "container")
    if scope == "pod":
        assert "tier: kubelet.topology_manager_scope=container (instead of pod)" in outcome.changes


def test_a_large_manifest_of_different_pods_is_explained_for_the_first_ones() -> None:
    planned = planned_node(topologyManagerPolicy="single-numa-node")
    pods = [guaranteed(f"p{number}", 9, f"{number}Gi") for number in range(1, 20)]
    outcomes = simulate(planned, pods).outcomes
    assert [bool(outcome.changes) for outcome in outcomes] == [True] * 10 + [False] * 9
    assert all(outcome.arithmetic for outcome in outcomes)
