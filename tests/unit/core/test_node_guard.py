from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tunectl.core.check_catalogue import CHECKS
from tunectl.core.desired import Area, DesiredState, Impact, Partition, Platform, Setting
from tunectl.core.findings import Finding
from tunectl.core.node_guard import guard_node
from tunectl.core.observed import observe
from tunectl.core.plan import NodeFile
from tunectl.core.snapshot import Snapshot

HEAD = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
MAIN = "/var/lib/kubelet/config.yaml"
DIRECTORY = "/etc/kubernetes/kubelet.conf.d"
COMMAND = f"/usr/bin/kubelet --config={MAIN} --config-dir={DIRECTORY}"
OURS = NodeFile(f"{DIRECTORY}/99-tunectl.conf", "")
SYSCTL_FILE = "/etc/sysctl.d/99-tunectl.conf"


def state(*settings: Setting) -> DesiredState:
    return DesiredState("t", "t", Platform.KUBEADM, Partition(), settings)


def field(name: str, value: Any) -> Setting:
    return Setting(f"kubelet.{name}", Area.KUBELET, name, value, Impact.RESTART)


def guarded(
    desired: DesiredState,
    documents: Mapping[str, Mapping[str, Any]] | None = None,
    texts: Mapping[str, str] | None = None,
    flags: str = "",
    files: tuple[NodeFile, ...] = (OURS,),
) -> tuple[Finding, ...]:
    decoded = {MAIN: HEAD, **{path: {**HEAD, **data} for path, data in (documents or {}).items()}}
    unit = f"[Service]\nExecStart={COMMAND} {flags}\n"
    snapshot = Snapshot(
        "n",
        {**dict.fromkeys(decoded, "x"), "/etc/systemd/system/kubelet.service": unit, **(texts or {})},
        listings={
            DIRECTORY: tuple(sorted(path.rpartition("/")[2] for path in decoded if path.startswith(DIRECTORY))),
            "/proc/sys": ("vm",),
        },
    )
    return guard_node(desired, observe(snapshot, decoded), files)


def ids(findings: tuple[Finding, ...]) -> list[str]:
    assert all(finding.id in CHECKS and finding.subject == "n" for finding in findings)
    return [finding.id for finding in findings]


def test_a_flag_that_beats_the_file_is_refused() -> None:
    (finding,) = guarded(state(field("cpuManagerPolicy", "static")), flags="--cpu-manager-policy=none")
    assert finding.id == "kubelet.flag.wins"
    assert finding.blocks
    assert "cpuManagerPolicy" in finding.remedy


def test_a_flag_of_the_wanted_value_does_no_harm() -> None:
    assert guarded(state(field("cpuManagerPolicy", "static")), flags="--cpu-manager-policy=static") == ()


def test_a_later_drop_in_is_refused_and_an_earlier_one_is_not() -> None:
    desired = state(field("maxPods", 250))
    later = f"{DIRECTORY}/zz-local.conf"
    (finding,) = guarded(desired, {later: {"maxPods": 20}})
    assert (finding.id, finding.evidence[0].file) == ("kubelet.dropin.wins", later)
    assert guarded(desired, {f"{DIRECTORY}/10-local.conf": {"maxPods": 20}}) == ()
    assert guarded(desired, {later: {"maxPods": 250}}) == ()


def test_the_nodes_own_reserved_cgroups_exclude_reserved_cpus() -> None:
    documents = {MAIN: {"systemReservedCgroup": "/system.slice"}}
    (finding,) = guarded(state(field("reservedSystemCPUs", "0-1")), documents)
    assert finding.id == "kubelet.reserved-cpus.cgroup"
    assert MAIN in finding.message
    assert guarded(state(field("maxPods", 250)), documents) == ()


def test_a_later_sysctl_file_is_told_before_ours_is_written() -> None:
    desired = state(Setting("sysctl.vm.swappiness", Area.SYSCTL, "vm.swappiness", "10", Impact.LIVE))
    ours = NodeFile(SYSCTL_FILE, "vm.swappiness = 10\n")
    texts = {"/etc/sysctl.d/zz-local.conf": "vm.swappiness = 60\n"}
    assert ids(guarded(desired, texts=texts, files=(ours,))) == ["sysctl.overridden"]
    assert guarded(desired, texts={"/etc/sysctl.d/10-local.conf": "vm.swappiness = 60\n"}, files=(ours,)) == ()


def test_another_tuner_is_told() -> None:
    assert ids(guarded(state(), texts={"/proc/77/comm": "tuned\n"})) == ["tuner.conflict"]


def test_where_nothing_is_written_nothing_is_beaten() -> None:
    assert guarded(state(field("cpuManagerPolicy", "static")), flags="--cpu-manager-policy=none", files=()) == ()
