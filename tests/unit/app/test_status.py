"""The state of each node at a glance, and the exit code of all of them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from support.machines import Shape, machine
from support.snapshots import snapshot_of

from tunectl.app.status import Generation, NodeStatus, current_generation, exit_code, fleet_status
from tunectl.core.desired import Platform
from tunectl.core.errors import InputError, problem
from tunectl.core.findings import Finding, Severity, Verdict
from tunectl.core.plan_files import GENERATIONS
from tunectl.core.snapshot import Snapshot
from tunectl.core.tier import Tier
from tunectl.planning.tier_file import load_tier

_FIVE = Generation(5, "batch", "2026-03-02T10:44:07Z")


def finding(verdict: Verdict, check: str = "sysctl.vm.swappiness") -> Finding:
    return Finding(check, verdict, Severity.WARNING, "n1", "a statement")


@pytest.mark.parametrize(
    ("node", "state", "code"),
    [
        (NodeStatus("n1", Generation()), "untuned", 0),
        (NodeStatus("n1", _FIVE, (finding(Verdict.PASS),)), "in tier", 0),
        (NodeStatus("n1", _FIVE, (finding(Verdict.PASS), finding(Verdict.FAIL))), "drifted", 3),
        (NodeStatus("n1", _FIVE, (finding(Verdict.FAIL, "boot.pending"), finding(Verdict.FAIL))), "reboot pending", 3),
        (NodeStatus("n1", _FIVE, (finding(Verdict.PASS, "boot.pending"),)), "in tier", 0),
        (NodeStatus("n1", _FIVE, (finding(Verdict.PASS), finding(Verdict.UNKNOWN))), "unknown", 5),
        (NodeStatus("n1", _FIVE, (finding(Verdict.UNKNOWN), finding(Verdict.FAIL))), "drifted", 3),
        (NodeStatus("n1", _FIVE, trouble="there is no tier"), "unknown", 5),
    ],
)
def test_state_and_exit_code_of_a_node(node: NodeStatus, state: str, code: int) -> None:
    assert node.state == state
    assert exit_code([node]) == code
    assert exit_code([NodeStatus("n0", Generation()), node]) == code


def test_drift_is_told_before_what_is_unknown() -> None:
    unknown = NodeStatus("n1", _FIVE, (finding(Verdict.UNKNOWN),))
    drifted = NodeStatus("n2", _FIVE, (finding(Verdict.FAIL),))
    assert exit_code([unknown, drifted]) == 3
    assert exit_code([]) == 0


def with_generations(*records: object) -> Snapshot:
    """Return the snapshot of a node with these manifests, the first of generation 1; text is taken as it is."""
    snapshot = snapshot_of(machine(Shape()))
    names = [f"{number:04d}" for number in range(1, len(records) + 1)]
    files = {
        f"{GENERATIONS}/{name}/manifest.json": record if isinstance(record, str) else json.dumps(record)
        for name, record in zip(names, records, strict=True)
        if record is not None
    }
    return replace(
        snapshot,
        files={**snapshot.files, **files},
        listings={**snapshot.listings, GENERATIONS: tuple(names)},
    )


def record(tier: str, state: str = "committed", *, owns: bool = True) -> dict[str, object]:
    files = [{"path": "/etc/sysctl.d/99-tunectl.conf"}] if owns else []
    return {"state": state, "tier": tier, "ended": "2026-03-02T10:44:07Z", "files": files, "runtime": {}}


@pytest.mark.parametrize(
    ("records", "number", "tier"),
    [
        ((), 0, ""),
        ((record("a"), record("b")), 2, "b"),
        ((record("a"), record("b", "undone")), 1, "a"),
        ((record("a"), None), 1, "a"),
        ((record("a"), "{ half"), 1, "a"),
        ((record("a"), record("", owns=False)), 0, ""),
    ],
)
def test_the_newest_committed_generation_holds(records: tuple[object, ...], number: int, tier: str) -> None:
    found = current_generation(with_generations(*records))
    assert (found.number, found.tier) == (number, tier)


def test_each_tier_is_loaded_once_and_a_tier_that_is_gone_is_trouble() -> None:
    asked: list[str] = []

    def load(name: str) -> Tier:
        asked.append(name)
        if name == "gone":
            raise InputError((problem("TUN-1109", "there is no tier 'gone'"),))
        return load_tier(name)

    nodes = [
        replace(with_generations(record(tier)), node=f"n{number}")
        for number, tier in enumerate(("batch", "gone", "batch", "gone"))
    ]
    untuned = replace(with_generations(), node="n4")
    found = fleet_status([*nodes, untuned], load, Platform.KUBEADM)
    assert asked == ["batch", "gone"]
    assert [one.node for one in found] == ["n0", "n1", "n2", "n3", "n4"]
    assert [bool(one.findings) for one in found] == [True, False, True, False, False]
    assert ["TUN-1109" in one.trouble for one in found] == [False, True, False, True, False]
    assert found[0].passed + found[0].failed + found[0].unknown > 0
    assert found[4].state == "untuned"
