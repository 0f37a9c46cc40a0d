"""The disk image that lab machines start from: built once, kept by what it is made of."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import platformdirs
from filelock import FileLock

from tunectl.adapters.vm.debian_root import SUITES, DebianRoot, build_root, last_lines, need_programs, program
from tunectl.adapters.vm.disk import extract_boot_files, make_disk, run
from tunectl.adapters.vm.identity import write_archive
from tunectl.adapters.vm.qemu import QEMU, BuildMedia, build_arguments, run_for
from tunectl.core.errors import FailedError, InputError, RefusedError, problem

Say = Callable[[str], None]

PROGRAMS = {
    QEMU: "qemu-system-x86",
    "qemu-img": "qemu-utils",
    "mmdebstrap": "mmdebstrap",
    "mke2fs": "e2fsprogs",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
}
PACKAGES = (
    "linux-image-cloud-amd64",
    "grub-pc",
    "initramfs-tools",
    "zstd",
    "systemd-sysv",
    "udev",
    "dbus",
    "kmod",
    "procps",
    "iproute2",
    "openssh-server",
    "sudo",
    "python3",
)
# With its caches removed the file system of these packages takes a third of it.
_DISK_MIB = 4096
_NEED_MIB = 6000
_BUILD_S = 900.0
_READY = "lab machine is bootable"
_GUEST = Path(__file__).with_name("guest")
_RECIPE_VERSION = 1


@dataclass(frozen=True)
class Image:
    """A finished image: the disk to lay overlays on, and the kernel to probe acceleration with."""

    disk: Path
    kernel: Path
    initrd: Path


def images_directory() -> Path:
    """Return where images are kept between labs."""
    return platformdirs.user_cache_path("tunectl") / "lab-images"


def image_for(distro: str, say: Say, *, directory: Path | None = None) -> Image:
    """Return the image of a distribution, built unless it is there.

    Sad paths: `InputError` (TUN-1620) for a distribution that is not known, `RefusedError` (TUN-3620, TUN-3621)
    without the programs or the room, `FailedError` (TUN-4820, TUN-4821, TUN-4823) when building fails.
    """
    if distro not in SUITES:
        raise InputError(
            (
                problem(
                    "TUN-1620",
                    f"lab machines cannot run {distro!r}",
                    where="--distro",
                    why=f"there are {', '.join(SUITES)}",
                ),
            )
        )
    need_programs(PROGRAMS, "run lab machines")
    place = (directory or images_directory()) / f"{distro}-{recipe_digest(distro)}"
    place.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{place}.lock"):
        if not (place / "recipe.json").is_file():
            say(f"building the {distro} image for lab machines, once: about a minute and a half")
            _build(distro, place)
    return Image(place / "disk.qcow2", place / "vmlinuz", place / "initrd.img")


def recipe(distro: str) -> dict[str, object]:
    """Return all that an image is made of, but for the versions of its packages."""
    guest = {str(path.relative_to(_GUEST)): path.read_text(encoding="utf-8") for path in _guest_files()}
    return {
        "version": _RECIPE_VERSION,
        "suite": SUITES[distro],
        "packages": list(PACKAGES),
        "hooks": list(_hooks()),
        "guest": guest,
        "disk_mib": _DISK_MIB,
    }


def recipe_digest(distro: str) -> str:
    """Return the name of the content: equal recipes share an image."""
    return hashlib.sha256(json.dumps(recipe(distro), sort_keys=True).encode()).hexdigest()[:16]


def _guest_files() -> list[Path]:
    return sorted(path for path in _GUEST.rglob("*") if path.is_file())


def _hooks() -> tuple[str, ...]:
    copies = tuple(f"upload guest/{name} /{name}" for name in (str(p.relative_to(_GUEST)) for p in _guest_files()))
    return (
        'chroot "$1" useradd --create-home --shell /bin/bash lab',
        # The file system finds itself by its place: the image has one disk and one partition.
        """printf '/dev/vda1 / ext4 errors=remount-ro 0 1\\n' >"$1/etc/fstab" """.strip(),
        'rm -f "$1"/etc/ssh/ssh_host_* && mkdir -p "$1/etc/default/grub.d"',
        *copies,
        'chmod 0440 "$1/etc/sudoers.d/lab" && chmod 0755 "$1/usr/local/sbin/lab-identity"',
        'chroot "$1" systemctl enable lab-identity.service systemd-networkd.service ssh.service',
        # Nothing of its own accord shall run while something is measured.
        'chroot "$1" systemctl mask apt-daily.timer apt-daily-upgrade.timer e2scrub_all.timer fstrim.timer',
    )


def _build(distro: str, place: Path) -> None:
    _need_room(place.parent)
    draft = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    try:
        draft.chmod(0o755)
        tar = draft / "root.tar"
        hooks = tuple(hook.replace("upload guest/", f"upload {_GUEST}/", 1) for hook in _hooks())
        build_root(DebianRoot(SUITES[distro], PACKAGES, hooks), tar)
        kernel, initrd = extract_boot_files(tar, draft)
        raw = draft / "disk.raw"
        make_disk(tar, raw, _DISK_MIB)
        tar.unlink()
        _install_boot_loader(raw, draft, kernel, initrd)
        run([program("qemu-img"), "convert", "-O", "qcow2", str(raw), str(draft / "disk.qcow2")], "convert the disk")
        raw.unlink()
        (draft / "recipe.json").write_text(json.dumps(recipe(distro), indent=1) + "\n", encoding="utf-8")
        if place.exists():
            shutil.rmtree(place)
        draft.rename(place)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def _install_boot_loader(raw: Path, draft: Path, kernel: Path, initrd: Path) -> None:
    """Boot the disk once so that the guest installs GRUB on it with its own tools."""
    identity = draft / "identity"
    files = {"hostname": "image\n", "hosts": "127.0.0.1 localhost image\n", "make-bootable": "", "authorized_keys": ""}
    write_archive(identity, {**files, "ssh_host_ed25519_key": "", "ssh_host_ed25519_key.pub": ""})
    console = draft / "console.log"
    media = BuildMedia(raw, identity, kernel, initrd, console)
    run_for(build_arguments(media, accelerator="tcg,thread=multi"), _BUILD_S)
    said = console.read_text(encoding="utf-8", errors="replace") if console.is_file() else ""
    if _READY not in said:
        raise FailedError(
            (
                problem(
                    "TUN-4823",
                    "the boot loader could not be installed in the image of lab machines",
                    where="the image of lab machines",
                    why=last_lines(said) or "the machine said nothing on its console",
                    fix="see that this computer has 1 GiB of memory free, and try again",
                ),
            )
        )
    identity.unlink()
    console.unlink()


def _need_room(directory: Path) -> None:
    free = shutil.disk_usage(directory).free >> 20
    if free < _NEED_MIB:
        raise RefusedError(
            (
                problem(
                    "TUN-3621",
                    "there is no room to build the image of lab machines",
                    where=str(directory),
                    why=f"{free} MiB are free, building takes up to {_NEED_MIB} MiB",
                    fix="make room, or name another directory with XDG_CACHE_HOME",
                ),
            ),
            "Nothing was changed.",
        )
