import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.trees import write_tree

from tunectl.rooted_files import MAX_BYTES, RootedFiles


def _link(root: Path, path: str, target: str) -> None:
    place = root / path.lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


def test_files_are_recorded_in_their_kind(tmp_path: Path) -> None:
    files = RootedFiles(str(write_tree(tmp_path, {"/etc/a": "x\n"})))
    assert files.read("/etc/a") == "x\n"
    assert files.read("/etc/b") is None
    assert files.read("/etc/a/below") is None
    assert files.read("/etc") is None
    assert files.listing("/etc") == ("a",)
    assert files.listing("/none") == ()
    assert files.files == {"/etc/a": "x\n"}
    assert files.absent == {"/etc/b", "/etc/a/below", "/none"}
    assert files.unreadable == {"/etc": "is a directory"}
    assert files.listings == {"/etc": ("a",)}


def test_text_that_is_no_utf8_is_kept_readable(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"a\xffb")
    assert RootedFiles(str(tmp_path)).read("/f") == "a\ufffdb"


@pytest.mark.parametrize(
    ("link", "target", "text"),
    [
        ("/etc/l", "/etc/real", "below"),
        ("/etc/l", "real", "below"),
        ("/etc/l", "../../../../../etc/real", "below"),
        ("/etc/l", "./sub/../real", "below"),
        ("/etc/dir", "/etc", "below"),
    ],
)
def test_links_stay_below_the_root(tmp_path: Path, link: str, target: str, text: str) -> None:
    outside = tmp_path / "etc"
    write_tree(outside, {"real": "outside"})
    root = write_tree(tmp_path / "root", {"/etc/real": "below", "/etc/sub/x": ""})
    _link(root, link, target)
    path = f"{link}/real" if link.endswith("dir") else link
    assert RootedFiles(str(root)).read(path) == text


def test_a_link_that_only_resolves_outside_is_absent(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret", encoding="utf-8")
    root = tmp_path / "root"
    _link(root, "/etc/file", str(secret))
    _link(root, "/etc/directory", str(tmp_path))
    files = RootedFiles(str(root))
    assert files.read("/etc/file") is None
    assert files.read("/etc/directory/secret") is None
    assert files.listing("/etc/directory") == ()
    assert not files.is_directory("/etc/directory")
    assert files.absent == {"/etc/file", "/etc/directory/secret", "/etc/directory"}


def test_loops_end(tmp_path: Path) -> None:
    _link(tmp_path, "/a", "b")
    _link(tmp_path, "/b", "a")
    files = RootedFiles(str(tmp_path))
    assert files.read("/a") is None
    assert files.read("/a/c") is None
    assert "too many levels of symbolic links" in files.unreadable["/a"]
    assert not files.exists("/a/c")


def test_pipes_and_endless_files_do_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "big").write_bytes(b"x" * (MAX_BYTES + 1))
    files = RootedFiles(str(tmp_path))
    assert files.read("/pipe") == ""
    assert files.read("/big") is None
    assert files.unreadable == {"/big": "file too large"}


@pytest.mark.parametrize(
    ("look", "error"), [(RootedFiles.read, "open"), (RootedFiles.listing, "listdir"), (RootedFiles.link, "readlink")]
)
def test_what_may_not_be_read_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look: Callable[[RootedFiles, str], object], error: str
) -> None:
    def refuse(*_args: object, **_kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "f").touch()
    monkeypatch.setattr(f"tunectl.rooted_files.os.{error}", refuse)
    files = RootedFiles(str(tmp_path))
    look(files, "/f")
    assert files.unreadable == {"/f": "permission denied"}


def test_links_are_followed_to_their_end(tmp_path: Path) -> None:
    root = write_tree(tmp_path, {"/sys/devices/pci0/0000:3b:00.0/net/eth0/mtu": "1500\n"})
    _link(root, "/sys/class/net/eth0", "../../devices/pci0/0000:3b:00.0/net/eth0")
    _link(root, "/sys/devices/pci0/0000:3b:00.0/net/eth0/device", "../../../0000:3b:00.0")
    _link(root, "/etc/masked.service", "/dev/null")
    files = RootedFiles(str(root))
    assert files.link("/sys/class/net/eth0/device") == "/sys/devices/pci0/0000:3b:00.0"
    assert files.link("/etc/masked.service") == "/dev/null"
    assert files.link("/sys/devices/pci0") is None
    assert files.link("/sys/none") is None
    assert files.absent == {"/sys/none"}
    assert set(files.links) == {"/sys/class/net/eth0/device", "/etc/masked.service"}


def test_patterns_match_within_components(tmp_path: Path) -> None:
    names = ("/sys/net/a/rx-0/cpus", "/sys/net/a/rx-1/cpus", "/sys/net/b/tx-0/cpus", "/sys/net/a/rx-2/other")
    root = write_tree(tmp_path, dict.fromkeys(names, "0"))
    files = RootedFiles(str(root))
    assert files.glob("/sys/net/*/rx-*/cpus") == ["/sys/net/a/rx-0/cpus", "/sys/net/a/rx-1/cpus"]
    assert files.glob("/none/*") == []
    assert (files.files, files.absent) == ({}, set())


def test_the_root_itself_needs_no_translation() -> None:
    files = RootedFiles("/")
    assert files.read("/proc/self/comm")
    assert files.is_directory("/proc")
    assert files.exists("/proc/self")
    assert RootedFiles("/proc/..//").base == ""


_PART = st.sampled_from(["a", "b", "..", ".", "c", "/"])


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", "c", "a/x", "b/x"]), st.lists(_PART, min_size=1, max_size=5))),
    st.lists(st.sampled_from(["a", "b", "c", "x", ".."]), min_size=1, max_size=5),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_path_reads_outside(
    tmp_path_factory: pytest.TempPathFactory, links: list[tuple[str, list[str]]], path: list[str]
) -> None:
    top = tmp_path_factory.mktemp("top")
    for name in ("a", "b", "c", "x"):
        (top / name).write_text("outside", encoding="utf-8")
    root = top / "r"
    root.mkdir()
    for name, target in links:
        place = root / name
        if not place.parent.is_symlink() and not place.is_symlink() and not place.parent.is_file():
            place.parent.mkdir(exist_ok=True)
            if not place.exists():
                place.symlink_to("/".join(target))
    files = RootedFiles(str(root))
    assert files.read("/" + "/".join(path)) != "outside"
    files.listing("/" + "/".join(path))
    assert all("r" not in names for names in files.listings.values())
