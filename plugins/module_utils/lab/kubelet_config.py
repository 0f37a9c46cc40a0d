# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The files of a kubelet that kubeadm installed, and the configuration that such a kubelet makes of them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import yaml

from .boot_config import unit_values
from .profiles import Profile

UNIT = "kubelet.service"
CONFIG = "/var/lib/kubelet/config.yaml"
DROPINS = "/etc/kubernetes/kubelet.conf.d"

# Source: kubelet configuration v1beta1, defaults of evictionHard on Linux.
_EVICTION_DEFAULTS = {
    "memory.available": "100Mi",
    "nodefs.available": "10%",
    "nodefs.inodesFree": "5%",
    "imagefs.available": "15%",
    "imagefs.inodesFree": "5%",
}
_TEXT_FLAGS = {
    "cpu-manager-policy": "cpuManagerPolicy",
    "topology-manager-policy": "topologyManagerPolicy",
    "topology-manager-scope": "topologyManagerScope",
    "memory-manager-policy": "memoryManagerPolicy",
    "reserved-cpus": "reservedSystemCPUs",
}
_MAP_FLAGS = {
    "cpu-manager-policy-options": ("cpuManagerPolicyOptions", "="),
    "topology-manager-policy-options": ("topologyManagerPolicyOptions", "="),
    "system-reserved": ("systemReserved", "="),
    "kube-reserved": ("kubeReserved", "="),
    "eviction-hard": ("evictionHard", "<"),
}
_BOOLEAN_FLAGS = {"fail-swap-on": "failSwapOn", "protect-kernel-defaults": "protectKernelDefaults"}


class ConfigurationError(Exception):
    """The kubelet cannot load its configuration; the message says which file and why."""


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


def load_configuration(root: Path, arguments: Sequence[str]) -> dict[str, Any]:
    """Return the KubeletConfiguration in force: defaults, main file, drop-ins by path, flags; later ones win.

    Sad paths: `ConfigurationError`. Source: kubelet configuration drop-in directory; measured on the kubelet: maps
    are merged by key, lists replaced, null resets, evictionHard of the main file replaces all defaults.
    """
    flags = dict(_flags(arguments))
    config: dict[str, Any] = {"evictionHard": dict(_EVICTION_DEFAULTS)}
    if flags.get("config"):
        main = _document(root, flags["config"])
        if "evictionHard" in main:
            config["evictionHard"] = {}
        config = _merged(config, main)
    if flags.get("config-dir"):
        directory = root / flags["config-dir"].lstrip("/")
        for path in sorted(path for path in directory.rglob("*.conf") if path.is_file()):
            config = _merged(config, _document(root, "/" + str(path.relative_to(root))))
    return _with_flags(config, flags)


def _environment_file(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        name, equals, value = line.strip().partition("=")
        if equals and not name.startswith(("#", ";")):
            yield name.strip(), " ".join(shlex.split(value)) if value[:1] in "\"'" else value.strip()


def _flags(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    words = list(arguments)[1:]
    while words:
        name, equals, value = words.pop(0).lstrip("-").partition("=")
        if not equals and words and not words[0].startswith("-"):
            value = words.pop(0)
        yield name, value


def _document(root: Path, path: str) -> dict[str, Any]:
    try:
        text = (root / path.lstrip("/")).read_text(encoding="utf-8")
        data = yaml.safe_load(text)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigurationError(f"failed to load kubelet config file {path}: {error}") from error
    kind = data.get("kind") if isinstance(data, dict) else None
    version = data.get("apiVersion") if isinstance(data, dict) else None
    if kind != "KubeletConfiguration" or version != "kubelet.config.k8s.io/v1beta1":
        raise ConfigurationError(f"failed to load kubelet config file {path}: kind {kind!r}, apiVersion {version!r}")
    return cast("dict[str, Any]", data)


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(base)
    for key, value in over.items():
        if value is None:
            result.pop(key, None)
            if key == "evictionHard":
                result[key] = dict(_EVICTION_DEFAULTS)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = _merged(result[key], value)
        else:
            result[key] = value
    return result


def _with_flags(config: dict[str, Any], flags: Mapping[str, str]) -> dict[str, Any]:
    for flag, key in _TEXT_FLAGS.items():
        if flag in flags:
            config[key] = flags[flag]
    for flag, (key, separator) in _MAP_FLAGS.items():
        if flag in flags:
            pairs = (pair.partition(separator) for pair in flags[flag].split(",") if pair)
            config[key] = {name: value for name, _separator, value in pairs}
    for flag, key in _BOOLEAN_FLAGS.items():
        if flag in flags:
            config[key] = flags[flag] in ("", "true", "True", "1")
    if "feature-gates" in flags:
        pairs = (pair.partition("=") for pair in flags["feature-gates"].split(","))
        gates = {name: value.lower() == "true" for name, _equals, value in pairs}
        config["featureGates"] = {**(config.get("featureGates") or {}), **gates}
    if "reserved-memory" in flags:
        config["reservedMemory"] = [_reserved_memory(item) for item in flags["reserved-memory"].split(";") if item]
    return config


def _reserved_memory(item: str) -> dict[str, Any]:
    node, _colon, limits = item.partition(":")
    return {"numaNode": int(node), "limits": dict(pair.split("=", 1) for pair in limits.split(","))}
