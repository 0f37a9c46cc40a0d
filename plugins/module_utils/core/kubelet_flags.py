# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Command line flags of the kubelet that beat its configuration files.

Source: kubelet `cmd/kubelet/app/options`: a flag replaces the field, also a map as a whole; feature gates merge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .kubelet_command import KubeletCommand

_TEXTS = {
    "cpu-manager-policy": "cpuManagerPolicy",
    "cpu-manager-reconcile-period": "cpuManagerReconcilePeriod",
    "topology-manager-policy": "topologyManagerPolicy",
    "topology-manager-scope": "topologyManagerScope",
    "memory-manager-policy": "memoryManagerPolicy",
    "reserved-cpus": "reservedSystemCPUs",
    "cgroup-driver": "cgroupDriver",
    "cgroup-root": "cgroupRoot",
    "kubelet-cgroups": "kubeletCgroups",
    "kube-reserved-cgroup": "kubeReservedCgroup",
    "system-reserved-cgroup": "systemReservedCgroup",
    "cpu-cfs-quota-period": "cpuCFSQuotaPeriod",
}
_NUMBERS = {
    "max-pods": "maxPods",
    "pods-per-core": "podsPerCore",
    "pod-max-pids": "podPidsLimit",
    "oom-score-adj": "oomScoreAdj",
}
_SWITCHES = {
    "fail-swap-on": "failSwapOn",
    "cpu-cfs-quota": "cpuCFSQuota",
    "cgroups-per-qos": "cgroupsPerQOS",
    "protect-kernel-defaults": "protectKernelDefaults",
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

    Shape: of a flag given twice the last one counts, maps add up. A value that the kubelet could not parse is kept
    as text.
    """
    fields: dict[str, Any] = {}
    for name, value in command.flags():
        if name in _TEXTS:
            fields[_TEXTS[name]] = value
        elif name in _NUMBERS:
            fields[_NUMBERS[name]] = _converted(int, value)
        elif name in _SWITCHES:
            fields[_SWITCHES[name]] = value.lower() in ("", "true", "t", "1")
        elif name in _MAPS:
            field, separator = _MAPS[name]
            fields[field] = {**fields.get(field, {}), **_pairs(value, separator)}
        elif name == "feature-gates":
            gates = {gate: on.lower() in ("true", "t", "1") for gate, on in _pairs(value, "=").items()}
            fields["featureGates"] = {**fields.get("featureGates", {}), **gates}
        elif name == "reserved-memory":
            fields["reservedMemory"] = [_reserved(item) for item in value.split(";") if item]
        elif name == "enforce-node-allocatable":
            fields["enforceNodeAllocatable"] = value.split(",")
    return fields


def _pairs(text: str, separator: str) -> dict[str, str]:
    pairs = (pair.partition(separator) for pair in text.split(",") if pair)
    return {name.strip(): value.strip() for name, _separator, value in pairs}


def _reserved(item: str) -> dict[str, Any]:
    node, _colon, limits = item.partition(":")
    return {"numaNode": _converted(int, node), "limits": _pairs(limits, "=")}


def _converted(convert: Callable[[str], Any], text: str) -> Any:
    try:
        return convert(text)
    except ValueError:
        return text
