"""`tunectl lab` as its users meet it: what it says, what it leaves behind, what it refuses."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.labs import topology_of_tree

from tunectl.adapters.lab_folder import FolderLabs
from tunectl.app.lab import ensure_default_lab
from tunectl.cli.main import run
from tunectl.core.machine import topology_from_facts, topology_to_facts
from tunectl.lab.machines import machines_directory, parse_shape
from tunectl.view.lab import names_text

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    return tmp_path


def _document(capsys: Capture, *args: str) -> dict[str, Any]:
    capsys.readouterr()
    run([*args, "-o", "json"])
    return dict(json.loads(capsys.readouterr().out))


def test_the_default_lab_has_six_nodes_of_four_machines_in_their_pools(folder: Path, capsys: Capture) -> None:
    assert run(["lab", "up"]) == 0
    said = capsys.readouterr()
    assert "6 simulated nodes, 4 kinds of machine" in said.out
    assert "massive-1..2" in said.out
    assert ".tunectl/lab/default/hosts.yaml (the default for this folder)" in said.out
    assert max(len(line) for line in said.out.splitlines()) <= 80
    assert said.err.endswith("Next: tunectl plan --tier hpc-massive\n")
    inventory = yaml.safe_load((folder / ".tunectl/lab/default/hosts.yaml").read_text())["all"]
    assert inventory["vars"]["tunectl_simulated"] is True
    assert inventory["vars"]["ansible_connection"] == "local"
    groups = inventory["children"]
    assert {group: list(found["hosts"]) for group, found in groups.items()} == {
        "hpc_massive": ["massive-1", "massive-2"],
        "hpc_standard": ["standard-1", "standard-2"],
        "latency_sensitive": ["latency-1"],
        "batch": ["batch-1"],
    }
    cpus = {}
    for found in groups.values():
        for name, host in found["hosts"].items():
            cpus[name] = len(topology_of_tree(Path(host["tunectl_root"])).online)
    assert list(cpus.values()) == [128, 128, 80, 80, 32, 12]


def test_a_lab_that_is_up_stays_as_it_is_until_forced(folder: Path, capsys: Capture) -> None:
    assert run(["lab", "up", "--shape", "1s2c2t"]) == 0
    mark = folder / ".tunectl/lab/default/nodes/lab-1/etc/mark"
    mark.write_text("here\n")
    assert run(["lab", "up"]) == 0
    assert "is up already" in capsys.readouterr().out
    assert run(["lab", "up", "--shape", "1s2c2t"]) == 0
    assert mark.exists()
    assert run(["lab", "up", "--shape", "1s2c2t", "--force"]) == 0
    assert not mark.exists()


def test_other_nodes_under_the_same_name_are_refused(capsys: Capture) -> None:
    run(["lab", "up", "--shape", "1s2c2t"])
    assert run(["lab", "up", "--shape", "1s4c2t"]) == 4
    assert "TUN-3601" in capsys.readouterr().err
    assert [node.machine for node in FolderLabs(Path.cwd()).get("default").nodes] == ["1s2c2t"]  # type: ignore[union-attr]


def test_nodes_take_the_machines_in_turn(capsys: Capture) -> None:
    args = ("--name", "mixed", "--count", "3", "--shape", "1s2c2t", "--shape", "1s3c1t")
    document = _document(capsys, "lab", "up", *args, "--pool", "batch", "--profile", "debian13")
    assert document["simulated"] is True
    assert document["summary"]["created"] is True
    assert [(one["node"], one["cpus"], one["pool"], one["profile"]) for one in document["items"]] == [
        ("lab-1", 4, "batch", "debian13"),
        ("lab-2", 3, "batch", "debian13"),
        ("lab-3", 4, "batch", "debian13"),
    ]
    assert _document(capsys, "lab", "list")["summary"] == {"labs": 1}
    assert run(["lab", "down", "--name", "mixed"]) == 0
    assert not (Path.cwd() / ".tunectl/lab/mixed").exists()
    assert _document(capsys, "lab", "list")["items"] == []


def test_a_described_machine_and_a_snapshot_become_nodes(folder: Path, capsys: Capture) -> None:
    compact = folder / "mine.json"
    compact.write_text((machines_directory() / "xeon-6130-2s16c1t.json").read_text())
    rows = folder / "rows.json"
    rows.write_text(json.dumps(topology_to_facts(topology_from_facts(parse_shape("1s2c2t")), "rows")))
    assert run(["lab", "up", "--topology", str(compact), "--topology", str(rows)]) == 0
    nodes = folder / ".tunectl/lab/default/nodes"
    assert len(topology_of_tree(nodes / "lab-1").online) == 32
    assert run(["lab", "up", "--name", "copy", "--snapshot", str(nodes / "lab-2")]) == 0
    assert topology_of_tree(folder / ".tunectl/lab/copy/nodes/lab-1") == topology_of_tree(nodes / "lab-2")
    capsys.readouterr()


@pytest.mark.parametrize(
    ("args", "code", "exit_code"),
    [
        (["up", "--kind", "container"], "TUN-1000", 2),
        (["up", "--distro", "debian12"], "TUN-1605", 2),
        (["up", "--memory", "2048"], "TUN-1605", 2),
        (["up", "--kind", "vm", "--profile", "debian12"], "TUN-1605", 2),
        (["up", "--kind", "vm", "--memory", "5"], "TUN-1604", 2),
        (["up", "--kind", "vm", "--distro", "slackware"], "TUN-1620", 2),
        (["up", "--kind", "vm", "--machine", "xeon-8358-2s32c2t"], "TUN-1621", 2),
        (["up", "--shape", "2x4"], "TUN-1601", 2),
        (["up", "--machine", "cray"], "TUN-1600", 2),
        (["up", "--profile", "slackware"], "TUN-1602", 2),
        (["up", "--name", "../x"], "TUN-1604", 2),
        (["up", "--pool", "a b"], "TUN-1604", 2),
        (["up", "--count", "0"], "TUN-1604", 2),
        (["up", "--topology", "nowhere.json"], "TUN-1608", 2),
        (["up", "--snapshot", "nowhere.json"], "TUN-1704", 2),
        (["down"], "TUN-1606", 2),
        (["shell", "massive-1"], "TUN-1606", 2),
    ],
)
def test_what_does_not_exist_is_refused_and_leaves_nothing(
    args: list[str], code: str, exit_code: int, folder: Path, capsys: Capture
) -> None:
    assert run(["lab", *args]) == exit_code
    assert code in capsys.readouterr().err
    assert not list(folder.glob(".tunectl/lab/*"))


@pytest.mark.parametrize("text", ["", "[]", '{"name": "x"}', '{"layout": {}, "name": "x"}', '{"cpus": [{"cpu": "a"}]}'])
def test_a_file_that_describes_no_machine_is_named(text: str, folder: Path, capsys: Capture) -> None:
    (folder / "m.json").write_text(text)
    assert run(["lab", "up", "--topology", "m.json"]) == 2
    said = capsys.readouterr().err
    assert "TUN-1608" in said
    assert "m.json" in said


def test_a_damaged_description_of_a_lab_is_told_and_force_mends_it(folder: Path, capsys: Capture) -> None:
    run(["lab", "up", "--shape", "1s1c1t"])
    (folder / ".tunectl/lab/default/lab.json").write_text("{")
    assert run(["lab", "list"]) == 2
    assert "TUN-1609" in capsys.readouterr().err
    assert run(["lab", "up", "--shape", "1s1c1t", "--force"]) == 0


def test_a_lab_is_whole_or_not_there(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def broken(*_args: object, **_kwargs: object) -> None:
        raise OSError(28, "No space left on device", "somewhere")

    monkeypatch.setattr("tunectl.adapters.lab_sim.build_tree", broken)
    assert run(["lab", "up"]) == 1
    said = capsys.readouterr().err
    assert "TUN-4802" in said
    assert "No space left on device" in said
    assert not list((folder / ".tunectl/lab").iterdir())


def test_the_shell_needs_a_known_node_and_a_terminal(folder: Path, capsys: Capture) -> None:
    run(["lab", "up", "--shape", "1s1c1t"])
    assert run(["lab", "shell", "lab-9"]) == 2
    assert "TUN-1607" in capsys.readouterr().err
    assert run(["lab", "shell", "lab-1"]) == 4
    said = capsys.readouterr().err
    assert "TUN-3602" in said
    assert str(folder / ".tunectl/lab/default/nodes/lab-1") in said.replace("\n         ", "")


def test_the_shell_starts_in_the_tree_and_its_exit_code_counts(folder: Path, tmp_path: Path) -> None:
    run(["lab", "up", "--shape", "1s1c1t"])
    shell = tmp_path / "shell"
    shell.write_text('#!/bin/sh\necho "$PWD $TUNECTL_LAB_NODE" > "$OUT"\nexit 7\n')
    shell.chmod(0o755)
    leader, follower = pty.openpty()
    environment = {**os.environ, "SHELL": str(shell), "OUT": str(tmp_path / "out")}
    code = "import sys; from tunectl.cli.main import run; sys.exit(run(['lab', 'shell', 'lab-1']))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        stdin=follower,
        stdout=follower,
        stderr=subprocess.PIPE,
        env=environment,
        check=False,
    )
    os.close(leader)
    os.close(follower)
    assert done.returncode == 7
    assert b"simulated" in done.stderr
    assert (tmp_path / "out").read_text() == f"{folder}/.tunectl/lab/default/nodes/lab-1 lab-1\n"


def test_a_folder_gets_its_default_lab_once(folder: Path) -> None:
    lab, created = ensure_default_lab(FolderLabs(folder))
    again, created_again = ensure_default_lab(FolderLabs(folder))
    assert (created, created_again) == (True, False)
    assert lab == again
    assert lab.inventory == folder / ".tunectl/lab/default/hosts.yaml"


def test_the_machines_are_listed_with_their_provenance(capsys: Capture) -> None:
    items = _document(capsys, "lab", "machines")["items"]
    assert {one["name"] for one in items} >= {"xeon-8358-2s32c2t", "xeon-6230-2s20c2t", "epyc-7713-1s64c2t4n"}
    assert all(one["provenance"] for one in items)
    assert run(["lab", "machines"]) == 0
    assert "128 CPUs" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["lab-1", "lab-2", "lab-3"], "lab-1..3"),
        (["lab-1"], "lab-1"),
        (["lab-1", "lab-3"], "lab-1, lab-3"),
        (["a-1", "b-2"], "a-1, b-2"),
        (["a", "b"], "a, b"),
        (["lab-9", "lab-10"], "lab-9..10"),
    ],
)
def test_names_that_count_up_are_a_range(names: list[str], text: str) -> None:
    assert names_text(names) == text
