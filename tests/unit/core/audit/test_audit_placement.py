"""Where pods go: tiers, tolerations, selectors, spread, anti-affinity."""

from __future__ import annotations

from typing import Any

import pytest
from support.audits import audit_objects, deployment, fixed, found, ids, loose, pod, tier

from tunectl.app.audit import AuditRequest
from tunectl.core.audit.placement import tolerates, toleration_of
from tunectl.core.audit.spread import selects
from tunectl.core.desired import Platform
from tunectl.core.findings import Severity
from tunectl.core.pools import Taint

_LATENCY, _BATCH, _SHARED = tier("latency-sensitive"), tier("batch"), tier("shared")
_ONE = AuditRequest((_LATENCY,))
_ALL = AuditRequest((_LATENCY, _BATCH, _SHARED))
_TOLERATION = {"key": "workload", "operator": "Equal", "value": "latency-sensitive", "effect": "NoSchedule"}
_AT_HOME: dict[str, Any] = {"nodeSelector": {"pool": "latency-sensitive"}, "tolerations": [_TOLERATION]}


@pytest.mark.parametrize(
    ("toleration", "taint", "does"),
    [
        ({"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"}, Taint("a", "b", "NoSchedule"), True),
        ({"key": "a", "value": "b"}, Taint("a", "b", "NoExecute"), True),
        ({"key": "a", "value": "c"}, Taint("a", "b", "NoSchedule"), False),
        ({"key": "a", "operator": "Exists"}, Taint("a", "b", "NoSchedule"), True),
        ({"key": "a", "operator": "Exists", "effect": "NoExecute"}, Taint("a", "b", "NoSchedule"), False),
        ({"operator": "Exists"}, Taint("a", "b", "NoSchedule"), True),
        ({"operator": "Exists", "effect": "NoExecute"}, Taint("a", "b", "NoSchedule"), False),
        ({}, Taint("a", "b", "NoSchedule"), False),
        ({"key": "a"}, Taint("a", "", "NoSchedule"), True),
    ],
)
def test_tolerations_are_read_as_the_scheduler_does(toleration: dict[str, str], taint: Taint, *, does: bool) -> None:
    assert tolerates(toleration, taint) is does


@pytest.mark.parametrize(
    ("selector", "does"),
    [
        ({"matchLabels": {"app": "a"}}, True),
        ({"matchLabels": {"app": "b"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]}, False),
        ({"matchExpressions": [{"key": "other", "operator": "NotIn", "values": ["a"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, False),
        ({"matchLabels": {"app": "a"}, "matchExpressions": [{"key": "x", "operator": "Exists"}]}, False),
        ({"matchExpressions": [{"key": "app", "operator": "Weird"}]}, False),
        ({}, True),
        (None, False),
    ],
)
def test_selectors_are_read_as_the_api_does(selector: Any, *, does: bool) -> None:
    assert selects(selector, {"app": "a"}) is does


@pytest.mark.parametrize(
    ("spec", "missing"),
    [
        (_AT_HOME, []),
        ({}, ["pod.toleration.missing", "pod.selector.missing"]),
        ({"tolerations": [_TOLERATION]}, ["pod.selector.missing"]),
        ({"nodeSelector": {"pool": "latency-sensitive"}}, ["pod.toleration.missing"]),
        (
            {
                "tolerations": [{"key": "workload", "operator": "Exists"}],
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [
                                {"matchExpressions": [
                                    {"key": "pool", "operator": "In", "values": ["latency-sensitive"]}
                                ]}
                            ]
                        }
                    }
                },
            },
            [],
        ),
    ],
)  # fmt: skip
def test_a_pod_finds_its_tier_and_is_let_in(spec: dict[str, Any], missing: list[str]) -> None:
    result = audit_objects(pod(fixed(2), **spec), request=_ONE)
    assert ids(one for one in result.findings if one.id.startswith(("pod.toleration", "pod.selector"))) == missing
    assert result.pods[0].tier == "latency-sensitive"


def test_a_selected_tier_that_keeps_the_pod_away_is_worse_than_a_missed_one() -> None:
    selected = audit_objects(pod(fixed(2), nodeSelector={"pool": "latency-sensitive"}), request=_ONE)
    missed = audit_objects(pod(fixed(2)), request=_ONE)
    severities = [found(one, "pod.toleration")[0].severity for one in (selected, missed)]
    assert severities == [Severity.CRITICAL, Severity.WARNING]


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        (_AT_HOME, "latency-sensitive"),
        ({"nodeSelector": {"pool": "batch"}}, "batch"),
        ({"nodeSelector": {"pool": "shared"}}, "shared"),
        ({}, "shared"),
        ({"nodeSelector": {"disk": "fast"}}, "shared"),
        ({"nodeSelector": {"pool": "gpu"}}, ""),
    ],
)
def test_of_several_tiers_each_pod_is_judged_by_the_one_it_selects(spec: dict[str, Any], name: str) -> None:
    assert audit_objects(pod(fixed(2), **spec), request=_ALL).pods[0].tier == name


