# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Command line flags of the kubelet that beat its configuration files.

Source: kubelet `cmd/kubelet/app/options`: a flag replaces the field, also a map as a whole; feature gates merge.
"""

from __future__ import annotations

from typing import Any

from .kubelet.config_merge import Flags
from .kubelet.go_values import go_bool, go_duration, go_int
from .kubelet_command import KubeletCommand

_TEXTS = {
    "cpu-manager-policy": "cpuManagerPolicy",
    "topology-manager-policy": "topologyManagerPolicy",
    "topology-manager-scope": "topologyManagerScope",
    "memory-manager-policy": "memoryManagerPolicy",
    "reserved-cpus": "reservedSystemCPUs",
    "cgroup-driver": "cgroupDriver",
    "cgroup-root": "cgroupRoot",
    "kubelet-cgroups": "kubeletCgroups",
    "kube-reserved-cgroup": "kubeReservedCgroup",
    "system-reserved-cgroup": "systemReservedCgroup",
    "system-cgroups": "systemCgroups",
    "hairpin-mode": "hairpinMode",
    "container-runtime-endpoint": "containerRuntimeEndpoint",
}
_DURATIONS = {
    "cpu-manager-reconcile-period": "cpuManagerReconcilePeriod",
    "cpu-cfs-quota-period": "cpuCFSQuotaPeriod",
    "eviction-pressure-transition-period": "evictionPressureTransitionPeriod",
}
_NUMBERS = {
    "max-pods": "maxPods",
    "pods-per-core": "podsPerCore",
    "pod-max-pids": "podPidsLimit",
    "oom-score-adj": "oomScoreAdj",
    "eviction-max-pod-grace-period": "evictionMaxPodGracePeriod",
    "image-gc-high-threshold": "imageGCHighThresholdPercent",
    "image-gc-low-threshold": "imageGCLowThresholdPercent",
    "max-open-files": "maxOpenFiles",
    "kube-api-qps": "kubeAPIQPS",
    "kube-api-burst": "kubeAPIBurst",
    "port": "port",
    "read-only-port": "readOnlyPort",
    "healthz-port": "healthzPort",
}
_SWITCHES = {
    "fail-swap-on": "failSwapOn",
    "cpu-cfs-quota": "cpuCFSQuota",
    "cgroups-per-qos": "cgroupsPerQOS",
    "protect-kernel-defaults": "protectKernelDefaults",
    "serialize-image-pulls": "serializeImagePulls",
    "rotate-certificates": "rotateCertificates",
    "seccomp-default": "seccompDefault",
    "make-iptables-util-chains": "makeIPTablesUtilChains",
}
_LISTS = {
    "enforce-node-allocatable": "enforceNodeAllocatable",
    "cluster-dns": "clusterDNS",
    "allowed-unsafe-sysctls": "allowedUnsafeSysctls",
}
_MAPS = {
    "cpu-manager-policy-options": ("cpuManagerPolicyOptions", "="),
    "topology-manager-policy-options": ("topologyManagerPolicyOptions", "="),
    "system-reserved": ("systemReserved", "="),
    "kube-reserved": ("kubeReserved", "="),
    "qos-reserved": ("qosReserved", "="),
    "eviction-hard": ("evictionHard", "<"),
    "eviction-soft": ("evictionSoft", "<"),
    "eviction-soft-grace-period": ("evictionSoftGracePeriod", "="),
    "eviction-minimum-reclaim": ("evictionMinimumReclaim", "="),
}


def flag_fields(command: KubeletCommand) -> dict[str, Any]:
    """Return the fields that flags set, as they stand in a configuration; `featureGates` holds only those of flags.

    Shape: of a flag given twice the last one counts, maps and lists add up. A value that the kubelet cannot parse is
    left out, and named by `read_flags`.
    """
    return dict(read_flags(command).fields)


def read_flags(command: KubeletCommand) -> Flags:
    """Return what flags set, and which of them the kubelet cannot parse and therefore exits."""
    fields: dict[str, Any] = {}
    faults: list[tuple[str, str]] = []
    for name, value in command.flags():
        fault = _fault(fields, name, value)
        if fault:
            faults.append((f"--{name}", f"--{name}={value}: {fault}"))
    return Flags(fields, command.source or "command line", tuple(faults))


def _fault(fields: dict[str, Any], name: str, value: str) -> str:
    """Set the field of a flag; return why the kubelet cannot, or ""."""
    try:
        _set(fields, name, value)
    except ValueError as error:
        return str(error)
    return ""


def _set(fields: dict[str, Any], name: str, value: str) -> None:
    if name in _TEXTS:
        fields[_TEXTS[name]] = value
    elif name in _DURATIONS:
        go_duration(value)
        fields[_DURATIONS[name]] = value
    elif name in _NUMBERS:
        fields[_NUMBERS[name]] = go_int(value)
    elif name in _SWITCHES:
        fields[_SWITCHES[name]] = go_bool(value or "true")
    elif name in _MAPS:
        field, separator = _MAPS[name]
        fields[field] = {**fields.get(field, {}), **_pairs(value, separator)}
    elif name == "feature-gates":
        gates = {gate: go_bool(on) for gate, on in _pairs(value, "=").items()}
        fields["featureGates"] = {**fields.get("featureGates", {}), **gates}
    elif name == "reserved-memory":
        fields["reservedMemory"] = [*fields.get("reservedMemory", []), *map(_reserved, filter(None, value.split(";")))]
    elif name in _LISTS:
        fields[_LISTS[name]] = [*fields.get(_LISTS[name], []), *(value.split(",") if value else ())]


def _pairs(text: str, separator: str) -> dict[str, str]:
    pairs = {}
    for pair in filter(None, text.split(",")):
        name, found, value = pair.partition(separator)
        if not found:
            raise ValueError(f"{pair!r} is no pair of the form name{separator}value")
        pairs[name.strip()] = value.strip()
    return pairs


def _reserved(item: str) -> dict[str, Any]:
    node, colon, limits = item.partition(":")
    if not colon:
        raise ValueError(f"{item!r} is not written like 0:memory=1Gi")
    return {"numaNode": go_int(node), "limits": _pairs(limits, "=")}


def flag_of_field(name: str) -> str:
    """Return the flag that sets a field of the configuration, "" when there is none."""
    single = {**_TEXTS, **_DURATIONS, **_NUMBERS, **_SWITCHES, **_LISTS}
    flags = {field: flag for flag, field in single.items()}
    flags.update({field: flag for flag, (field, _separator) in _MAPS.items()})
    return {**flags, "featureGates": "feature-gates", "reservedMemory": "reserved-memory"}.get(name, "")
