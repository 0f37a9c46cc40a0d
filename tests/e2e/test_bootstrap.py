"""Bare machines become a cluster, and a second run changes nothing: real systemd, Ansible and files.

The programs of Kubernetes are stand-ins that check what they are given; see `support.kube_programs`.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.kube_machines import Machines, why_not

from tunectl.cli.main import run

pytestmark = [pytest.mark.ansible, pytest.mark.timeout(900)]

TIER = """
apiVersion: tunectl.io/v1alpha1
kind: Tier
name: small
summary: A tier for small nodes
pool: small-pool
cpu:
  reserved: "0"
kubelet:
  cpu_manager_policy: static
placement:
  labels:
    example.com/pool: small
    node-role.kubernetes.io/small: ""
  taints: ["dedicated=small:NoSchedule"]
"""
TOKEN = "abcdef.0123456789abcdef"  # noqa: S105  of a stand-in
# containers of one computer share its identity
ASK = ["bootstrap", "kubeadm", "-i", "hosts.yaml", "--skip", "machine-tuning", "--accept", "bootstrap.identity"]


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machines]:
    why = why_not()
    if why and os.environ.get("TUNECTL_REQUIRE_ALL") == "1":
        pytest.fail(why)
    if why:
        pytest.skip(why)
    command = ["openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-subj", "/CN=kubernetes", "-keyout", str(tmp_path / "key"), "-out", str(tmp_path / "crt")]
    subprocess.run(command, check=True, capture_output=True)
    monkeypatch.chdir(tmp_path)
    found = Machines(tmp_path, ("cp-1", "cp-2", "w-1"), (tmp_path / "crt").read_text(encoding="utf-8"))
    yield found
    found.stop()


def phases(capsys: pytest.CaptureFixture[str], expect: int = 0) -> dict[str, str]:
    code = run([*ASK, "--yes", "-o", "json"])
    captured = capsys.readouterr()
    assert code == expect, captured.err + captured.out
    assert TOKEN not in captured.err + captured.out
    return {item["phase"]: item["state"] for item in json.loads(captured.out)["items"]}


def test_bare_machines_become_a_cluster_once(machines: Machines, capsys: pytest.CaptureFixture[str]) -> None:
    folder = machines.folder
    (folder / "tiers").mkdir()
    (folder / "tiers/small.yaml").write_text(TIER, encoding="utf-8")
    (folder / "network.yaml").write_text("kind: DaemonSet\n", encoding="utf-8")
    machines.inventory(
        {"kube_control_plane": ["cp-1", "cp-2"], "kube_workers": ["w-1"], "small_pool": ["w-1"]},
        tunectl_kube_version="1.33.2",
        tunectl_kube_endpoint="localhost:6443",
        tunectl_kube_network_manifests=[str(folder / "network.yaml")],
        tunectl_tiers={"small-pool": "small"},
    )
    machines.sh("w-1", "touch /fail-kubeadm")
    broken = phases(capsys, expect=1)
    assert (broken["control-plane"], broken["workers"], broken["tiers"]) == ("ok", "failed", "waiting")
    machines.sh("w-1", "rm /fail-kubeadm")
    interrupted = json.loads(machines.sh("w-1", "cat /var/lib/tunectl/bootstrap/journal.json"))
    assert (interrupted["role"], interrupted["state"]) == ("join", "started")

    first = phases(capsys)
    assert first["control-plane"] == "unchanged"
    assert "--ignore-preflight-errors=" in machines.sh("w-1", "cat /said")
    assert first["workers"] == first["tiers"] == "ok"
    state = json.loads((machines.shared / "cluster.json").read_text(encoding="utf-8"))
    assert set(state["nodes"]) == {"cp-1", "cp-2", "w-1"}
    assert state["manifests"] == ["kind: DaemonSet\n"]
    worker = state["nodes"]["w-1"]
    assert worker["metadata"]["labels"] == {"example.com/pool": "small", "node-role.kubernetes.io/small": ""}
    assert worker["spec"]["taints"] == [{"effect": "NoSchedule", "key": "dedicated", "value": "small"}]
    patch = machines.sh("w-1", "cat /etc/kubernetes/patches/kubeletconfiguration50-tunectl+merge.yaml")
    assert "cpuManagerPolicy: static" in patch
    assert "SystemdCgroup = true" in machines.sh("w-1", "cat /etc/containerd/config.toml")
    assert machines.sh("cp-1", "systemctl is-active containerd.service").strip() == "active"
    assert machines.sh("w-1", "systemctl is-enabled kubelet.service").strip() == "enabled"
    said = machines.sh("cp-1", "cat /said")
    # two machines were let in, one of them at the second try, and what let each in was taken back
    assert said.count("kubeadm token create") == said.count("kubeadm token delete abcdef") == 3
    assert said.count("upload-certs --upload-certs") == 1
    for name in machines.names:
        holders = machines.sh(name, f"grep -rlF {TOKEN} /etc /run /var /tmp /root /said 2>/dev/null", check=False)
        assert holders == "", name
    kept = [path for path in (folder / ".tunectl").rglob("*") if path.is_file()]
    assert [path for path in kept if TOKEN in path.read_text(encoding="utf-8", errors="replace")] == []

    before = {name: machines.sh(name, "cat /said") for name in machines.names}
    second = phases(capsys)
    assert {name: one for name, one in second.items() if one not in ("unchanged", "ok")} == {}
    assert {second[name] for name in ("runtime", "control-plane", "network", "workers", "tiers")} == {"unchanged"}
    after = {name: machines.sh(name, "cat /said").replace(before[name], "") for name in machines.names}
    changing = ("kubeadm init", "kubeadm join", "kubeadm token", "kubectl label", " taint ", " apply ")
    assert [line for text in after.values() for line in text.splitlines() if any(one in line for one in changing)] == []
