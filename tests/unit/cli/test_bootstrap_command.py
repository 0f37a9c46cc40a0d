"""The commands that make clusters, on simulated machines and made-up directories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from support.labs import node_tree
from support.plays import write_inventory

from tunectl.cli.main import run
from tunectl.core.check_catalogue import CHECKS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def document(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.ansible
@pytest.mark.timeout(300)
def test_machines_that_are_not_fit_are_refused_with_every_reason(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = node_tree(folder / "nodes/cp-1")
    variables = {
        "tunectl_root": str(root),
        "tunectl_simulated": True,
        "tunectl_kube_version": "1.33.2",
        "tunectl_kube_address": "192.0.2.11",
    }
    (root / "etc/kubernetes").mkdir(parents=True, exist_ok=True)
    (root / "etc/kubernetes/admin.conf").write_text("theirs", encoding="utf-8")
    write_inventory(folder, {"kube_control_plane": ["cp-1"], "kube_workers": []}, {"cp-1": variables})
    assert run(["bootstrap", "preflight", "-i", "hosts.yaml", "-o", "json"]) == 4
    found = document(capsys)
    assert (found["kind"], found["exitCode"]) == ("Preflight", 4)
    checks = {item["id"]: item["verdict"] for item in found["items"]}  # type: ignore[attr-defined]
    assert checks["bootstrap.leftovers"] == "fail"
    assert checks["bootstrap.programs"] == "unknown"
    assert run(["bootstrap", "kubeadm", "-i", "hosts.yaml", "-o", "json", "--yes", "--until", "runtime"]) == 4
    phases = document(capsys)["items"]
    states = {item["phase"]: item["state"] for item in phases}  # type: ignore[attr-defined]
    assert states == {"preflight": "failed", "machine-tuning": "waiting", "runtime": "waiting"}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["kubeadm"], "TUN-1931"),
        (["kubeadm", "--from", "workers", "--until", "runtime"], "TUN-1930"),
        (["preflight", "-i", "hosts.yaml", "--tier", "hpc-massive"], "TUN-1932"),
    ],
)
def test_requests_that_cannot_be_meant(
    folder: Path, arguments: list[str], code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "hosts.yaml").write_text("all: {}\n", encoding="utf-8") if "-i" in arguments else None
    assert run(["bootstrap", *arguments]) == 2
    assert code in capsys.readouterr().err


def test_manifests_for_the_first_boot(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["bootstrap", "openshift", "--tier", "hpc-massive", "--install-dir", "ocp", "-o", "json"]
    (folder / "ocp").mkdir()
    assert run(arguments) == 4
    assert "TUN-3740" in capsys.readouterr().out
    for name in ("manifests", "openshift"):
        (folder / "ocp" / name).mkdir()
    assert run(arguments) == 0
    written = document(capsys)["summary"]["written"]  # type: ignore[index]
    files = sorted((folder / "ocp/openshift").iterdir())
    assert len(files) == written > 1
    assert all(path.name.startswith("99_tunectl-hpc-massive-") for path in files)
    kinds = {yaml.safe_load(path.read_text(encoding="utf-8"))["kind"] for path in files}
    assert {"MachineConfigPool", "PerformanceProfile"} <= kinds
    assert run(arguments) == 0
    assert document(capsys)["summary"]["written"] == 0  # type: ignore[index]


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


@pytest.mark.ansible
@pytest.mark.timeout(400)
def test_bare_machines_are_tuned_without_their_kubelet_and_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    roots = {name: node_tree(folder / "nodes" / name) for name in ("cp-1", "w-1")}
    shared = {"tunectl_simulated": True, "tunectl_kube_version": "1.33.2", "tunectl_kube_address": "192.0.2.11"}
    variables = {name: {**shared, "tunectl_root": str(root)} for name, root in roots.items()}
    groups = {"kube_control_plane": ["cp-1"], "kube_workers": ["w-1"], "small_pool": ["w-1"]}
    write_inventory(folder, groups, variables)
    (folder / "tiers").mkdir()
    (folder / "tiers/small.yaml").write_text(TIER, encoding="utf-8")
    accepted = [word for one in CHECKS if one.startswith("bootstrap.") for word in ("--accept", one)]
    arguments = ["bootstrap", "kubeadm", "-i", "hosts.yaml", "--tier", "small-pool=small", "--yes", "-o", "json"]
    arguments += ["--until", "machine-tuning", *accepted]

    assert run(arguments) == 0
    tuning = document(capsys)["items"][1]  # type: ignore[index]
    assert (tuning["state"], tuning["changed"]) == ("ok", ["w-1"])
    assert "isolcpus" in (roots["w-1"] / "etc/default/grub.d/99-tunectl.cfg").read_text(encoding="utf-8")
    assert (roots["w-1"] / "proc/sys/vm/swappiness").read_text(encoding="utf-8") == "7\n"
    assert not (roots["w-1"] / "etc/kubernetes/kubelet.conf.d/99-tunectl.conf").exists()
    assert not (roots["cp-1"] / "etc/default/grub.d/99-tunectl.cfg").exists()

    assert run(arguments) == 0
    assert document(capsys)["items"][1]["state"] == "unchanged"  # type: ignore[index]

    # a node is never tuned and rebooted by a bootstrap
    journal = roots["w-1"] / "var/lib/tunectl/bootstrap/journal.json"
    journal.parent.mkdir(parents=True)
    journal.write_text(json.dumps({"format": 1, "role": "join", "state": "done", "cluster_ca": ""}), encoding="utf-8")
    (roots["w-1"] / "etc/kubernetes").mkdir(exist_ok=True)
    (roots["w-1"] / "etc/kubernetes/kubelet.conf").write_text("x", encoding="utf-8")
    (roots["w-1"] / "proc/sys/vm/swappiness").write_text("60\n", encoding="utf-8")
    assert run(arguments) == 0
    assert "in the cluster already" in document(capsys)["items"][1]["note"]  # type: ignore[index]
    assert (roots["w-1"] / "proc/sys/vm/swappiness").read_text(encoding="utf-8") == "60\n"