def test_of_two_tiers_one_with_taints_is_for_those_that_select_it() -> None:
    assert audit_objects(pod(fixed(2)), request=AuditRequest((_LATENCY, _BATCH))).pods[0].tier == ""
    result = audit_objects(pod(fixed(2)), request=AuditRequest((_LATENCY, _SHARED)))
    assert result.pods[0].tier == "shared"


@pytest.mark.parametrize(
    ("taint", "toleration"),
    [
        (Taint("a", "b", "NoSchedule"), {"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"}),
        (Taint("a", "", "NoExecute"), {"key": "a", "operator": "Exists", "effect": "NoExecute"}),
    ],
)
def test_the_offered_toleration_is_for_exactly_this_taint(taint: Taint, toleration: dict[str, str]) -> None:
    assert toleration_of(taint) == toleration
    assert tolerates(toleration, taint)


def test_a_pod_that_goes_elsewhere_is_judged_without_the_tier() -> None:
    result = audit_objects(pod(loose("c"), nodeSelector={"pool": "batch"}), request=_ONE)
    assert result.pods[0].tier == ""
    assert ids(found(result, "pod.selector")) == ["pod.selector.elsewhere"]
    assert {one.severity for one in found(result, "pod.qos")} == {Severity.INFO}


def test_a_pod_of_every_node_is_not_expected_to_be_pinned() -> None:
    daemon = {**deployment(loose("c")), "kind": "DaemonSet"}
    result = audit_objects(daemon, request=_ONE)
    assert [one.id for one in result.findings if one.severity is not Severity.INFO] == []


def test_openshift_pools_are_found_by_their_role() -> None:
    openshift = tier("hpc-massive", platform=Platform.OPENSHIFT)
    assert openshift.labels == {"node-role.kubernetes.io/hpc-massive": ""}
    assert openshift.runtime_class == "performance-hpc-massive-profile"
    (one,) = found(audit_objects(pod(fixed(2)), request=AuditRequest((openshift,))), "pod.selector")
    assert one.edits[0].path == ("spec", "nodeSelector", "node-role.kubernetes.io/hpc-massive")


def test_tolerating_everything_is_too_wide_but_for_daemons() -> None:
    everything: dict[str, Any] = {"tolerations": [{"operator": "Exists"}]}
    daemon = {**deployment(loose("c"), **everything), "kind": "DaemonSet"}
    assert ids(found(audit_objects(pod(fixed(2), **everything)), "pod.toleration")) == ["pod.toleration.too-wide"]
    assert found(audit_objects(daemon), "pod.toleration") == []


_SPREAD = {
    "maxSkew": 1,
    "topologyKey": "kubernetes.io/hostname",
    "whenUnsatisfiable": "ScheduleAnyway",
    "labelSelector": {"matchLabels": {"app": "d"}},
}


def _repelling(*names: str, key: str = "app", **more: Any) -> dict[str, Any]:
    selector = {"matchExpressions": [{"key": key, "operator": "In", "values": list(names)}]}
    term = {"labelSelector": selector, "topologyKey": "kubernetes.io/hostname", **more}
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


@pytest.mark.parametrize(
    ("spec", "missing"),
    [
        ({}, ["pod.spread.missing"]),
        ({"topologySpreadConstraints": [_SPREAD]}, []),
        (_repelling("d"), []),
        (_repelling("other"), ["pod.spread.missing"]),
        (
            {"topologySpreadConstraints": [{**_SPREAD, "labelSelector": {"matchLabels": {"app": "typo"}}}]},
            ["pod.spread.selects-nothing", "pod.spread.missing"],
        ),
    ],
)
def test_copies_are_spread(spec: dict[str, Any], missing: list[str]) -> None:
    assert ids(found(audit_objects(deployment(fixed(2), **spec), request=_ONE), "pod.spread")) == missing


@pytest.mark.parametrize(("replicas", "kind"), [(1, "Deployment"), (0, "Deployment"), (3, "Job"), (3, "DaemonSet")])
def test_one_copy_and_jobs_need_no_spread(replicas: int, kind: str) -> None:
    given = {**deployment(fixed(2), replicas=replicas), "kind": kind}
    if kind == "Job":
        given["apiVersion"] = "batch/v1"
    assert found(audit_objects(given, request=_ONE), "pod.spread") == []


