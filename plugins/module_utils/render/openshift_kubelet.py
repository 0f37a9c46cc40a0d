# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The kubelet settings of a tier as the two OpenShift objects can carry them.

A KubeletConfig takes nearly every field. A PerformanceProfile has a few of its own, the operator fills in others,
and the rest goes through the annotation `kubeletconfig.experimental`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..core.desired import Area, DesiredState
from ..core.errors import Problem, problem
from ..core.quantity import format_bytes, parse_bytes
from .kubelet_settings import kubelet_fields, kubelet_settings

# What the operator writes itself; a value in the annotation is overwritten.
_OWN = {
    "cpuManagerPolicy": "static",
    "cpuManagerReconcilePeriod": "5s",
}
# Computed from the profile's own fields by the operator, and rendered into those.
_FROM_PROFILE = ("reservedSystemCPUs", "topologyManagerPolicy")
_ALIGNED = ("restricted", "single-numa-node")
_RESERVED_MEMORY = "500Mi"
_DEFAULTS: dict[str, dict[str, str]] = {
    "evictionHard": {
        "memory.available": "100Mi",
        "nodefs.available": "10%",
        "imagefs.available": "15%",
        "nodefs.inodesFree": "5%",
    },
    "kubeReserved": {"memory": _RESERVED_MEMORY},
    "systemReserved": {"memory": _RESERVED_MEMORY},
}
# Source: machine-config-operator, validation of a KubeletConfig's content.
_FORBIDDEN = {
    "cgroupDriver": "the cluster sets it",
    "clusterDNS": "the cluster sets it",
    "clusterDomain": "the cluster sets it",
    "featureGates": "feature gates of the whole cluster are set by its FeatureGate object",
    "staticPodPath": "the cluster sets it",
    "failSwapOn": "the machine configuration operator refuses it",
    "memorySwap": "the machine configuration operator refuses it",
}


def forbidden_fields(desired: DesiredState) -> Iterator[Problem]:
    """Yield a problem (`TUN-2242`) for each field that no KubeletConfig may hold."""
    for setting in kubelet_settings(desired):
        if setting.name in _FORBIDDEN:
            yield problem(
                "TUN-2242",
                f"a KubeletConfig must not set {setting.name}",
                where=str(setting.asked_in) or setting.id,
                why=_FORBIDDEN[setting.name],
                fix="remove it from the tier for OpenShift pools",
            )


def overwritten_fields(desired: DesiredState) -> Iterator[Problem]:
    """Yield a problem (`TUN-2242`) for each field whose value the tuning operator would overwrite by its own."""
    for name, own in _own(desired).items():
        setting = desired.get(f"{Area.KUBELET.value}.{name}")
        if setting is not None and setting.value != own:
            yield problem(
                "TUN-2242",
                f"a PerformanceProfile cannot set {name} to {setting.value}",
                where=str(setting.asked_in) or setting.id,
                why=f"the operator always writes {own} next to a profile"
                + (f" whose topology policy is {_policy(desired)}" if name == "memoryManagerPolicy" else ""),
                fix=f"ask for {own}, or set openshift.manifest: kubelet-config",
            )


def snippet(desired: DesiredState) -> dict[str, Any]:
    """Return the fields that a PerformanceProfile needs in its annotation: those that the operator leaves open.

    Shape: sorted; of maps only the keys whose values differ from what the operator fills in; empty when the operator
    comes to the same kubelet configuration by itself.
    Source: cluster-node-tuning-operator, the KubeletConfig that it derives from a profile.
    """
    own = {*_own(desired), *_FROM_PROFILE}
    found: dict[str, Any] = {}
    for name, value in kubelet_fields(desired).items():
        open_value = None if name in own else _left_open(name, value, desired)
        if open_value is not None:
            found[name] = open_value
    return found


def _policy(desired: DesiredState) -> str:
    setting = desired.get(f"{Area.KUBELET.value}.topologyManagerPolicy")
    return "best-effort" if setting is None else str(setting.value)


def _own(desired: DesiredState) -> dict[str, str]:
    return {**_OWN, **({"memoryManagerPolicy": "Static"} if _policy(desired) in _ALIGNED else {})}


def _left_open(name: str, value: Any, desired: DesiredState) -> Any:
    """Return the part of a field that the operator does not come to by itself, None when there is none."""
    if name == "reservedMemory" and _policy(desired) in _ALIGNED:
        return None if value == [_operator_reservation(desired)] else value
    defaults = _DEFAULTS.get(name, {})
    if name == "cpuManagerPolicyOptions" and _policy(desired) == "single-numa-node":
        defaults = {"full-pcpus-only": "true"}
    if not defaults:
        return value
    return {key: item for key, item in value.items() if defaults.get(key) != item} or None


def _operator_reservation(desired: DesiredState) -> dict[str, Any]:
    """Return the entry that the operator computes: everything on NUMA node 0."""
    fields = {setting.name: setting.value for setting in kubelet_settings(desired)}
    total = sum(
        parse_bytes(str({**_DEFAULTS[name], **fields.get(name, {})}[key]))
        for name, key in (
            ("kubeReserved", "memory"),
            ("systemReserved", "memory"),
            ("evictionHard", "memory.available"),
        )
    )
    return {"limits": {"memory": format_bytes(total)}, "numaNode": 0}
