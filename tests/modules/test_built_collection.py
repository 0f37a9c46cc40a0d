"""The collection as Galaxy delivers it: built from the repository root, installed elsewhere, complete on its own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.labs import node_tree
from support.plays import REPOSITORY, ansible, write_inventory

pytestmark = [pytest.mark.ansible, pytest.mark.timeout(300)]

SHIPPED = ("meta", "playbooks", "plugins", "roles", "tiers", "schemas", "templates", "machines", "galaxy.yml")
DOCUMENTS = ("README.md", "LICENSE", "CHANGELOG.md")


def test_the_built_collection_applies_a_tier_without_the_repository(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for name in (*SHIPPED, *DOCUMENTS):
        copy = shutil.copytree if (REPOSITORY / name).is_dir() else shutil.copy2
        source.mkdir(exist_ok=True)
        copy(REPOSITORY / name, source / name)
    built = ansible("ansible-galaxy", ["collection", "build", "--output-path", str(tmp_path), str(source)], tmp_path)
    assert built.code == 0, built.output
    (archive,) = tmp_path.glob("tunectl-node-*.tar.gz")
    where = tmp_path / "installed"
    options = ["-p", str(where), "--force", "--no-deps", "--offline", "--disable-gpg-verify"]
    installed = ansible("ansible-galaxy", ["collection", "install", str(archive), *options], tmp_path)
    assert installed.code == 0, installed.output
    shutil.rmtree(source)

    root = node_tree(tmp_path / "node")
    write_inventory(tmp_path, {"batch": ["n1"]}, {"n1": {"tunectl_root": str(root), "tunectl_simulated": True}})
    variables = json.dumps({"tunectl_tier": "batch"})
    arguments = ["tunectl.node.apply", "-i", "hosts.yaml", "-e", variables]
    played = ansible("ansible-playbook", arguments, tmp_path, ANSIBLE_COLLECTIONS_PATH=str(where))
    assert played.code == 0, played.output
    assert played.recap["n1"]["changed"] == 2
    assert (root / "etc/kubernetes/kubelet.conf.d/99-tunectl.conf").is_file()
