"""The preflight as users run it without the command line, on simulated machines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.labs import node_tree
from support.node_trees import picture
from support.plays import Played, ansible, write_inventory

pytestmark = [pytest.mark.ansible, pytest.mark.timeout(600)]


def machines(folder: Path, **variables: object) -> dict[str, Path]:
    """Return the trees of a control plane and a worker, in an inventory of a cluster."""
    roots = {name: node_tree(folder / "nodes" / name) for name in ("cp-1", "w-1")}
    shared = {"tunectl_simulated": True, "tunectl_kube_version": "1.33.2", "tunectl_kube_address": "192.0.2.11"}
    hosts = {name: {**shared, "tunectl_root": str(root), **variables} for name, root in roots.items()}
    write_inventory(folder, {"kube_control_plane": ["cp-1"], "kube_workers": ["w-1"], "hpc_massive": ["w-1"]}, hosts)
    return roots


def play(folder: Path, *flags: str) -> Played:
    return ansible("ansible-playbook", ["tunectl.node.bootstrap_preflight", "-i", "hosts.yaml", *flags], folder)


def findings(folder: Path) -> dict[tuple[str, str], str]:
    text = (folder / ".tunectl/runs/ansible/preflight.json").read_text(encoding="utf-8")
    return {(one["subject"], one["id"]): one["verdict"] for one in json.loads(text)}


def test_machines_that_cannot_be_looked_at_are_refused_and_left_alone(tmp_path: Path) -> None:
    roots = machines(tmp_path)
    (roots["w-1"] / "etc/kubernetes").mkdir(parents=True, exist_ok=True)
    (roots["w-1"] / "etc/kubernetes/admin.conf").write_text("secret", encoding="utf-8")
    before = {name: picture(root, without="/nothing") for name, root in roots.items()}
    played = play(tmp_path, "-e", json.dumps({"tunectl_tiers": {"hpc-massive": "hpc-massive"}}))
    assert played.code != 0
    assert "TUN-3730" in played.output
    assert "bootstrap.leftovers" in played.output
    assert "Nothing was changed." in played.output
    assert "Traceback" not in played.output
    found = findings(tmp_path)
    assert found["w-1", "bootstrap.leftovers"] == "fail"
    assert found["cp-1", "bootstrap.programs"] == "unknown"
    assert found["w-1", "bootstrap.clock"] == "unknown"
    assert "secret" not in (tmp_path / ".tunectl/runs/ansible/snapshots/w-1.json").read_text(encoding="utf-8")
    assert {name: picture(root, without="/nothing") for name, root in roots.items()} == before


def test_checks_are_accepted_by_name_only(tmp_path: Path) -> None:
    machines(tmp_path)
    everything = play(tmp_path, "-e", json.dumps({"tunectl_preflight_accept": ["all"]}))
    assert everything.code != 0
    assert "TUN-1927" in everything.output


@pytest.mark.parametrize(
    ("variables", "code"), [({"tunectl_kube_version": ""}, "TUN-1920"), ({"tunectl_kube_address": ""}, "TUN-1926")]
)
def test_an_inventory_that_describes_no_cluster_is_refused(
    tmp_path: Path, variables: dict[str, object], code: str
) -> None:
    machines(tmp_path, **variables)
    played = play(tmp_path)
    assert played.code != 0
    assert code in played.output
    assert "Traceback" not in played.output


def test_a_tier_for_another_pool_is_refused(tmp_path: Path) -> None:
    machines(tmp_path)
    played = play(tmp_path, "-e", json.dumps({"tunectl_tiers": {"hpc-massive": "batch"}}))
    assert "TUN-1925" in played.output
