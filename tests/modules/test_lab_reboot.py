"""The action lab_reboot in real playbooks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.labs import node_tree, text_of

_REPOSITORY = Path(__file__).resolve().parents[2]
_PLAYBOOK = """
- hosts: all
  gather_facts: false
  tasks:
    - name: Simulate
      tunectl.node.lab_reboot: {arguments}
      register: simulated
      ignore_errors: true
    - name: Keep the result
      ansible.builtin.copy:
        content: "{{{{ simulated | to_json }}}}"
        dest: {folder}/{{{{ inventory_hostname }}}}.json
        mode: "0600"
      check_mode: false
"""


def _play(tmp_path: Path, roots: dict[str, str], arguments: dict[str, Any], *flags: str) -> dict[str, dict[str, Any]]:
    playbook = tmp_path / "play.yml"
    playbook.write_text(_PLAYBOOK.format(arguments=json.dumps(arguments), folder=tmp_path))
    hosts = "".join(f"{name} tunectl_root={root}\n" for name, root in roots.items())
    variables = "ansible_connection=local\nansible_python_interpreter={{ ansible_playbook_python }}\n"
    (tmp_path / "hosts.ini").write_text(f"{hosts}[all:vars]\n{variables}")
    program = str(Path(sys.executable).parent / "ansible-playbook")
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(_REPOSITORY / ".collections"),
        "ANSIBLE_HOME": str(tmp_path),
    }
    done = subprocess.run(
        [program, "-i", "hosts.ini", *flags, str(playbook)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return {name: json.loads((tmp_path / f"{name}.json").read_text()) for name in roots}


@pytest.mark.ansible
def test_nodes_reboot_settle_and_others_are_refused(tmp_path: Path) -> None:
    root = node_tree(tmp_path / "node")
    (root / "etc/default/grub.d").mkdir()
    (root / "etc/default/grub.d/99-x.cfg").write_text('GRUB_CMDLINE_LINUX="nohz_full=2-3"\n')
    before = text_of(root, "/proc/cmdline")
    roots = {"node": str(root), "empty": str(tmp_path), "live": "/"}
    checked = _play(tmp_path, roots, {}, "--check")
    assert checked["node"]["changed"] is True
    assert checked["node"]["simulated"] is True
    assert text_of(root, "/proc/cmdline") == before
    found = _play(tmp_path, roots, {})
    assert found["node"]["rebooted"] is True
    assert found["node"]["simulated"] is True
    assert found["node"]["cmdline"] == text_of(root, "/proc/cmdline")
    assert "nohz_full=2-3" in found["node"]["cmdline"]
    assert found["node"]["kubelet"] == {"state": "running", "reason": ""}
    for name in ("empty", "live"):
        assert found[name]["failed"] is True
        assert found[name]["tunectl_errors"][0]["code"] == "TUN-1603"


@pytest.mark.ansible
def test_a_node_takes_values_and_its_kubelet_may_fail(tmp_path: Path) -> None:
    root = node_tree(tmp_path / "node")
    (root / "proc/sys/vm/swappiness").write_text("999\n")
    document = (
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
        "cpuManagerPolicy: static\nreservedSystemCPUs: '0,8'\n"
    )
    (root / "etc/kubernetes/kubelet.conf.d/99-x.conf").write_text(document)
    arguments = {"root": str(root), "reboot": False, "restart_kubelet": True}
    found = _play(tmp_path, {"node": "/nowhere"}, arguments)["node"]
    assert found["rebooted"] is False
    assert found["refused"] == ["/proc/sys/vm/swappiness: 999"]
    assert found["kubelet"]["state"] == "failed"
    assert found["warnings"][0].startswith("simulated kubelet: failed")
