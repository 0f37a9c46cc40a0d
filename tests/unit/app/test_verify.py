"""Verification of nodes: the scope, the exit code, and the report in every format."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.machines import Shape, machine
from support.snapshots import snapshot_of

from tunectl.app.verify import NodeReport, Scope, Verification, known_failures, verify
from tunectl.core.desired import Platform
from tunectl.core.errors import InputError
from tunectl.core.findings import Evidence, Finding, Origin, Severity, Verdict
from tunectl.core.snapshot import Snapshot
from tunectl.planning.tier_file import load_tier
from tunectl.view.report import report_junit, report_result, report_text
from tunectl.view.report_html import report_html
from tunectl.view.screen import Screen

_FAIL = Finding(
    "sysctl.vm.swappiness",
    Verdict.FAIL,
    Severity.WARNING,
    "a",
    "kernel parameter vm.swappiness is 60, wanted 10",
    "10",
    "60",
    "it swaps less",
    "tunectl apply --tier t (live)",
    (Evidence("/proc/sys/vm/swappiness", "60"),),
    Origin("tiers/t.yaml", 7, 3),
    "sysctl.vm.swappiness",
)
_PASS = replace(_FAIL, id="cmdline.nohz_full", verdict=Verdict.PASS, severity=Severity.CRITICAL, remedy="")
_UNKNOWN = replace(_FAIL, id="irq.affinity.reserved-only", verdict=Verdict.UNKNOWN)
_ALL = Scope()
_NOT = replace(_FAIL, id="kubelet.checkpoint.policy", verdict=Verdict.NOT_APPLICABLE)


def _report(*findings: Finding, scope: Scope = _ALL, simulated: bool = False) -> Verification:
    names = dict.fromkeys(finding.subject for finding in findings)
    nodes = tuple(NodeReport(name, tuple(one for one in findings if one.subject == name), simulated) for name in names)
    return Verification("t", "hpc", nodes, scope)


@pytest.mark.parametrize(
    ("findings", "scope", "code"),
    [
        ((_PASS,), Scope(), 0),
        ((_PASS, _NOT), Scope(), 0),
        ((_PASS, _FAIL), Scope(), 3),
        ((_PASS, _UNKNOWN), Scope(), 5),
        ((_FAIL, _UNKNOWN), Scope(), 3),
        ((_PASS, _UNKNOWN), Scope(unknown_fails=False), 0),
        ((_FAIL,), Scope(known=frozenset({("a", "sysctl.vm.swappiness")})), 0),
        ((_FAIL,), Scope(known=frozenset({("b", "sysctl.vm.swappiness")})), 3),
    ],
)
def test_exit_codes(findings: tuple[Finding, ...], scope: Scope, code: int) -> None:
    assert _report(*findings, scope=scope).exit_code == code


@pytest.mark.parametrize(
    ("scope", "has"),
    [
        (Scope(), True),
        (Scope(checks=("sysctl.*",)), True),
        (Scope(checks=("cmdline.*", "*.swappiness")), True),
        (Scope(checks=("cmdline.*",)), False),
        (Scope(skips=("sysctl.*",)), False),
        (Scope(checks=("*",), skips=("*.swap*",)), False),
        (Scope(level=Severity.WARNING), True),
        (Scope(level=Severity.CRITICAL), False),
    ],
)
def test_the_scope(scope: Scope, has: bool) -> None:  # noqa: FBT001  a test parameter
    assert scope.has(_FAIL) is has


def _snapshots() -> list[Snapshot]:
    shape = machine(Shape(sockets=2, cores=32, threads=2, memory_gib=256))
    return [snapshot_of(shape, name, {"/proc/cmdline": "ro quiet\n"}) for name in ("a", "b")]


def test_a_node_that_was_never_tuned_fails_and_what_nobody_saw_is_unknown() -> None:
    report = verify(load_tier("hpc-massive"), _snapshots(), Platform.KUBEADM, Scope())
    assert [node.node for node in report.nodes] == ["a", "b"]
    verdicts = {finding.id: finding.verdict for finding in report.nodes[0].findings}
    assert verdicts["cmdline.nohz_full"] is Verdict.FAIL
    assert verdicts["cpu.online.partition"] is Verdict.PASS
    assert verdicts["kubelet.checkpoint.policy"] is Verdict.NOT_APPLICABLE
    assert {finding.subject for finding in report.nodes[1].findings} == {"b"}
    assert report.exit_code == 3


def test_only_what_is_in_scope_is_reported() -> None:
    report = verify(load_tier("hpc-massive"), _snapshots(), Platform.KUBEADM, Scope(checks=("cpu.*",)))
    assert {finding.id for finding in report.findings} == {"cpu.online.partition"}
    assert report.exit_code == 0


def test_a_scope_without_any_check_proves_nothing_and_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        verify(load_tier("hpc-massive"), _snapshots(), Platform.KUBEADM, Scope(checks=("cpuu.*",)))
    assert caught.value.problems[0].where == "--check cpuu.*"


def test_known_failures_come_from_a_saved_report() -> None:
    result = report_result(_report(_FAIL, _PASS, _UNKNOWN))
    document = {"kind": result.kind, "items": list(result.items)}
    assert known_failures(document) == {("a", "sysctl.vm.swappiness")}
    with pytest.raises(InputError):
        known_failures({"kind": "Plan", "items": []})


def test_a_good_report_is_short() -> None:
    text = report_text(_report(_PASS, replace(_PASS, subject="b")), Screen(), 7.21)
    assert text.splitlines() == [
        "tier t, 2 nodes, 1 check each, 7.2 s",
        "",
        "  ✓ a  ━━━━━━━━━━━━━━━━━━━━  1/1",
        "  ✓ b  ━━━━━━━━━━━━━━━━━━━━  1/1",
        "",
        "  ✓ 2 pass   ✗ 0 fail   ? 0 unknown   - 0 not applicable   exit 0",
    ]


def test_failures_are_said_once_with_why_and_fix() -> None:
    report = _report(_FAIL, _PASS, replace(_FAIL, subject="b"), replace(_UNKNOWN, subject="b"), simulated=True)
    text = report_text(report, Screen(), 0.5)
    lines = [line.split() for line in text.splitlines()]
    assert ["✗", "FAIL", "sysctl.vm.swappiness", "2", "nodes", "10", "60"] in lines
    assert "  sysctl.vm.swappiness on a, b" in text
    assert text.count("it swaps less") == 2
    assert text.count("tunectl apply --tier t (live)") == 2
    assert text.index("✗ FAIL") < text.index("? unknown")
    assert text.splitlines()[0].endswith("simulated")
    assert "✗ a  ━━━━━━━━━━──────────  1/2   1 fail" in text
    assert "exit 3" in text


def test_of_many_failures_the_heaviest_are_explained_and_the_rest_share_their_fixes() -> None:
    many = [replace(_FAIL, id=f"sysctl.x{number}", why=f"reason {number}") for number in range(20)]
    text = report_text(_report(*many), Screen(), 1)
    assert text.count("why") == 5
    assert "15 more are not right (-v explains them)" in text
    assert "15 checks: tunectl apply --tier t (live)" in text
    assert report_text(_report(*many), Screen(), 1, verbose=True).count("why") == 20


def test_a_nearly_full_bar_is_not_full() -> None:
    many = [replace(_PASS, id=f"cmdline.a{number}") for number in range(400)]
    text = report_text(_report(*many, _FAIL), Screen(), 1)
    assert "━" * 19 + "─  400/401" in text


def test_known_failures_are_shown_and_do_not_count() -> None:
    text = report_text(_report(_FAIL, scope=Scope(known=frozenset({("a", _FAIL.id)}))), Screen(), 1)
    assert "✗ known" in text
    assert "exit 0" in text


def test_verbose_shows_every_check() -> None:
    text = report_text(_report(_PASS, _NOT), Screen(), 1, verbose=True)
    assert "✓ pass" in text
    assert "cmdline.nohz_full" in text
    assert "- n/a" in text


def test_a_wide_screen_has_room_for_the_place() -> None:
    assert "t.yaml:7" in report_text(_report(_FAIL), Screen(width=120), 1).split("why")[0]


def test_the_machine_form_counts_and_keeps_the_evidence() -> None:
    result = report_result(_report(_FAIL, _PASS, _UNKNOWN, _NOT))
    assert result.exit_code == 3
    assert {key: result.summary[key] for key in ("pass", "fail", "unknown", "notApplicable", "nodes")} == {
        "pass": 1,
        "fail": 1,
        "unknown": 1,
        "notApplicable": 1,
        "nodes": 1,
    }
    item = result.items[0]
    assert (item["check"], item["verdict"], item["wanted"], item["found"]) == (
        "sysctl.vm.swappiness",
        "fail",
        "10",
        "60",
    )
    assert item["evidence"] == [{"file": "/proc/sys/vm/swappiness", "text": "60"}]
    assert item["askedIn"] == {"file": "tiers/t.yaml", "line": 7, "column": 3}


def test_junit_and_html_say_that_nodes_are_simulated() -> None:
    report = _report(_FAIL, simulated=True)
    assert "(simulated)" in report_junit(report)
    page = report_html(report, "now")
    assert "simulated" in page
    assert "/proc/sys/vm/swappiness" in page
    assert "<details open>" in page
    assert "<details><summary>" in report_html(_report(_PASS), "now")
