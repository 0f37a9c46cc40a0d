"""Nodes that cannot be worked on, with real Ansible processes; stand-ins are programs on this machine."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from support.labs import node_tree
from support.node_trees import picture
from support.plays import write_inventory

from tunectl.adapters.ansible_nodes import AnsibleNodes
from tunectl.core.desired import Platform
from tunectl.core.errors import Problem, UnknownError
from tunectl.planning.pool import plan_pool
from tunectl.planning.tier_file import load_tier
from tunectl.ports import CommitOptions

pytestmark = [pytest.mark.ansible, pytest.mark.timeout(600)]

TIER = """
apiVersion: tunectl.io/v1alpha1
kind: Tier
name: small
summary: A tier for small nodes
pool: small-pool
sysctl:
  vm.swappiness: "7"
"""


def program(path: Path, body: str) -> str:
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def says(folder: Path, name: str, text: str, code: int) -> str:
    """Return a program that says a text on stderr and ends."""
    return program(folder / name, f"printf '%s\\n' '{text}' >&2\nexit {code}")


def why_not(folder: Path, hosts: dict[str, dict[str, object]]) -> dict[str, Problem]:
    """Return what is said of each host when all of them are read."""
    inventory = write_inventory(folder, {"small_pool": list(hosts)}, hosts)
    with pytest.raises(UnknownError) as caught:
        AnsibleNodes([inventory]).snapshots(None, ())
    assert caught.value.state == "Nothing was changed."
    assert caught.value.exit_code == 5
    assert len({one.where for one in caught.value.problems}) == len(caught.value.problems)
    return {one.where: one for one in caught.value.problems}


def test_a_node_that_cannot_be_read_says_what_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # these tests may run as root, for whom Ansible would not call sudo at all
    monkeypatch.setenv("ANSIBLE_BECOME_ALLOW_SAME_USER", "1")
    folder = tmp_path
    asks = says(folder, "sudo-asks", "sudo: a password is required", 1)
    denies = says(folder, "sudo-denies", "ops is not in the sudoers file.", 1)
    old = says(folder, "old", "ansible-core requires a minimum of Python version 3.9. Current version: 3.6.8", 1)
    root = {"tunectl_root": str(node_tree(folder / "node"))}
    found = why_not(
        folder,
        {
            "no-python": {"ansible_python_interpreter": "/opt/none/python3", "tunectl_simulated": True, **root},
            "old-python": {"ansible_python_interpreter": old, "tunectl_simulated": True, **root},
            "killed": {
                "ansible_python_interpreter": program(folder / "dies", "kill -9 $$"),
                "tunectl_simulated": True,
                **root,
            },
            "no-sudo": {"ansible_become_exe": "/opt/none/sudo", **root},
            "sudo-asks": {"ansible_become_exe": asks, **root},
            "sudo-denies": {"ansible_become_exe": denies, **root},
        },
    )
    assert {name: one.code for name, one in found.items()} == {
        "no-python": "TUN-5035",
        "old-python": "TUN-5036",
        "killed": "TUN-5039",
        "no-sudo": "TUN-5037",
        "sudo-asks": "TUN-5038",
        "sudo-denies": "TUN-5038",
    }
    assert "apt-get install python3" in found["no-python"].fix
    assert "3.6.8" in found["old-python"].why
    assert "signal 9" in found["killed"].why
    assert "NOPASSWD" in found["sudo-asks"].fix
    assert found["sudo-denies"].why == "ops is not in the sudoers file."


def test_a_node_that_cannot_be_reached_says_why(tmp_path: Path) -> None:
    def ssh(name: str, text: str) -> dict[str, object]:
        program_path = says(tmp_path, f"ssh-{name}", text, 255)
        return {"ansible_connection": "ssh", "ansible_ssh_executable": program_path, "ansible_ssh_retries": 0}

    found = why_not(
        tmp_path,
        {
            "no-name": ssh("no-name", "ssh: Could not resolve hostname no-name: Name or service not known"),
            "refused": ssh("refused", "ssh: connect to host 10.0.0.9 port 22: Connection refused"),
            "silent": ssh("silent", "ssh: connect to host 10.0.0.9 port 22: Connection timed out"),
            "other-key": ssh("other-key", "Host key verification failed."),
            "no-login": ssh("no-login", "ops@10.0.0.9: Permission denied (publickey)."),
            "odd": ssh("odd", "kex_exchange_identification: read: Connection reset by peer"),
        },
    )
    assert {name: one.code for name, one in found.items()} == {
        "no-name": "TUN-5030",
        "refused": "TUN-5031",
        "silent": "TUN-5032",
        "other-key": "TUN-5033",
        "no-login": "TUN-5034",
        "odd": "TUN-5001",
    }
    assert "reset by peer" in found["odd"].why


def test_nodes_that_fail_and_nodes_that_are_silent_are_said_at_once(tmp_path: Path) -> None:
    ssh = says(tmp_path, "ssh", "ssh: connect to host 10.0.0.9 port 22: Connection refused", 255)
    python: dict[str, object] = {"ansible_python_interpreter": "/opt/none/python3"}
    found = why_not(tmp_path, {"a": python, "b": {"ansible_connection": "ssh", "ansible_ssh_executable": ssh}})
    assert {name: one.code for name, one in found.items()} == {"a": "TUN-5035", "b": "TUN-5031"}


def test_a_change_that_dies_midway_is_said_and_the_next_one_works(tmp_path: Path) -> None:
    root = node_tree(tmp_path / "n1")
    dies = tmp_path / "dies"
    dies.touch()
    # the module comes on stdin; one that writes is killed before it says anything
    body = (
        f'payload=$(mktemp)\ncat >"$payload"\nif [ -e \'{dies}\' ] && grep -q node_generation "$payload"; then\n'
        f'kill -9 $$\nfi\nexec \'{sys.executable}\' "$@" - <"$payload"'
    )
    hosts = {
        "n1": {
            "ansible_python_interpreter": program(tmp_path / "python", body),
            "tunectl_root": str(root),
            "tunectl_simulated": True,
        }
    }
    (tmp_path / "small.yaml").write_text(TIER, encoding="utf-8")
    nodes = AnsibleNodes([write_inventory(tmp_path, {"small_pool": ["n1"]}, hosts)])
    plan = plan_pool(load_tier("small", [str(tmp_path)]), nodes.snapshots(None, ()), Platform.KUBEADM)
    before = picture(root)

    outcome = nodes.commit(plan, tmp_path / "run-1", CommitOptions(), lambda _event: None)
    assert outcome.states == {"n1": "failed"}
    (said,) = outcome.problems["n1"]
    assert said.code == "TUN-4470"
    assert "signal 9" in said.why
    assert "puts back what was left unfinished" in said.fix
    assert picture(root) == before

    dies.unlink()
    again = nodes.commit(plan, tmp_path / "run-2", CommitOptions(), lambda _event: None)
    assert again.states == {"n1": "changed"}
    assert again.problems == {}
    assert json.loads((tmp_path / "run-2/plans/n1.json").read_text(encoding="utf-8"))["node"] == "n1"
    assert (root / "proc/sys/vm/swappiness").read_text(encoding="utf-8") == "7\n"


def test_a_node_that_was_rebooted_since_it_was_read_is_refused(tmp_path: Path) -> None:
    root = node_tree(tmp_path / "n1")
    hosts = {"n1": {"tunectl_root": str(root), "tunectl_simulated": True}}
    (tmp_path / "small.yaml").write_text(TIER, encoding="utf-8")
    nodes = AnsibleNodes([write_inventory(tmp_path, {"small_pool": ["n1"]}, hosts)])
    plan = plan_pool(load_tier("small", [str(tmp_path)]), nodes.snapshots(None, ()), Platform.KUBEADM)
    boot = root / "proc/sys/kernel/random/boot_id"
    seen = boot.read_text(encoding="utf-8").strip()
    boot.write_text("5b0e2f64-11aa-4c9d-8e21-7f6a5d4c3b2a\n", encoding="utf-8")
    before = picture(root)
    outcome = nodes.commit(plan, tmp_path / "run-1", CommitOptions(), lambda _event: None)
    assert outcome.states == {"n1": "refused"}
    (said,) = outcome.problems["n1"]
    assert said.code == "TUN-3470"
    assert seen in said.why
    assert picture(root) == before

    boot.write_text(f"{seen}\n", encoding="utf-8")
    assert nodes.commit(plan, tmp_path / "run-2", CommitOptions(), lambda _event: None).states == {"n1": "changed"}
