"""CPU counts, NUMA fit and hugepages in an audit."""

from __future__ import annotations

from typing import Any

import pytest
from support.audits import audit_objects, deployment, fixed, found, ids, loose, pod, tier

from tunectl.app.audit import AuditRequest
from tunectl.core.audit.context import AuditTier, Machine
from tunectl.core.findings import Severity, Verdict

_PINNED = AuditRequest((tier("latency-sensitive"),))


def _whole_cores(machine: str = "") -> AuditRequest:
    options = {"kubelet.cpu_manager_policy_options": {"full-pcpus-only": "true"}}
    return AuditRequest((tier("latency-sensitive", machine, overrides=options),))


@pytest.mark.parametrize(
    ("cpu", "severity", "count"),
    [
        ("2", None, None),
        ("4000m", None, None),
        ("2.0", None, None),
        ("0.5", Severity.WARNING, "1"),
        ("40.5", Severity.WARNING, "41"),
        ("1999m", Severity.WARNING, "2"),
    ],
)
def test_only_whole_numbers_are_pinned(cpu: str, severity: Severity | None, count: str | None) -> None:
    findings = found(audit_objects(pod(fixed(cpu)), request=_PINNED), "pod.cpu.not-whole")
    assert [one.severity for one in findings] == ([severity] if severity else [])
    assert [edit.value for one in findings for edit in one.edits] == ([count] if count else [])


def test_a_small_helper_beside_a_pinned_container_is_a_note() -> None:
    (one,) = found(audit_objects(pod(fixed(4, name="app"), fixed("100m", name="log")), request=_PINNED), "pod.cpu")
    assert (one.container, one.severity, one.edits) == ("log", Severity.INFO, ())


def test_the_sum_of_a_pod_does_not_count() -> None:
    findings = found(audit_objects(pod(fixed("500m", name="a"), fixed("1500m", name="b")), request=_PINNED), "pod.cpu")
    assert [one.container for one in findings] == ["a", "b"]
    assert all("the sum of the pod, 2, does not count" in one.message for one in findings)


def test_requests_that_were_written_are_corrected_too() -> None:
    container = {"name": "c", "resources": {"limits": {"cpu": "2.5", "memory": "1Gi"}, "requests": {"cpu": "2500m"}}}
    (one,) = found(audit_objects(pod(container), request=_PINNED), "pod.cpu.not-whole")
    assert {edit.path[-2]: edit.value for edit in one.edits} == {"limits": "3", "requests": "3"}


@pytest.mark.parametrize(("cpu", "odd"), [(2, False), (3, True), (4, False), (5, True)])
def test_whole_cores_need_multiples_of_threads(cpu: int, *, odd: bool) -> None:
    findings = found(audit_objects(pod(fixed(cpu)), request=_whole_cores("2s8c2t")), "pod.cpu.odd-on-smt")
    assert [one.severity for one in findings] == ([Severity.CRITICAL] if odd else [])
    assert [edit.value for one in findings for edit in one.edits] == ([str(cpu + 1)] if odd else [])
    assert found(audit_objects(pod(fixed(cpu)), request=_whole_cores("2s8c1t")), "pod.cpu.odd-on-smt") == []


def test_whole_cores_without_a_machine_cannot_be_judged() -> None:
    (one,) = found(audit_objects(pod(fixed(3)), request=_whole_cores()), "pod.cpu.odd-on-smt")
    assert (one.verdict, one.edits) == (Verdict.UNKNOWN, ())


def test_counts_are_judged_before_the_pod_is_guaranteed_too() -> None:
    spoiled = pod(fixed(3, name="app"), fixed("2500m", name="other"), loose())
    request = _whole_cores("2s8c2t")
    assert [one.container for one in found(audit_objects(spoiled, request=request), "pod.cpu")] == ["other", "app"]
    assert found(audit_objects(spoiled), "pod.cpu") == []


def test_without_whole_cores_odd_counts_are_fine() -> None:
    request = AuditRequest((tier("latency-sensitive", "2s8c2t"),))
    assert found(audit_objects(pod(fixed(3)), request=request), "pod.cpu") == []


