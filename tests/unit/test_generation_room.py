"""Real disks that are full, read-only or not ours: refused before anything is touched."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.tunectl.node.plugins.module_utils.core.errors import RefusedError
from ansible_collections.tunectl.node.plugins.module_utils.core.plan import NodeFile
from ansible_collections.tunectl.node.plugins.module_utils.generation import Generations
from ansible_collections.tunectl.node.plugins.module_utils.generation_request import Request
from support.node_trees import build, picture
from support.plays import COLLECTIONS

FILE = "/etc/sysctl.d/99-tunectl.conf"
SMALL = Request((NodeFile(FILE, "a = 1\n"),))
NOBODY = 65534
APPLY = """
import os
import sys
from ansible_collections.tunectl.node.plugins.module_utils.core.errors import TunectlError
from ansible_collections.tunectl.node.plugins.module_utils.core.plan import NodeFile
from ansible_collections.tunectl.node.plugins.module_utils.generation import Generations
from ansible_collections.tunectl.node.plugins.module_utils.generation_request import Request
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(int(sys.argv[3]))
    os.setuid(int(sys.argv[3]))
try:
    Generations(sys.argv[1]).apply(Request((NodeFile(sys.argv[2], "a = 1\\n"),)))
except TunectlError as error:
    print(type(error).__name__, error)
else:
    print("applied")
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A mounted file system of 256 KiB, where this process may mount one."""
    where = tmp_path / "disk"
    where.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k,nr_inodes=64", "tunectl-test", str(where)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a file system is not permitted here")
    yield where
    subprocess.run(["umount", str(where)], check=True)


def test_a_disk_without_room_is_refused_and_one_with_room_is_not(small_disk: Path) -> None:
    root = build(small_disk / "node", {"/etc/hostname": (b"n\n", 0o644)})
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * (160 * 1024))
    before = picture(root, without="/nothing")
    large = Request((NodeFile(FILE, "a" * 60_000 + "\n"),))
    with pytest.raises(RefusedError, match="TUN-3405") as caught:
        Generations(str(root)).apply(large)
    assert "KiB are free" in caught.value.problems[0].why
    assert {path: item for path, item in picture(root).items() if path in before} == before
    assert not (root / FILE[1:]).exists()
    filler.unlink()
    assert Generations(str(root)).apply(SMALL).changed


def test_a_disk_without_inodes_is_refused(small_disk: Path) -> None:
    root = build(small_disk / "node", {"/etc/sysctl.d/a": (b"", 0o644), "/var/lib/tunectl/lock": (b"", 0o600)})
    number = 0
    try:
        for number in range(200):
            (small_disk / f"filler-{number}").touch()
    except OSError:
        pass
    assert number > 5
    with pytest.raises(RefusedError, match="no inodes left"):
        Generations(str(root)).apply(SMALL)
    assert not (root / FILE[1:]).exists()


def test_a_read_only_file_system_is_refused_and_unchanged_nodes_are_not(small_disk: Path) -> None:
    root = build(small_disk / "node", {"/etc/hostname": (b"n\n", 0o644)})
    Generations(str(root)).apply(SMALL)
    before = picture(root, without="/nothing")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    node = Generations(str(root))
    assert not node.apply(SMALL).changed
    with pytest.raises(RefusedError, match="TUN-3406"):
        node.apply(Request((NodeFile(FILE, "a = 2\n"),)))
    with pytest.raises(RefusedError, match="TUN-3406"):
        node.rollback()
    assert picture(root, without="/nothing") == before


def test_a_directory_that_is_mounted_read_only_onto_itself_is_refused(small_disk: Path) -> None:
    root = build(small_disk / "node", {"/etc/hostname": (b"n\n", 0o644), "/boot/x": (b"", 0o644)})
    for directory in ("/etc/sysctl.d", "/etc/default/grub.d"):
        (root / directory[1:]).mkdir(parents=True)
    closed = str(root / "etc/sysctl.d")
    # it has the device of the file system behind it, where the first file may be written
    both = Request((NodeFile("/etc/default/grub.d/99-tunectl.cfg", "a=1\n"), *SMALL.files))
    subprocess.run(["mount", "--bind", closed, closed], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", closed], check=True)
        before = picture(root, without="/nothing")
        with pytest.raises(RefusedError, match="TUN-3406") as caught:
            Generations(str(root)).apply(both)
        assert caught.value.problems[0].where == closed
        assert {path: item for path, item in picture(root).items() if path in before} == before
    finally:
        subprocess.run(["umount", closed], check=True)
    assert Generations(str(root)).apply(both).changed


def as_nobody(root: Path) -> str:
    """Return what an apply says that is run by a user without any privilege."""
    done = subprocess.run(
        [sys.executable, "-c", APPLY, str(root), FILE, str(NOBODY)],
        env={"PYTHONPATH": str(COLLECTIONS), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


@pytest.fixture
def own_tree() -> Iterator[Path]:
    """A tree of the user who applies; not below pytest's directories, which are closed to others."""
    with tempfile.TemporaryDirectory() as where:
        Path(where).chmod(0o755)
        root = build(Path(where) / "node", {"/etc/hostname": (b"n\n", 0o644), "/var/lib/x": (b"", 0o644)})
        if os.geteuid() == 0:
            for path in [root, *root.rglob("*")]:
                os.chown(path, NOBODY, NOBODY)
        yield root


def test_a_user_may_apply_to_a_tree_of_their_own(own_tree: Path) -> None:
    assert as_nobody(own_tree) == "applied\n"


@pytest.mark.parametrize(("closed", "code"), [("etc", "TUN-4401"), ("var/lib", "TUN-3406")])
def test_a_directory_that_takes_no_files_is_an_error_with_its_name(own_tree: Path, closed: str, code: str) -> None:
    before = picture(own_tree)
    (own_tree / closed).chmod(0o555)
    said = as_nobody(own_tree)
    assert code in said
    assert "Permission denied" in said
    (own_tree / closed).chmod(0o755)
    assert picture(own_tree) == before


def test_a_file_that_cannot_be_read_is_an_error_with_its_name(own_tree: Path) -> None:
    build(own_tree, {FILE: (b"secret\n", 0o000)})
    os.chown(own_tree / FILE[1:], os.geteuid(), os.getegid())
    said = as_nobody(own_tree)
    assert "UnknownError" in said
    assert FILE in said
