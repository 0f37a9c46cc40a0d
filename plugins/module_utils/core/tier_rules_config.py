# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Rules about further kubelet fields in a tier: values with which the kubelet would not start.

Source: kubelet configuration v1beta1, validation and start-up checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .kubelet_fields import EVICTION_SIGNALS
from .tier import Tier
from .tier_breach import Breach, Rule
from .tier_forms import Refusal, did_you_mean
from .tier_grammar import THRESHOLD, duration_ns

_ENFORCEABLE = (
    "pods",
    "kube-reserved",
    "system-reserved",
    "kube-reserved-compressible",
    "system-reserved-compressible",
    "none",
)
_RESERVATION_POLICIES = ("None", "TieredReservation")
_MILLISECOND, _SECOND = 10**6, 10**9
_IDS = 65536
_LARGEST_ID = 2**32 - 1
# Whole numbers with bounds: field -> least, most.
_BOUNDS = {
    "oomScoreAdj": (-1000, 1000),
    "imageGCHighThresholdPercent": (0, 100),
    "imageGCLowThresholdPercent": (0, 100),
    "containerLogMaxFiles": (2, 2**31 - 1),
    "containerLogMaxWorkers": (1, 2**31 - 1),
    "maxParallelImagePulls": (1, 2**31 - 1),
    "podsPerCore": (0, 2**31 - 1),
}
_DURATIONS = {
    "cpuCFSQuotaPeriod": (_MILLISECOND, _SECOND, "1ms to 1s"),
    "containerLogMonitorInterval": (3 * _SECOND, 2**63, "3s or more"),
}
_DEFAULT_GC_HIGH, _DEFAULT_GC_LOW = 85, 80
# They became part of the kubelet long ago; newer ones refuse to start when they are still named.
_GONE_GATES = ("CPUManager", "MemoryManager", "TopologyManager")


def _breach(field: str, what: str, why: str = "", fix: str = "") -> Breach:
    return Breach(f"kubelet.config.{field}", what, why, fix)


def _numbers(tier: Tier) -> Iterator[Breach]:
    config = tier.kubelet.config
    for field, (least, most) in _BOUNDS.items():
        if field in config and not least <= config[field] <= most:
            yield _breach(field, f"{field} {config[field]} is out of range", f"allowed: {least} to {most}")
    for field, (least, most, words) in _DURATIONS.items():
        if field in config and not least <= duration_ns(config[field]) <= most:
            yield _breach(field, f"{field} {config[field]} is out of range", f"allowed: {words}")
    high = config.get("imageGCHighThresholdPercent", _DEFAULT_GC_HIGH)
    low = config.get("imageGCLowThresholdPercent", _DEFAULT_GC_LOW)
    if low >= high:
        field = (
            "imageGCLowThresholdPercent" if "imageGCLowThresholdPercent" in config else "imageGCHighThresholdPercent"
        )
        yield _breach(field, "the low threshold of image collection must be below the high one", f"{low} and {high}")


def _together(tier: Tier) -> Iterator[Breach]:
    config = tier.kubelet.config
    if config.get("runOnce"):
        yield _breach("runOnce", "the kubelet refuses runOnce", "", "leave it out")
    if config.get("maxParallelImagePulls", 1) > 1 and config.get("serializeImagePulls", False):
        what = "maxParallelImagePulls needs serializeImagePulls: false"
        yield _breach("maxParallelImagePulls", what, "images are pulled one after the other", "keep one of them")
    total, critical = (
        duration_ns(config.get(name, "0")) for name in ("shutdownGracePeriod", "shutdownGracePeriodCriticalPods")
    )
    if critical > total:
        what = "critical pods get more time than the whole shutdown"
        yield _breach("shutdownGracePeriodCriticalPods", what, "shutdownGracePeriod is the sum", "make it larger")


def _reclaim(tier: Tier) -> Iterator[Breach]:
    for signal, value in tier.kubelet.config.get("evictionMinimumReclaim", {}).items():
        field = f"evictionMinimumReclaim.{signal}"
        if signal not in EVICTION_SIGNALS:
            yield _breach(field, f"{signal!r} is not an eviction signal", "", did_you_mean(signal, EVICTION_SIGNALS))
        elif value not in ("0", 0) and not _is_amount(value):
            yield _breach(
                field, f"{value!r} cannot be reclaimed", "a quantity of zero or more, or a percentage above 0"
            )


