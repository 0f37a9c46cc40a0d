"""Plans for people: the dearest change first, alike nodes together, the same facts in every format."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from support.machines import Shape, machine
from support.snapshots import snapshot_of

from tunectl.app.plan import Alike, Planned, file_changes, make_plan, refuse_dearer
from tunectl.core.alternatives import Alternative
from tunectl.core.cpuset import CpuSet
from tunectl.core.desired import Area, DesiredState, Impact, Partition, Platform, Setting
from tunectl.core.errors import RefusedError
from tunectl.core.findings import Finding, Origin, Severity, Verdict
from tunectl.core.plan import Change, ChangeKind, NodeFile, NodePlan, PoolPlan
from tunectl.core.snapshot import Snapshot
from tunectl.planning.tier_file import load_tier
from tunectl.view.plan import (
    change_rows,
    now_text,
    place_text,
    plan_text,
    price_text,
    readable,
    value_text,
    wanted_text,
)
from tunectl.view.plan_diff import plan_diff
from tunectl.view.plan_html import plan_html, plan_markdown
from tunectl.view.plan_json import plan_result
from tunectl.view.screen import Screen

_PARTITION = Partition(CpuSet.parse("0-1,4-5"), CpuSet.parse("2-3,6-7"), reasons=("reserved: two whole cores",))
_MACHINE = machine(Shape(cores=4, threads=2))
_ORIGIN = Origin("tiers/t.yaml", 12, 5)
_SYSCTL = Setting("sysctl.vm.swappiness", Area.SYSCTL, "vm.swappiness", "10", Impact.LIVE, "it swaps less")
_RIGHT = Setting("sysctl.vm.stat_interval", Area.SYSCTL, "vm.stat_interval", "10", Impact.LIVE, "fewer updates")
_LIVE = Change("sysctl.vm.swappiness", ChangeKind.CHANGE, "60", "10", Impact.LIVE, "it swaps less", _ORIGIN)
_REBOOT = Change("cmdline.nohz_full", ChangeKind.ADD, None, "2-3,6-7", Impact.REBOOT, "no tick", _ORIGIN)
_FLAG = Change("cmdline.nosmt", ChangeKind.ADD, None, "", Impact.REBOOT)
_GONE = Change("sysctl.vm.old", ChangeKind.REMOVE, "1", None, Impact.LIVE)
_FINDING = Finding(
    "cpu.siblings.split",
    Verdict.FAIL,
    Severity.WARNING,
    "a",
    "2 cores are split",
    why="they share",
    remedy="whole cores",
)


def _node(name: str, *changes: Change, partition: Partition = _PARTITION, simulated: bool = False) -> NodePlan:
    desired = DesiredState("t", "hpc", Platform.KUBEADM, partition, (_SYSCTL, _RIGHT))
    files = (NodeFile("/etc/sysctl.d/99-tunectl.conf", "vm.swappiness = 10\n"),)
    return NodePlan(name, "f" * 64, desired, changes, files, findings=(), matching=1, simulated=simulated)


def _planned(
    *nodes: NodePlan, alternatives: tuple[Alternative, ...] = (), findings: tuple[Finding, ...] = ()
) -> Planned:
    plan = PoolPlan("7f3c0000", "t", "hpc", nodes, findings)
    snapshots = tuple(Snapshot(node.node, {"/etc/sysctl.d/99-tunectl.conf": "vm.swappiness = 60\n"}) for node in nodes)
    return Planned(
        plan, load_tier("shared"), snapshots, (Alike(nodes, _MACHINE, nodes[0].desired.partition, alternatives),)
    )


def test_the_same_change_of_several_nodes_is_one_row_and_the_dearest_comes_first() -> None:
    other = replace(_LIVE, now="30")
    rows = change_rows(PoolPlan("i", "t", "p", (_node("a", _LIVE, _REBOOT), _node("b", other))))
    assert [(row.change.setting, row.nodes, row.now) for row in rows] == [
        ("cmdline.nohz_full", ("a",), "-"),
        ("sysctl.vm.swappiness", ("a", "b"), "2 values"),
    ]


def test_the_text_says_everything() -> None:
    text = plan_text(
        _planned(_node("a", _LIVE, _REBOOT, _FLAG, _GONE), _node("b", _LIVE), findings=(_FINDING,)), Screen()
    )
    assert text.startswith("plan 7f3c0000   tier t → pool hpc, 2 nodes\n")
    assert "reserved   0-1, 4-5   (4 CPUs)" in text
    assert "reserved: two whole cores" in text
    lines = [line.split() for line in text.splitlines()]
    assert ["+", "cmdline.nohz_full", "1", "-", "2-3,6-7"] in lines
    assert ["+", "cmdline.nosmt", "1", "-", "set"] in lines
    assert ["~", "sysctl.vm.swappiness", "2", "60", "10"] in lines
    assert ["-", "sysctl.vm.old", "1", "1", "-"] in lines
    assert "it swaps less (t.yaml:12)" in text
    assert text.index("\n  reboot\n") < text.index("nohz_full") < text.index("\n  live\n") < text.index("vm.swappiness")
    assert "! warning   cpu.siblings.split" in text
    assert "= 1 setting is already right on each node (-v lists them)" in text
    assert text.endswith("price    1 node reboots, 1 node changes live\n")
    assert "simulated" not in text


def test_verbose_lists_what_is_right_already() -> None:
    text = plan_text(_planned(_node("a", _LIVE)), Screen(), verbose=True)
    assert "  = sysctl.vm.stat_interval: 10\n     fewer updates\n" in text
    assert "-v lists them" not in text


def test_a_simulated_plan_says_so_in_every_format() -> None:
    planned = _planned(_node("a", _LIVE, simulated=True))
    assert plan_text(planned, Screen()).splitlines()[0].endswith("simulated")
    assert "simulated" in plan_html(planned, "now")
    assert "(simulated)" in plan_markdown(planned, Screen())
    assert plan_result(planned, Path("p"), "0", 0).simulated


def test_a_plan_that_changes_nothing_says_so() -> None:
    planned = _planned(_node("a"))
    assert price_text(planned.plan) == "nothing: every node already runs the tier"
    assert "CHANGE" not in plan_text(planned, Screen())


def test_a_blocked_plan_says_that_it_will_not_be_done() -> None:
    text = plan_text(_planned(_node("a", _LIVE), findings=(replace(_FINDING, severity=Severity.CRITICAL),)), Screen())
    assert text.endswith("refused  1 critical finding: apply will not do this plan\n")


def test_a_better_split_can_be_copied_as_a_command() -> None:
    better = Alternative(CpuSet.parse("0,4"), CpuSet.parse("1-3,5-7"), "no core is split")
    text = plan_text(_planned(_node("a", _LIVE), alternatives=(better,)), Screen())
    command = text[text.index("tunectl plan") : text.index("price")].replace("\\\n", " ").split()
    assert command == ["tunectl", "plan", "--tier", "t", "--set", "cpu.reserved=0,4", "--set", "cpu.isolated=1-3,5-7"]


def test_nodes_that_are_not_alike_are_shown_apart() -> None:
    one, other = _node("a", _LIVE), _node("b", _LIVE, partition=Partition())
    planned = replace(
        _planned(one, other),
        alike=(Alike((one,), _MACHINE, _PARTITION), Alike((other,), _MACHINE, Partition())),
    )
    text = plan_text(planned, Screen())
    assert text.index("nodes      a") < text.index("R reserved 4") < text.index("nodes      b")
    assert "8 CPUs, none is set aside" in text
    assert "· not assigned 8" in plan_text(planned, Screen(), verbose=True)


@pytest.mark.parametrize(
    ("price", "nodes"),
    [
        ("2 nodes reboot", (_node("a", _REBOOT), _node("b", _REBOOT, _LIVE))),
        ("1 node is drained and restarts its kubelet", (_node("a", replace(_LIVE, impact=Impact.DRAIN)),)),
        (
            "1 node restarts its kubelet, 1 node changes live",
            (_node("a", replace(_LIVE, impact=Impact.RESTART)), _node("b", _LIVE)),
        ),
    ],
)
def test_the_price_in_words(price: str, nodes: tuple[NodePlan, ...]) -> None:
    assert price_text(PoolPlan("i", "t", "p", nodes)) == price


def test_of_two_maps_only_what_differs_is_shown() -> None:
    change = replace(_LIVE, now='{"a":"1","b":"2"}', wanted='{"a":"1","b":"3","c":"4"}')
    assert (now_text(change), wanted_text(change)) == ("b=2", "b=3 c=4")
    added = replace(_LIVE, now="{}", wanted='{"a":"1"}')
    assert (now_text(added), wanted_text(added)) == ("-", "a=1")


def test_values_and_places_as_people_write_them() -> None:
    assert readable('[{"limits":{"memory":"1Mi"},"numaNode":0}]') == "node 0 memory=1Mi"
    assert readable("{not json") == "{not json"
    assert [value_text(one) for one in (None, True, False, 3, ["a", "b"])] == ["set", "true", "false", "3", "a; b"]
    assert place_text(_ORIGIN) == "t.yaml:12"
    assert place_text(Origin("--set cpu.reserved")) == "--set cpu.reserved"


def test_the_machine_form_has_every_node_and_change() -> None:
    result = plan_result(_planned(_node("a", _LIVE), _node("b"), findings=(_FINDING,)), Path("x/7f3c.json"), "ab", 3)
    assert (result.exit_code, result.status) == (3, "differs")
    assert result.summary["file"] == "x/7f3c.json"
    assert (result.summary["nodes"], result.summary["changed"], result.summary["impact"]) == (2, 1, "live")
    assert [item["node"] for item in result.items] == ["a", "b"]
    assert result.items[0]["changes"][0]["now"] == "60"
    assert result.items[0]["partition"]["reserved"] == "0-1,4-5"
    json.dumps([result.summary, list(result.items)])


def test_the_difference_of_files_joins_nodes_with_the_same_change() -> None:
    planned = _planned(_node("a", _LIVE), _node("b", _LIVE))
    assert plan_diff(planned, Screen()).splitlines() == [
        "--- a,b:/etc/sysctl.d/99-tunectl.conf",
        "+++ a,b:/etc/sysctl.d/99-tunectl.conf",
        "@@ -1 +1 @@",
        "-vm.swappiness = 60",
        "+vm.swappiness = 10",
    ]
    absent = replace(planned, snapshots=tuple(Snapshot(name, {}) for name in "ab"))
    assert plan_diff(absent, Screen()).splitlines()[0].endswith("99-tunectl.conf (absent)")
    same = replace(
        planned,
        snapshots=tuple(Snapshot(name, {"/etc/sysctl.d/99-tunectl.conf": "vm.swappiness = 10\n"}) for name in "ab"),
    )
    assert plan_diff(same, Screen()) == ""
    assert file_changes(same.plan, same.snapshots) == []


def test_a_missing_newline_at_the_end_is_a_difference() -> None:
    planned = _planned(_node("a", _LIVE))
    open_end = replace(planned, snapshots=(Snapshot("a", {"/etc/sysctl.d/99-tunectl.conf": "vm.swappiness = 10"}),))
    assert "-vm.swappiness = 10 (no newline at the end)" in plan_diff(open_end, Screen()).splitlines()


class _Tags(HTMLParser):
    """Counts open tags, so that a page with a broken nesting is seen."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Shapes of SVG close themselves."""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_escapes_what_it_shows() -> None:
    nasty = replace(_LIVE, now="<script>alert(1)</script>", why="a & b < c")
    page = plan_html(_planned(_node("a", nasty), findings=(replace(_FINDING, message="<b>"),)), "now")
    tags = _Tags()
    tags.feed(page)
    assert tags.open == []
    assert "<script" not in page
    assert "a &amp; b &lt; c" in page
    assert not re.search(r'(src|href)="', page)


