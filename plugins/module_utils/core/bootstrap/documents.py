# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The configuration documents that kubeadm reads, version v1beta4.

Source: kubeadm reference, kubeadm-config.v1beta4; fields are left out where kubeadm's default is wanted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .cluster import Cluster, Member

API_VERSION = "kubeadm.k8s.io/v1beta4"
KUBELET_API_VERSION = "kubelet.config.k8s.io/v1beta1"
CONTROL_PLANE_TAINT = "node-role.kubernetes.io/control-plane"
# NodeRestriction lets a kubelet set these of the reserved domains, and all below node. and kubelet.kubernetes.io.
_ALLOWED_NAMES = frozenset(
    {
        "kubernetes.io/hostname",
        "kubernetes.io/arch",
        "kubernetes.io/os",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "node.kubernetes.io/instance-type",
    }
)
_TOKEN_TTL = "1h0m0s"  # noqa: S105  how long, not what


@dataclass(frozen=True)
class JoinSecrets:
    """What lets a machine into a cluster. Never printed: `repr` shows none of it.

    Shape: `ca_hashes` as `sha256:…`; `certificate_key` is for control planes only, else empty.
    """

    token: str
    ca_hashes: tuple[str, ...]
    certificate_key: str = ""

    def __repr__(self) -> str:
        """Return nothing that would open a cluster."""
        return f"JoinSecrets(ca_hashes={self.ca_hashes!r})"


def init_documents(cluster: Cluster, member: Member, certificate_key: str = "") -> tuple[dict[str, Any], ...]:
    """Return InitConfiguration, ClusterConfiguration and KubeletConfiguration for the first control plane.

    Shape: the bootstrap token has no text, so that kubeadm makes one up that nobody has seen, and an hour to live.
    """
    init: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": "InitConfiguration",
        "bootstrapTokens": [
            {
                "description": "made by kubeadm init, not used by tunectl",
                "groups": ["system:bootstrappers:kubeadm:default-node-token"],
                "ttl": _TOKEN_TTL,
                "usages": ["signing", "authentication"],
            }
        ],
        "nodeRegistration": _registration(cluster, member),
        "patches": {"directory": cluster.patches_dir},
    }
    if member.address:
        init["localAPIEndpoint"] = {"advertiseAddress": member.address}
    if certificate_key:
        init["certificateKey"] = certificate_key
    return init, _cluster_configuration(cluster), kubelet_configuration(cluster)


def join_documents(
    cluster: Cluster, member: Member, api_server: str, secrets: JoinSecrets
) -> tuple[dict[str, Any], ...]:
    """Return the JoinConfiguration of a machine; `api_server` is `host:port` of a running API server."""
    join: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": "JoinConfiguration",
        "discovery": {
            "bootstrapToken": {
                "apiServerEndpoint": api_server,
                "caCertHashes": list(secrets.ca_hashes),
                "token": secrets.token,
            }
        },
        "nodeRegistration": _registration(cluster, member),
        "patches": {"directory": cluster.patches_dir},
    }
    if member.is_control_plane:
        plane: dict[str, Any] = {"certificateKey": secrets.certificate_key}
        if member.address:
            plane["localAPIEndpoint"] = {"advertiseAddress": member.address}
        join["controlPlane"] = plane
    return (join,)


def kubelet_configuration(cluster: Cluster) -> dict[str, Any]:
    """Return the KubeletConfiguration of the whole cluster: the cgroup driver that the runtime is given too.

    Source: kubeadm uploads this document for every node that joins, so that no tier may be in it.
    """
    return {
        "apiVersion": KUBELET_API_VERSION,
        "kind": "KubeletConfiguration",
        **cluster.kubelet,
        "cgroupDriver": "systemd",
    }


def _cluster_configuration(cluster: Cluster) -> dict[str, Any]:
    networking = {"dnsDomain": cluster.dns_domain, "serviceSubnet": cluster.service_subnet}
    if cluster.pod_subnet:
        networking["podSubnet"] = cluster.pod_subnet
    document: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": "ClusterConfiguration",
        "clusterName": cluster.cluster_name,
        "imageRepository": cluster.image_repository,
        "kubernetesVersion": str(cluster.version),
        "networking": networking,
    }
    if cluster.endpoint:
        document["controlPlaneEndpoint"] = cluster.endpoint
    if cluster.cert_sans:
        document["apiServer"] = {"certSANs": list(cluster.cert_sans)}
    return document


def _registration(cluster: Cluster, member: Member) -> dict[str, Any]:
    arguments = {"node-ip": member.address} if member.address else {}
    own = self_set_labels(member.labels)
    if own:
        arguments["node-labels"] = ",".join(f"{key}={value}" for key, value in sorted(own.items()))
    registration: dict[str, Any] = {
        "criSocket": cluster.cri_socket,
        "kubeletExtraArgs": [{"name": name, "value": arguments[name]} for name in sorted(arguments)],
        "name": member.name,
        "taints": [taint_of(text) for text in member.taints],
    }
    if member.is_control_plane:
        registration["taints"].insert(0, {"effect": "NoSchedule", "key": CONTROL_PLANE_TAINT})
    return registration


def self_set_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Return the labels that a kubelet may give its own node; the others are set through the API.

    Source: admission plugin NodeRestriction; --node-labels of the kubelet.
    """
    return {key: value for key, value in labels.items() if _may_set_itself(key)}


def _may_set_itself(key: str) -> bool:
    domain, slash, _ = key.partition("/")
    if not slash or key in _ALLOWED_NAMES:
        return True
    if domain in ("node.kubernetes.io", "kubelet.kubernetes.io"):
        return True
    if domain.endswith((".node.kubernetes.io", ".kubelet.kubernetes.io")):
        return True
    return not (domain in ("kubernetes.io", "k8s.io") or domain.endswith((".kubernetes.io", ".k8s.io")))


def taint_of(text: str) -> dict[str, str]:
    """Return the taint object of `key=value:Effect`; a taint without value has no such field."""
    head, _, effect = text.rpartition(":")
    key, _, value = head.partition("=")
    return {"effect": effect, "key": key, **({"value": value} if value else {})}