def _is_amount(value: Any) -> bool:
    if not isinstance(value, str) or re.fullmatch(r"[0.]+%", value):
        return False
    try:
        THRESHOLD.parse(value)
    except Refusal:
        return False
    return True


def _quality(tier: Tier) -> Iterator[Breach]:
    for resource, share in tier.kubelet.config.get("qosReserved", {}).items():
        field = f"qosReserved.{resource}"
        if resource != "memory":
            yield _breach(field, f"{resource} cannot be reserved by quality of service", "only memory can")
        elif not isinstance(share, str) or not re.fullmatch(r"([0-9]{1,2}|100)%", share):
            yield _breach(field, f"{share!r} is not a share", "0% to 100%, without decimals")


def _memory_policy(tier: Tier) -> Iterator[Breach]:
    policy = tier.kubelet.config.get("memoryReservationPolicy", "None")
    if policy not in _RESERVATION_POLICIES:
        hint = did_you_mean(policy, _RESERVATION_POLICIES)
        yield _breach("memoryReservationPolicy", f"{policy!r} is not a policy", "one of: None, TieredReservation", hint)
    elif policy != "None" and not tier.kubelet.memory_qos:
        yield _breach("memoryReservationPolicy", f"{policy} needs kubelet.memory_qos", "", "memory_qos: true")


def _user_namespaces(tier: Tier) -> Iterator[Breach]:
    ids = tier.kubelet.config.get("userNamespaces", {}).get("idsPerPod", _IDS)
    if not isinstance(ids, int) or ids % _IDS or not _IDS <= ids <= _LARGEST_ID:
        yield _breach("userNamespaces.idsPerPod", f"{ids!r} ids for a pod are refused", f"a multiple of {_IDS}")


def _enforced(tier: Tier) -> Iterator[Breach]:
    config = tier.kubelet.config
    words = config.get("enforceNodeAllocatable", ["pods"])
    field = "enforceNodeAllocatable" if "enforceNodeAllocatable" in config else "cgroupsPerQOS"
    for word in words:
        if word not in _ENFORCEABLE:
            hint = did_you_mean(str(word), _ENFORCEABLE)
            yield _breach(field, f"{word!r} cannot be enforced", f"one of: {', '.join(_ENFORCEABLE)}", hint)
    if len({str(word) for word in words}) < len(words):
        yield _breach(field, "an entry stands there twice", ", ".join(map(str, words)), "keep one of them")
    if "none" in words and len(words) > 1:
        yield _breach(field, "none stands alone", "it means that nothing is enforced", "leave the others out")
    for word in ("kube-reserved", "system-reserved"):
        if word in words and f"{word}-compressible" in words:
            yield _breach(field, f"{word} already covers {word}-compressible", "", "keep one of them")
    if config.get("cgroupsPerQOS") is False and any(word != "none" for word in words):
        yield _breach(field, "enforcement needs cgroupsPerQOS", "", "enforceNodeAllocatable: [none]")


def _gate_values(tier: Tier) -> Iterator[Breach]:
    for gate, value in tier.kubelet.config.get("featureGates", {}).items():
        if not isinstance(value, bool):
            yield _breach(f"featureGates.{gate}", f"{value!r} is no value of a feature gate", "true or false")
        elif gate in _GONE_GATES:
            why = "it is always on, and newer kubelets refuse to start when it is named"
            yield _breach(f"featureGates.{gate}", f"there is no gate {gate} any more", why, "leave it out")


CONFIG_RULES = (
    Rule("TUN-1427", ("kubelet.config",), _numbers),
    Rule("TUN-1427", ("kubelet.config",), _together),
    Rule("TUN-1427", ("kubelet.config",), _reclaim),
    Rule("TUN-1427", ("kubelet.config",), _quality),
    Rule("TUN-1427", ("kubelet",), _memory_policy),
    Rule("TUN-1427", ("kubelet.config",), _user_namespaces),
    Rule("TUN-1427", ("kubelet.config",), _enforced),
    Rule("TUN-1427", ("kubelet.config",), _gate_values),
)
