"""Who a lab machine is: name, keys and address, on a small disk that the guest unpacks at each boot."""

from __future__ import annotations

import io
import shlex
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tunectl.adapters.vm.debian_root import program
from tunectl.adapters.vm.disk import run
from tunectl.lab.inventory import SSH_KEY, SSH_USER

KNOWN_HOSTS = "known_hosts"
LAN = "10.77.0"
_SECTOR = 512
_HOST_KEY = "ssh_host_ed25519_key"


@dataclass(frozen=True)
class Neighbour:
    """A machine of the lab and its address on the lab's own network; `index` counts from 1."""

    name: str
    index: int

    @property
    def address(self) -> str:
        """The IPv4 address on the network of the lab."""
        return f"{LAN}.{self.index + 10}"

    @property
    def mac(self) -> str:
        """The hardware address of its interface on the network of the lab."""
        return f"52:54:00:77:{self.index >> 8:02x}:{self.index & 255:02x}"


def make_key(directory: Path, name: str) -> str:
    """Make an Ed25519 key pair `name` in the directory and return the public line."""
    run([program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(directory / name)], "make a key")
    return (directory / f"{name}.pub").read_text(encoding="ascii").strip()


def write_identity(disk: Path, me: Neighbour, everyone: Sequence[Neighbour], user_key: str) -> str:
    """Write the identity disk of a machine and return the public line of its host key."""
    directory = disk.parent
    public = make_key(directory, _HOST_KEY)
    hosts = ["127.0.0.1 localhost", "::1 localhost", *(f"{one.address} {one.name}" for one in everyone)]
    files = {
        "hostname": f"{me.name}\n",
        "hosts": "\n".join(hosts) + "\n",
        "authorized_keys": f"{user_key}\n",
        _HOST_KEY: (directory / _HOST_KEY).read_text(encoding="ascii"),
        f"{_HOST_KEY}.pub": f"{public}\n",
        "lan.network": f"[Match]\nMACAddress={me.mac}\n\n[Network]\nAddress={me.address}/24\nLinkLocalAddressing=no\n",
    }
    write_archive(disk, files)
    # The guest has it now; here it would only lie about.
    (directory / _HOST_KEY).unlink()
    (directory / f"{_HOST_KEY}.pub").unlink()
    return public


def write_archive(disk: Path, files: Mapping[str, str]) -> None:
    """Write a disk that is a tar archive of the files, readable by the owner only."""
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode="w") as archive:
        for name, text in files.items():
            data = text.encode()
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(data), 0o600
            archive.addfile(member, io.BytesIO(data))
    disk.touch(mode=0o600)
    # QEMU wants whole sectors; tar's own blocks are multiples of them.
    content = memory.getvalue()
    disk.write_bytes(content + bytes(-len(content) % _SECTOR))


def known_hosts_line(alias: str, public: str) -> str:
    """Return the line of a known_hosts file for a machine."""
    kind, key = public.split()[:2]
    return f"{alias} {kind} {key}\n"


def ssh_options(place: Path, alias: str) -> list[str]:
    """Return the options with which ssh reaches the machine and no other under its name."""
    options = {
        "HostKeyAlias": alias,
        "UserKnownHostsFile": str(place / KNOWN_HOSTS),
        "GlobalKnownHostsFile": "/dev/null",
        "StrictHostKeyChecking": "yes",
        "IdentitiesOnly": "yes",
        "ServerAliveInterval": "15",
    }
    return [part for name, value in options.items() for part in ("-o", f"{name}={_spelled(value)}")]


def ssh_command(place: Path, alias: str, port: int, *, quick: bool = False) -> list[str]:
    """Return the command line that opens a session on the machine; `quick` gives up early and asks nothing."""
    impatient = ["-o", "ConnectTimeout=5", "-o", "BatchMode=yes"] if quick else []
    where = ["-i", str(place / SSH_KEY), "-p", str(port), f"{SSH_USER}@127.0.0.1"]
    return [program("ssh"), *ssh_options(place, alias), *impatient, *where]


def ssh_arguments(place: Path, alias: str) -> str:
    """Return the options as Ansible's `ansible_ssh_common_args` takes them."""
    return shlex.join(ssh_options(place, alias))


def _spelled(value: str) -> str:
    # ssh splits the values of its options at blanks.
    return f'"{value}"' if " " in value else value
