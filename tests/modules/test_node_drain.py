"""The action node_drain, and the order of a whole change, with real Ansible against a stand-in for the API server."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.api_server import ApiServer, serving, write_kubeconfig
from support.plays import ansible, run_tasks, write_inventory

pytestmark = [pytest.mark.ansible, pytest.mark.timeout(600)]


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with serving(ApiServer()) as started:
        started.node("n1")
        yield started


def plan(folder: Path, impact: str) -> Path:
    (folder / "plans").mkdir(exist_ok=True)
    document = {"node": "n1", "changes": [{"impact": impact}], "files": [], "runtime": [], "actions": []}
    (folder / "plans/n1.json").write_text(json.dumps(document), encoding="utf-8")
    return folder / "plans"


def drain(folder: Path, server: ApiServer, *, member: bool = True, impact: str = "drain", **more: Any) -> Any:
    root = folder / "root"
    (root / "etc/kubernetes").mkdir(parents=True, exist_ok=True)
    if member:
        (root / "etc/kubernetes/kubelet.conf").touch()
    given = {
        "kubeconfig": str(write_kubeconfig(folder / "config", server.url)),
        "root": str(root),
        "plan_dir": str(plan(folder, impact)),
        "run": "7",
        **more,
    }
    first = {"tunectl.node.node_drain": {"state": "drained", **given}}
    last = {
        "tunectl.node.node_drain": {
            "state": "uncordoned",
            "kubeconfig": given["kubeconfig"],
            "stable": 1,
            "drained": "{{ result_0 }}",
            "generation": more.pop("generation", {}),
        }
    }
    first["tunectl.node.node_drain"].pop("generation", None)
    return run_tasks(folder, [first, last], {"n1": {}})["n1"]


def test_a_member_is_drained_and_given_back(tmp_path: Path, server: ApiServer) -> None:
    server.pod("n1", "web")
    drained, back = drain(tmp_path, server)
    assert (drained["changed"], drained["node"], drained["pods"], drained["cordon"]) == (True, "n1", 1, "ours")
    assert back["changed"]
    writes = [line for line in server.log if line.startswith(("PATCH", "POST /api/v1"))]
    assert writes == [
        "PATCH /api/v1/nodes/n1",
        "POST /api/v1/namespaces/default/pods/web/eviction",
        "PATCH /api/v1/nodes/n1",
    ]
    assert server.objects["pods"] == {}


def test_a_node_whose_change_failed_stays_cordoned(tmp_path: Path, server: ApiServer) -> None:
    _drained, back = drain(tmp_path, server, generation={"failed": True, "undone": False})
    assert not back["changed"]
    assert "stays cordoned" in back["note"]
    assert server.objects["nodes"]["n1"]["spec"]["unschedulable"] is True


def test_a_node_that_was_put_back_is_given_back(tmp_path: Path, server: ApiServer) -> None:
    _drained, back = drain(tmp_path, server, generation={"failed": True, "undone": True})
    assert back["changed"]
    assert "unschedulable" not in server.objects["nodes"]["n1"]["spec"]


@pytest.mark.parametrize(
    ("more", "note"),
    [
        ({"member": False}, "not a member of a cluster"),
        ({"impact": "restart"}, "its changes leave pods alone"),
        ({"drain": "never"}, "draining was switched off"),
        ({"simulated": True}, "a simulated node has no pods"),
    ],
)
def test_nodes_that_need_no_drain_say_why_and_no_server_is_asked(
    tmp_path: Path, server: ApiServer, more: dict[str, Any], note: str
) -> None:
    drained, back = drain(tmp_path, server, **more)
    assert (drained["changed"], drained["skipped_node"], drained["note"]) == (False, True, note)
    assert not back["changed"]
    assert server.log == []


def test_a_member_without_a_kubeconfig_is_refused(
    tmp_path: Path, server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    drained, _back = drain(tmp_path, server, kubeconfig="")
    assert drained["failed"]
    assert [one["code"] for one in drained["tunectl_errors"]] == ["TUN-3700"]
    assert drained["exit_code"] == 4


def test_the_question_and_check_mode_change_nothing(tmp_path: Path, server: ApiServer) -> None:
    server.pod("n1", "alone", owner="")
    refused, _back = drain(tmp_path, server, state="checked")
    assert [one["code"] for one in refused["tunectl_errors"]] == ["TUN-3706"]
    asked, _back = drain(tmp_path, server, state="checked", force=True)
    assert (asked["changed"], asked["pods"]) == (False, 1)
    assert list(server.objects["pods"]) == ["default/alone"]
    assert not any(line.startswith("PATCH") for line in server.log)


def test_the_playbook_asks_then_drains_then_writes_then_gives_back(tmp_path: Path, server: ApiServer) -> None:
    root = tmp_path / "root"
    (root / "etc/kubernetes").mkdir(parents=True)
    (root / "etc/kubernetes/kubelet.conf").touch()
    server.pod("n1", "web")
    seen: list[bool] = []
    wanted = root / "etc/sysctl.d/99-tunectl.conf"
    server.after_eviction = lambda _key: seen.append(wanted.exists())
    document = {
        "node": "n1",
        "changes": [{"impact": "drain"}],
        "files": [{"path": "/etc/sysctl.d/99-tunectl.conf", "content": "vm.swappiness = 7\n", "mode": "0644"}],
        "runtime": [],
        "actions": [],
        "tier": "small",
    }
    run_dir = tmp_path / "runs/7"
    (run_dir / "plans").mkdir(parents=True)
    (run_dir / "plans/n1.json").write_text(json.dumps(document), encoding="utf-8")
    variables = {
        "tunectl_root": str(root),
        "tunectl_run_dir": str(run_dir),
        "ansible_become": False,
        "tunectl_ready_timeout": 60,
    }
    write_inventory(tmp_path, {"pool": ["n1"]}, {"n1": variables})
    kubeconfig = write_kubeconfig(tmp_path / "config", server.url)
    flags = ["-i", "hosts.yaml", "-e", f"tunectl_kubeconfig={kubeconfig}"]
    played = ansible("ansible-playbook", ["tunectl.node.commit", *flags], tmp_path)
    assert played.recap["n1"]["failed"] == 0, played.output
    assert seen == [False]
    assert wanted.read_text(encoding="utf-8") == "vm.swappiness = 7\n"
    writes = [line.split()[0] for line in server.log if line.startswith(("PATCH", "POST /api/v1"))]
    assert writes == ["PATCH", "POST", "PATCH"]
    assert server.objects["nodes"]["n1"]["metadata"]["annotations"] == {}


def test_a_node_that_cannot_be_drained_stops_the_playbook_before_any_node_is_touched(
    tmp_path: Path, server: ApiServer
) -> None:
    server.node("n2")
    server.pod("n2", "alone", owner="")
    run_dir = tmp_path / "runs/7"
    (run_dir / "plans").mkdir(parents=True)
    variables: dict[str, dict[str, Any]] = {}
    for name in ("n1", "n2"):
        root = tmp_path / name
        (root / "etc/kubernetes").mkdir(parents=True)
        (root / "etc/kubernetes/kubelet.conf").touch()
        document = {"node": name, "changes": [{"impact": "drain"}], "files": [], "runtime": [], "actions": []}
        (run_dir / f"plans/{name}.json").write_text(json.dumps(document), encoding="utf-8")
        given = {"tunectl_root": str(root), "tunectl_run_dir": str(run_dir), "ansible_become": False}
        # both run on this machine, which has one boot and one name
        variables[name] = {**given, "tunectl_node_name": name}
    write_inventory(tmp_path, {"pool": ["n1", "n2"]}, variables)
    kubeconfig = write_kubeconfig(tmp_path / "config", server.url)
    flags = ["-i", "hosts.yaml", "-e", f"tunectl_kubeconfig={kubeconfig}"]
    played = ansible("ansible-playbook", ["tunectl.node.commit", *flags], tmp_path)
    assert played.code != 0
    assert "TUN-3706" in played.output
    assert not any(line.startswith(("PATCH", "POST /api/v1")) for line in server.log)
    assert not (tmp_path / "n1/var/lib/tunectl").exists()


def test_the_command_line_refuses_a_member_without_a_kubeconfig_and_records_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)

    def tunectl(*words: str) -> subprocess.CompletedProcess[str]:
        program = str(Path(sys.executable).parent / "tunectl")
        return subprocess.run([program, *words], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert tunectl("lab", "up", "-q").returncode == 0
    lab = tmp_path / ".tunectl/lab/default"
    (lab / "nodes/standard-1/etc/kubernetes/kubelet.conf").touch()
    inventory = (lab / "hosts.yaml").read_text(encoding="utf-8")
    real = inventory.replace("tunectl_simulated: true", "tunectl_simulated: false")
    assert real != inventory
    (tmp_path / "real.yaml").write_text(real, encoding="utf-8")
    refused = tunectl("apply", "--tier", "hpc-standard", "-i", "real.yaml", "-y", "--node", "standard-1")
    assert refused.returncode == 4, refused.stderr
    assert "TUN-3700" in refused.stderr
    assert "Nothing was changed." in refused.stderr
    assert "refused" in tunectl("history").stdout
    assert not (lab / "nodes/standard-1/var/lib/tunectl/generations").exists()
