# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The fields of KubeletConfiguration v1beta1: their types, their defaults, and since when there are such fields.

Shape: a type is `text`, `bool`, `int32`, `int64`, `uint32`, `float`, `duration`, `quantity`, `period` (a number or a
duration) or `any`; a `Kind` for lists and maps; a mapping of fields for a struct.
Source: Kubernetes 1.28 to 1.36, `k8s.io/kubelet/config/v1beta1`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Union

API_VERSION = "kubelet.config.k8s.io/v1beta1"
KIND = "KubeletConfiguration"

Version = tuple[int, int]


@dataclass(frozen=True)
class Kind:
    """A list or a map of values of one type."""

    name: str
    item: Any


Type = Union[str, Kind, Mapping[str, Any]]

TEXTS = Kind("list", "text")
TEXT_MAP = Kind("map", "text")
_VERBOSITY = {"filePattern": "text", "verbosity": "uint32"}

# Fields of one plain type.
_PLAIN = {
    "text": """
        address cgroupDriver cgroupRoot clusterDomain configMapAndSecretChangeDetectionStrategy containerLogMaxSize
        containerRuntimeEndpoint contentType cpuManagerPolicy hairpinMode healthzBindAddress
        imagePullCredentialsVerificationPolicy imageServiceEndpoint kubeReservedCgroup kubeletCgroups
        memoryManagerPolicy memoryReservationPolicy podCIDR podLogsDir providerID reservedSystemCPUs resolvConf
        showHiddenMetricsForVersion staticPodPath staticPodURL systemCgroups systemReservedCgroup tlsCertFile
        tlsMinVersion tlsPrivateKeyFile topologyManagerPolicy topologyManagerScope volumePluginDir
    """,
    "bool": """
        cgroupsPerQOS cpuCFSQuota enableContentionProfiling enableControllerAttachDetach enableDebugFlagsHandler
        enableDebuggingHandlers enableProfilingHandler enableServer enableSystemLogHandler enableSystemLogQuery
        failCgroupV1 failSwapOn kernelMemcgNotification localStorageCapacityIsolation makeIPTablesUtilChains
        mergeDefaultEvictionSettings protectKernelDefaults registerNode rotateCertificates runOnce seccompDefault
        serializeImagePulls serverTLSBootstrap singleProcessOOMKill
    """,
    "int32": """
        containerLogMaxFiles containerLogMaxWorkers eventBurst eventRecordQPS evictionMaxPodGracePeriod healthzPort
        imageGCHighThresholdPercent imageGCLowThresholdPercent iptablesDropBit iptablesMasqueradeBit kubeAPIBurst
        kubeAPIQPS maxParallelImagePulls maxPods nodeLeaseDurationSeconds nodeStatusMaxImages oomScoreAdj podsPerCore
        port readOnlyPort registryBurst registryPullQPS
    """,
    "int64": "maxOpenFiles podPidsLimit",
    "float": "memoryThrottlingFactor",
    "duration": """
        containerLogMonitorInterval cpuCFSQuotaPeriod cpuManagerReconcilePeriod evictionPressureTransitionPeriod
        fileCheckFrequency httpCheckFrequency imageMaximumGCAge imageMinimumGCAge nodeStatusReportFrequency
        nodeStatusUpdateFrequency runtimeRequestTimeout shutdownGracePeriod shutdownGracePeriodCriticalPods
        streamingConnectionIdleTimeout syncFrequency volumeStatsAggPeriod
    """,
    "texts": """
        allowedUnsafeSysctls clusterDNS enforceNodeAllocatable preloadedImagesVerificationAllowlist tlsCipherSuites
    """,
    "text map": """
        cpuManagerPolicyOptions evictionHard evictionMinimumReclaim evictionSoft evictionSoftGracePeriod kubeReserved
        qosReserved systemReserved topologyManagerPolicyOptions
    """,
}
_COLLECTIONS: dict[str, Type] = {"texts": TEXTS, "text map": TEXT_MAP}

FIELDS: Mapping[str, Type] = {
    **{name: _COLLECTIONS.get(kind, kind) for kind, names in _PLAIN.items() for name in names.split()},
    "authentication": {
        "x509": {"clientCAFile": "text"},
        "webhook": {"enabled": "bool", "cacheTTL": "duration"},
        "anonymous": {"enabled": "bool"},
    },
    "authorization": {
        "mode": "text",
        "webhook": {"cacheAuthorizedTTL": "duration", "cacheUnauthorizedTTL": "duration"},
    },
    "crashLoopBackOff": {"maxContainerRestartPeriod": "duration"},
    "featureGates": Kind("map", "bool"),
    "logging": {
        "format": "text",
        "flushFrequency": "period",
        "verbosity": "uint32",
        "vmodule": Kind("list", _VERBOSITY),
        "options": {
            "text": {"splitStream": "bool", "infoBufferSize": "quantity"},
            "json": {"splitStream": "bool", "infoBufferSize": "quantity"},
        },
    },
    "memorySwap": {"swapBehavior": "text"},
    "registerWithTaints": Kind("list", {"key": "text", "value": "text", "effect": "text", "timeAdded": "text"}),
    "reservedMemory": Kind("list", {"numaNode": "int32", "limits": Kind("map", "quantity")}),
    "shutdownGracePeriodByPodPriority": Kind("list", {"priority": "int32", "shutdownGracePeriodSeconds": "int64"}),
    "staticPodURLHeader": Kind("map", TEXTS),
    "tracing": {"endpoint": "text", "samplingRatePerMillion": "int32"},
    "userNamespaces": {"idsPerPod": "int64"},
}