def test_init_containers_that_take_more_than_the_application() -> None:
    result = audit_objects(pod(fixed(2, name="app"), initContainers=[fixed(4, name="setup")]))
    (one,) = found(result, "pod.init")
    assert (one.container, one.expected, one.actual) == ("setup", "at most 2", "4")
    fine = pod(fixed(4, name="app"), initContainers=[fixed(4, name="setup"), fixed("500m", name="small")])
    assert found(audit_objects(fine), "pod.init") == []


def test_sidecars_with_cpus_on_old_kubelets() -> None:
    sidecar = {**fixed(2, name="proxy"), "restartPolicy": "Always"}
    given = pod(fixed(4, name="app"), initContainers=[sidecar])
    known = tier("latency-sensitive", "2s8c1t")

    def judged(version: tuple[int, int]) -> list[str]:
        machines = tuple(Machine(one.name, one.planned, kubelet_version=version) for one in known.machines)
        old = AuditTier(known.name, known.settings, known.labels, known.taints, machines=machines)
        return ids(found(audit_objects(given, request=AuditRequest((old,))), "pod.sidecar"))

    assert judged((1, 28)) == ["pod.sidecar.old-kubelet"]
    assert judged((1, 29)) == judged((0, 0)) == []


@pytest.mark.parametrize(
    ("cpu", "memory", "check"),
    [
        (4, "1Gi", ""),
        (10, "1Gi", "pod.numa.does-not-fit"),
        (40, "1Gi", "pod.node.does-not-fit"),
        (4, "900Gi", "pod.node.does-not-fit"),
    ],
)
def test_pods_are_tried_on_an_empty_machine(cpu: int, memory: str, check: str) -> None:
    request = AuditRequest((tier("latency-sensitive", "2s8c1t"),))
    findings = [
        one for one in found(audit_objects(pod(fixed(cpu, memory)), request=request)) if "does-not-fit" in one.id
    ]
    assert ids(findings) == ([check] if check else [])
    assert all(one.severity is Severity.CRITICAL and "2s8c1t" in one.message for one in findings)


def test_a_pod_that_spans_numa_nodes_by_design_is_a_note() -> None:
    request = AuditRequest((tier("hpc-massive", "xeon-8358-2s32c2t"),))
    (one,) = found(audit_objects(pod(fixed(80, "300Gi")), request=request), "pod.numa")
    assert (one.id, one.severity, one.actual) == ("pod.numa.spans", Severity.INFO, "NUMA nodes 0, 1")


@pytest.mark.parametrize(("cpu", "said"), [(7, False), (8, False), (9, True), (10, True), (11, False)])
def test_the_sizes_at_which_the_scheduler_is_blind(cpu: int, *, said: bool) -> None:
    # 14 and 16 CPUs on the two NUMA nodes: with 10 in each, 4 and 6 are left, as much as another one takes.
    request = AuditRequest((tier("latency-sensitive", "2s16c1t"),))
    assert bool(found(audit_objects(deployment(fixed(cpu)), request=request), "pod.numa.blind")) is said


def test_profiles_of_one_numa_node_give_whole_cores() -> None:
    cpu = {"cpu.reserved": "0-1", "cpu.isolated": "2-7", "cpu.otherwise": None}
    strict = tier("hpc-massive", overrides={**cpu, "kubelet.topology_manager_policy": "single-numa-node"})
    assert (strict.whole_cores, strict.pins, strict.one_numa_node) == (True, True, True)
    assert not tier("hpc-massive", overrides=cpu).whole_cores
    assert not tier("latency-sensitive").whole_cores


def test_copies_that_leave_room_which_only_the_scheduler_sees() -> None:
    request = AuditRequest((tier("latency-sensitive", "2s16c1t"),))
    assert ids(found(audit_objects(deployment(fixed(10)), request=request), "pod.numa")) == ["pod.numa.blind-scheduler"]
    assert found(audit_objects(deployment(fixed(4)), request=request), "pod.numa") == []
    assert found(audit_objects(pod(fixed(10)), request=request), "pod.numa") == []


def test_a_kubelet_that_does_not_start_makes_the_fit_unknown() -> None:
    known = tier("latency-sensitive", "2s8c1t")
    broken = tuple(Machine(one.name, one.planned, "nothing is reserved") for one in known.machines)
    request = AuditRequest((AuditTier(known.name, known.settings, machines=broken),))
    (one,) = found(audit_objects(pod(fixed(4)), request=request), "pod.numa")
    assert one.verdict is Verdict.UNKNOWN
    assert "nothing is reserved" in one.message