def test_markdown_cells_cannot_break_their_table() -> None:
    nasty = replace(_LIVE, now="a|b`c\nd")
    rows = [
        line for line in plan_markdown(_planned(_node("a", nasty)), Screen()).splitlines() if line.startswith("| `")
    ]
    assert rows == ["| `sysctl.vm.swappiness` | 1 | live | `a/b'c d` | `10` |"]


def test_the_price_can_be_limited() -> None:
    plan = PoolPlan("i", "t", "p", (_node("a", _LIVE, _REBOOT),))
    refuse_dearer(plan, Impact.REBOOT)
    with pytest.raises(RefusedError) as caught:
        refuse_dearer(plan, Impact.DRAIN)
    assert "cmdline.nohz_full need up to a reboot" in caught.value.problems[0].why
    assert "swappiness" not in caught.value.problems[0].why


def test_a_real_plan_groups_alike_nodes_and_offers_a_better_split() -> None:
    big = machine(Shape(sockets=2, cores=32, threads=2, memory_gib=256))
    small = machine(Shape(cores=8))
    snapshots = [snapshot_of(big, "a"), snapshot_of(small, "c"), snapshot_of(big, "b")]
    planned = make_plan(load_tier("hpc-massive"), snapshots, Platform.KUBEADM)
    assert [[node.node for node in alike.nodes] for alike in planned.alike] == [["a", "b"], ["c"]]
    (better,) = planned.alike[0].alternatives
    assert len(better.isolated) == 90
    assert not big.split_cores(better.reserved, better.isolated)
    assert planned.alike[1].alternatives == ()