def test_the_offered_constraints_spread_the_pod() -> None:
    (one,) = found(audit_objects(deployment(fixed(2)), request=_ONE), "pod.spread")
    keys = [edit.value["topologyKey"] for edit in one.edits]
    assert keys == ["topology.kubernetes.io/zone", "kubernetes.io/hostname"]
    assert all(selects(edit.value["labelSelector"], {"app": "d"}) and edit.append for edit in one.edits)


def test_spread_of_a_light_service_is_a_note() -> None:
    (one,) = found(audit_objects(deployment(loose("c"))), "pod.spread")
    assert (one.severity, one.edits) == (Severity.INFO, ())


def test_heavy_applications_repel_each_other() -> None:
    pair = (deployment(fixed(6), name="a", replicas=1), deployment(fixed(6), name="b", replicas=1))
    findings = found(audit_objects(*pair), "pod.antiaffinity")
    assert [one.subject for one in findings] == ["Deployment/a", "Deployment/b"]
    assert [one.edits[0].value["labelSelector"]["matchExpressions"][0]["values"] for one in findings] == [["b"], ["a"]]


@pytest.mark.parametrize(
    ("first", "second", "meets"),
    [
        (_repelling("b"), {}, False),
        ({}, _repelling("a"), False),
        (_repelling("b", "a"), _repelling("b", "a"), False),
        (_repelling("c"), {}, True),
        (_repelling("b", key="team"), {}, True),
        (_repelling("b", topologyKey="rack"), {}, True),
        ({"nodeSelector": {"pool": "x"}}, {"nodeSelector": {"pool": "y"}}, False),
        ({"nodeSelector": {"pool": "x"}}, {"nodeSelector": {"pool": "x"}}, True),
        ({"nodeSelector": {"pool": "x"}}, {}, True),
        ({"namespace": "one", **_repelling("b")}, {"namespace": "two"}, True),
        ({"namespace": "one", **_repelling("b", namespaces=["two"])}, {"namespace": "two"}, False),
        ({"namespace": "one", **_repelling("b", namespaceSelector={})}, {"namespace": "two"}, False),
        ({"namespace": "default", **_repelling("b")}, {}, False),
    ],
)
def test_who_may_meet_whom(first: dict[str, Any], second: dict[str, Any], *, meets: bool) -> None:
    pair = (deployment(fixed(6), name="a", replicas=1, **first), deployment(fixed(6), name="b", replicas=1, **second))
    assert bool(found(audit_objects(*pair), "pod.antiaffinity")) is meets


def test_two_objects_of_one_application_do_not_repel_their_own_copies() -> None:
    pair = [deployment(fixed(6), name=name, labels={"app": "same"}) for name in ("a", "b")]
    assert [one.edits for one in found(audit_objects(*pair), "pod.antiaffinity")] == [(), ()]


def test_a_term_that_selects_namespaces_by_label_was_thought_of() -> None:
    selector: dict[str, Any] = {"namespaceSelector": {"matchLabels": {"team": "x"}}}
    first = deployment(fixed(6), name="a", namespace="one", **_repelling("b", **selector))
    second = deployment(fixed(6), name="b", namespace="two")
    assert found(audit_objects(first, second), "pod.antiaffinity") == []


def test_a_term_for_another_namespace_names_it() -> None:
    pair = (deployment(fixed(6), name="a", namespace="one"), deployment(fixed(6), name="b", namespace="two"))
    terms = [one.edits[0].value for one in found(audit_objects(*pair), "pod.antiaffinity")]
    assert [term["namespaces"] for term in terms] == [["two"], ["one"]]


def test_a_term_for_an_open_namespace_is_about_all() -> None:
    pair = (deployment(fixed(6), name="a", namespace="one"), deployment(fixed(6), name="b"))
    terms = [one.edits[0].value for one in found(audit_objects(*pair), "pod.antiaffinity")]
    assert [(term.get("namespaceSelector"), term.get("namespaces")) for term in terms] == [({}, None), (None, ["one"])]


def test_applications_without_a_name_are_told_to_have_one() -> None:
    pair = (pod(fixed(6), name="a"), pod(fixed(6), name="b"))
    findings = found(audit_objects(*pair), "pod.antiaffinity")
    assert [(one.edits, "label app" in one.remedy) for one in findings] == [((), True)] * 2


def test_light_applications_and_shared_cpus_may_meet() -> None:
    light = (deployment(fixed(2), name="a"), deployment(fixed(2), name="b"))
    heavy = (deployment(fixed(6), name="a"), deployment(fixed(6), name="b"))
    assert found(audit_objects(*light), "pod.antiaffinity") == []
    assert found(audit_objects(*heavy, request=AuditRequest((_BATCH,))), "pod.antiaffinity") == []
    assert found(audit_objects(*light, request=AuditRequest(heavy_cpus=2)), "pod.antiaffinity")
