"""What a drain does with pods and Nodes, as tables and laws."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunectl.core.drain.budget import Budget, Requirement, blocked_pods, read_budget
from tunectl.core.drain.node import (
    CORDONED_BY,
    ClusterNode,
    cordon_patch,
    find_node,
    not_ready_reasons,
    read_node,
    uncordon_patch,
)
from tunectl.core.drain.pod import Consent, Fate, Pod, fate_of, read_pod
from tunectl.core.drain.refusal import drain_problems
from tunectl.core.errors import RefusedError

WEB = Pod("shop", "web-1", "u1", "ReplicaSet", labels={"app": "web"})
ALL = Consent(delete_emptydir_data=True, force=True)
PODS = st.builds(
    Pod,
    st.sampled_from(["a", "b"]),
    st.sampled_from(["x", "y", "z"]),
    owner=st.sampled_from(["", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"]),
    phase=st.sampled_from(["Pending", "Running", "Succeeded", "Failed", "Unknown"]),
    is_mirror=st.booleans(),
    has_empty_dir=st.booleans(),
    is_leaving=st.booleans(),
)
CONSENTS = st.builds(Consent, st.booleans(), st.booleans())


@pytest.mark.parametrize(
    ("pod", "consent", "fate"),
    [
        (WEB, Consent(), Fate.EVICTED),
        (replace(WEB, owner="DaemonSet"), ALL, Fate.STAYS),
        (replace(WEB, owner="DaemonSet", phase="Failed"), ALL, Fate.STAYS),
        (replace(WEB, owner="", is_mirror=True), ALL, Fate.STAYS),
        (replace(WEB, owner=""), Consent(), Fate.NOBODY_REPLACES),
        (replace(WEB, owner=""), Consent(delete_emptydir_data=True), Fate.NOBODY_REPLACES),
        (replace(WEB, owner=""), Consent(force=True), Fate.EVICTED),
        (replace(WEB, owner="", phase="Succeeded"), Consent(), Fate.EVICTED),
        (replace(WEB, has_empty_dir=True), Consent(force=True), Fate.LOSES_DATA),
        (replace(WEB, has_empty_dir=True), Consent(delete_emptydir_data=True), Fate.EVICTED),
        (replace(WEB, has_empty_dir=True, phase="Failed"), Consent(), Fate.EVICTED),
        (replace(WEB, is_leaving=True, owner=""), Consent(), Fate.LEAVING),
    ],
)
def test_the_fate_of_a_pod(pod: Pod, consent: Consent, fate: Fate) -> None:
    assert fate_of(pod, consent) is fate


@given(PODS, CONSENTS)
def test_pods_of_daemon_sets_and_static_pods_are_never_evicted(pod: Pod, consent: Consent) -> None:
    stays = pod.owner == "DaemonSet" or pod.is_mirror
    assert (fate_of(pod, consent) is Fate.STAYS) is stays


@given(PODS, CONSENTS)
def test_with_every_consent_no_pod_forbids_a_drain_and_consent_never_makes_it_worse(pod: Pod, some: Consent) -> None:
    assert not fate_of(pod, ALL).forbids
    if not fate_of(pod, some).forbids:
        assert fate_of(pod, ALL) is fate_of(pod, some)


def test_a_pod_is_read_as_the_api_writes_it() -> None:
    document = {
        "metadata": {
            "name": "p",
            "namespace": "n",
            "uid": "u",
            "ownerReferences": [{"kind": "Node", "name": "x"}, {"kind": "Job", "controller": True}],
            "deletionTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {"volumes": [{"name": "a", "configMap": {}}, {"name": "b", "emptyDir": {}}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]},
    }
    assert read_pod(document) == Pod("n", "p", "u", "Job", has_empty_dir=True, is_leaving=True, ready=False)


def _budget(**more: Any) -> Budget:
    return replace(Budget("shop", "web", (Requirement("app", "In", ("web",)),)), **more)


@pytest.mark.parametrize(
    ("pod", "budget", "blocked"),
    [
        (WEB, _budget(), True),
        (WEB, _budget(allowed=1), False),
        (WEB, _budget(allowed=1, current=False), True),
        (WEB, _budget(namespace="other"), False),
        (WEB, _budget(selector=None), False),
        (WEB, _budget(selector=()), True),
        (WEB, _budget(selector=(Requirement("app", "NotIn", ("web",)),)), False),
        (WEB, _budget(selector=(Requirement("tier", "NotIn", ("x",)),)), True),
        (WEB, _budget(selector=(Requirement("tier", "Exists"),)), False),
        (WEB, _budget(selector=(Requirement("tier", "DoesNotExist"),)), True),
        (replace(WEB, phase="Pending"), _budget(), False),
        (replace(WEB, ready=False), _budget(), True),
        (replace(WEB, ready=False), _budget(healthy_enough=True), False),
        (replace(WEB, ready=False), _budget(always_allows_unhealthy=True), False),
    ],
)
def test_which_budget_turns_an_eviction_down(pod: Pod, budget: Budget, *, blocked: bool) -> None:
    assert bool(blocked_pods([pod], [budget])) is blocked


def test_two_budgets_forbid_for_ever_even_with_room_and_when_the_user_waits() -> None:
    two = [_budget(allowed=5), _budget(name="again", allowed=5)]
    (found,) = blocked_pods([WEB], two)
    assert found.for_ever
    assert [one.code for one in drain_problems("n1", [WEB], two, ALL, waits=True)] == ["TUN-3708"]


def test_a_budget_is_read_as_the_api_writes_it_and_is_not_trusted_before_its_controller_looked() -> None:
    document: dict[str, Any] = {
        "metadata": {"name": "b", "namespace": "shop", "generation": 2},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "minAvailable": 1},
        "status": {"disruptionsAllowed": 3, "observedGeneration": 1, "currentHealthy": 4, "desiredHealthy": 1},
    }
    assert blocked_pods([WEB], [read_budget(document)])
    document["status"]["observedGeneration"] = 2
    assert not blocked_pods([WEB], [read_budget(document)])


def test_everything_that_forbids_a_drain_is_said_at_once() -> None:
    pods = [WEB, replace(WEB, name="alone", owner="", labels={}), replace(WEB, name="data", has_empty_dir=True)]
    found = drain_problems("n1", pods, [_budget()], Consent(), waits=False)
    assert [one.code for one in found] == ["TUN-3706", "TUN-3705", "TUN-3707", "TUN-3707"]
    assert [one.code for one in drain_problems("n1", pods, [_budget()], ALL, waits=True)] == []


NODE = ClusterNode("n1", "7", ready=True, boot_id="b1", names=frozenset({"n1", "10.0.0.1"}), extended={"x.io/gpu": 2})


def test_our_cordon_comes_and_goes_and_names_the_version_that_was_read() -> None:
    patch = cordon_patch(NODE, "12")
    assert patch is not None
    assert patch["spec"] == {"unschedulable": True}
    assert patch["metadata"]["resourceVersion"] == "7"
    ours = replace(NODE, cordoned=True, annotations=patch["metadata"]["annotations"])
    assert ours.annotations[CORDONED_BY] == "12"
    assert ours.resources_before == {"x.io/gpu": 2}
    back = uncordon_patch(ours)
    assert back is not None
    assert set(back["metadata"]["annotations"].values()) == {None}


def test_a_cordon_of_somebody_else_is_neither_taken_nor_lifted() -> None:
    theirs = replace(NODE, cordoned=True)
    assert cordon_patch(theirs, "12") is None
    assert uncordon_patch(theirs) is None
    assert uncordon_patch(replace(NODE, annotations={CORDONED_BY: "12"})) is None


def test_a_node_is_well_when_ready_rebooted_and_complete() -> None:
    before = replace(NODE, annotations={"tunectl.io/resources-before": '{"x.io/gpu": 2}'})
    assert not_ready_reasons(before, "b1") == ()
    assert len(not_ready_reasons(replace(before, ready=False, extended={"x.io/gpu": 1}), "b2")) == 3


def test_a_node_is_found_by_boot_then_name_then_address() -> None:
    other = replace(NODE, name="n2", boot_id="b2", names=frozenset({"n2", "10.0.0.2"}))
    assert find_node("rack-7", (), "b2", "", [NODE, other]) == "n2"
    assert find_node("n1", (), "", "", [NODE, other]) == "n1"
    assert find_node("rack-7", ("10.0.0.2",), "", "", [NODE, other]) == "n2"
    assert find_node("rack-7", (), "b1", "n1", [NODE, other]) == "n1"


@pytest.mark.parametrize(
    ("host", "boot", "wanted", "code"),
    [("x", "", "", "TUN-3701"), ("n1", "", "10.0.0.1", "TUN-3701"), ("n1", "other", "", "TUN-3703")],
)
def test_a_host_that_is_no_node_of_the_cluster_is_refused(host: str, boot: str, wanted: str, code: str) -> None:
    with pytest.raises(RefusedError) as caught:
        find_node(host, (), boot, wanted, [NODE])
    assert caught.value.problems[0].code == code


def test_a_name_that_two_nodes_answer_to_is_refused() -> None:
    with pytest.raises(RefusedError) as caught:
        find_node("n1", ("10.0.0.2",), "", "", [NODE, replace(NODE, name="n2", names=frozenset({"n2", "10.0.0.2"}))])
    assert caught.value.problems[0].code == "TUN-3702"


def test_only_resources_of_device_plugins_count_as_extended() -> None:
    allocatable = {"cpu": "8", "hugepages-1Gi": "4Gi", "nvidia.com/gpu": "2", "x.kubernetes.io/y": "1", "a.b/c": "0"}
    assert read_node({"metadata": {"name": "n"}, "status": {"allocatable": allocatable}}).extended == {
        "nvidia.com/gpu": 2
    }
