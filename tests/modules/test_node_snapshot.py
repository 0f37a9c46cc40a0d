"""The module node_snapshot in real playbooks: through its action, on the oldest and the newest Python."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.snapshots import snapshot_of
from support.trees import write_tree

from tunectl.adapters.snapshot_files import load_snapshots
from tunectl.core.fingerprint import hardware_fingerprint
from tunectl.core.machine import topology_from_facts
from tunectl.core.snapshot import Snapshot
from tunectl.snapshot_reader import read_snapshot

_REPOSITORY = Path(__file__).resolve().parents[2]
_PLUGINS = _REPOSITORY / "plugins"
_PLAY = """
- hosts: all
  gather_facts: false
  ignore_errors: true
  tasks:
    - tunectl.node.node_snapshot:
      args: "{{ arguments }}"
      register: read
    - ansible.builtin.copy:
        content: "{{ read | to_json }}"
        dest: "{{ playbook_dir }}/{{ inventory_hostname }}.result"
        mode: "0600"
      check_mode: false
"""
_HOSTS: dict[str, tuple[str, dict[str, Any]]] = {
    "kept": ("tree", {"dest": "out/snapshots", "paths": ["/etc/*"]}),
    "file": ("tree", {"dest": "out/one.json"}),
    "rootless": ("none", {"dest": "out/snapshots"}),
    "live": ("", {"dest": "out/snapshots"}),
    "own": ("none", {"root": "tree", "node": "other", "sysctls": ["vm.none"]}),
    "relative": ("tree", {"paths": ["etc/x"]}),
    "nowhere": ("tree", {"dest": "/proc/none/x.json"}),
    "evil": ("tree", {"dest": "out", "node": "../evil"}),
    "unknown": ("tree", {"colour": "red"}),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("play")


@pytest.fixture(scope="module")
def results(folder: Path) -> dict[str, dict[str, Any]]:
    """One play over all hosts, in check mode, which must not matter."""
    _tree(folder / "tree")
    hosts = {}
    for name, (root, arguments) in _HOSTS.items():
        given = {**arguments, **({"root": str(folder / arguments["root"])} if "root" in arguments else {})}
        hosts[name] = {"arguments": given, **({"tunectl_root": str(folder / root)} if root else {})}
    shared = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
    (folder / "hosts.json").write_text(json.dumps({"all": {"hosts": hosts, "vars": shared}}), encoding="utf-8")
    (folder / "play.yml").write_text(_PLAY, encoding="utf-8")
    program = str(Path(sys.executable).parent / "ansible-playbook")
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(_REPOSITORY / ".collections"),
        "ANSIBLE_HOME": str(folder / "ansible"),
    }
    command = [program, "-i", "hosts.json", "--check", "play.yml"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {name: json.loads((folder / f"{name}.result").read_text(encoding="utf-8")) for name in hosts}


def _tree(place: Path) -> Path:
    cpus = [{"cpu": cpu, "socket": 0, "core": cpu, "thread_siblings": str(cpu)} for cpu in range(2)]
    topology = topology_from_facts({"arch": "x86_64", "cpus": cpus, "numa_nodes": [{"id": 0, "mem_total_kb": 4096}]})
    return write_tree(place, {**snapshot_of(topology).files, "/run/tunectl/simulated": "{}\n", "/etc/x": "1\n"})


def _without_circumstances(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, facts={key: snapshot.facts[key] for key in ("root", "uid", "uname")})


@pytest.mark.ansible
def test_snapshots_land_on_the_controller(folder: Path, results: dict[str, dict[str, Any]]) -> None:
    result, file = results["kept"], folder / "out/snapshots/kept.json"
    (snapshot,) = load_snapshots(file)
    expected = read_snapshot(str(folder / "tree"), "kept", extra_paths=["/etc/*"])
    assert _without_circumstances(snapshot) == _without_circumstances(expected)
    assert snapshot.text("/etc/x") == "1"
    assert {key: value for key, value in result.items() if key != "warnings"} == {
        "changed": False,
        "failed": False,
        "dest": str(file),
        "node": "kept",
        "fingerprint": hardware_fingerprint(expected),
        "simulated": True,
        "size": file.stat().st_size,
    }
    assert results["file"]["dest"] == str(folder / "out/one.json")
    assert load_snapshots(folder / "out/one.json")[0].node == "file"
    assert sorted(path.name for path in file.parent.iterdir()) == ["kept.json", "live.json"]


@pytest.mark.ansible
def test_without_a_root_the_reached_system_is_read(folder: Path, results: dict[str, dict[str, Any]]) -> None:
    (snapshot,) = load_snapshots(Path(results["live"]["dest"]))
    assert (snapshot.facts["root"], snapshot.simulated) == ("/", False)
    assert snapshot.text("/proc/sys/kernel/osrelease") == os.uname().release
    assert str(folder) not in json.dumps(dict(snapshot.files))


@pytest.mark.ansible
def test_arguments_beat_variables_and_no_dest_means_the_result(results: dict[str, dict[str, Any]]) -> None:
    result = results["own"]
    snapshot = Snapshot.from_json(result["snapshot"])
    assert (snapshot.node, result["node"], snapshot.text("/sys/devices/system/cpu/online")) == ("other", "other", "0-1")
    assert "/proc/sys/vm/none" in snapshot.absent
    assert "dest" not in result


@pytest.mark.ansible
@pytest.mark.parametrize(
    ("host", "message"),
    [
        ("rootless", "is no directory on the node"),
        ("relative", "'etc/x' is not an absolute path"),
        ("nowhere", "TUN-1703"),
        ("evil", "which is no file name"),
        ("unknown", "colour"),
    ],
)
def test_wrong_arguments_say_what_is_wrong(
    folder: Path, results: dict[str, dict[str, Any]], host: str, message: str
) -> None:
    assert results[host]["failed"]
    assert message in json.dumps(results[host])
    assert not (folder / "evil.json").exists()


def _imported(path: Path) -> set[Path]:
    """Return the files of the collection that a file imports, directly or not."""
    found: set[Path] = set()
    todo = [path]
    while todo:
        current = todo.pop()
        for node in ast.walk(ast.parse(current.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                base = current.parent if node.level else _PLUGINS
                inner = (node.module or "").removeprefix("ansible_collections.tunectl.node.plugins.")
                file = base.joinpath(*inner.split(".")).with_suffix(".py")
                if file.exists() and file not in found:
                    found.add(file)
                    todo.append(file)
    return found


def test_little_is_shipped_to_nodes() -> None:
    shipped = _imported(_PLUGINS / "modules/node_snapshot.py")
    names = {str(path.relative_to(_PLUGINS / "module_utils")) for path in shipped}
    assert names == {
        "snapshot_reader.py",
        "snapshot_hardware.py",
        "snapshot_paths.py",
        "snapshot_bootstrap.py",
        "rooted_files.py",
        "core/bootstrap/places.py",
        "core/snapshot.py",
    }
