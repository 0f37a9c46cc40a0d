# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The files of a kubelet that kubeadm installed, and the configuration that such a kubelet makes of them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from ..core.kubelet.config_judge import Sources
from ..core.kubelet.config_merge import ConfigFile
from ..core.kubelet_command import KubeletCommand
from ..core.kubelet_flags import read_flags
from .boot_config import unit_values
from .profiles import Profile

UNIT = "kubelet.service"
CONFIG = "/var/lib/kubelet/config.yaml"
DROPINS = "/etc/kubernetes/kubelet.conf.d"


def kubelet_files(profile: Profile) -> dict[str, str]:
    """Return the files of package and kubeadm, by absolute path."""
    files = {
        f"/usr/lib/systemd/system/{UNIT}": _UNIT_TEXT,
        f"/usr/lib/systemd/system/{UNIT}.d/10-kubeadm.conf": _KUBEADM_DROPIN,
        "/var/lib/kubelet/kubeadm-flags.env": f'KUBELET_KUBEADM_ARGS="{_kubeadm_flags(profile)}"\n',
        "/etc/default/kubelet": f"KUBELET_EXTRA_ARGS=--config-dir={DROPINS}\n",
        "/usr/bin/kubelet": "simulated\n",
        CONFIG: _CONFIG_TEXT,
        "/etc/crictl.yaml": "runtime-endpoint: unix:///run/containerd/containerd.sock\n",
    }
    if profile.kubelet_version >= _CRI_SOCKET_IN_FILE:
        files["/var/lib/kubelet/instance-config.yaml"] = _INSTANCE_CONFIG
    return files


# Since this release kubeadm writes the runtime's socket to a file of its own.
_CRI_SOCKET_IN_FILE = (1, 34)
_SOCKET = "unix:///run/containerd/containerd.sock"
_INSTANCE_CONFIG = f"containerRuntimeEndpoint: {_SOCKET}\n"
_UNIT_TEXT = """[Unit]
Description=kubelet
After=network-online.target

[Service]
ExecStart=/usr/bin/kubelet
Restart=always

[Install]
WantedBy=multi-user.target
"""
_KUBEADM_DROPIN = """[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
"""
_CONFIG_TEXT = f"""apiVersion: kubelet.config.k8s.io/v1beta1
authentication:
  anonymous:
    enabled: false
  webhook:
    enabled: true
authorization:
  mode: Webhook
cgroupDriver: systemd
clusterDNS:
- 10.96.0.10
clusterDomain: cluster.local
containerRuntimeEndpoint: {_SOCKET}
kind: KubeletConfiguration
rotateCertificates: true
staticPodPath: /etc/kubernetes/manifests
"""


def _kubeadm_flags(profile: Profile) -> str:
    endpoint = "" if profile.kubelet_version >= _CRI_SOCKET_IN_FILE else f"--container-runtime-endpoint={_SOCKET} "
    return f"{endpoint}--pod-infra-container-image=registry.k8s.io/pause:3.10"


def kubelet_arguments(root: Path) -> list[str]:
    """Return the command line that systemd starts the kubelet with.

    Source: systemd.exec(5): files of EnvironmentFile= come after Environment=; systemd.service(5): an unbraced
    variable is split into words.
    """
    environment: dict[str, str] = {}
    for line in unit_values(root, UNIT, "Environment"):
        pairs = (word.partition("=") for word in shlex.split(line) if "=" in word)
        environment.update((name, value) for name, _equals, value in pairs)
    for name in unit_values(root, UNIT, "EnvironmentFile"):
        path = root / name.lstrip("-").lstrip("/")
        if path.is_file():
            environment.update(_environment_file(path))
    arguments: list[str] = []
    for word in (unit_values(root, UNIT, "ExecStart") or [""])[-1].split():
        arguments += shlex.split(environment.get(word[1:], "")) if word.startswith("$") else [word]
    return arguments


def configuration_sources(root: Path, arguments: Sequence[str]) -> Sources:
    """Return main file, drop-ins and flags that a kubelet with this command line reads."""
    command = KubeletCommand(tuple(arguments[1:]), "command line")
    main, directory = command.flag("config"), command.flag("config-dir").rstrip("/")
    dropins = None
    if directory:
        found = sorted((root / directory.lstrip("/")).rglob("*.conf"), key=lambda path: path.parts)
        dropins = tuple(_file(root, "/" + str(path.relative_to(root))) for path in found if path.is_file())
    return Sources(_file(root, main) if main else None, dropins, read_flags(command))


def _environment_file(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        name, equals, value = line.strip().partition("=")
        if equals and not name.startswith(("#", ";")):
            yield name.strip(), " ".join(shlex.split(value)) if value[:1] in "\"'" else value.strip()


def _file(root: Path, path: str) -> ConfigFile:
    try:
        text = (root / path.lstrip("/")).read_text(encoding="utf-8")
        documents = list(yaml.safe_load_all(text))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        return ConfigFile(path, unreadable=str(error))
    return ConfigFile(path, documents[0] if documents else None)
