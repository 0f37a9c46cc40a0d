"""`tunectl render`: what goes to stdout, into files, into a directory, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from support.labs import node_tree, snapshot_of

from tunectl.adapters.snapshot_files import save_snapshots
from tunectl.cli.main import run

Capture = pytest.CaptureFixture[str]
OPENSHIFT = ("render", "--platform", "openshift")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without inventory and settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("TUNECTL_INVENTORY", "TUNECTL_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def saved(folder: Path) -> str:
    """A saved snapshot of a small node."""
    save_snapshots(folder / "nodes.json", [snapshot_of(node_tree(folder / "node-1"))])
    return str(folder / "nodes.json")


def test_the_stream_is_for_kubectl(capsys: Capture) -> None:
    assert run([*OPENSHIFT, "--tier", "hpc-standard", "--with", "hpc-massive", "-o", "yaml"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("---\n# Written by tunectl for tier hpc-standard")
    kinds = [document["kind"] for document in yaml.safe_load_all(out)]
    assert kinds == ["MachineConfigPool", "KubeletConfig", "MachineConfigPool", "PerformanceProfile"]
    assert err.count("no node was looked at") == 2


def test_every_output_goes_where_it_was_asked_for(folder: Path, capsys: Capture) -> None:
    outputs = ["-o", "yaml=all.yaml", "-o", "dir=out", "-o", "json=all.json"]
    assert run([*OPENSHIFT, "--tier", "hpc-massive", *outputs]) == 0
    assert capsys.readouterr().out.startswith("tier hpc-massive for pool hpc-massive   openshift")
    assert len(list(yaml.safe_load_all((folder / "all.yaml").read_text()))) == 2
    assert json.loads((folder / "all.json").read_text())["summary"]["files"] == 3
    assert (folder / "out" / "README.md").is_file()


def test_a_directory_is_written_and_brought_up_to_date(folder: Path, capsys: Capture) -> None:
    assert run([*OPENSHIFT, "--tier", "hpc-standard", "-o", "dir=out"]) == 0
    out, err = capsys.readouterr()
    assert "20-kubeletconfig.yaml\n    KubeletConfig hpc-tuning-app\n" in out
    assert "out: 3 files written\nNext: kubectl apply -f out\n" in err
    before = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
    assert run([*OPENSHIFT, "--tier", "hpc-standard", "-o", "dir=out"]) == 0
    assert "out: 3 files unchanged\n" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in (folder / "out").iterdir()} == before
    assert run([*OPENSHIFT, "--tier", "hpc-massive", "-o", "dir=out"]) == 0
    assert "out: 3 files written, 1 file removed\n" in capsys.readouterr().err
    assert not (folder / "out" / "20-kubeletconfig.yaml").exists()


def test_kubectl_would_find_manifests_only(folder: Path) -> None:
    assert run([*OPENSHIFT, "--tier", "hpc-massive", "-o", "dir=out", "-q"]) == 0
    taken = [path for path in (folder / "out").rglob("*") if path.suffix in (".json", ".yaml", ".yml")]
    assert sorted(path.name for path in taken) == ["10-machineconfigpool.yaml", "20-performanceprofile.yaml"]


def test_a_directory_of_others_is_refused_and_left_alone(folder: Path, capsys: Capture) -> None:
    (folder / "precious").mkdir()
    (folder / "precious" / "file").write_text("theirs\n")
    assert run([*OPENSHIFT, "--tier", "hpc-massive", "-o", "dir=precious"]) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert "TUN-3020" in err
    assert [path.name for path in (folder / "precious").iterdir()] == ["file"]


def test_files_of_nodes_go_into_a_tree_a_machine(folder: Path, saved: str, capsys: Capture) -> None:
    args = ["render", "--platform", "kubeadm", "--tier", "memory-quiet", "--snapshot", saved, "-o", "dir=out"]
    assert run(args) == 0
    out, err = capsys.readouterr()
    assert "simulated" in out
    assert "  node-1/   for node-1\n" in out
    assert "kubectl" not in err
    text = (folder / "out" / "node-1" / "etc" / "sysctl.d" / "99-tunectl.conf").read_text()
    assert "\nvm.zone_reclaim_mode = 0\n" in text


def test_the_document_holds_every_file_and_its_nodes(saved: str, capsys: Capture) -> None:
    args = ["render", "--platform", "kubeadm", "--tier", "memory-quiet", "--snapshot", saved, "-o", "json"]
    assert run(args) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["status"], document["simulated"]) == ("Manifests", "ok", True)
    assert document["summary"]["nodes"] == ["node-1"]
    assert document["summary"]["files"] == len(document["items"])
    by_path = {item["path"]: item for item in document["items"]}
    assert by_path["node-1/etc/sysctl.d/99-tunectl.conf"]["nodes"] == ["node-1"]
    assert by_path["README.md"]["nodes"] == []


def test_findings_are_told_beside_the_result(saved: str, capsys: Capture) -> None:
    assert run([*OPENSHIFT, "--tier", "hpc-standard", "--snapshot", saved, "-o", "yaml"]) == 0
    out, err = capsys.readouterr()
    assert "kubelet.eviction.partial" in err
    assert len(list(yaml.safe_load_all(out))) == 2


def test_verbose_shows_the_contents(capsys: Capture) -> None:
    assert run([*OPENSHIFT, "--tier", "hpc-massive", "-v"]) == 0
    assert '    |     reserved: "0-18,32-50"\n' in capsys.readouterr().out


def test_values_can_be_set_over_the_tier(capsys: Capture) -> None:
    lists = ["--set", "cpu.reserved=0-18,32-51", "--set", "cpu.isolated=19-31,52-127"]
    assert run([*OPENSHIFT, "--tier", "hpc-massive", *lists, "-o", "yaml"]) == 0
    documents = list(yaml.safe_load_all(capsys.readouterr().out))
    assert documents[1]["spec"]["cpu"] == {"isolated": "19-31,52-127", "reserved": "0-18,32-51"}


@pytest.mark.parametrize(
    ("args", "code", "complaint"),
    [
        ([*OPENSHIFT, "--tier", "hpc-massive", "-o", "dir"], 2, "TUN-1063"),
        (["render", "--platform", "kubeadm", "--tier", "hpc-massive", "-o", "yaml"], 2, "TUN-1063"),
        ([*OPENSHIFT, "--tier", "hpc-masive"], 2, "hpc-massive"),
        ([*OPENSHIFT], 2, "TUN-1015"),
        ([*OPENSHIFT, "--tier", "hpc-massive", "--set", "cpu.enforce_isolation=false"], 4, "TUN-2242"),
        ([*OPENSHIFT, "--tier", "hpc-standard", "--with", "hpc-standard"], 4, "TUN-2240"),
    ],
)
def test_what_cannot_be_rendered_says_why(args: list[str], code: int, complaint: str, capsys: Capture) -> None:
    assert run(args) == code
    out, err = capsys.readouterr()
    assert complaint in err
    assert "Nothing was changed." in err
    assert not out.startswith("tier ")


def test_rendering_without_nodes_starts_no_lab(folder: Path) -> None:
    assert run([*OPENSHIFT, "--tier", "hpc-massive", "-q"]) == 0
    assert not (folder / ".tunectl").exists()
