"""The order of eviction: over the request, then priority, then bytes over; never by class."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.audits import audit_objects, fixed, pod

from tunectl.core.audit.eviction import Claim, eviction_ranks

_GIB = 2**30


def _memory(request: str, limit: str = "") -> dict[str, Any]:
    limits = {"limits": {"memory": limit}} if limit else {}
    return {"name": "c", "resources": {"requests": {"memory": request}, **limits}}


def _ranks(*objects: Any) -> dict[str, int | None]:
    return {one.subject.name: one.eviction_rank for one in audit_objects(*objects).pods}


def test_quality_of_service_is_no_key() -> None:
    # Within its request, a Guaranteed pod of low priority goes before a Burstable one of high priority.
    low = pod(fixed(2), name="guaranteed", priority=0)
    high = pod(_memory("1Gi", "1Gi"), name="burstable", priority=1000)
    assert _ranks(high, low) == {"guaranteed": 1, "burstable": 2}


def test_bytes_over_the_request_count_not_shares() -> None:
    ten_times = pod(_memory("100Mi", "1000Mi"), name="ten-times")
    twice = pod(_memory("4Gi", "8Gi"), name="twice")
    assert _ranks(ten_times, twice) == {"twice": 1, "ten-times": 2}


def test_priority_goes_before_bytes() -> None:
    large = pod(_memory("1Gi", "9Gi"), name="large", priority=10)
    small = pod(_memory("1Gi", "2Gi"), name="small", priority=-10)
    assert _ranks(large, small) == {"small": 1, "large": 2}


def test_a_pod_that_nothing_bounds_goes_first_of_its_priority() -> None:
    best_effort = pod({"name": "c"}, name="best-effort")
    bounded = pod(_memory("1Gi", "100Gi"), name="bounded")
    kept = pod(fixed(2), name="kept")
    assert _ranks(kept, bounded, best_effort) == {"best-effort": 1, "bounded": 2, "kept": 3}


@pytest.mark.parametrize(
    ("spec", "never"),
    [
        ({"priorityClassName": "system-node-critical"}, True),
        ({"priorityClassName": "system-cluster-critical"}, True),
        ({"priority": 2_000_000_000}, True),
        ({"priority": 1_999_999_999}, False),
        ({"priorityClassName": "mine"}, False),
        ({}, False),
    ],
)
def test_critical_pods_are_never_evicted(spec: dict[str, Any], *, never: bool) -> None:
    assert (_ranks(pod({"name": "c"}, **spec))["p"] is None) is never


def test_priority_classes_of_the_manifests_are_followed() -> None:
    urgent = {"kind": "PriorityClass", "apiVersion": "scheduling.k8s.io/v1", "metadata": {"name": "urgent"}}
    usual = {**urgent, "metadata": {"name": "usual"}, "value": 50, "globalDefault": True}
    result = audit_objects(
        pod(fixed(1), name="a", priorityClassName="urgent"), pod(fixed(1), name="b"), {**urgent, "value": 1000}, usual
    )
    assert [one.subject.pod.priority for one in result.pods] == [1000, 50]
    assert [one.eviction_rank for one in result.pods] == [2, 1]


def test_a_class_that_nobody_describes_is_said() -> None:
    (unknown,) = audit_objects(pod(fixed(1), priorityClassName="mine")).pods
    (system,) = audit_objects(pod(fixed(1), priorityClassName="system-node-critical")).pods
    assert (unknown.subject.priority_known, system.subject.priority_known) == (False, True)


def test_overhead_belongs_to_request_and_usage() -> None:
    (audited,) = audit_objects(pod(fixed(1, "1Gi"), overhead={"memory": "1Gi"})).pods
    assert (audited.claim.request, audited.claim.usage) == (2 * _GIB, 2 * _GIB)


_CLAIMS = st.builds(
    Claim, st.integers(0, 9), st.none() | st.integers(0, 9), st.integers(-2, 2), st.sampled_from([False] * 4 + [True])
)


@given(st.lists(_CLAIMS, max_size=8))
def test_ranks_follow_the_kubelets_keys(claims: list[Claim]) -> None:
    ranks = eviction_ranks(claims)
    assert [rank is None for rank in ranks] == [claim.never for claim in claims]
    for first, place in zip(claims, ranks, strict=True):
        for other, behind in zip(claims, ranks, strict=True):
            if place is None or behind is None or place >= behind:
                continue
            assert first.is_over >= other.is_over
            if first.is_over == other.is_over:
                assert first.priority <= other.priority
                if first.priority == other.priority and first.usage is not None and other.usage is not None:
                    assert first.usage - first.request > other.usage - other.request
