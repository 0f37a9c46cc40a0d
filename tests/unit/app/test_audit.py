"""Audit and correction of whole files: what is corrected is found right, and nothing makes the audit fail."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from support.audits import FILE, audit_text, fixed, found, ids, loose, tier

from tunectl.app.audit import AuditRequest, audit_manifests, correct, exit_code
from tunectl.core.audit.audit import all_verdicts
from tunectl.core.check_catalogue import CHECKS
from tunectl.core.codes import CODES
from tunectl.core.desired import Platform
from tunectl.core.errors import InputError
from tunectl.core.findings import Severity, Verdict
from tunectl.planning.manifests import manifests_of

_WHOLE = {"kubelet.cpu_manager_policy_options": {"full-pcpus-only": "true"}}
_PINNED = AuditRequest((tier("latency-sensitive", "2s8c2t", overrides=_WHOLE),))

_WRONG = """\
# Two applications that know nothing of each other.
apiVersion: v1
kind: List
items:
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: a}
  spec:
    replicas: 3   # as always
    template:
      metadata:
        labels: {app: a}
      spec:
        containers:
        - name: main
          resources:
            limits:
              cpu: 4500m   # half a core more
              memory: 2Gi
        - name: log
          resources: {requests: {cpu: 100m, memory: 64Mi}}
- apiVersion: apps/v1
  kind: StatefulSet
  metadata: {name: b}
  spec:
    replicas: 2
    template:
      metadata:
        labels: {app: b}
      spec:
        containers:
        - name: main
          env: [{name: OMP_NUM_THREADS, value: "64"}]
          resources:
            requests: {cpu: 3, memory: 2Gi}
            limits: {cpu: 5, memory: 2Gi, hugepages-2Mi: 2Mi}
"""


def _corrected(text: str, request: AuditRequest) -> str:
    return correct(manifests_of([(FILE, text)]), request).after[FILE]


def test_a_corrected_manifest_is_clean_for_what_was_corrected() -> None:
    before = audit_text(_WRONG, _PINNED)
    fixable = {one.id for one in before.findings if one.edits}
    assert {"pod.qos.not-guaranteed", "pod.spread.missing", "pod.toleration.missing", "pod.selector.missing"} <= fixable
    written = _corrected(_WRONG, _PINNED)
    after = audit_text(written, _PINNED)
    assert not [one for one in after.findings if one.edits]
    assert {one.id for one in after.findings} <= {one.id for one in before.findings} - fixable | {"pod.cpu.not-whole"}
    assert all(comment in written for comment in ("# Two app", "# as always", "# half a core more"))
    containers = {one.name: one.exclusive for pod in after.pods for one in pod.containers}
    assert containers["log"] == 0
    assert [one.exclusive for pod in after.pods for one in pod.containers if one.name == "main"] == [6, 6]


def test_a_correction_of_a_correct_manifest_is_nothing() -> None:
    written = _corrected(_WRONG, _PINNED)
    assert _corrected(written, _PINNED) == written


def test_anchors_are_left_and_said() -> None:
    text = """\
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  initContainers:
  - name: first
    resources: &same {limits: {cpu: 2, memory: 1Gi}, requests: {cpu: 1, memory: 1Gi}}
  containers:
  - {name: c, resources: *same}
