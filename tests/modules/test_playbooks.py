"""The playbooks as users run them without the command line, on small simulated nodes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.labs import node_tree
from support.node_trees import build, picture
from support.plays import Played, ansible, write_inventory

pytestmark = [pytest.mark.ansible, pytest.mark.timeout(600)]

OWN = "/etc/kubernetes/kubelet.conf.d/99-tunectl.conf"
TIER = """
apiVersion: tunectl.io/v1alpha1
kind: Tier
name: small
summary: A tier for small nodes
pool: small-pool
cpu:
  reserved: {count: 4, spread: numa}
kubelet:
  cpu_manager_policy: static
sysctl:
  vm.swappiness: "7"
"""


def lab(folder: Path, *names: str) -> dict[str, Path]:
    """Return the trees of nodes, in an inventory where all of them are in one pool, with a tier beside it."""
    roots = {name: node_tree(folder / "nodes" / name) for name in names}
    variables = {name: {"tunectl_root": str(root), "tunectl_simulated": True} for name, root in roots.items()}
    write_inventory(folder, {"small_pool": list(names), "rack": list(names)[-1:]}, variables)
    (folder / "tiers").mkdir()
    (folder / "tiers/small.yaml").write_text(TIER, encoding="utf-8")
    return roots


def play(folder: Path, name: str, *flags: str) -> Played:
    return ansible("ansible-playbook", [f"tunectl.node.{name}", "-i", "hosts.yaml", *flags], folder)


def written(folder: Path, name: str) -> object:
    return json.loads((folder / ".tunectl/runs/ansible" / name).read_text(encoding="utf-8"))


def test_apply_verify_and_roll_back(tmp_path: Path) -> None:
    roots = lab(tmp_path, "n1", "n2")
    before = {name: picture(root) for name, root in roots.items()}
    tier = ("-e", "tunectl_tier=small")

    checked = play(tmp_path, "apply", *tier, "--check", "--diff")
    assert checked.code == 0, checked.output
    assert "+cpuManagerPolicy: static" in checked.output
    assert {name: picture(root) for name, root in roots.items()} == before

    differs = play(tmp_path, "verify", *tier)
    assert differs.code != 0
    assert "TUN-3502" in differs.output
    assert "Traceback" not in differs.output

    first = play(tmp_path, "apply", *tier)
    assert first.code == 0, first.output
    assert all(counts["changed"] == 2 for counts in first.recap.values()), first.output
    assert "cpuManagerPolicy: static" in (roots["n1"] / OWN[1:]).read_text(encoding="utf-8")
    assert (roots["n2"] / "proc/sys/vm/swappiness").read_text(encoding="utf-8") == "7\n"

    frozen = {name: picture(root, without="/nothing") for name, root in roots.items()}
    second = play(tmp_path, "apply", *tier)
    assert second.code == 0, second.output
    assert all(counts["changed"] == 0 for counts in second.recap.values()), second.output
    assert "Apply the plan of the node" not in second.output
    assert {name: picture(root, without="/nothing") for name, root in roots.items()} == frozen

    back = play(tmp_path, "rollback", "-e", "tunectl_hosts=n2")
    assert back.code == 0, back.output
    assert list(back.recap) == ["n2"]
    assert not (roots["n2"] / OWN[1:]).exists()
    assert (roots["n2"] / "proc/sys/vm/swappiness").read_text(encoding="utf-8") == "60\n"
    assert (roots["n1"] / OWN[1:]).exists()


def test_a_failure_leaves_the_nodes_of_later_batches_alone(tmp_path: Path) -> None:
    roots = lab(tmp_path, "n1", "n2", "n3")
    build(roots["n1"], {OWN: (b"theirs: true\n", 0o644)})
    before = {name: picture(root) for name, root in roots.items()}
    batches = json.dumps({"tunectl_serial": [2, "100%"], "tunectl_tier": "small"})
    played = play(tmp_path, "apply", "-e", batches)
    assert played.code != 0
    assert "TUN-3402" in played.output
    assert played.recap["n1"]["failed"] == 1
    # the node of the same batch is finished, not left between its files and its reboot
    assert played.recap["n2"]["failed"] == 0 or "TUN-3502" in played.output
    assert (roots["n2"] / "proc/sys/vm/swappiness").read_text(encoding="utf-8") == "7\n"
    assert picture(roots["n1"]) == before["n1"]
    assert picture(roots["n3"]) == before["n3"]
    overwritten = play(tmp_path, "apply", "-e", batches, "-e", "tunectl_overwrite=true")
    assert overwritten.code == 0, overwritten.output


def test_an_unreachable_node_stops_the_plan_and_is_named(tmp_path: Path) -> None:
    roots = lab(tmp_path, "n1", "n2")
    before = {name: picture(root, without="/nothing") for name, root in roots.items()}
    inventory = json.loads((tmp_path / "hosts.yaml").read_text(encoding="utf-8"))
    inventory["all"]["hosts"]["n2"].update(
        ansible_connection="ssh", ansible_host="127.0.0.1", ansible_port=1, ansible_ssh_retries=0
    )
    (tmp_path / "hosts.yaml").write_text(json.dumps(inventory), encoding="utf-8")
    played = play(tmp_path, "apply", "-e", "tunectl_tier=small")
    assert played.code != 0
    assert played.recap["n2"]["unreachable"] == 1
    assert "TUN-1505" in played.output
    assert "n2" in played.output.partition("TUN-1505")[0].splitlines()[-1]
    assert {name: picture(root, without="/nothing") for name, root in roots.items()} == before


def test_pools_that_are_not_well_formed_and_plans_that_must_not_be_applied_are_refused(tmp_path: Path) -> None:
    roots = lab(tmp_path, "n1", "n2")
    before = {name: picture(root, without="/nothing") for name, root in roots.items()}
    bad_tier = TIER.replace("name: small", "name: all").replace("{count: 4, spread: numa}", '"0-15"')
    (tmp_path / "tiers/all.yaml").write_text(bad_tier, encoding="utf-8")
    (tmp_path / "tiers/rack.yaml").write_text(TIER.replace("small", "rack").replace("rack-pool", "rack"))
    narrowed = {"tunectl_tier": "all", "tunectl_nodes": ["n1"]}
    for variables, code in (
        ({"tunectl_tier": "none-such"}, "TUN-1109"),
        ({"tunectl_tier": "small"}, "TUN-1501"),
        ({"tunectl_tier": "small", "tunectl_nodes": ["n9"]}, "TUN-1503"),
        ({"tunectl_tier": "batch"}, "TUN-1502"),
        (narrowed, "TUN-"),
    ):
        played = play(tmp_path, "apply", "-e", json.dumps(variables))
        assert played.code != 0, variables
        assert code in played.output, played.output
        assert "Nothing was changed." in played.output
        assert "Traceback" not in played.output
        assert "TUN-9" not in played.output
    assert {name: picture(root, without="/nothing") for name, root in roots.items()} == before


def test_what_takes_part_is_written_down(tmp_path: Path) -> None:
    roots = lab(tmp_path, "n1", "n2")
    played = play(tmp_path, "snapshot", "-e", json.dumps({"tunectl_nodes": ["rack"]}))
    assert played.code == 0, played.output
    expected = {"pool": "small-pool", "root": str(roots["n2"]), "simulated": True, "connection": "local"}
    assert written(tmp_path, "members.json") == {"hosts": {"n2": expected}}
    assert [path.name for path in (tmp_path / ".tunectl/runs/ansible/snapshots").iterdir()] == ["n2.json"]
