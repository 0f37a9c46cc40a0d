"""Build the image of container nodes and print its name: Debian with systemd, sshd, sudo, Python and GRUB's tools.

The image is made of the archives that apt of this computer uses, and imported: nothing is pulled. It is built again
only when what it is made of has changed. `--bare` leaves out Python and sudo, for what a poor node shall show.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tunectl.adapters.vm.debian_root import DebianRoot, build_root, need_programs
from tunectl.core.errors import TunectlError

CONF = Path(__file__).with_name("containers.conf")
_PROGRAMS = {"podman": "podman", "runc": "runc", "mmdebstrap": "mmdebstrap"}
_COMMON = ("systemd-sysv", "dbus", "openssh-server", "kmod", "procps", "iproute2")
_FULL = ("python3", "sudo", "grub2-common")
_MASKED = (
    "systemd-udevd.service",
    "systemd-udev-trigger.service",
    "systemd-resolved.service",
    "getty.target",
    "console-getty.service",
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "e2scrub_all.timer",
)
_HOOKS = (
    # A star is no password and no lock: sshd refuses locked accounts.
    """chroot "$1" useradd --create-home --shell /bin/bash --password '*' lab""",
    'mkdir -m 700 "$1/home/lab/.ssh" && chroot "$1" chown lab:lab /home/lab/.ssh',
    """printf 'PasswordAuthentication no\\nStrictModes no\\n' >"$1/etc/ssh/sshd_config.d/lab.conf" """.strip(),
    'mkdir -p "$1/boot/grub" "$1/etc/default/grub.d" "$1/run/sshd"',
    # These need a machine, or time that tests do not have.
    f'chroot "$1" systemctl mask {" ".join(_MASKED)}',
)
_SUDO = (
    """printf 'lab ALL=(ALL) NOPASSWD:ALL\\n' >"$1/etc/sudoers.d/lab" && chmod 0440 "$1/etc/sudoers.d/lab" """.strip()
)


def main(arguments: list[str]) -> int:
    """Print the name of the image; exit code 4 with the reason when it cannot be built."""
    bare = "--bare" in arguments
    packages = _COMMON if bare else (*_COMMON, *_FULL)
    root = DebianRoot("bookworm", packages, _HOOKS if bare else (*_HOOKS, _SUDO))
    digest = hashlib.sha256(json.dumps([root.suite, root.packages, root.hooks]).encode()).hexdigest()[:12]
    name = f"localhost/tunectl-node{'-bare' if bare else ''}:{digest}"
    try:
        need_programs(_PROGRAMS, "run container nodes")
        if podman("image", "exists", name).returncode != 0:
            _build(root, name)
    except TunectlError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    sys.stdout.write(f"{name}\n")
    return 0


def _build(root: DebianRoot, name: str) -> None:
    sys.stderr.write(f"building {name}, once: about half a minute\n")
    with tempfile.TemporaryDirectory() as scratch:
        tar = Path(scratch) / "root.tar"
        build_root(root, tar)
        done = podman("import", "--change", 'CMD ["/lib/systemd/systemd"]', str(tar), name)
        if done.returncode:
            raise SystemExit(f"podman import failed: {done.stderr.decode(errors='replace')}")


def podman(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run podman with the project's own configuration."""
    environment = {**os.environ, "CONTAINERS_CONF": str(CONF)}
    return subprocess.run(["podman", *arguments], env=environment, capture_output=True, check=False)  # noqa: S603, S607


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
