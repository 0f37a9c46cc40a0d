"""What keeps machines from becoming a cluster is found before anything is changed."""

from __future__ import annotations

from typing import Any

import pytest
from support.bare_machines import bare, journal, parse_toml, request

from tunectl.core.bootstrap.membership import Standing, read_membership
from tunectl.core.bootstrap.places import TRACES
from tunectl.core.bootstrap.preflight import judge_machine
from tunectl.core.bootstrap.preflight_pool import judge_machines
from tunectl.core.check_catalogue import CHECKS
from tunectl.core.findings import Finding, Severity, Verdict
from tunectl.core.snapshot import Snapshot


def judged(snapshot: Snapshot, **values: Any) -> dict[str, Finding]:
    found = judge_machine(snapshot, request(**values), parse_toml)
    assert len({one.id for one in found}) == len(found)
    return {one.id.removeprefix("bootstrap."): one for one in found}


def test_a_machine_that_is_fit_passes_every_check() -> None:
    found = judged(bare())
    assert {name: one.verdict for name, one in found.items() if one.verdict is not Verdict.PASS} == {}


def test_a_snapshot_without_the_facts_of_a_bootstrap_proves_nothing() -> None:
    found = judged(Snapshot("n", {}))
    passed = {name for name, one in found.items() if one.verdict is Verdict.PASS}
    assert passed == {"hostname"}
    assert found["leftovers"].verdict is Verdict.UNKNOWN


TCP = "   1: 00000000:192B 00000000:0000 0A 0\n   2: 0100007F:280A 00000000:0000 0A 0\n"


@pytest.mark.parametrize(
    ("check", "snapshot", "severity", "word"),
    [
        ("kernel", bare(files={"/proc/sys/kernel/osrelease": "4.18.0-553.el8\n"}), Severity.CRITICAL, "4.18"),
        ("kernel", bare(files={"/proc/sys/kernel/osrelease": "5.4.0-200\n"}), Severity.WARNING, "5.4"),
        ("swap", bare(files={"/proc/swaps": "Filename\n/dev/sda3 partition 1 0 -2\n"}), Severity.CRITICAL, "/dev/sda3"),
        ("modules", bare(modules={"overlay": "", "br_netfilter": "loaded"}), Severity.CRITICAL, "overlay"),
        ("forwarding", bare(files={"/proc/sys/net/ipv4/ip_forward": "0\n"}), Severity.INFO, "0"),
        ("ports", bare(files={"/proc/net/tcp": TCP}), Severity.CRITICAL, "6443, 10250"),
        ("resolution", bare(names={"k8s.example.com": "not known"}), Severity.CRITICAL, "not known"),
        ("room", bare(room={"/var/lib": 2**30}), Severity.CRITICAL, "1.0 GiB"),
        ("room", bare(room={"/var/lib": 5 * 2**30}), Severity.WARNING, "5.0 GiB"),
        ("programs", bare(programs={}), Severity.CRITICAL, "kubeadm"),
        ("firewall", bare(firewalls={"firewalld": "active"}), Severity.WARNING, "firewalld"),
        ("leftovers", bare(present=["/etc/kubernetes/admin.conf"]), Severity.CRITICAL, "admin.conf"),
        ("leftovers", bare(files={"/var/lib/tunectl/bootstrap/journal.json": "{"}), Severity.CRITICAL, "journal"),
        ("runtime", bare(files={"/etc/containerd/config.toml": "x = ["}), Severity.CRITICAL, "not TOML"),
    ],
)
def test_what_is_wrong_is_said(check: str, snapshot: Snapshot, severity: Severity, word: str) -> None:
    finding = judged(snapshot)[check]
    assert (finding.verdict, finding.severity) == (Verdict.FAIL, severity)
    assert word in finding.message
    assert finding.remedy
    assert finding.why == CHECKS[f"bootstrap.{check}"].why


@pytest.mark.parametrize(
    ("check", "snapshot"),
    [
        ("swap", bare(without=("/proc/swaps",))),
        ("ports", bare(without=("/proc/net/tcp",))),
        ("modules", bare(modules=None)),
        ("resolution", bare(names={})),
        ("room", bare(room={})),
        ("firewall", bare(firewalls=None)),
        ("skew", bare(programs={"kubeadm": {"path": "/usr/bin/kubeadm", "said": "it did not answer"}})),
        ("runtime", bare(programs={})),
    ],
)
def test_what_could_not_be_seen_is_unknown(check: str, snapshot: Snapshot) -> None:
    assert judged(snapshot)[check].verdict is Verdict.UNKNOWN


