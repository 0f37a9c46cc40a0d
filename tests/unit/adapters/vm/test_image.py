"""Images and identities of lab machines: what goes in, and what a computer without the programs says."""

from __future__ import annotations

import shlex
import shutil
import struct
import subprocess
import tarfile
from pathlib import Path

import pytest

from tunectl.adapters.vm.debian_root import need_programs, sources_lines
from tunectl.adapters.vm.disk import master_boot_record, run
from tunectl.adapters.vm.identity import Neighbour, known_hosts_line, ssh_arguments, ssh_command, write_archive
from tunectl.adapters.vm.image import PROGRAMS, image_for, recipe, recipe_digest
from tunectl.core.errors import FailedError, InputError, RefusedError


def test_sources_are_those_of_this_computer_for_the_suite_that_is_wanted() -> None:
    targets = (
        "http://mirror.example/debian/ main\n"
        "http://mirror.example/debian/ main\n"
        "http://mirror.example/debian contrib\n"
        "http://mirror.example/debian-security/ main\n"
        "https://vendor.example/apt/ main\n"
        "http://other.example/debian/ main\n\n"
    )
    assert sources_lines("trixie", targets) == (
        "deb http://mirror.example/debian/ trixie main",
        "deb http://other.example/debian/ trixie main",
    )
    assert sources_lines("trixie", "") == ()


def test_the_first_sector_says_what_is_on_the_disk() -> None:
    sector = master_boot_record(8_388_608)
    assert len(sector) == 512
    assert sector[510:] == b"\x55\xaa"
    active, kind, first, count = struct.unpack("<B3xB3xII", sector[446:462])
    assert (active, kind, first, count) == (0x80, 0x83, 2048, 8_388_608)
    assert sector[462:510] == bytes(48)


def test_an_image_is_named_by_what_it_is_made_of() -> None:
    assert recipe_digest("debian12") == recipe_digest("debian12")
    assert recipe_digest("debian12") != recipe_digest("debian13")
    made = recipe("debian12")
    assert "grub-pc" in str(made["packages"])
    assert "usr/local/sbin/lab-identity" in dict(made["guest"])  # type: ignore[call-overload]


def test_an_image_of_an_unknown_distribution_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="TUN-1620"):
        image_for("slackware", lambda _text: None, directory=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_programs_that_are_missing_are_named_with_their_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tunectl.adapters.vm.debian_root.search_path", lambda: str(tmp_path))
    with pytest.raises(RefusedError, match="TUN-3620") as caught:
        image_for("debian12", lambda _text: None, directory=tmp_path / "images")
    fix = caught.value.problems[0].fix
    assert all(package in fix for package in PROGRAMS.values())
    assert fix.count("openssh-client") == 1
    assert not (tmp_path / "images").exists()
    need_programs({}, "do nothing")


def test_no_room_is_said_before_anything_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tunectl.adapters.vm.image.need_programs", lambda *_args: None)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr("shutil.disk_usage", lambda _path: usage._replace(free=1 << 30))
    with pytest.raises(RefusedError, match="TUN-3621") as caught:
        image_for("debian12", lambda _text: None, directory=tmp_path)
    assert "1024 MiB are free" in caught.value.problems[0].why


def test_a_program_that_fails_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(FailedError, match="TUN-4821") as caught:
        run(["sh", "-c", "echo no space >&2; exit 3"], "make a disk")
    assert (caught.value.problems[0].what, caught.value.problems[0].why) == ("could not make a disk", "no space")
    with pytest.raises(FailedError, match="TUN-4821"):
        run([str(tmp_path / "none")], "make a disk")


def test_the_identity_disk_is_an_archive_of_whole_sectors_for_nobody_else(tmp_path: Path) -> None:
    disk = tmp_path / "identity"
    write_archive(disk, {"hostname": "lab-1\n", "empty": ""})
    assert disk.stat().st_size % 512 == 0
    assert disk.stat().st_mode & 0o777 == 0o600
    with tarfile.open(disk) as archive:
        assert archive.getnames() == ["hostname", "empty"]
        member = archive.extractfile("hostname")
        assert member is not None
        assert member.read() == b"lab-1\n"


def test_machines_have_addresses_of_their_own() -> None:
    everyone = [Neighbour(f"n{index}", index) for index in range(1, 200)]
    assert len({one.address for one in everyone}) == len({one.mac for one in everyone}) == 199
    assert everyone[0].address == "10.77.0.11"


def test_ssh_trusts_the_key_of_the_machine_and_no_other(tmp_path: Path) -> None:
    place = tmp_path / "a folder"
    place.mkdir()
    (place / "known_hosts").write_text(known_hosts_line("default-lab-1", "ssh-ed25519 AAAA lab-1"))
    assert (place / "known_hosts").read_text() == "default-lab-1 ssh-ed25519 AAAA\n"
    command = ssh_command(place, "default-lab-1", 2222, quick=True)
    assert command[-1] == "lab@127.0.0.1"
    assert "StrictHostKeyChecking=yes" in command
    assert shlex.split(ssh_arguments(place, "default-lab-1")) == command[1:13]
    if shutil.which("ssh"):
        shown = subprocess.run([command[0], "-G", *command[1:]], capture_output=True, text=True, check=True).stdout
        assert f"userknownhostsfile {place / 'known_hosts'}" in shown
        assert "hostkeyalias default-lab-1" in shown
