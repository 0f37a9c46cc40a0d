import gzip
import io
import json
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.snapshots import snapshot_of
from support.topologies import topologies
from support.trees import write_tree

from tunectl.adapters.snapshot_files import load_snapshots, save_snapshots
from tunectl.core.errors import InputError
from tunectl.core.snapshot import Snapshot
from tunectl.core.topology import Topology

_ONE = Snapshot("alpha", {"/proc/cmdline": "ro\n"}, listings={"/d": ("x",)}, absent=frozenset({"/y"}), simulated=True)
_TWO = replace(_ONE, node="beta", simulated=False)


@pytest.mark.parametrize("name", ["s.json", "s.json.gz", "s.tar.gz", "s.tgz", "folder", "new/deep/s.json"])
@pytest.mark.parametrize("snapshots", [[_ONE], [_ONE, _TWO]], ids=["one", "two"])
def test_what_is_saved_is_loaded(tmp_path: Path, name: str, snapshots: list[Snapshot]) -> None:
    path = tmp_path / name
    save_snapshots(path, snapshots)
    assert load_snapshots(path) == snapshots
    before = path.read_bytes() if path.is_file() else b""
    save_snapshots(path, snapshots)
    assert (path.read_bytes() if path.is_file() else b"") == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@given(topology=topologies())
