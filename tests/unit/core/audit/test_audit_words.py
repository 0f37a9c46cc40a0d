"""Core numbers and thread counts in commands and variables; annotations for the runtime."""

from __future__ import annotations

from typing import Any

import pytest
from support.audits import audit_objects, fixed, found, ids, loose, pod, tier

from tunectl.app.audit import AuditRequest
from tunectl.core.desired import Platform

_OPENSHIFT = AuditRequest((tier("hpc-massive", platform=Platform.OPENSHIFT),))


@pytest.mark.parametrize(
    "command",
    [
        ["taskset", "-c", "0-5", "./app"],
        ["taskset", "-pc", "0-3", "1"],
        ["taskset", "--cpu-list", "0,2", "./app"],
        ["/usr/bin/taskset", "0x3f", "./app"],
        ["taskset", "-ac", "1-3", "./app"],
        ["sh", "-c", "exec taskset -c 0-5 ./app"],
        ["sh", "-c", "cd /tmp; numactl --physcpubind=0-5 --membind=0 ./app"],
        ["numactl", "-C", "0-5", "./app"],
        ["numactl", "-C", "+0-5", "./app"],
        ["numactl", "-m", "1", "./app"],
        ["./app", "--cpus", "0-5"],
        ["./app", "--cpuset=0,2,4"],
        ["dpdk-testpmd", "-l", "0-3", "--", "-i"],
        ["dpdk-testpmd", "--lcores", "(0-3)@0,1@2"],
        ["dpdk-testpmd", "-c", "0xf"],
        ["spdk_tgt", "--reactor-mask", "[0,1]"],
    ],
)
def test_core_numbers_in_commands(command: list[str]) -> None:
    findings = found(audit_objects(pod(fixed(4, command=command))), "pod.args.fixed-cpus")
    assert findings
    assert all(one.path[:4] == ("spec", "containers", 0, "command") for one in findings)


@pytest.mark.parametrize(
    "command",
    [
        ["./app", "--cpus", "6"],
        ["./app", "-c", "0-5"],
        ["taskset", "-p", "1234"],
        ["taskset", "-c", "$(CPUS)", "./app"],
        ["numactl", "-C", "all", "./app"],
        ["numactl", "--interleave=all", "./app"],
        ["sh", "-c", "echo taskset"],
        ["stress-ng", "--cpu", "4"],
        ["sh", "-c", "unbalanced 'quote"],
        [],
    ],
)
def test_other_commands(command: list[str]) -> None:
    assert found(audit_objects(pod(fixed(4, command=command))), "pod.args") == []


@pytest.mark.parametrize(
    ("name", "value", "fixed_list"),
    [
        ("GOMP_CPU_AFFINITY", "0-5", True),
        ("GOMP_CPU_AFFINITY", "0 3 1-2 4-15:2", True),
        ("KMP_AFFINITY", "granularity=fine,proclist=[0,1],explicit", True),
        ("KMP_AFFINITY", "granularity=fine,compact", False),
        ("OMP_PLACES", "{0:4},{4:4}", True),
        ("OMP_PLACES", "cores", False),
        ("I_MPI_PIN_PROCESSOR_LIST", "0-3", True),
        ("I_MPI_PIN_PROCESSOR_LIST", "allcores", False),
        ("OTHER", "0-5", False),
    ],
)
def test_core_numbers_in_variables(name: str, value: str, *, fixed_list: bool) -> None:
    result = audit_objects(pod(fixed(4, env=[{"name": "A", "value": "b"}, {"name": name, "value": value}])))
    assert [one.setting for one in found(result, "pod.args.fixed-cpus")] == (
        ["spec.containers[0].env[1].value"] if fixed_list else []
    )


@pytest.mark.parametrize(
    ("cpu", "name", "value", "most"),
    [
        (6, "OMP_NUM_THREADS", "32", "6"),
        (6, "OMP_NUM_THREADS", "6", None),
        ("2500m", "GOMAXPROCS", "3", "2"),
        ("500m", "GOMAXPROCS", "1", None),
        ("500m", "GOMAXPROCS", "2", "1"),
        (6, "OMP_NUM_THREADS", "$(N)", None),
        (6, "MKL_NUM_THREADS", "", None),
    ],
)
def test_more_threads_than_cpus(cpu: Any, name: str, value: str, most: str | None) -> None:
    findings = found(audit_objects(pod(fixed(cpu, env=[{"name": name, "value": value}]))), "pod.args.too-many-threads")
    assert [edit.value for one in findings for edit in one.edits] == ([most] if most else [])


