"""What a new cluster is given through its control plane, and how its runtime is prepared."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.tunectl.node.plugins.module_utils import bootstrap_programs
from ansible_collections.tunectl.node.plugins.module_utils.core.errors import FailedError
from ansible_collections.tunectl.node.plugins.module_utils.kube_cluster import (
    apply_manifest,
    place_nodes,
    read_kubelet_map,
    wait_ready,
)
from ansible_collections.tunectl.node.plugins.module_utils.node_runtime import look, prepare
from support.kube_programs import install, node, said

from tunectl.core.bootstrap.containerd import config_mistakes, render_containerd
from tunectl.core.bootstrap.version import Version


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    nodes = {"w-1": node("w-1"), "w-2": node("w-2", ready=False)}
    programs = install(tmp_path, nodes=nodes)
    monkeypatch.setattr(bootstrap_programs, "PATHS", f"{programs}:{bootstrap_programs.PATHS}")
    return tmp_path


def cluster(root: Path) -> dict[str, Any]:
    state: dict[str, Any] = json.loads((root / "cluster.json").read_text(encoding="utf-8"))
    return state


WANTED = [{"name": "w-1", "labels": {"node-role.kubernetes.io/hpc": ""}, "taints": ["dedicated=hpc:NoSchedule"]}]


def test_labels_and_taints_are_set_once_and_others_stay(root: Path) -> None:
    assert place_nodes(WANTED, dry=True) == ["w-1: node-role.kubernetes.io/hpc=", "w-1: dedicated=hpc:NoSchedule"]
    assert not [line for line in said(root) if " label " in line or " taint " in line]
    assert len(place_nodes(WANTED)) == 2
    placed = cluster(root)["nodes"]["w-1"]
    assert placed["metadata"]["labels"] == {"kubernetes.io/hostname": "w-1", "node-role.kubernetes.io/hpc": ""}
    assert placed["spec"]["taints"] == [{"key": "dedicated", "value": "hpc", "effect": "NoSchedule"}]
    before = len(said(root))
    assert place_nodes(WANTED) == []
    assert len(said(root)) == before + 1


def test_a_node_that_is_not_there_is_named(root: Path) -> None:
    with pytest.raises(FailedError, match="w-9"):
        place_nodes([*WANTED, {"name": "w-9"}])
    assert not [line for line in said(root) if " label " in line]


def test_a_manifest_is_applied_when_it_differs(root: Path) -> None:
    assert apply_manifest("kind: A", dry=True)
    assert cluster(root)["manifests"] == []
    assert apply_manifest("kind: A")
    assert not apply_manifest("kind: A")
    assert cluster(root)["manifests"] == ["kind: A"]
    with pytest.raises(FailedError, match="no matches for kind"):
        apply_manifest("refuse")


def test_nodes_are_told_as_they_are(root: Path) -> None:
    found = {one["name"]: one for one in wait_ready(["w-1", "w-2"], 0)}
    assert found["w-1"]["ready"]
    assert (found["w-2"]["ready"], found["w-2"]["why"]) == (False, "cni not initialized")
    assert read_kubelet_map() == "cgroupDriver: systemd\n"
    assert (root / "said").exists()


def kernel(root: Path) -> None:
    for path in (
        "proc/sys/net/ipv4/ip_forward",
        *(f"proc/sys/net/bridge/bridge-nf-call-ip{six}tables" for six in ("", "6")),
    ):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("0\n", encoding="utf-8")


def test_the_runtime_is_prepared_once(root: Path) -> None:
    kernel(root)
    state = look(str(root))
    assert "v2.1.4" in state.version
    assert state.config is None
    config = render_containerd(Version(2, 1, 4))
    socket = "unix:///run/containerd/containerd.sock"
    dry = prepare(str(root), config, socket, dry=True)
    assert "/etc/containerd/config.toml" in dry.changed
    assert not (root / "etc/crictl.yaml").exists()
    done = prepare(str(root), config, socket)
    assert config_mistakes(tomllib.loads(done.dump), Version(2, 1, 4)) == []
    # the bridge's parameters show that br_netfilter is there, be it built in
    assert "modprobe overlay" in said(root)
    assert "modprobe br_netfilter" not in said(root)
    assert "systemctl restart containerd.service" in said(root)
    assert "systemctl enable kubelet.service" in said(root)
    assert (root / "proc/sys/net/ipv4/ip_forward").read_text(encoding="utf-8").strip() == "1"
    assert "runtime-endpoint: unix:///run/containerd" in (root / "etc/crictl.yaml").read_text(encoding="utf-8")
    (root / "proc/filesystems").write_text("nodev\tproc\nnodev\toverlay\n", encoding="utf-8")
    again = prepare(str(root), config, socket)
    assert again.changed == ()


def test_what_others_wrote_is_kept_aside(root: Path) -> None:
    kernel(root)
    theirs = root / "etc/containerd/config.toml"
    theirs.parent.mkdir(parents=True)
    theirs.write_text('disabled_plugins = ["cri"]\n', encoding="utf-8")
    prepare(str(root), render_containerd(Version(2, 1, 4)), "unix:///x")
    kept = root / "var/lib/tunectl/bootstrap/before/etc/containerd/config.toml"
    assert kept.read_text(encoding="utf-8") == 'disabled_plugins = ["cri"]\n'