def test_a_tier_may_want_swap_and_a_bootstrap_may_bring_the_programs() -> None:
    swapping = bare(files={"/proc/swaps": "Filename\n/dev/sda3 partition 1 0 -2\n"})
    assert judged(swapping, allows_swap=True)["swap"].verdict is Verdict.PASS
    without = bare()
    programs = dict(without.facts["bootstrap"]["programs"])
    for name in ("kubeadm", "kubelet", "kubectl", "crictl"):
        programs[name] = {"path": ""}
    found = judged(bare(programs=programs), installs=True)
    assert found["programs"].verdict is Verdict.PASS
    assert found["skew"].verdict is Verdict.NOT_APPLICABLE
    assert judged(bare(programs=programs))["programs"].verdict is Verdict.FAIL


def test_a_kubelet_newer_than_the_cluster_is_refused() -> None:
    programs = dict(bare().facts["bootstrap"]["programs"], kubelet={"path": "/k", "said": "Kubernetes v1.34.0"})
    finding = judged(bare(programs=programs))["skew"]
    assert finding.blocks
    assert "newer" in finding.message


def test_where_a_machine_stands() -> None:
    ca = {"/etc/kubernetes/pki/ca.crt": "none"}
    trace = ["/etc/kubernetes/kubelet.conf"]
    cases = [
        (bare(), Standing.NONE),
        (bare(present=list(TRACES)), Standing.FOREIGN),
        (bare(files=journal(state="started"), present=trace), Standing.PARTIAL),
        (bare(files=journal(state="started")), Standing.NONE),
        (bare(files=journal(), present=trace), Standing.MEMBER),
        (bare(files=journal(), present=["/etc/kubernetes/admin.conf"]), Standing.FOREIGN),
        (bare(files=journal()), Standing.NONE),
        (bare(files={**journal(role="reset"), **ca}), Standing.FOREIGN),
    ]
    assert [read_membership(one).standing for one, _ in cases] == [wanted for _, wanted in cases]


def test_the_ports_of_a_member_are_its_own() -> None:
    member = bare(files={**journal(), "/proc/net/tcp": TCP}, present=["/etc/kubernetes/kubelet.conf"])
    found = judged(member)
    assert found["ports"].verdict is Verdict.NOT_APPLICABLE
    assert found["leftovers"].verdict is Verdict.PASS


def pool(*snapshots: Snapshot) -> dict[tuple[str, str], Finding]:
    found = judge_machines(snapshots, snapshots[0].node)
    return {(one.subject, one.id.removeprefix("bootstrap.")): one for one in found}


@pytest.mark.parametrize(
    ("epoch", "verdict"),
    [(1000.5, Verdict.PASS), (1010.0, Verdict.FAIL), (990.0, Verdict.FAIL), (1002.0, Verdict.UNKNOWN)],
)
def test_clocks_are_compared_as_far_as_they_can_be(epoch: float, verdict: Verdict) -> None:
    found = pool(bare(), bare("w-1", epoch=epoch))
    assert found["w-1", "clock"].verdict is verdict
    assert found["cp-1", "clock"].verdict is Verdict.NOT_APPLICABLE


def test_a_clock_that_was_not_read_is_unknown() -> None:
    assert pool(bare(), bare("w-1", epoch=None))["w-1", "clock"].verdict is Verdict.UNKNOWN


def test_clones_are_named_together() -> None:
    uuid = {"/sys/class/dmi/id/product_uuid": "ABC\n"}
    found = pool(bare(files=uuid), bare("w-1", files={"/sys/class/dmi/id/product_uuid": "abc\n"}), bare("w-2"))
    assert found["w-1", "identity"].blocks
    assert "cp-1" in found["w-1", "identity"].message
    assert found["w-2", "identity"].verdict is Verdict.PASS
    names = pool(bare(hostname="same"), bare("w-1", hostname="Same"))
    assert names["cp-1", "unique-name"].blocks


def test_a_member_of_another_cluster_is_found_by_its_authority() -> None:
    here, there = "sha256:1", "sha256:2"
    conf = ["/etc/kubernetes/kubelet.conf"]
    first = bare(files=journal(ca=here), present=conf)
    same = bare("w-1", files=journal("join", ca=here), present=conf)
    other = bare("w-2", files=journal("join", ca=there), present=conf)
    found = pool(first, same, other, bare("w-3"))
    assert found["w-1", "authority"].verdict is Verdict.PASS
    assert found["w-2", "authority"].blocks
    assert found["w-3", "authority"].verdict is Verdict.NOT_APPLICABLE
