"""The fields of kubeadm v1beta4: what is not here is refused, as kubeadm's strict decoding does.

Source: kubeadm reference, kubeadm-config.v1beta4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_LEAF: dict[str, Any] = {}
_ARGS = {"name": _LEAF, "value": _LEAF}
_REGISTRATION = {
    "name": _LEAF,
    "criSocket": _LEAF,
    "taints": {"key": _LEAF, "value": _LEAF, "effect": _LEAF, "timeAdded": _LEAF},
    "kubeletExtraArgs": _ARGS,
    "ignorePreflightErrors": _LEAF,
    "imagePullPolicy": _LEAF,
    "imagePullSerial": _LEAF,
}
_ENDPOINT = {"advertiseAddress": _LEAF, "bindPort": _LEAF}
_TIMEOUTS = dict.fromkeys(
    (
        "controlPlaneComponentHealthCheck",
        "kubeletHealthCheck",
        "kubernetesAPICall",
        "etcdAPICall",
        "tlsBootstrap",
        "discovery",
        "upgradeManifests",
    ),
    _LEAF,
)
_VOLUME = dict.fromkeys(("name", "hostPath", "mountPath", "readOnly", "pathType"), _LEAF)
_COMPONENT = {"extraArgs": _ARGS, "extraVolumes": _VOLUME, "extraEnvs": {"name": _LEAF, "value": _LEAF}}
_IMAGE = {"imageRepository": _LEAF, "imageTag": _LEAF}
_HEAD = {"apiVersion": _LEAF, "kind": _LEAF}

FIELDS: dict[str, dict[str, Any]] = {
    "InitConfiguration": {
        **_HEAD,
        "bootstrapTokens": dict.fromkeys(("token", "description", "ttl", "expires", "usages", "groups"), _LEAF),
        "dryRun": _LEAF,
        "nodeRegistration": _REGISTRATION,
        "localAPIEndpoint": _ENDPOINT,
        "certificateKey": _LEAF,
        "skipPhases": _LEAF,
        "patches": {"directory": _LEAF},
        "timeouts": _TIMEOUTS,
    },
    "ClusterConfiguration": {
        **_HEAD,
        "etcd": {
            "local": {"dataDir": _LEAF, "extraArgs": _ARGS, "serverCertSANs": _LEAF, "peerCertSANs": _LEAF, **_IMAGE},
            "external": dict.fromkeys(("endpoints", "caFile", "certFile", "keyFile"), _LEAF),
        },
        "networking": dict.fromkeys(("serviceSubnet", "podSubnet", "dnsDomain"), _LEAF),
        "kubernetesVersion": _LEAF,
        "controlPlaneEndpoint": _LEAF,
        "apiServer": {**_COMPONENT, "certSANs": _LEAF},
        "controllerManager": _COMPONENT,
        "scheduler": _COMPONENT,
        "dns": {**_IMAGE, "disabled": _LEAF},
        "proxy": {"disabled": _LEAF},
        "certificatesDir": _LEAF,
        "imageRepository": _LEAF,
        "featureGates": _LEAF,
        "clusterName": _LEAF,
        "encryptionAlgorithm": _LEAF,
        "certificateValidityPeriod": _LEAF,
        "caCertificateValidityPeriod": _LEAF,
    },
    "JoinConfiguration": {
        **_HEAD,
        "dryRun": _LEAF,
        "nodeRegistration": _REGISTRATION,
        "caCertPath": _LEAF,
        "discovery": {
            "bootstrapToken": dict.fromkeys(
                ("token", "apiServerEndpoint", "caCertHashes", "unsafeSkipCAVerification"), _LEAF
            ),
            "file": {"kubeConfigPath": _LEAF},
            "tlsBootstrapToken": _LEAF,
        },
        "controlPlane": {"localAPIEndpoint": _ENDPOINT, "certificateKey": _LEAF},
        "skipPhases": _LEAF,
        "patches": {"directory": _LEAF},
        "timeouts": _TIMEOUTS,
    },
}


def unknown_fields(document: Mapping[str, Any]) -> list[str]:
    """Return the fields of a kubeadm document that kubeadm would refuse."""
    assert document["apiVersion"] == "kubeadm.k8s.io/v1beta4"
    return list(_unknown(document, FIELDS[document["kind"]], ""))


def _unknown(value: Any, known: Mapping[str, Any], where: str) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _unknown(item, known, where)
    elif isinstance(value, Mapping) and (known or not where):
        for key, inner in value.items():
            if key not in known:
                yield f"{where}.{key}".lstrip(".")
            else:
                yield from _unknown(inner, known[key], f"{where}.{key}")