def test_saving_loses_nothing(topology: Topology, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("s") / "s.json.gz"
    snapshot = snapshot_of(topology)
    save_snapshots(path, [snapshot])
    assert load_snapshots(path) == [snapshot]


def test_an_empty_list_is_a_list(tmp_path: Path) -> None:
    save_snapshots(tmp_path / "s.json", [])
    assert load_snapshots(tmp_path / "s.json") == []


_TREE = {
    "sys/devices/system/cpu/online": "0\n",
    "proc/cmdline": "quiet\n",
    "etc/os-release": "ID=debian\n",
}


def _tar(path: Path, files: dict[str, str], *more: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            # As captured: without write permission.
            member.mode = 0o400
            tar.addfile(member, io.BytesIO(text.encode()))
        for extra in more:
            tar.addfile(extra)
    return path


def test_a_captured_tree_is_read(tmp_path: Path) -> None:
    (snapshot,) = load_snapshots(_tar(tmp_path / "sysfs-n7.tar.gz", _TREE))
    assert (snapshot.node, snapshot.text("/proc/cmdline"), snapshot.simulated) == ("n7", "quiet", False)
    (same,) = load_snapshots(write_tree(tmp_path / "n8", _TREE))
    assert (same.node, same.files) == ("n8", snapshot.files)


def test_an_archive_of_several_trees_names_nodes_by_directory(tmp_path: Path) -> None:
    files = {f"{node}/{path}": text for node in ("b", "a") for path, text in _TREE.items()}
    assert [one.node for one in load_snapshots(_tar(tmp_path / "all.tar.gz", files))] == ["a", "b"]


def test_a_tree_may_have_json_beside_it(tmp_path: Path) -> None:
    (snapshot,) = load_snapshots(_tar(tmp_path / "n.tar.gz", {**_TREE, "about.json": "{}"}))
    assert snapshot.node == "n"


def _link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


def test_links_and_devices_that_lead_outside_are_left_out(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret", encoding="utf-8")
    archive = _tar(
        tmp_path / "n.tar.gz",
        {path: text for path, text in _TREE.items() if path != "etc/os-release"},
        _link("etc/os-release", str(secret)),
        _link("etc/default/grub", "../../../../../secret"),
        _link("proc/swaps", "", tarfile.FIFOTYPE),
        _link("proc/meminfo", "cmdline"),
    )
    (snapshot,) = load_snapshots(archive)
    assert "secret" not in json.dumps(snapshot.to_json())
    assert snapshot.text("/proc/meminfo") == "quiet"


def test_members_that_would_be_written_outside_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be unpacked"):
        load_snapshots(_tar(tmp_path / "n.tar.gz", {**_TREE, "../evil": "x"}))
    assert not (tmp_path / "evil").exists()


def test_archives_without_measure_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tunectl.adapters.node_trees._MAX_BYTES", 10)
    with pytest.raises(InputError, match="it holds more than"):
        load_snapshots(_tar(tmp_path / "n.tar.gz", _TREE))


def test_a_python_without_filters_unpacks_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = _tar(tmp_path / "n.tar.gz", _TREE)
    (with_filters,) = load_snapshots(archive)
    monkeypatch.delattr(tarfile, "data_filter", raising=False)
    (without,) = load_snapshots(archive)
    assert without.text("/proc/cmdline") == with_filters.text("/proc/cmdline") == "quiet"


def test_a_document_without_measure_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_snapshots(tmp_path / "s.json.gz", [_ONE])
    monkeypatch.setattr("tunectl.adapters.snapshot_files._MAX_DOCUMENT", 10)
    with pytest.raises(InputError, match="larger than"):
        load_snapshots(tmp_path / "s.json.gz")


def test_a_hard_link_to_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be unpacked"):
        load_snapshots(_tar(tmp_path / "n.tar.gz", _TREE, _link("proc/x", "proc/none", tarfile.LNKTYPE)))


_GOOD = json.dumps(_ONE.to_json())


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[]", "no object"),
        (b"{}", "apiVersion"),
        (json.dumps({"apiVersion": "tunectl.io/v1alpha1", "kind": "SnapshotSet", "items": 3}).encode(), "no list"),
        (json.dumps({"apiVersion": "tunectl.io/v1alpha1", "kind": "SnapshotSet", "items": [3]}).encode(), "no object"),
        (_GOOD.replace('"ro\\n"', "5").encode(), "'files'"),
        (_GOOD.replace('["x"]', '"x"').encode(), "'listings'"),
        (_GOOD.replace('["/y"]', "{}").encode(), "'absent'"),
        (gzip.compress(_GOOD.encode(), mtime=0)[:-9], "not whole"),
        (gzip.compress(_GOOD.encode(), mtime=0)[:12] + b"damage" * 9, "damaged"),
    ],
)
def test_what_is_no_snapshot(tmp_path: Path, data: bytes, why: str) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        load_snapshots(path)
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == ("TUN-1704", str(path))
    assert why in problem.why
    assert problem.fix


def test_places_without_snapshots(tmp_path: Path) -> None:
    (tmp_path / "sys").mkdir()
    for path in (tmp_path, tmp_path / "none.json", _tar(tmp_path / "empty.tar.gz", {"README": "x"})):
        with pytest.raises(InputError) as caught:
            load_snapshots(path)
        assert caught.value.problems[0].where == str(path)


def test_the_member_that_is_no_snapshot_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"s\.tar\.gz/bad\.json"):
        load_snapshots(_tar(tmp_path / "s.tar.gz", {"bad.json": "{}"}))


@pytest.mark.parametrize("name", ["s.yaml", "s.xz"])
def test_unknown_forms_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="tells no form"):
        save_snapshots(tmp_path / name, [_ONE])
    assert not list(tmp_path.iterdir())


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.touch()
    for name in ("file/s.json", "file/folder"):
        with pytest.raises(InputError, match="cannot be saved"):
            save_snapshots(tmp_path / name, [_ONE])
    assert blocker.read_bytes() == b""


@pytest.mark.parametrize("name", ["s.tar.gz", "folder"])
def test_node_names_that_are_no_file_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="no file name"):
        save_snapshots(tmp_path / name, [_TWO, replace(_ONE, node="../evil")])
    assert not list(tmp_path.iterdir())


@given(data=st.binary(max_size=200))
def test_any_bytes_are_a_snapshot_or_an_input_error(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("s") / "s.json"
    path.write_bytes(data)
    with pytest.raises(InputError):
        load_snapshots(path)