# The first release that knows a field; the others are older than 1.28.
FIELD_SINCE: Mapping[str, Version] = {
    "imageMaximumGCAge": (1, 29),
    "containerLogMaxWorkers": (1, 30),
    "containerLogMonitorInterval": (1, 30),
    "podLogsDir": (1, 30),
    "failCgroupV1": (1, 31),
    "crashLoopBackOff": (1, 32),
    "singleProcessOOMKill": (1, 32),
    "imagePullCredentialsVerificationPolicy": (1, 33),
    "preloadedImagesVerificationAllowlist": (1, 33),
    "userNamespaces": (1, 33),
    "mergeDefaultEvictionSettings": (1, 34),
    "memoryReservationPolicy": (1, 36),
}

# What the kubelet uses when evictionHard is absent; a map with one key in the main file replaces all of them.
DEFAULT_EVICTION = {
    "memory.available": "100Mi",
    "nodefs.available": "10%",
    "nodefs.inodesFree": "5%",
    "imagefs.available": "15%",
    "imagefs.inodesFree": "5%",
}

# Defaults of fields for which zero, false and "" are values of their own.
DEFAULTS_OF_ABSENT: Mapping[str, Any] = {
    "enableServer": True,
    "registryPullQPS": 5,
    "eventRecordQPS": 50,
    "enableDebuggingHandlers": True,
    "healthzPort": 10248,
    "oomScoreAdj": -999,
    "imageGCHighThresholdPercent": 85,
    "imageGCLowThresholdPercent": 80,
    "cgroupsPerQOS": True,
    "podPidsLimit": -1,
    "resolvConf": "/etc/resolv.conf",
    "cpuCFSQuota": True,
    "cpuCFSQuotaPeriod": "100ms",
    "nodeStatusMaxImages": 50,
    "kubeAPIQPS": 50,
    "mergeDefaultEvictionSettings": False,
    "enableControllerAttachDetach": True,
    "makeIPTablesUtilChains": True,
    "iptablesMasqueradeBit": 14,
    "iptablesDropBit": 15,
    "failSwapOn": True,
    "containerLogMaxFiles": 5,
    "containerLogMaxWorkers": 1,
    "containerLogMonitorInterval": "10s",
    "enforceNodeAllocatable": ["pods"],
    "enableSystemLogHandler": True,
    "enableProfilingHandler": True,
    "enableDebugFlagsHandler": True,
    "seccompDefault": False,
    "memoryThrottlingFactor": 0.9,
    "registerNode": True,
    "localStorageCapacityIsolation": True,
}

# Defaults of fields for which zero and "" mean the same as absent.
DEFAULTS_OF_EMPTY: Mapping[str, Any] = {
    "syncFrequency": "1m",
    "fileCheckFrequency": "20s",
    "httpCheckFrequency": "20s",
    "address": "0.0.0.0",  # noqa: S104  the kubelet's own default
    "port": 10250,
    "registryBurst": 10,
    "eventBurst": 100,
    "healthzBindAddress": "127.0.0.1",
    "streamingConnectionIdleTimeout": "4h",
    "nodeStatusUpdateFrequency": "10s",
    "nodeLeaseDurationSeconds": 40,
    "imageMinimumGCAge": "2m",
    "volumeStatsAggPeriod": "1m",
    "cgroupDriver": "cgroupfs",
    "cpuManagerPolicy": "none",
    "cpuManagerReconcilePeriod": "10s",
    "memoryManagerPolicy": "None",
    "topologyManagerPolicy": "none",
    "topologyManagerScope": "container",
    "runtimeRequestTimeout": "2m",
    "hairpinMode": "promiscuous-bridge",
    "maxPods": 110,
    "maxOpenFiles": 1000000,
    "contentType": "application/vnd.kubernetes.protobuf",
    "kubeAPIBurst": 100,
    "evictionPressureTransitionPeriod": "5m",
    "containerLogMaxSize": "10Mi",
    "configMapAndSecretChangeDetectionStrategy": "Watch",
    "volumePluginDir": "/usr/libexec/kubernetes/kubelet-plugins/volume/exec/",
    "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
    "podLogsDir": "/var/log/pods",
    "memoryReservationPolicy": "None",
}


@lru_cache(maxsize=16)
def fields_of(version: Version) -> Mapping[str, Type]:
    """Return the fields that a release knows."""
    return {name: kind for name, kind in FIELDS.items() if FIELD_SINCE.get(name, (1, 0)) <= version}


def coarse_type(kind: Type) -> str:
    """Return the JSON type of a field: text, bool, int, float, duration, list or map."""
    if isinstance(kind, Kind):
        return kind.name
    return "map" if not isinstance(kind, str) else "int" if kind in ("int32", "int64") else kind