@pytest.mark.parametrize(
    ("container", "wrong"),
    [
        (fixed(6, command=["stress-ng", "--cpu", "32"]), True),
        (fixed(6, command=["sh", "-c", "stress-ng --cpu 6"]), False),
        (fixed(6, args=["-XX:ActiveProcessorCount=8"]), True),
        (fixed(6, args=["sh", "-c", "stress-ng --cpu 32; echo done"]), True),
        (fixed(6, args=["sh", "-c", "stress-ng --vm 2;x --cpu 32"]), False),
        (fixed(6, env=[{"name": "OTHER", "value": "-XX:ActiveProcessorCount=16"}]), False),
        (fixed(6, env=[{"name": "JAVA_TOOL_OPTIONS", "value": "-Xmx1g -XX:ActiveProcessorCount=6"}]), False),
        (fixed(6, env=[{"name": "JAVA_TOOL_OPTIONS", "value": "-Xmx1g -XX:ActiveProcessorCount=16"}]), True),
        ({**loose(), "env": [{"name": "OMP_NUM_THREADS", "value": "99"}]}, False),
    ],
)
def test_thread_counts_elsewhere(container: dict[str, Any], *, wrong: bool) -> None:
    assert bool(found(audit_objects(pod(container)), "pod.args.too-many-threads")) is wrong


def test_a_variable_from_elsewhere_is_not_known() -> None:
    env = [{"name": "OMP_NUM_THREADS", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}]
    assert found(audit_objects(pod(fixed(4, env=env))), "pod.args") == []


_RUNTIME = {"runtimeClassName": "performance-hpc-massive-profile"}


@pytest.mark.parametrize(
    ("annotations", "spec", "checks"),
    [
        ({"cpu-quota.crio.io": "disable"}, _RUNTIME, []),
        ({"irq-load-balancing.crio.io": "housekeeping"}, _RUNTIME, []),
        ({"cpu-c-states.crio.io": "max_latency:10"}, _RUNTIME, []),
        ({"cpu-shared.crio.io/c": "enable"}, _RUNTIME, []),
        ({"cpu-freq-governor.crio.io": "schedutil"}, _RUNTIME, []),
        ({"cpu-quota.crio.io": "off"}, _RUNTIME, ["value"]),
        ({"cpu-c-states.crio.io": "max_latency:fast"}, _RUNTIME, ["value"]),
        ({"cpu-shared.crio.io/nobody": "enable"}, _RUNTIME, ["unknown"]),
        ({"irq-loadbalancing.crio.io": "disable"}, {}, ["unknown"]),
        ({"stop-signal.crio.io": "9"}, {}, []),
        ({"cpu-quota.crio.io": "disable"}, {}, ["needs-runtime-class"]),
        ({"cpu-quota.crio.io": "disable"}, {"runtimeClassName": "gvisor"}, ["needs-runtime-class"]),
    ],
)
def test_annotations_for_the_runtime(annotations: dict[str, str], spec: dict[str, Any], checks: list[str]) -> None:
    result = audit_objects(pod(fixed(4), annotations=annotations, **spec), request=_OPENSHIFT)
    assert ids(found(result, "pod.annotation")) == [f"pod.annotation.{check}" for check in checks]


def test_annotations_need_cpus_of_the_pods_own() -> None:
    result = audit_objects(pod(fixed("500m"), annotations={"cpu-quota.crio.io": "disable"}, **_RUNTIME))
    assert ids(found(result, "pod.annotation")) == ["pod.annotation.needs-cpus"]


def test_a_runtime_class_of_unknown_make_is_taken_without_a_profile() -> None:
    given = pod(fixed(4), annotations={"cpu-quota.crio.io": "disable"}, runtimeClassName="mine")
    own = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "mine"}, "handler": "mine"}
    assert found(audit_objects(given), "pod.annotation") == []
    assert found(audit_objects(given, own, request=_OPENSHIFT), "pod.annotation") == []


def test_the_profiles_runtime_class_is_written_by_the_correction() -> None:
    given = pod(fixed(4), annotations={"cpu-quota.crio.io": "disable"})
    (one,) = found(audit_objects(given, request=_OPENSHIFT), "pod.annotation")
    assert [(edit.path, edit.value) for edit in one.edits] == [
        (("spec", "runtimeClassName"), "performance-hpc-massive-profile")
    ]
