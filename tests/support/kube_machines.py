"""Machines of a cluster to be: containers with systemd, with stand-ins for the programs of Kubernetes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import yaml

from support.kube_programs import install_for_machines, write_cluster
from support.plays import REPOSITORY

_UNIT = "[Service]\nExecStart=/usr/local/bin/containerd serve\n[Install]\nWantedBy=multi-user.target\n"
_SYSCTLS = ("net.ipv4.ip_forward", "net.bridge.bridge-nf-call-iptables", "net.bridge.bridge-nf-call-ip6tables")
_ENVIRONMENT = {**os.environ, "CONTAINERS_CONF": str(REPOSITORY / "tools/containers.conf")}


def why_not() -> str:
    """Return what is missing on this computer for container machines, empty when nothing is."""
    missing = [name for name in ("podman", "runc", "mmdebstrap") if shutil.which(name) is None]
    return f"there is no {', '.join(missing)}" if missing else ""


def podman(*words: str, check: bool = True) -> str:
    """Run podman and return what it says."""
    done = subprocess.run(["podman", *words], env=_ENVIRONMENT, capture_output=True, text=True, check=False)
    assert not check or done.returncode == 0, done.stderr
    return done.stdout


class Machines:
    """Containers that stand for machines, in a folder that has their inventory."""

    def __init__(self, folder: Path, names: Sequence[str], authority: str) -> None:
        """Start the containers and wait for their systemd."""
        self.folder, self.prefix, self.names = folder, f"tunectl-boot-{os.getpid()}", tuple(names)
        self.shared, self.brought = folder / "shared", folder / "bin"
        self.shared.mkdir()
        write_cluster(self.shared / "cluster.json", {})
        install_for_machines(self.brought, folder / "there", "/shared/cluster.json")
        (folder / "there/containerd.service").write_text(_UNIT, encoding="utf-8")
        (folder / "ca.pem").write_text(authority, encoding="utf-8")
        build = [sys.executable, str(REPOSITORY / "tools/node_image.py")]
        image = subprocess.run(build, env=_ENVIRONMENT, capture_output=True, text=True, check=False)
        assert image.returncode == 0, image.stderr
        for name in self.names:
            self._start(name, image.stdout.strip())

    def _start(self, name: str, image: str) -> None:
        sysctls = [word for one in _SYSCTLS for word in ("--sysctl", f"{one}=1")]
        words = ["run", "--detach", "--name", self.container(name), "--hostname", name, "--network=none", *sysctls]
        podman(*words, "--volume", f"{self.shared}:/shared", "--systemd=always", image, "/sbin/init")
        package = str(Path(yaml.__file__).parent)
        self.sh(name, "mkdir -p /opt/site")
        podman("cp", package, f"{self.container(name)}:/opt/site/yaml")
        podman("cp", str(self.folder / "ca.pem"), f"{self.container(name)}:/ca.pem")
        for program in (self.folder / "there").iterdir():
            place = "/etc/systemd/system" if program.suffix else "/usr/local/bin"
            podman("cp", str(program), f"{self.container(name)}:{place}/")
        for _ in range(60):
            if self.sh(name, "systemctl is-system-running", check=False).strip() in ("running", "degraded"):
                return
            time.sleep(0.5)
        raise AssertionError(f"{name} does not boot")

    def container(self, name: str) -> str:
        """Return the name of the container that stands for a machine."""
        return f"{self.prefix}-{name}"

    def sh(self, name: str, command: str, *, check: bool = True) -> str:
        """Run a command on a machine and return what it says."""
        return podman("exec", self.container(name), "sh", "-c", command, check=check)

    def inventory(self, groups: dict[str, list[str]], **variables: object) -> None:
        """Write the inventory: machines are reached by a program that stands in for ssh."""
        ssh = self.folder / "ssh"
        conf = _ENVIRONMENT["CONTAINERS_CONF"]
        lines = (
            "#!/bin/sh",
            f"export CONTAINERS_CONF={conf}",
            "for last; do host=$command; command=$last; done",
            f'exec podman exec -i {self.prefix}-"$host" sh -c "$command"',
        )
        ssh.write_text("\n".join(lines) + "\n", encoding="utf-8")
        ssh.chmod(0o755)
        shared = {
            "ansible_ssh_executable": str(ssh),
            "ansible_ssh_transfer_method": "piped",
            "ansible_python_interpreter": "/usr/bin/python3",
            "tunectl_kube_bin_dir": str(self.brought),
            **variables,
        }
        children = {group: {"hosts": dict.fromkeys(hosts)} for group, hosts in groups.items()}
        (self.folder / "hosts.yaml").write_text(json.dumps({"all": {"vars": shared, "children": children}}))

    def stop(self) -> None:
        """Remove the containers."""
        for name in self.names:
            podman("rm", "--force", "--time", "0", self.container(name), check=False)
