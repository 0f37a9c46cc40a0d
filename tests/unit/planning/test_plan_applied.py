"""What a plan says, done to a simulated node by the real transaction, leaves nothing to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.labs import node_tree, snapshot_of

from tunectl.core.cpuset import CpuSet
from tunectl.core.plan import PoolPlan
from tunectl.core.tier import (
    CpuSpec,
    HugepageRequest,
    HugepagesSpec,
    IrqSpec,
    KernelSpec,
    KubeletSpec,
    MemorySpec,
    Tier,
)
from tunectl.planning.pool import node_plan_document, plan_pool, stale_reasons
from tunectl.planning.stale import remaining_plan
from tunectl.planning.tier_file import load_tier

EVERYTHING = Tier(
    "everything",
    cpu=CpuSpec(
        reserved=CpuSet.parse("0,4,8,12"),
        isolated=CpuSet.parse("1-2,5-6,9-10,13-14"),
        offlined=CpuSet.parse("3,7,11,15"),
        balance_isolated=False,
    ),
    kubelet=KubeletSpec(topology_manager_policy="restricted", max_pods=60),
    hugepages=HugepagesSpec("2M", (HugepageRequest("2M", 64), HugepageRequest("1G", 1, 1))),
    sysctl={"vm.swappiness": "10", "kernel.sched_min_granularity_ns": "5000000"},
    memory=MemorySpec(
        transparent_hugepages="never",
        thp_defrag="never",
        thp_shmem="advise",
        khugepaged_defrag=False,
        ksm=True,
        swap=False,
    ),
    irq=IrqSpec(balance_isolated=False),
    kernel=KernelSpec(args=("audit=0",), modules={"kvm": {"nx_huge_pages": "0"}}),
)


def apply(root: Path, plan: PoolPlan) -> None:
    # Transaction and reboot are parts of the collection: they are imported by that name.
    from ansible_collections.tunectl.node.plugins.module_utils.generation import Generations  # noqa: PLC0415
    from ansible_collections.tunectl.node.plugins.module_utils.generation_request import (  # noqa: PLC0415
        request_from_json,
    )
    from ansible_collections.tunectl.node.plugins.module_utils.lab.reboot import reboot  # noqa: PLC0415

    document = json.loads(json.dumps(node_plan_document(plan, plan.nodes[0])))
    assert Generations(str(root)).apply(request_from_json(document)).changed
    outcome = reboot(root)
    assert outcome.refused == ()
    assert outcome.kubelet is not None
    assert outcome.kubelet.state == "running", outcome.kubelet.reason


@pytest.mark.parametrize("tier", ["hpc-massive", "hpc-standard", "memory-quiet", "latency-sensitive", "everything"])
def test_after_apply_and_reboot_nothing_is_left(tmp_path: Path, tier: str) -> None:
    wanted = EVERYTHING if tier == "everything" else load_tier(tier)
    root = node_tree(tmp_path / "n1", "2s32c2t" if tier == "hpc-massive" else "2s4c2t")
    plan = plan_pool(wanted, [snapshot_of(root)])
    assert not plan.blocked, [finding.message for finding in plan.all_findings if finding.blocks]
    assert plan.changed
    apply(root, plan)
    after = snapshot_of(root)
    again = plan_pool(wanted, [after])
    assert [(change.setting, change.now, change.wanted) for change in again.nodes[0].changes] == []
    assert again.nodes[0].actions == ()
    assert again.nodes[0].matching == len(again.nodes[0].desired.settings)
    assert stale_reasons(plan, [after]) == ()
    # the saved plan, applied once more, has nothing to do, and is still the same plan
    remaining = remaining_plan(plan, [after])
    assert remaining.changed == ()
    assert (remaining.id, remaining.findings) == (plan.id, plan.findings)
    assert remaining.nodes[0].matching == plan.nodes[0].matching + len(plan.nodes[0].changes)


def test_what_is_not_done_remains(tmp_path: Path) -> None:
    roots = [node_tree(tmp_path / name) for name in ("n1", "n2", "n3")]
    plan = plan_pool(load_tier("memory-quiet"), [snapshot_of(root) for root in roots])
    apply(roots[0], plan)
    done, other, unseen = plan.nodes
    remaining = remaining_plan(plan, [snapshot_of(roots[0]), snapshot_of(roots[1])])
    assert remaining.changed == (other, unseen)
    assert remaining.nodes[0].node == done.node
    assert remaining_plan(remaining, [snapshot_of(root) for root in roots]) == remaining


def test_the_next_tier_takes_away_what_the_last_one_wrote(tmp_path: Path) -> None:
    root = node_tree(tmp_path / "n1")
    apply(root, plan_pool(load_tier("memory-quiet"), [snapshot_of(root)]))
    plan = plan_pool(load_tier("hpc-standard"), [snapshot_of(root)])
    removed = {change.setting for change in plan.nodes[0].changes if change.kind.value == "remove"}
    assert {"sysctl.kernel.numa_balancing", "runtime./sys/kernel/mm/transparent_hugepage/enabled"} <= removed
    apply(root, plan)
    assert not plan_pool(load_tier("hpc-standard"), [snapshot_of(root)]).changed
    assert not (root / "etc/sysctl.d/99-tunectl.conf").exists()