"""
    correction = correct(manifests_of([(FILE, text)]), _PINNED)
    spec = yaml.safe_load(correction.after[FILE])["spec"]
    assert spec["containers"] == yaml.safe_load(text)["spec"]["containers"]
    assert {check for _, check, _ in correction.left} == {"pod.qos.not-guaranteed"}
    assert len(correction.left) == 2


def test_tier_machines_and_memory_are_named_by_the_request() -> None:
    assert audit_text(_WRONG, _PINNED).memory == 128 * 2**30
    assert audit_text(_WRONG, AuditRequest(node_memory=2**33)).memory == 2**33
    nothing = audit_text(_WRONG)
    assert nothing.memory == 0
    assert {one.oom_score_adj for pod in nothing.pods for one in pod.containers} == {None}


@pytest.mark.parametrize(
    ("text", "fail_on", "code"),
    [
        ("critical", Severity.CRITICAL, 3),
        ("warning", Severity.CRITICAL, 0),
        ("warning", Severity.WARNING, 3),
        ("info", Severity.WARNING, 0),
        ("info", Severity.INFO, 3),
        ("clean", Severity.INFO, 0),
    ],
)
def test_exit_codes_follow_the_severity(text: str, fail_on: Severity, code: int) -> None:
    containers: dict[str, Any] = {
        "critical": {"name": "c", "resources": {"limits": {"cpu": 1, "memory": 1}, "requests": {"cpu": 2}}},
        "warning": {"name": "c"},
        "info": loose("c"),
        "clean": fixed(2),
    }
    spec = {"containers": [containers[text]]}
    manifest = yaml.safe_dump({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec})
    assert exit_code(audit_text(manifest), fail_on) == code


def test_what_cannot_be_judged_is_unknown() -> None:
    request = AuditRequest((tier("latency-sensitive", overrides=_WHOLE),))
    spec = {
        "nodeSelector": {"pool": "latency-sensitive"},
        "tolerations": [{"key": "workload", "operator": "Exists"}],
        "containers": [fixed(3)],
    }
    manifest = yaml.safe_dump({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec})
    result = audit_text(manifest, request)
    assert ids(result.findings) == ["pod.cpu.odd-on-smt"]
    assert exit_code(result, Severity.WARNING) == 5


def test_every_check_has_a_verdict_for_every_pod() -> None:
    known = {name for name in CHECKS if name.startswith("pod.")}
    for request in (AuditRequest(), AuditRequest((tier("batch"),)), _PINNED):
        for pod in audit_text(_WRONG, request).pods:
            assert {one.id for one in all_verdicts(pod)} == known
    bare = {one.id: one.verdict for one in all_verdicts(audit_text(_WRONG).pods[0])}
    assert bare["pod.numa.does-not-fit"] is bare["pod.selector.missing"] is Verdict.NOT_APPLICABLE
    assert bare["pod.args.fixed-cpus"] is Verdict.PASS


def test_findings_stand_at_the_line_of_their_field() -> None:
    lines = _WRONG.splitlines()
    for one in audit_text(_WRONG, _PINNED).findings:
        assert one.asked_in.file == FILE
        last = next((step for step in reversed(one.path) if isinstance(step, str)), "")
        line = lines[one.asked_in.line - 1]
        assert last in line or "spec:" in line or "resources:" in line, (one.id, line)
    (threads,) = found(audit_text(_WRONG, _PINNED), "pod.args")
    assert "OMP_NUM_THREADS" in lines[threads.asked_in.line - 1]


_SCALARS = st.none() | st.booleans() | st.integers(-5, 2**65) | st.floats() | st.text(max_size=6)
_ODD = st.sampled_from(["2", "1500m", "2e3", "1Gi", "0.1", "-1", "", "x", "taskset -c 0-3", "$(A)", "'", "cpu", "true"])
_ANY = st.recursive(
    _SCALARS | _ODD, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_ODD, inner, max_size=3), max_leaves=6
)
_AMOUNTS = st.dictionaries(st.sampled_from(["cpu", "memory", "hugepages-2Mi"]), _ODD | _ANY, max_size=3)
_CONTAINER = st.fixed_dictionaries(
    {},
    optional={
        "name": _ODD | _ANY,
        "command": st.lists(_ODD, max_size=3) | _ANY,
        "args": _ANY,
        "env": st.lists(st.fixed_dictionaries({"name": _ODD, "value": _ANY}), max_size=2) | _ANY,
        "resources": st.fixed_dictionaries({}, optional={"limits": _AMOUNTS, "requests": _AMOUNTS}) | _ANY,
        "restartPolicy": st.sampled_from(["Always"]) | _ANY,
        "volumeMounts": _ANY,
    },
)
_CONTAINERS = st.lists(_CONTAINER | _ANY, max_size=3)
_SPEC = st.fixed_dictionaries(
    {"containers": _CONTAINERS | _ANY},
    optional={
        "initContainers": _CONTAINERS | _ANY,
        "affinity": _ANY,
        "tolerations": st.lists(st.fixed_dictionaries({}, optional={"key": _ANY, "operator": _ANY}) | _ANY, max_size=2),
        "nodeSelector": _ANY,
        "topologySpreadConstraints": st.lists(st.fixed_dictionaries({"labelSelector": _ANY}) | _ANY, max_size=2),
        "volumes": st.lists(_ANY, max_size=2) | _ANY,
        "overhead": _ANY,
        "priority": _ANY,
        "priorityClassName": _ANY,
        "resources": _ANY,
    },
)
_TEMPLATE = st.fixed_dictionaries({"spec": _SPEC | _ANY}, optional={"metadata": _ANY})
_DEPLOYMENT = st.fixed_dictionaries({"template": _TEMPLATE | _ANY}, optional={"replicas": st.integers(0, 3) | _ANY})
_OBJECT = st.fixed_dictionaries(
    {"apiVersion": st.just("apps/v1"), "kind": st.just("Deployment"), "spec": _DEPLOYMENT},
    optional={"metadata": st.fixed_dictionaries({"name": _ANY}) | _ANY},
)


_NAMES = st.from_regex(r"[a-z]([-a-z0-9]{0,6}[a-z0-9])?", fullmatch=True)
_CPUS = st.sampled_from([1, 2, "2", 3, "1500m", "100m", "2e0", "0.1", 5, "64"])
_BYTES = st.sampled_from(["1Gi", "512Mi", "2e9", 2**30, "128Mi", "1G"])
_PAGES = st.sampled_from(["2Mi", "64Mi", "0"])
_LIMITS = st.fixed_dictionaries({}, optional={"cpu": _CPUS, "memory": _BYTES, "hugepages-2Mi": _PAGES})
_WORKING = st.fixed_dictionaries(
    {"name": _NAMES},
    optional={
        "command": st.lists(st.sampled_from(["taskset", "-c", "0-3", "app", "$(A)"]), max_size=3),
        "env": st.lists(
            st.fixed_dictionaries({"name": st.just("OMP_NUM_THREADS"), "value": st.just("64")}), max_size=1
        ),
        "resources": st.fixed_dictionaries({}, optional={"limits": _LIMITS, "requests": _LIMITS}),
    },
)
_WORKLOAD_SPEC = st.fixed_dictionaries(
    {"containers": st.lists(_WORKING, min_size=1, max_size=3, unique_by=lambda one: one["name"])},
    optional={
        "priorityClassName": _NAMES,
        "nodeSelector": st.just({"pool": "latency-sensitive"}),
        "tolerations": st.just([{"key": "workload", "operator": "Exists"}]),
    },
)
_WORKLOAD: st.SearchStrategy[dict[str, Any]] = st.builds(
    lambda name, replicas, spec: {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "template": {"metadata": {"labels": {"app": name}}, "spec": spec}},
    },
    _NAMES,
    st.integers(0, 3),
    _WORKLOAD_SPEC,
)


def _refusal_faults(error: InputError) -> list[str]:
    """Return what is wrong with a refusal: no reason, an unknown code, a place outside of the file."""
    bad = [f"{one.code} at {one.where}" for one in error.problems if one.code not in CODES or FILE not in one.where]
    return bad if error.problems else ["refused without a reason"]


def _audit_faults(text: str) -> list[str]:
    """Return what is wrong with how a text is audited and corrected, or refused."""
    try:
        manifests = manifests_of([(FILE, text)])
        result = audit_manifests(manifests, _PINNED)
        corrected = correct(manifests, _PINNED).after.get(FILE, text)
    except InputError as error:
        return _refusal_faults(error)
    faults = [] if len(result.pods) == len(manifests.workloads) else ["not every workload was audited"]
    known = {name for name in CHECKS if name.startswith("pod.")}
    faults += ["a check has no verdict" for pod in result.pods if {one.id for one in all_verdicts(pod)} != known]
    faults += [f"{one.id} is no check" for one in result.findings if one.id not in CHECKS]
    return faults + ([] if _corrected(corrected, _PINNED) == corrected else ["a second correction changes something"])


@settings(max_examples=200, deadline=None)
@given(st.lists(_WORKLOAD, min_size=1, max_size=2, unique_by=lambda one: one["metadata"]["name"]))
def test_any_workload_is_audited_and_corrected_once(objects: list[Any]) -> None:
    text = yaml.safe_dump_all(objects, allow_unicode=True)
    assert len(audit_text(text, _PINNED).pods) == len(objects)
    assert _audit_faults(text) == []


@settings(max_examples=200, deadline=None)
@given(st.lists(_OBJECT | _WORKLOAD | _ANY, min_size=1, max_size=2))
def test_any_content_ends_in_findings_or_an_error(objects: list[Any]) -> None:
    assert _audit_faults(yaml.safe_dump_all(objects, allow_unicode=True)) == []


@settings(max_examples=200, deadline=None)
@given(st.text("apiVersion:kindPod\n -{}[]&*!|>'\"#%\t,spec", max_size=60) | st.text(max_size=30))
def test_any_text_ends_in_findings_or_an_error(text: str) -> None:
    assert _audit_faults(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "a: [" * 500,
        "a: &a [*a]",
        "apiVersion: v1\nkind: Pod\nspec: &s {containers: [*s]}",
        "apiVersion: v1\nkind: Pod\nspec:\n\tcontainers: []",
        "apiVersion: v1\nkind: Pod\nspec: {containers: [{name: a, name: b}]}",
        "%YAML 9.9\n---\na",
        "\x00",
        "!!python/object/apply:os.system [ls]",
    ],
)
def test_hostile_text_is_an_error(text: str) -> None:
    with pytest.raises(InputError):
        audit_text(text)


def test_openshift_profiles_offer_their_runtime_class() -> None:
    request = AuditRequest((tier("hpc-massive", platform=Platform.OPENSHIFT),))
    spec = {"containers": [fixed(4)], "nodeSelector": {"node-role.kubernetes.io/hpc-massive": ""}}
    metadata = {"name": "p", "annotations": {"irq-load-balancing.crio.io": "disable"}}
    text = yaml.safe_dump({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    written = _corrected(text, request)
    assert yaml.safe_load(written)["spec"]["runtimeClassName"] == "performance-hpc-massive-profile"
    assert audit_text(written, request).findings == ()
