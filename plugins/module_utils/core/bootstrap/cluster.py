# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The cluster that a bootstrap makes, read from the variables of an inventory."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import InputError, Problem, problem
from .version import V1BETA4_SINCE, Version, parse_version

PREFIX = "tunectl_kube_"
CRI_SOCKET = "unix:///run/containerd/containerd.sock"
API_PORT = 6443
_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?\Z", re.ASCII)
_TEXTS = {
    "dns_domain": "cluster.local",
    "cluster_name": "kubernetes",
    "image_repository": "registry.k8s.io",
    "cri_socket": CRI_SOCKET,
    "patches_dir": "/etc/kubernetes/patches",
}


@dataclass(frozen=True)
class Cluster:
    """What all nodes of a cluster have in common.

    Shape: `endpoint` is `host:port`, empty for a cluster with one control plane that is reached by its address;
    subnets are CIDR texts, one or two (dual stack) with a comma between; `kubelet` are fields of KubeletConfiguration
    for every node of the cluster, below those of tiers.
    """

    version: Version
    endpoint: str = ""
    pod_subnet: str = ""
    service_subnet: str = "10.96.0.0/12"
    dns_domain: str = "cluster.local"
    cluster_name: str = "kubernetes"
    image_repository: str = "registry.k8s.io"
    cri_socket: str = CRI_SOCKET
    patches_dir: str = "/etc/kubernetes/patches"
    cert_sans: tuple[str, ...] = ()
    kubelet: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Member:
    """One machine of the cluster to be.

    Shape: `address` is the IP address it serves on, empty for kubeadm's choice; `labels` and `taints`
    (`key=value:Effect`) are those of its pool.
    """

    name: str
    address: str = ""
    is_control_plane: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[str, ...] = ()


def read_cluster(variables: Mapping[str, Any], control_planes: Sequence[str]) -> Cluster:
    """Return the cluster that the variables of its first control plane describe.

    Shape: the variables are `tunectl_kube_version` and so on; others are left alone.
    Sad paths: `InputError` with all of TUN-1920 (missing), TUN-1921 (a value that cannot be), TUN-1922 (no control
    plane), TUN-1923 (several control planes and no endpoint that is theirs together).
    """
    problems = list(_mistakes(variables, control_planes))
    if problems:
        raise InputError(tuple(problems))
    version = parse_version(str(_value(variables, "version")))
    assert version is not None, "judged above"  # noqa: S101
    endpoint = str(_value(variables, "endpoint") or "")
    return Cluster(
        version=version,
        endpoint=_with_port(endpoint) if endpoint else "",
        pod_subnet=str(_value(variables, "pod_subnet") or ""),
        service_subnet=str(_value(variables, "service_subnet") or "10.96.0.0/12"),
        cert_sans=tuple(str(one) for one in _value(variables, "cert_sans") or ()),
        kubelet=dict(_value(variables, "kubelet") or {}),
        **{name: str(_value(variables, name) or default) for name, default in _TEXTS.items()},
    )


def is_node_name(name: str) -> bool:
    """Return whether a node object can have this name (RFC 1123 subdomain, as the API server requires)."""
    return bool(_NAME.match(name)) and all(_is_label(part) for part in name.split("."))


def _is_label(part: str) -> bool:
    return bool(part) and part[0] != "-" and part[-1] != "-"


def _value(variables: Mapping[str, Any], name: str) -> Any:
    return variables.get(PREFIX + name)


def _mistakes(variables: Mapping[str, Any], control_planes: Sequence[str]) -> Iterator[Problem]:
    if not control_planes:
        yield problem(
            "TUN-1922",
            "the inventory names no control plane",
            where="inventory",
            why="no host is in the group kube_control_plane",
            fix="put the machines that shall run the API server into a group kube_control_plane",
        )
    version = _value(variables, "version")
    if version in (None, ""):
        yield problem(
            "TUN-1920",
            "the version of the cluster is not named",
            where=f"inventory, {PREFIX}version",
            why="two runs on different days would make nodes of different versions",
            fix=f"set {PREFIX}version, for instance to the version that kubeadm version -o short prints",
        )
    else:
        yield from _bad_version(version)
    yield from _bad_endpoint(str(_value(variables, "endpoint") or ""), control_planes)
    for name in ("pod_subnet", "service_subnet"):
        yield from _bad_subnet(name, str(_value(variables, name) or ""))
    if _value(variables, "kubelet") is not None and not isinstance(_value(variables, "kubelet"), Mapping):
        yield _wrong("kubelet", "a map of fields of KubeletConfiguration", type(_value(variables, "kubelet")).__name__)
    yield from _bad_paths(variables)


def _bad_version(value: Any) -> Iterator[Problem]:
    version = parse_version(str(value))
    if version is None or version.patch < 0:
        yield _wrong("version", "a full version such as 1.33.2, as a text", repr(value))
    elif version.release < V1BETA4_SINCE:
        yield _wrong("version", "1.31 or newer, whose kubeadm reads v1beta4", str(version))


def _bad_endpoint(endpoint: str, control_planes: Sequence[str]) -> Iterator[Problem]:
    if not endpoint and len(control_planes) > 1:
        yield problem(
            "TUN-1923",
            "several control planes have no endpoint in common",
            where=f"inventory, {PREFIX}endpoint",
            why=f"{', '.join(control_planes)} serve one API; kubeadm cannot add one later to a cluster without",
            fix=f"set {PREFIX}endpoint to the name and port of the load balancer or virtual address before them",
        )
    elif endpoint:
        host, port = _split_port(_with_port(endpoint))
        if not host or not port.isdigit() or not 0 < int(port) <= 65535:  # noqa: PLR2004  the largest port
            yield _wrong("endpoint", "HOST or HOST:PORT", endpoint)


def _bad_subnet(name: str, text: str) -> Iterator[Problem]:
    for part in text.split(",") if text else ():
        if not _is_network(part.strip()):
            yield _wrong(name, "a network such as 10.244.0.0/16, or two with a comma", text)


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text)
    except ValueError:
        return False
    return True


def _bad_paths(variables: Mapping[str, Any]) -> Iterator[Problem]:
    patches = _value(variables, "patches_dir")
    if patches and not str(patches).startswith("/"):
        yield _wrong("patches_dir", "an absolute path on the nodes", str(patches))
    socket = _value(variables, "cri_socket")
    if socket and not str(socket).startswith("unix:///"):
        yield _wrong("cri_socket", "a socket such as unix:///run/containerd/containerd.sock", str(socket))


def _wrong(name: str, expected: str, actual: str) -> Problem:
    return problem(
        "TUN-1921",
        f"{PREFIX}{name} cannot be used",
        where=f"inventory, {PREFIX}{name}",
        why=f"wanted {expected}, found {actual}",
        fix=f"correct {PREFIX}{name}",
    )


def _with_port(endpoint: str) -> str:
    _, port = _split_port(endpoint)
    return endpoint if port else f"{endpoint}:{API_PORT}"


def _split_port(endpoint: str) -> tuple[str, str]:
    if endpoint.startswith("["):
        host, _, port = endpoint.partition("]")
        return host[1:], port[1:] if port.startswith(":") else ""
    host, colon, port = endpoint.rpartition(":")
    return (host, port) if colon else (endpoint, "")


def endpoint_host(cluster: Cluster) -> str:
    """Return the host of the endpoint, without port and brackets; empty without an endpoint."""
    return _split_port(cluster.endpoint)[0] if cluster.endpoint else ""
