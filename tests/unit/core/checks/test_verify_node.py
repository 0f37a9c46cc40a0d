"""Verification of a node: what holds passes, what does not fails with its evidence, what nobody saw is unknown."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tunectl.core.check_catalogue import CHECKS
from tunectl.core.checks.node import verify_node
from tunectl.core.cpuset import CpuSet
from tunectl.core.desired import Area, DesiredState, Impact, Partition, Platform, Setting
from tunectl.core.findings import Finding, Origin, Severity, Verdict
from tunectl.core.observed import observe
from tunectl.core.snapshot import Snapshot

_ORIGIN = Origin("tiers/t.yaml", 7, 3)
_KUBELET = "/var/lib/kubelet/config.yaml"
_CPU_STATE = "/var/lib/kubelet/cpu_manager_state"
_OWN_SYSCTL = "/etc/sysctl.d/99-tunectl.conf"
_GRUB = "/etc/default/grub.d/99-tunectl.cfg"
_PARTITION = Partition(reserved=CpuSet.parse("0-1"), isolated=CpuSet.parse("2-7"))


def _setting(setting_id: str, area: Area, value: Any, impact: Impact = Impact.LIVE) -> Setting:
    name = setting_id.partition(".")[2]
    return Setting(setting_id, area, name, value, impact, why="because", asked_in=_ORIGIN)


_SWAPPINESS = _setting("sysctl.vm.swappiness", Area.SYSCTL, "10")
_NOHZ = _setting("cmdline.nohz_full", Area.CMDLINE, "2-7", Impact.REBOOT)
_POLICY = _setting("kubelet.cpuManagerPolicy", Area.KUBELET, "static", Impact.DRAIN)
_BAN = _setting("runtime./proc/irq/default_smp_affinity", Area.RUNTIME, "00000003")


def _desired(
    *settings: Setting, platform: Platform = Platform.KUBEADM, partition: Partition = _PARTITION
) -> DesiredState:
    return DesiredState("t", "pool", platform, partition, settings)


_FILES = {
    "/proc/cmdline": "ro quiet nohz_full=2-7\n",
    "/proc/sys/vm/swappiness": "10\n",
    "/proc/irq/default_smp_affinity": "03\n",
    "/proc/irq/1/smp_affinity_list": "0-1\n",
    "/proc/irq/1/effective_affinity_list": "0\n",
    "/sys/devices/system/cpu/online": "0-7\n",
    "/sys/devices/system/cpu/nohz_full": "2-7\n",
    _KUBELET: "a document",
    _CPU_STATE: json.dumps({"policyName": "static", "defaultCpuSet": "0-7", "checksum": 1}),
}
_CONFIG = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "cpuManagerPolicy": "static"}


def _verify(
    desired: DesiredState,
    files: Mapping[str, str | None] | None = None,
    config: Mapping[str, Any] | None = None,
    **snapshot: Any,
) -> dict[str, Finding]:
    """Verify a node that is right but for `files` (None takes one away); return the findings by id."""
    here = {path: text for path, text in (_FILES | dict(files or {})).items() if text is not None}
    facts = snapshot.pop("facts", {})
    snapshot["listings"] = {"/proc/sys": ("vm",), "/proc/sys/vm": ("swappiness",), **snapshot.get("listings", {})}
    node = Snapshot("worker-1", here, facts=facts, **snapshot)
    documents = {_KUBELET: _CONFIG | dict(config or {})} if _KUBELET in here else {}
    findings = verify_node(desired, observe(node, documents))
    assert len({finding.id for finding in findings}) == len(findings)
    assert all(finding.subject == "worker-1" for finding in findings)
    return {finding.id: finding for finding in findings}


def test_a_node_that_is_right_passes_everything() -> None:
    findings = _verify(_desired(_SWAPPINESS, _NOHZ, _POLICY, _BAN))
    assert {finding.verdict for finding in findings.values()} == {Verdict.PASS}
    assert {"sysctl.vm.swappiness", "cmdline.nohz_full", "cpu.online.partition", "kubelet.checkpoint.policy"} <= set(
        findings
    )
    assert all(finding.remedy == "" for finding in findings.values())


def test_a_wrong_value_fails_with_wanted_found_place_and_way_out() -> None:
    finding = _verify(_desired(_SWAPPINESS), {"/proc/sys/vm/swappiness": "60\n"})["sysctl.vm.swappiness"]
    assert (finding.verdict, finding.severity) == (Verdict.FAIL, Severity.WARNING)
    assert (finding.expected, finding.actual, finding.why, finding.asked_in) == ("10", "60", "because", _ORIGIN)
    assert [(one.file, one.text) for one in finding.evidence] == [("/proc/sys/vm/swappiness", "60")]
    assert finding.remedy == "tunectl apply --tier t (live)"
    assert finding.message == "kernel parameter vm.swappiness is 60, wanted 10"


def test_values_compare_by_meaning() -> None:
    findings = _verify(_desired(_NOHZ), {"/proc/cmdline": "nohz_full=2,3,4-7"})
    assert findings["cmdline.nohz_full"].verdict is Verdict.PASS


def test_a_missing_argument_and_a_bare_one() -> None:
    bare = _setting("cmdline.nosmt", Area.CMDLINE, None, Impact.REBOOT)
    findings = _verify(_desired(bare, _NOHZ), {"/proc/cmdline": "ro nosmt"})
    assert findings["cmdline.nosmt"].verdict is Verdict.PASS
    assert findings["cmdline.nosmt"].expected == "set"
    assert findings["cmdline.nohz_full"].actual == "not set"
    assert findings["cmdline.nohz_full"].verdict is Verdict.FAIL
    assert findings["cmdline.nohz_full"].severity is Severity.CRITICAL


def test_what_could_not_be_read_is_unknown_with_the_reason() -> None:
    path = "/proc/sys/vm/swappiness"
    finding = _verify(_desired(_SWAPPINESS), {path: None}, unreadable={path: "permission denied"})[
        "sysctl.vm.swappiness"
    ]
    assert finding.verdict is Verdict.UNKNOWN
    assert "permission denied" in finding.message
    assert finding.remedy == "run as a user who may read it"


def test_kubelet_fields_are_shown_without_quotes() -> None:
    finding = _verify(_desired(_POLICY), config={"cpuManagerPolicy": "none"})["kubelet.cpuManagerPolicy"]
    assert (finding.expected, finding.actual) == ("static", "none")


def test_a_node_without_kubelet_is_not_judged_by_kubelet_settings() -> None:
    findings = _verify(_desired(_POLICY), {_KUBELET: None, _CPU_STATE: None})
    assert findings["kubelet.cpuManagerPolicy"].verdict is Verdict.NOT_APPLICABLE
    assert findings["kubelet.checkpoint.policy"].verdict is Verdict.NOT_APPLICABLE


def test_offline_cpus_of_the_partition_fail() -> None:
    finding = _verify(_desired(), {"/sys/devices/system/cpu/online": "0-5,7"})["cpu.online.partition"]
    assert finding.verdict is Verdict.FAIL
    assert finding.message == "CPUs 6 of the partition are not online"


@pytest.mark.parametrize("role", ["reserved", "isolated", "shared", "ovs_dpdk"])
def test_a_cpu_of_any_working_role_must_be_online(role: str) -> None:
    sets: dict[str, Any] = {role: CpuSet.parse("6-7")}
    desired = _desired(partition=Partition(**sets))
    finding = _verify(desired, {"/sys/devices/system/cpu/online": "0-6"})["cpu.online.partition"]
    assert finding.actual == "0-6"
    assert finding.message == "CPUs 7 of the partition are not online"


@pytest.mark.parametrize("text", [None, "x"])
def test_without_the_list_of_online_cpus_nobody_knows(text: str | None) -> None:
    assert (
        _verify(_desired(), {"/sys/devices/system/cpu/online": text})["cpu.online.partition"].verdict is Verdict.UNKNOWN
    )


def test_offlined_cpus_need_not_be_online() -> None:
    partition = replace(_PARTITION, isolated=CpuSet.parse("2-5"), offlined=CpuSet.parse("6-7"))
    findings = _verify(_desired(partition=partition), {"/sys/devices/system/cpu/online": "0-5"})
    assert findings["cpu.online.partition"].verdict is Verdict.PASS


def test_without_a_partition_there_is_nothing_to_be_online() -> None:
    assert "cpu.online.partition" not in _verify(_desired(partition=Partition()))


def _state(**changes: Any) -> str:
    return json.dumps({"policyName": "static", "defaultCpuSet": "0-7", "checksum": 1} | changes)


_STRICT = _setting("kubelet.cpuManagerPolicyOptions", Area.KUBELET, {"strict-cpu-reservation": "true"}, Impact.DRAIN)


@pytest.mark.parametrize(
    ("state", "strict", "said"),
    [
        (_state(), False, ""),
        (_state(defaultCpuSet="0-3", entries={"pod": {"a": "4-5", "b": "6-7"}}), False, ""),
        (_state(policyName="none", defaultCpuSet=""), False, "runs with policy none"),
        (_state(defaultCpuSet="1-7"), False, "reserved CPUs 0 are missing from the shared pool"),
        (_state(defaultCpuSet="0-5"), False, "online CPUs 6-7 are in no set"),
        (_state(defaultCpuSet="1-7", entries={"pod": {"a": "0"}}), False, "reserved CPUs 0 are given to containers"),
        (_state(defaultCpuSet="2-7"), True, ""),
        (_state(), True, "reserved CPUs 0-1 are in the shared pool in spite of strict-cpu-reservation"),
        (_state(defaultCpuSet="0-x"), False, "a CPU set that is none"),
        (_state(entries={"pod": "0"}), False, "no map of containers"),
    ],
)
def test_the_cpu_managers_record(state: str, strict: bool, said: str) -> None:  # noqa: FBT001  a test parameter
    options = {"cpuManagerPolicyOptions": _STRICT.value} if strict else {}
    desired = _desired(_POLICY, *([_STRICT] if strict else []))
    finding = _verify(desired, {_CPU_STATE: state}, options)["kubelet.checkpoint.policy"]
    assert finding.verdict is (Verdict.FAIL if said else Verdict.PASS)
    assert said in finding.message


@pytest.mark.parametrize("text", ["{", "[]"])
def test_a_record_that_cannot_be_understood_is_unknown(text: str) -> None:
    finding = _verify(_desired(_POLICY), {_CPU_STATE: text})["kubelet.checkpoint.policy"]
    assert finding.verdict is Verdict.UNKNOWN


def test_a_record_that_may_not_be_read_is_unknown() -> None:
    findings = _verify(_desired(_POLICY), {_CPU_STATE: None}, unreadable={_CPU_STATE: "permission denied"})
    assert findings["kubelet.checkpoint.policy"].verdict is Verdict.UNKNOWN
    assert "permission denied" in findings["kubelet.checkpoint.policy"].message


@pytest.mark.parametrize(("policy", "verdict"), [("static", Verdict.FAIL), ("none", Verdict.PASS)])
def test_a_kubelet_that_has_written_no_record(policy: str, verdict: Verdict) -> None:
    desired = _desired(replace(_POLICY, value=policy))
    findings = _verify(desired, {_CPU_STATE: None}, {"cpuManagerPolicy": policy}, absent=frozenset((_CPU_STATE,)))
    assert findings["kubelet.checkpoint.policy"].verdict is verdict


def test_the_memory_managers_record() -> None:
    setting = _setting("kubelet.memoryManagerPolicy", Area.KUBELET, "Static", Impact.DRAIN)
    path = "/var/lib/kubelet/memory_manager_state"
    config = {"memoryManagerPolicy": "Static"}
    good = _verify(_desired(setting), {path: '{"policyName": "Static"}'}, config)["kubelet.checkpoint.memory"]
    bad = _verify(_desired(setting), {path: '{"policyName": "None"}'}, config)["kubelet.checkpoint.memory"]
    assert (good.verdict, bad.verdict) == (Verdict.PASS, Verdict.FAIL)


def test_an_interrupt_on_an_isolated_cpu_fails() -> None:
    files = {"/proc/irq/87/smp_affinity_list": "0-7\n", "/proc/irq/87/effective_affinity_list": "5\n"}
    finding = _verify(_desired(_BAN), files)["irq.affinity.reserved-only"]
    assert finding.verdict is Verdict.FAIL
    assert (finding.expected, finding.actual) == ("0-1", "irq 87 on 5")
    assert finding.evidence[0].file == "/proc/irq/87/effective_affinity_list"


def test_where_an_interrupt_really_goes_counts_more_than_where_it_may() -> None:
    files = {"/proc/irq/87/smp_affinity_list": "0-7\n", "/proc/irq/87/effective_affinity_list": "1\n"}
    assert _verify(_desired(_BAN), files)["irq.affinity.reserved-only"].verdict is Verdict.PASS


@pytest.mark.parametrize("effective", [None, "\n", "x"])
def test_without_an_effective_place_the_allowed_one_counts(effective: str | None) -> None:
    files = {"/proc/irq/87/smp_affinity_list": "0-7\n", "/proc/irq/87/effective_affinity_list": effective}
    assert _verify(_desired(_BAN), files)["irq.affinity.reserved-only"].verdict is Verdict.FAIL


def test_many_interrupts_are_counted_and_few_are_shown() -> None:
    files = {f"/proc/irq/{number}/smp_affinity_list": "3\n" for number in range(10, 20)}
    finding = _verify(_desired(_BAN), files)["irq.affinity.reserved-only"]
    assert finding.message.startswith(
        "10 of 11 interrupts go to isolated CPUs 2-7: irq 10, 11, 12, 13, 14, 15 and 4 more"
    )
    assert len(finding.evidence) == 6


def test_interrupts_matter_only_where_the_tier_bans_them() -> None:
    assert "irq.affinity.reserved-only" not in _verify(_desired(_SWAPPINESS))


def test_without_interrupts_to_look_at_nobody_knows() -> None:
    files = {path: None for path in _FILES if path.startswith("/proc/irq/1/")}
    finding = _verify(_desired(_BAN), files, unreadable={"/proc/irq": "permission denied"})[
        "irq.affinity.reserved-only"
    ]
    assert finding.verdict is Verdict.UNKNOWN
    assert "permission denied" in finding.message


def _grub(arguments: str) -> dict[str, str | None]:
    return {_GRUB: f'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {arguments}"\n'}


def test_arguments_that_are_written_and_not_in_force_wait_for_a_reboot() -> None:
    files = _grub("nohz_full=2-7 rcu_nocbs=2-7") | {"/proc/cmdline": "ro nohz_full=2-7"}
    finding = _verify(_desired(_NOHZ), files)["boot.pending"]
    assert finding.verdict is Verdict.FAIL
    assert finding.message == "a reboot is pending: rcu_nocbs are written but not in force"
    assert finding.remedy == "reboot the node, or tunectl apply --tier t (reboot)"


def test_nothing_waits_when_the_kernel_has_what_is_written() -> None:
    assert _verify(_desired(_NOHZ), _grub("nohz_full=2,3-7"))["boot.pending"].verdict is Verdict.PASS


def test_a_changed_value_waits_too() -> None:
    files = _grub("nohz_full=2-5")
    assert _verify(_desired(_NOHZ), files)["boot.pending"].verdict is Verdict.FAIL


def test_without_written_arguments_nothing_can_wait() -> None:
    assert "boot.pending" not in _verify(_desired(_NOHZ))


def test_without_the_command_line_nobody_knows_what_waits() -> None:
    files = _grub("nohz_full=2-7") | {"/proc/cmdline": None}
    assert _verify(_desired(_NOHZ), files)["boot.pending"].verdict is Verdict.UNKNOWN


def test_another_tuner_is_named_with_its_profile() -> None:
    files = {"/proc/99/comm": "tuned\n", "/etc/tuned/active_profile": "balanced\n"}
    finding = _verify(_desired(), files)["tuner.conflict"]
    assert (finding.verdict, finding.actual) == (Verdict.FAIL, "tuned")
    assert "with profile balanced" in finding.message


def test_a_stopped_tuner_with_a_profile_left_behind_is_no_conflict() -> None:
    assert _verify(_desired(), {"/etc/tuned/active_profile": "balanced\n"})["tuner.conflict"].verdict is Verdict.PASS


def test_an_interrupt_that_the_kernel_refuses_to_move_is_said_and_is_no_failure() -> None:
    files = {
        "/proc/irq/87/smp_affinity_list": "5\n",
        "/proc/irq/87/effective_affinity_list": "5\n",
        "/run/tunectl/irq-refused": "2\n87\n",
    }
    finding = _verify(_desired(_BAN), files)["irq.affinity.reserved-only"]
    assert finding.verdict is Verdict.PASS
    assert "1 on isolated CPUs cannot be moved" in finding.message
    assert (
        _verify(_desired(_BAN), {**files, "/run/tunectl/irq-refused": "2\n"})["irq.affinity.reserved-only"].verdict
        is Verdict.FAIL
    )


@pytest.mark.parametrize(("asked", "verdict"), [("0-1", Verdict.PASS), ("0-2", Verdict.FAIL), (None, Verdict.FAIL)])
def test_an_interrupt_that_leaves_when_it_next_arrives_is_on_its_way(asked: str | None, verdict: Verdict) -> None:
    files = {"/proc/irq/87/smp_affinity_list": asked, "/proc/irq/87/effective_affinity_list": "5\n"}
    finding = _verify(_desired(_BAN), files)["irq.affinity.reserved-only"]
    assert finding.verdict is verdict
    assert ("1 leave them with their next interrupt" in finding.message) is (verdict is Verdict.PASS)


def test_irqbalance_is_no_rival() -> None:
    assert _verify(_desired(), {"/proc/99/comm": "irqbalance\n"})["tuner.conflict"].verdict is Verdict.PASS


def test_on_openshift_tuned_is_the_tool() -> None:
    findings = _verify(_desired(platform=Platform.OPENSHIFT), {"/proc/99/comm": "tuned\n"})
    assert findings["tuner.conflict"].verdict is Verdict.NOT_APPLICABLE


def test_processes_that_cannot_be_listed_are_unknown() -> None:
    assert _verify(_desired(), unreadable={"/proc": "permission denied"})["tuner.conflict"].verdict is Verdict.UNKNOWN


def _later(name: str, text: str) -> dict[str, str | None]:
    return {_OWN_SYSCTL: "vm.swappiness = 10\n", name: text}


@pytest.mark.parametrize(
    ("path", "text", "place"),
    [
        ("/etc/sysctl.d/99-zz.conf", "# c\nvm.swappiness=60\n", "/etc/sysctl.d/99-zz.conf:2"),
        ("/usr/lib/sysctl.d/99-zz.conf", "vm/swappiness = 60\n", "/usr/lib/sysctl.d/99-zz.conf:1"),
        ("/etc/sysctl.d/99-zz.conf", "\n-vm.swappiness = 60\n", "/etc/sysctl.d/99-zz.conf:2"),
    ],
)
def test_a_later_file_has_the_last_word(path: str, text: str, place: str) -> None:
    finding = _verify(_desired(_SWAPPINESS), _later(path, text))["sysctl.overridden"]
    assert finding.verdict is Verdict.FAIL
    assert finding.message.startswith(f"{place} sets vm.swappiness to 60")
    assert finding.remedy == f"remove line {place.rpartition(':')[2]} of {path}"
    assert finding.asked_in == _ORIGIN


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/etc/sysctl.d/10-first.conf", "vm.swappiness=60\n"),
        ("/etc/sysctl.d/99-zz.conf", "vm.swappiness = 10\nvm.dirty_ratio = 5\n"),
        ("/etc/sysctl.d/99-zz.conf", "#vm.swappiness=60\n;vm.swappiness=60\nvm.*=60\nnothing\n"),
        ("/usr/lib/sysctl.d/99-tunectl.conf", "vm.swappiness=60\n"),
        ("/etc/sysctl.d/99-zz.txt", "vm.swappiness=60\n"),
    ],
)
def test_what_does_not_have_the_last_word(path: str, text: str) -> None:
    assert _verify(_desired(_SWAPPINESS), _later(path, text))["sysctl.overridden"].verdict is Verdict.PASS


def test_sysctl_conf_counts_at_boot_only_where_a_link_leads_to_it() -> None:
    files = _later("/etc/sysctl.conf", "\nvm.swappiness = 60\n")
    findings = _verify(_desired(_SWAPPINESS), files)
    assert findings["sysctl.overridden"].verdict is Verdict.PASS
    assert findings["sysctl.reload"].verdict is Verdict.FAIL
    assert findings["sysctl.reload"].remedy == "remove line 2 of /etc/sysctl.conf"
    # Read where the link stands, not last: Debian's 99-sysctl.conf comes before ours.
    linked = _verify(_desired(_SWAPPINESS), {**files, "/etc/sysctl.d/99-sysctl.conf": files["/etc/sysctl.conf"]})
    assert linked["sysctl.overridden"].verdict is Verdict.PASS
    last = _verify(_desired(_SWAPPINESS), {**files, "/etc/sysctl.d/99-zz.conf": files["/etc/sysctl.conf"]})
    assert last["sysctl.overridden"].verdict is Verdict.FAIL
    assert last["sysctl.reload"].verdict is Verdict.PASS
    same = _verify(_desired(_SWAPPINESS), _later("/etc/sysctl.conf", "vm.swappiness = 10\n"))
    assert same["sysctl.reload"].verdict is Verdict.PASS


def test_a_later_line_without_a_value_takes_a_parameter_out() -> None:
    findings = _verify(_desired(_SWAPPINESS), _later("/etc/sysctl.d/99-zz.conf", "-vm.swappiness\n"))
    assert findings["sysctl.overridden"].verdict is Verdict.FAIL
    assert "/etc/sysctl.d/99-zz.conf:1 takes vm.swappiness out" in findings["sysctl.overridden"].message


def test_a_sysctl_file_that_cannot_be_read_leaves_the_last_word_unknown() -> None:
    denied = {"/etc/sysctl.d/99-zz.conf": "permission denied"}
    findings = _verify(_desired(_SWAPPINESS), {_OWN_SYSCTL: "vm.swappiness = 10\n"}, unreadable=denied)
    for check in ("sysctl.overridden", "sysctl.persisted"):
        assert findings[check].verdict is Verdict.UNKNOWN
        assert "/etc/sysctl.d/99-zz.conf" in findings[check].message + findings[check].actual


@pytest.mark.parametrize(
    ("running", "text", "said"),
    [
        ("10", "vm.swappiness = 10\n", ""),
        ("10", "vm.dirty_ratio = 10\n", "no file sets it at the next boot"),
        ("10", "vm.swappiness = 30\n", f"vm.swappiness is 10 now; {_OWN_SYSCTL}:1 sets 30 at boot"),
        ("60", "vm.swappiness = 10\n", f"vm.swappiness is 60 now; {_OWN_SYSCTL}:1 sets 10 at boot"),
    ],
)
def test_running_values_are_those_of_the_next_boot(running: str, text: str, said: str) -> None:
    files = {"/proc/sys/vm/swappiness": f"{running}\n", _OWN_SYSCTL: text}
    finding = _verify(_desired(_SWAPPINESS), files)["sysctl.persisted"]
    assert finding.verdict is (Verdict.FAIL if said else Verdict.PASS)
    assert said in finding.message


def test_a_file_that_keeps_the_same_value_keeps_it() -> None:
    files = {_OWN_SYSCTL: "vm.dirty_ratio = 5\n", "/etc/sysctl.d/10-a.conf": "vm.swappiness = 10\n"}
    assert _verify(_desired(_SWAPPINESS), files)["sysctl.persisted"].verdict is Verdict.PASS


def test_before_the_first_apply_there_is_nothing_to_override() -> None:
    assert "sysctl.overridden" not in _verify(_desired(_SWAPPINESS), {"/etc/sysctl.d/99-zz.conf": "vm.swappiness=60\n"})


def _generation(text: str, content: str | None) -> dict[str, Any]:
    digest = hashlib.sha256(text.encode()).hexdigest()
    manifest = {"state": "committed", "files": [{"path": _OWN_SYSCTL, "sha256": digest, "mode": "0644"}]}
    return {
        "files": {"/var/lib/tunectl/generations/0001/manifest.json": json.dumps(manifest), _OWN_SYSCTL: content},
        "listings": {"/var/lib/tunectl/generations": ("0001",)},
        "absent": frozenset() if content is not None else frozenset((_OWN_SYSCTL,)),
    }


@pytest.mark.parametrize(
    ("content", "said"),
    [("a = 1\n", ""), ("a = 2\n", "was changed by someone else"), (None, "was removed by someone else")],
)
def test_files_that_someone_else_touched(content: str | None, said: str) -> None:
    finding = _verify(_desired(), **_generation("a = 1\n", content))["file.foreign"]
    assert finding.verdict is (Verdict.FAIL if said else Verdict.PASS)
    assert said in finding.message


def test_before_the_first_generation_nothing_is_ours() -> None:
    assert "file.foreign" not in _verify(_desired())


def test_every_check_of_a_whole_node_is_documented() -> None:
    settings = {"sysctl.vm.swappiness", "cmdline.nohz_full", "kubelet.cpuManagerPolicy", _BAN.id}
    state = _generation("a = 1\n", "a = 1\n")
    state["files"] |= _grub("nohz_full=2-7")
    findings = _verify(_desired(_SWAPPINESS, _NOHZ, _POLICY, _BAN), **state)
    assert set(findings) - settings <= set(CHECKS)
    assert all(findings[check].why == CHECKS[check].why for check in set(findings) - settings)