@pytest.mark.parametrize(
    ("limits", "requests", "check"),
    [
        ({"hugepages-2Mi": "4Mi", "cpu": "1"}, {}, ""),
        ({"hugepages-2Mi": "4Mi", "cpu": "1"}, {"hugepages-2Mi": "2Mi"}, "pod.hugepages.unequal"),
        ({"cpu": "1"}, {"hugepages-1Gi": "1Gi"}, "pod.hugepages.unequal"),
        ({"hugepages-2Mi": "4Mi"}, {}, "pod.hugepages.alone"),
    ],
)
def test_hugepages_as_the_api_server_takes_them(limits: Any, requests: Any, check: str) -> None:
    container = {
        "name": "c",
        "resources": {"limits": limits, "requests": requests},
        "volumeMounts": [{"name": "pages", "mountPath": "/dev/hugepages"}],
    }
    volume = {"name": "pages", "emptyDir": {"medium": "HugePages"}}
    assert ids(found(audit_objects(pod(container, volumes=[volume])), "pod.hugepages")) == ([check] if check else [])


@pytest.mark.parametrize(
    ("medium", "pages", "wrong"),
    [
        ("HugePages", {"hugepages_2Mi": "4Mi"}, False),
        ("HugePages-2Mi", {"hugepages_2Mi": "4Mi"}, False),
        ("HugePages-1Gi", {"hugepages_2Mi": "4Mi"}, True),
        ("HugePages", {"hugepages_2Mi": "4Mi", "hugepages_1Gi": "1Gi"}, True),
        ("HugePages", {}, True),
        ("Memory", {}, False),
        ("", {}, False),
    ],
)
def test_volumes_of_hugepages(medium: str, pages: dict[str, str], *, wrong: bool) -> None:
    mounts = [{"name": "pages", "mountPath": "/p"}]
    given = pod(fixed(**pages, volumeMounts=mounts), volumes=[{"name": "pages", "emptyDir": {"medium": medium}}])
    assert ids(found(audit_objects(given), "pod.hugepages")) == (["pod.hugepages.medium"] if wrong else [])


def test_unequal_hugepages_are_told_with_both_amounts() -> None:
    limits = {"limits": {"cpu": "1", "hugepages-2Mi": "4Mi"}, "requests": {"hugepages-2Mi": "2Mi"}}
    (one,) = found(audit_objects(pod({"name": "c", "resources": limits})), "pod.hugepages.unequal")
    assert one.actual == "requests 2Mi, limits 4Mi"
    (edit,) = one.edits
    assert (edit.path[-2:], edit.value) == (("requests", "hugepages-2Mi"), "4Mi")
    alone = {"requests": {"cpu": "1", "hugepages-2Mi": "2Mi"}}
    (one,) = found(audit_objects(pod({"name": "c", "resources": alone})), "pod.hugepages.unequal")
    assert one.actual == "requests 2Mi, limits none"
    assert one.edits[0].path[-2:] == ("limits", "hugepages-2Mi")


def test_settings_are_those_of_a_machine_whose_kubelet_starts() -> None:
    known = _whole_cores("2s8c2t").tiers[0]
    (good,) = known.machines
    broken = Machine("broken", good.planned, "nothing is reserved")
    assert AuditTier(known.name, machines=(broken, good)).whole_cores
    assert not AuditTier(known.name, machines=(broken,)).whole_cores


def test_hugepages_without_a_volume_are_a_note() -> None:
    (one,) = found(audit_objects(pod(fixed(hugepages_2Mi="4Mi"))), "pod.hugepages")
    assert (one.id, one.severity) == ("pod.hugepages.no-volume", Severity.INFO)


def test_hugepages_that_the_machine_does_not_have() -> None:
    request = AuditRequest((tier("latency-sensitive", "2s8c1t"),))
    result = audit_objects(pod(fixed(hugepages_2Mi="4Mi")), request=request)
    assert ids(found(result, "pod.node")) == ["pod.node.does-not-fit"]


def test_a_burstable_pod_has_no_cpu_findings() -> None:
    assert found(audit_objects(pod(loose(cpu="1500m")), request=_PINNED), "pod.cpu") == []
