"""The inventory plugin: labs as they are, the same as the file that `lab up` writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.plays import ansible

from tunectl.adapters.lab_folder import FolderLabs
from tunectl.app.lab import LabRequest, bring_up
from tunectl.lab.inventory import lab_inventory

pytestmark = [pytest.mark.ansible, pytest.mark.timeout(300)]

MACHINE = {
    "name": "m-1",
    "pool": "hpc-massive",
    "ssh_port": 2222,
    "ssh_args": "-o HostKeyAlias=vms-m-1",
    "lan_address": "10.77.0.11",
}


def listed(folder: Path, source: str) -> dict[str, Any]:
    done = ansible("ansible-inventory", ["-i", source, "--list"], folder)
    assert done.code == 0, done.output
    return dict(json.loads(done.output[done.output.index("{") :], object_hook=plain))


def plain(value: dict[str, Any]) -> Any:
    """Return text that Ansible marks as such without the mark."""
    return value.get("__ansible_unsafe", value)


def variables(inventory: dict[str, Any], host: str) -> dict[str, Any]:
    return dict(inventory["_meta"]["hostvars"][host])


def test_a_simulated_lab_is_the_same_in_the_plugin_and_in_the_file(tmp_path: Path) -> None:
    done = bring_up(FolderLabs(tmp_path), LabRequest(count=2, shapes=("1s2c2t",), pool="rack-7"))
    (tmp_path / "mine.lab.yml").write_text("plugin: tunectl.node.lab\n")
    from_plugin = listed(tmp_path, "mine.lab.yml")
    from_file = listed(tmp_path, str(done.lab.inventory))
    assert from_plugin["rack_7"]["hosts"] == ["lab-1", "lab-2"]
    assert from_plugin == from_file
    assert variables(from_plugin, "lab-1")["tunectl_simulated"] is True
    ping = ansible("ansible", ["-i", "mine.lab.yml", "lab-1", "-m", "ansible.builtin.ping"], tmp_path)
    assert "lab-1 | SUCCESS" in ping.output


def test_a_virtual_machine_is_reached_over_ssh_and_is_not_simulated(tmp_path: Path) -> None:
    place = tmp_path / "labs" / ".tunectl" / "lab" / "vms"
    place.mkdir(parents=True)
    data = {"kind": "vm", "name": "vms", "nodes": [MACHINE]}
    (place / "lab.json").write_text(json.dumps(data))
    (tmp_path / "x.lab.yaml").write_text("plugin: tunectl.node.lab\nfolder: labs\nlabs: [vms]\n")
    found = variables(listed(tmp_path, "x.lab.yaml"), "m-1")
    assert found == {
        **lab_inventory(place, data)["all"]["vars"],
        **lab_inventory(place, data)["all"]["children"]["hpc_massive"]["hosts"]["m-1"],
    }
    assert (found["ansible_port"], found["tunectl_simulated"]) == (2222, False)


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "there is no lab at"), ("{", "does not describe a lab"), ('{"kind": "sim"}', "does not describe a lab")],
)
def test_a_lab_that_is_not_there_or_damaged_is_said(tmp_path: Path, content: str | None, words: str) -> None:
    place = tmp_path / ".tunectl" / "lab" / "gone"
    place.mkdir(parents=True)
    if content is not None:
        (place / "lab.json").write_text(content)
    (tmp_path / "x.lab.yml").write_text("plugin: tunectl.node.lab\nlabs: [gone]\n")
    done = ansible("ansible-inventory", ["-i", "x.lab.yml", "--list"], tmp_path)
    assert words in done.output.replace("\n", " ")
