"""What a tier wants of a machine before it has a kubelet."""

from __future__ import annotations

from pathlib import Path

from support.labs import node_tree, snapshot_of

from tunectl.core.desired import Area
from tunectl.planning.pool import plan_pool
from tunectl.planning.tier_file import load_tier


def test_a_machine_that_is_no_node_yet_is_planned_without_its_kubelet(tmp_path: Path) -> None:
    tier = load_tier("hpc-massive", ())
    snapshot = snapshot_of(node_tree(tmp_path / "n1", "2s32c2t"))
    (whole,) = plan_pool(tier, [snapshot]).nodes
    plan = plan_pool(tier, [snapshot], machine_only=True)
    (machine,) = plan.nodes
    assert not plan.blocked
    assert "update-grub" in machine.actions
    assert "reboot" in machine.actions
    assert [one for one in machine.actions if one.startswith("kubelet")] == []
    assert [one.id for one in machine.desired.settings if one.area is Area.KUBELET] == []
    assert [one.path for one in machine.files if "kubelet.conf.d" in one.path] == []
    # the rest is what the whole plan has, so that nothing is written again when there is a kubelet
    rest = {one.path: one.content for one in whole.files if "kubelet.conf.d" not in one.path}
    assert {one.path: one.content for one in machine.files} == rest
