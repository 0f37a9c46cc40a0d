"""Disks of lab machines: one bootable partition that holds a root file system, made without loop devices or root."""

from __future__ import annotations

import os
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tunectl.adapters.vm.debian_root import last_lines, program
from tunectl.core.errors import FailedError, problem

_SECTOR = 512
# GRUB keeps its core in the gap before the first partition.
_FIRST_SECTOR = 2048
_LINUX = 0x83
_BOOTABLE = 0x80
# Source: the classic master boot record; CHS values of all ones say that only LBA counts.
_NO_CHS = b"\xfe\xff\xff"
_MIB = 1 << 20


def make_disk(root_tar: Path, disk: Path, size_mib: int) -> None:
    """Write a raw, sparse disk with one ext4 partition that holds the archive; `size_mib` is the partition's size.

    Raises `FailedError` (TUN-4821) with what the program said.
    """
    with tempfile.TemporaryDirectory(dir=disk.parent, prefix=".disk-") as scratch:
        part = Path(scratch) / "part"
        with part.open("wb") as file:
            file.truncate(size_mib * _MIB)
        tree = Path(scratch) / "tree"
        tree.mkdir()
        script = f'tar -x -f "$1" -C "$2" && exec {program("mke2fs")} -q -F -t ext4 -d "$2" "$3"'
        run([*_as_owner(), "sh", "-c", script, "sh", str(root_tar), str(tree), str(part)], "make a file system")
        _assemble(part, disk, size_mib)
        run([*_as_owner(), "rm", "-rf", str(tree)], "remove the scratch tree")


def extract_boot_files(root_tar: Path, directory: Path) -> tuple[Path, Path]:
    """Put kernel and initial RAM disk of the root file system into `directory` and return their paths.

    Raises `FailedError` (TUN-4821) when there are none.
    """
    names = run(["tar", "-t", "-f", str(root_tar), "--wildcards", "./boot/vmlinuz-*", "./boot/initrd.img-*"], "look")
    found: list[Path] = []
    for stem in ("vmlinuz", "initrd.img"):
        member = next((line for line in names.splitlines() if line.startswith(f"./boot/{stem}-")), "")
        if not member:
            raise _failed("find a kernel in the image", f"there is no /boot/{stem}-* in it")
        target = directory / stem
        with target.open("wb") as file:
            subprocess.run(["tar", "-x", "-O", "-f", str(root_tar), member], stdout=file, check=True)  # noqa: S603, S607
        found.append(target)
    return found[0], found[1]


def _as_owner() -> list[str]:
    # Files of the archive belong to root and others: a user becomes root of a namespace of its own.
    return [] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--map-auto"]


def _assemble(part: Path, disk: Path, size_mib: int) -> None:
    with disk.open("wb") as file:
        file.truncate((_FIRST_SECTOR * _SECTOR) + size_mib * _MIB)
        file.seek(0)
        file.write(master_boot_record(size_mib * _MIB // _SECTOR))
    first_mib = _FIRST_SECTOR * _SECTOR // _MIB
    copy = ["dd", f"if={part}", f"of={disk}", "bs=1M", f"seek={first_mib}", "conv=notrunc,sparse", "status=none"]
    run(copy, "copy the file system onto the disk")


def master_boot_record(sectors: int) -> bytes:
    """Return the first sector of a disk whose only partition has that many sectors of 512 bytes."""
    entry = struct.pack("<B3sB3sII", _BOOTABLE, _NO_CHS, _LINUX, _NO_CHS, _FIRST_SECTOR, sectors)
    return bytes(440) + struct.pack("<IH", 0x74756E65, 0) + entry + bytes(48) + b"\x55\xaa"


def run(command: Sequence[str], what: str) -> str:
    """Run a program and return what it printed; raises `FailedError` (TUN-4821) naming the purpose."""
    try:
        done = subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL)  # noqa: S603
    except OSError as error:
        raise _failed(what, f"{command[0]}: {error.strerror or error}") from error
    if done.returncode:
        said = last_lines(done.stderr.decode("utf-8", "replace"))
        raise _failed(what, said or f"{command[0]} ended with {done.returncode}")
    return done.stdout.decode("utf-8", "replace")


def _failed(what: str, why: str) -> FailedError:
    fix = "see that the disk has room, and that this user may make user namespaces"
    return FailedError((problem("TUN-4821", f"could not {what}", where="the image of lab machines", why=why, fix=fix),))
