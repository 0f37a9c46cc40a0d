"""The module node_generation as Ansible runs it: real, check and diff mode, second run, and the way back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.node_trees import build, picture
from support.plays import run_tasks
from support.pythons import oldest_python

pytestmark = pytest.mark.ansible

MODULE = "tunectl.node.node_generation"
SYSCTL = "/etc/sysctl.d/99-tunectl.conf"
SWAPPINESS = "/proc/sys/vm/swappiness"
SECRET = "only-in-the-file"  # noqa: S105 - a marker, no password
WANTED: dict[str, Any] = {
    "files": [{"path": SYSCTL, "content": f"# {SECRET}\nvm.swappiness = 10\n", "mode": "0600"}],
    "runtime": [{"path": SWAPPINESS, "value": "10"}, {"path": "/sys/none", "value": "1", "optional": True}],
    "actions": ["update-grub", "reboot"],
    "tier": "test",
    "plan_id": "aaaa",
}
BEFORE = {SWAPPINESS: (b"60\n", 0o644), "/etc/hostname": (b"n\n", 0o644)}


def tree(folder: Path, name: str) -> Path:
    return build(folder / "nodes" / name, BEFORE)


def test_real_check_diff_and_second_run_agree(tmp_path: Path) -> None:
    root = tree(tmp_path, "n1")
    before = picture(root, without="/nothing")
    task = {MODULE: {"root": str(root), **WANTED}}
    (checked,) = run_tasks(tmp_path, [task], {"n1": {}}, "--check", "--diff")["n1"]
    assert checked["boot_id"] == ""
    assert picture(root, without="/nothing") == before
    build(root, {"/proc/sys/kernel/random/boot_id": (b"0d3a1b9c-7c1e-4d57-9a2b-3d1f0c9e8a77\n", 0o644)})
    real, second = run_tasks(tmp_path, [task, task], {"n1": {}})["n1"]
    assert real["boot_id"] == second["boot_id"] == "0d3a1b9c-7c1e-4d57-9a2b-3d1f0c9e8a77"
    for result in (checked, real):
        assert result["changed"] is True
        assert result["files"] == [{"path": SYSCTL, "change": "created"}]
        assert result["runtime"] == [{"path": SWAPPINESS, "before": "60", "after": "10"}]
        assert result["needs_reboot"] is True
        assert result["skipped_actions"][0]["action"] == "update-grub"
    assert [entry["after_header"] for entry in checked["diff"]] == [f"{SYSCTL} (mode 0600)", SWAPPINESS]
    assert SECRET in checked["diff"][0]["after"]
    assert (checked["generation"], real["generation"], second["generation"]) == (0, 1, 1)
    assert (real["before_generation"], second["changed"], second["files"]) == (0, False, [])
    assert (root / SYSCTL[1:]).stat().st_mode & 0o7777 == 0o600
    assert (root / SWAPPINESS[1:]).read_text(encoding="utf-8") == "10\n"
    # contents belong into no log unless they were asked for
    assert SECRET not in json.dumps([real, second])
    assert "diff" not in real


def test_rollback_and_history(tmp_path: Path) -> None:
    root = tree(tmp_path, "n1")
    before = picture(root)
    tasks = [
        {MODULE: {"root": str(root), **WANTED}},
        {MODULE: {"root": str(root), "state": "rolled_back"}},
        {MODULE: {"root": str(root), "state": "history"}},
        {MODULE: {"root": str(root), "state": "rolled_back"}},
        {MODULE: {"root": str(root), "state": "rolled_back", "to": 1}},
    ]
    _applied, back, history, nothing, forward = run_tasks(tmp_path, tasks, {"n1": {}})["n1"]
    assert (back["changed"], back["generation"], back["before_generation"]) == (True, 2, 1)
    assert [item["kind"] for item in history["history"]] == ["apply", "rollback"]
    assert history["changed"] is False
    assert history["generation"] == 2
    assert nothing["failed"] is True
    assert nothing["tunectl_errors"][0]["code"] == "TUN-3408"
    assert (forward["changed"], forward["generation"]) == (True, 3)
    assert picture(root) != before


def test_failures_are_problems_not_tracebacks(tmp_path: Path) -> None:
    root = tree(tmp_path, "n1")
    before = picture(root, without="/nothing")
    bad: list[dict[str, Any]] = [
        {"files": [{"path": "/usr/bin/x", "content": ""}, {"path": "/etc/../x", "content": ""}]},
        {"runtime": [{"path": "/proc/sys/none", "value": "1"}]},
        {"files": [{"path": "/etc/hostname", "content": "mine\n"}]},
        {"files": [{"path": "/etc/x", "content": "", "mode": "rw"}]},
        {"root": str(tmp_path / "none")},
    ]
    tasks = [{MODULE: {"root": str(root), **arguments}} for arguments in bad]
    results = run_tasks(tmp_path, tasks, {"n1": {}})["n1"]
    codes = [[item["code"] for item in result["tunectl_errors"]] for result in results]
    assert codes == [["TUN-3403", "TUN-3403"], ["TUN-3409"], ["TUN-3402"], ["TUN-3410"], ["TUN-5401"]]
    for result in results:
        assert result["failed"] is True
        assert "Traceback" not in json.dumps(result)
        assert result["undone"] is False
    assert picture(root, without="/nothing") == before


def test_foreign_files_come_with_the_difference_and_failed_changes_are_undone(tmp_path: Path) -> None:
    root = build(tmp_path / "nodes" / "n1", {**BEFORE, "/sys/choice": (b"[a] b\n", 0o644)})
    before = picture(root)
    tasks = [
        {MODULE: {"root": str(root), "files": [{"path": "/etc/hostname", "content": "mine\n"}]}},
        {MODULE: {"root": str(root), **WANTED, "runtime": [{"path": "/sys/choice", "value": "c"}]}},
    ]
    foreign, undone = run_tasks(tmp_path, tasks, {"n1": {}}, "--diff")["n1"]
    assert foreign["failed"] is True
    assert (foreign["diff"][0]["before"], foreign["diff"][0]["after"]) == ("n\n", "mine\n")
    assert (undone["failed"], undone["undone"]) == (True, True)
    assert undone["tunectl_errors"][0]["code"] == "TUN-4403"
    assert "as it was before" in undone["msg"]
    assert picture(root) == before


def test_the_oldest_python_gives_the_same(tmp_path: Path) -> None:
    python = oldest_python()
    roots = {name: tree(tmp_path, name) for name in ("old", "new")}
    hosts = {
        "old": {"tunectl_root": str(roots["old"]), "ansible_python_interpreter": python},
        "new": {"tunectl_root": str(roots["new"])},
    }
    tasks = [{MODULE: WANTED}, {MODULE: WANTED}, {MODULE: {"state": "rolled_back"}}]
    found = run_tasks(tmp_path, tasks, hosts)
    shown = {
        name: json.dumps(results).replace(str(roots[name]), "ROOT").replace(python, "PYTHON")
        for name, results in found.items()
    }
    assert found["old"][0]["changed"] is True
    assert [result.get("failed", False) for result in found["old"]] == [False, False, False]
    assert shown["old"] == shown["new"]
    assert picture(roots["old"]) == picture(roots["new"])


def plan(changes: int, content: str = "a\n") -> str:
    document = {
        "node": "x",
        "plan_id": "cccc",
        "tier": "planned",
        "changes": [{}] * changes,
        "files": [{"path": SYSCTL, "content": content, "mode": "0644", "why": "because"}],
        "runtime": [{"path": SWAPPINESS, "value": "20", "optional": False}],
        "actions": ["kubelet-restart"],
    }
    return json.dumps(document)


def test_each_host_gets_its_plan_and_nodes_without_work_are_not_contacted(tmp_path: Path) -> None:
    plans = tmp_path / "plans"
    plans.mkdir()
    (plans / "busy.json").write_text(plan(1), encoding="utf-8")
    (plans / "idle.json").write_text(plan(0), encoding="utf-8")
    (plans / "broken.json").write_text('{"node": "x"}', encoding="utf-8")
    unusable = {"ansible_python_interpreter": "/no/such/python"}
    hosts: dict[str, dict[str, Any]] = {
        "busy": {"tunectl_root": str(tree(tmp_path, "busy")), "tunectl_simulated": True},
        "idle": {"tunectl_root": str(tree(tmp_path, "idle")), **unusable},
        "planless": {"tunectl_root": str(tree(tmp_path, "planless")), **unusable},
        "stopped": {"tunectl_root": str(tree(tmp_path, "stopped")), "stop": str(tmp_path / "stop"), **unusable},
        "broken": {"tunectl_root": str(tree(tmp_path, "broken")), **unusable},
    }
    (tmp_path / "stop").touch()
    (plans / "stopped.json").write_text(plan(1), encoding="utf-8")
    task = {MODULE: {"plan_dir": str(plans), "stop_file": "{{ stop | default(omit) }}"}}
    found = run_tasks(tmp_path, [task], hosts)
    assert found["busy"][0]["changed"] is True
    assert found["busy"][0]["simulated"] is True
    assert (tmp_path / "nodes/busy" / SYSCTL[1:]).read_text(encoding="utf-8") == "a\n"
    assert (found["idle"][0]["skipped_node"], found["idle"][0]["note"]) == (True, "its plan has no changes")
    assert (found["planless"][0]["skipped_node"], found["planless"][0]["changed"]) == (True, False)
    assert (found["stopped"][0]["skipped_node"], found["stopped"][0]["changed"]) == (True, False)
    assert found["broken"][0]["failed"] is True
    assert found["broken"][0]["tunectl_errors"][0]["code"] == "TUN-1504"
