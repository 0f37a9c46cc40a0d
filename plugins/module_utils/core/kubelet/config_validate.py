# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the kubelet's validation finds wrong in a loaded configuration: everything at once, on any machine.

Source: Kubernetes 1.36 `pkg/kubelet/apis/config/validation`; the words of the rules are tunectl's own.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from .config_gates import LATEST, Version, enabled_gates, missing_prerequisites
from .config_host import HostFacts
from .config_merge import GATES, Reason
from .config_validate_node import node_reasons
from .go_values import go_duration

_SECOND = 10**9
_NEVER_NEGATIVE = (
    "eventBurst",
    "eventRecordQPS",
    "kubeAPIBurst",
    "kubeAPIQPS",
    "maxOpenFiles",
    "maxPods",
    "podsPerCore",
    "registryBurst",
    "registryPullQPS",
)
# Field -> lowest and highest value, and how the rule says it.
_RANGES = {
    "imageGCHighThresholdPercent": (0, 100, "outside 0..100"),
    "imageGCLowThresholdPercent": (0, 100, "outside 0..100"),
    "iptablesDropBit": (0, 31, "outside 0..31"),
    "iptablesMasqueradeBit": (0, 31, "outside 0..31"),
    "oomScoreAdj": (-1000, 1000, "outside -1000..1000"),
    "port": (1, 65535, "outside 1..65535"),
    "readOnlyPort": (0, 65535, "outside 0..65535"),
    "healthzPort": (0, 65535, "outside 0..65535"),
    "nodeLeaseDurationSeconds": (1, 2**31, "not positive"),
    "nodeStatusMaxImages": (-1, 2**31, "below -1"),
    "containerLogMaxWorkers": (1, 2**31, "below 1"),
    "containerLogMaxFiles": (2, 2**31, "not above 1"),
}
_CHOICES = {
    "topologyManagerPolicy": ("none", "best-effort", "restricted", "single-numa-node"),
    "topologyManagerScope": ("container", "pod"),
    "hairpinMode": ("promiscuous-bridge", "hairpin-veth", "none"),
}
_IMAGE_POLICIES = (
    "NeverVerify",
    "NeverVerifyPreloadedImages",
    "NeverVerifyAllowlistedImages",
    "AlwaysVerify",
)
_TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_RUN_ONCE_GONE: Version = (1, 34)
_LONGEST_BACKOFF = 300

Config = Mapping[str, Any]
On = Mapping[str, bool]


def validate_config(config: Config, host: HostFacts, version: Version = LATEST) -> list[Reason]:
    """Return every reason for which the kubelet's validation refuses a configuration with all its defaults."""
    gates = config.get(GATES) or {}
    on = enabled_gates(gates, version)
    reasons = [
        Reason(
            "featureGates: prerequisite gate is off",
            f"feature gate {name} is on and needs {needed}, which is off",
            (GATES, name) if name in gates else (GATES, needed),
            fix=f"switch {needed} on, or leave {name} off",
        )
        for name, needed in missing_prerequisites(gates, version)
    ]
    reasons += _numbers(config)
    reasons += _choices(config)
    reasons += _images(config, on)
    reasons += _logs(config, on)
    reasons += _shutdown(config, on)
    reasons += _others(config, on, version)
    return reasons + list(node_reasons(config, on, host, version))


def _numbers(config: Config) -> Iterator[Reason]:
    for name in _NEVER_NEGATIVE:
        if config.get(name, 0) < 0:
            yield Reason(f"{name}: negative", f"{name} is {config[name]}", (name,), fix="write 0 or more")
    for name, (low, high, words) in _RANGES.items():
        value = config.get(name)
        if value is not None and not low <= value <= high:
            fix = f"write {low} to {high}" if high < 2**31 else f"write {low} or more"
            yield Reason(f"{name}: {words}", f"{name} is {value}", (name,), fix=fix)


def _choices(config: Config) -> Iterator[Reason]:
    for name, known in _CHOICES.items():
        if config.get(name, known[0]) not in known:
            yield unknown_value((name,), config[name], known)


def unknown_value(path: tuple[str, ...], value: Any, known: tuple[str, ...]) -> Reason:
    """Return the reason for a value that is not among those known."""
    name, choices = ".".join(path), ", ".join(word or '""' for word in known)
    return Reason(f"{name}: unknown value", f"{name} is {value!r}", path, fix=f"write one of {choices}")


def _needs_gate(name: str, gate: str, value: Any) -> Reason:
    what = f"{name} is {value} and the feature gate {gate} is off"
    return Reason(f"{name}: needs gate {gate}", what, (name,), fix=f"leave {name} out, or switch {gate} on")


def _images(config: Config, on: On) -> Iterator[Reason]:
    low, high = config["imageGCLowThresholdPercent"], config["imageGCHighThresholdPercent"]
    if low >= high:
        rule = "imageGCLowThresholdPercent: not below imageGCHighThresholdPercent"
        at = ("imageGCLowThresholdPercent",)
        yield Reason(rule, f"low is {low} and high is {high}", at, fix=f"write less than {high}")
    pulls = config.get("maxParallelImagePulls")
    if pulls is not None and pulls < 1:
        name = "maxParallelImagePulls"
        yield Reason(f"{name}: not positive", f"{name} is {pulls}", (name,), fix="write 1 or more")
    elif pulls is not None and pulls > 1 and config["serializeImagePulls"]:
        rule = "maxParallelImagePulls: more than 1 needs serializeImagePulls false"
        what = f"maxParallelImagePulls is {pulls} and serializeImagePulls is true"
        yield Reason(rule, what, ("maxParallelImagePulls",), fix="set serializeImagePulls: false")
    youngest, oldest = _nanoseconds(config, "imageMinimumGCAge"), _nanoseconds(config, "imageMaximumGCAge")
    if oldest and not on.get("ImageMaximumGCAge", False):
        yield _needs_gate("imageMaximumGCAge", "ImageMaximumGCAge", config["imageMaximumGCAge"])
    for name, age in (("imageMinimumGCAge", youngest), ("imageMaximumGCAge", oldest)):
        if age < 0:
            yield Reason(f"{name}: negative", f"{name} is {config[name]}", (name,), fix="write 0s or more")
    if 0 < oldest <= youngest:
        rule = "imageMaximumGCAge: not above imageMinimumGCAge"
        yield Reason(rule, f"imageMaximumGCAge is {config['imageMaximumGCAge']}", ("imageMaximumGCAge",))
    yield from _pull_policy(config, on)


def _pull_policy(config: Config, on: On) -> Iterator[Reason]:
    policy, listed = "imagePullCredentialsVerificationPolicy", "preloadedImagesVerificationAllowlist"
    given = config.get(policy, "")
    if not on.get("KubeletEnsureSecretPulledImages", False):
        for name in (policy, listed):
            if config.get(name):
                yield _needs_gate(name, "KubeletEnsureSecretPulledImages", config[name])
        return
    if given and given not in _IMAGE_POLICIES:
        yield unknown_value((policy,), given, _IMAGE_POLICIES)
    if config.get(listed) and given != "NeverVerifyAllowlistedImages":
        rule = f"{listed}: needs {policy} NeverVerifyAllowlistedImages"
        yield Reason(rule, f"{listed} is set and {policy} is {given or 'not'}", (listed,), fix=f"leave {listed} out")


def _logs(config: Config, on: On) -> Iterator[Reason]:
    interval = config.get("containerLogMonitorInterval")
    if interval is not None and go_duration(interval) < 3 * _SECOND:
        name = "containerLogMonitorInterval"
        yield Reason(f"{name}: below 3s", f"{name} is {interval}", (name,), fix="write 3s or more")
    if config.get("enableSystemLogQuery"):
        if not on.get("NodeLogQuery", False):
            yield _needs_gate("enableSystemLogQuery", "NodeLogQuery", "true")
        if not config["enableSystemLogHandler"]:
            rule = "enableSystemLogQuery: needs enableSystemLogHandler"
            yield Reason(rule, "enableSystemLogHandler is false", ("enableSystemLogQuery",))
    yield from _log_directory(config.get("podLogsDir"))
    logging = config.get("logging") or {}
    if logging.get("format", "text") not in ("", "text", "json"):
        yield unknown_value(("logging", "format"), logging["format"], ("text", "json"))
    if logging.get("format") == "json" and logging.get("vmodule"):
        rule = "logging.vmodule: needs format text"
        yield Reason(rule, "logging.vmodule is set and the format is json", ("logging", "vmodule"))
    rate = (config.get("tracing") or {}).get("samplingRatePerMillion")
    if rate is not None and not 0 <= rate <= 10**6:
        rule = "tracing.samplingRatePerMillion: outside 0..1000000"
        yield Reason(rule, f"the rate is {rate}", ("tracing", "samplingRatePerMillion"))


def _log_directory(path: str | None) -> Iterator[Reason]:
    if path is None:
        return
    rules = {
        "not an absolute path": not path.startswith("/"),
        "not normalized": posixpath.normpath(path) != path,
        "not ASCII": not path.isascii(),
    }
    for words, broken in rules.items():
        if broken:
            yield Reason(f"podLogsDir: {words}", f"podLogsDir is {path!r}", ("podLogsDir",), fix="write /var/log/pods")


def _shutdown(config: Config, on: On) -> Iterator[Reason]:
    total, critical = "shutdownGracePeriod", "shutdownGracePeriodCriticalPods"
    lengths = {name: _nanoseconds(config, name) for name in (total, critical)}
    graceful = on.get("GracefulNodeShutdown", False)
    if graceful and lengths[critical] > lengths[total]:
        rule = f"{critical}: above {total}"
        yield Reason(rule, f"{critical} is {config[critical]} and {total} is {config.get(total, '0s')}", (critical,))
    for name, length in lengths.items():
        if graceful and (length < 0 or 0 < length < _SECOND):
            what = f"{name} is {config[name]}"
            yield Reason(f"{name}: neither 0 nor at least 1s", what, (name,), fix="write 0s, or 1s or more")
    if not graceful and any(length > 0 for length in lengths.values()):
        yield _needs_gate(total, "GracefulNodeShutdown", config.get(total, "0s"))
    by_priority = "shutdownGracePeriodByPodPriority"
    if config.get(by_priority):
        if not on.get("GracefulNodeShutdownBasedOnPodPriority", False):
            yield _needs_gate(by_priority, "GracefulNodeShutdownBasedOnPodPriority", "set")
        elif any(length > 0 for length in lengths.values()):
            yield Reason(f"{by_priority}: exclusive with {total}", "both are set", (by_priority,), fix="keep one")


def _others(config: Config, on: On, version: Version) -> Iterator[Reason]:
    if config.get("runOnce") and version >= _RUN_ONCE_GONE:
        yield Reason("runOnce: not supported any more", "runOnce is true", ("runOnce",), fix="leave it out")
    if config.get("serverTLSBootstrap") and not on.get("RotateKubeletServerCertificate", False):
        yield _needs_gate("serverTLSBootstrap", "RotateKubeletServerCertificate", "true")
    for index, taint in enumerate(config.get("registerWithTaints") or ()):
        if not taint.get("key") or taint.get("effect") not in _TAINT_EFFECTS:
            what = f"the taint {taint.get('key', '')!r} has effect {taint.get('effect', '')!r}"
            yield Reason("registerWithTaints: not a taint", what, ("registerWithTaints", index))
    shown = config.get("showHiddenMetricsForVersion")
    if shown and shown != f"{version[0]}.{version[1] - 1}":
        name = "showHiddenMetricsForVersion"
        fix = f"write {version[0]}.{version[1] - 1}, or leave it out"
        yield Reason(f"{name}: not the previous minor release", f"{name} is {shown!r}", (name,), fix=fix)
    yield from _backoff(config, on)


def _backoff(config: Config, on: On) -> Iterator[Reason]:
    path = ("crashLoopBackOff", "maxContainerRestartPeriod")
    longest = (config.get(path[0]) or {}).get(path[1])
    if longest is None:
        return
    name = ".".join(path)
    if not on.get("KubeletCrashLoopBackOffMax", False):
        what = f"{name} is {longest} and the feature gate KubeletCrashLoopBackOffMax is off"
        yield Reason(f"{name}: needs gate KubeletCrashLoopBackOffMax", what, path, fix="leave it out")
    elif not _SECOND <= go_duration(longest) <= _LONGEST_BACKOFF * _SECOND:
        yield Reason(f"{name}: outside 1s..300s", f"{name} is {longest}", path, fix="write 1s to 300s")


def _nanoseconds(config: Config, name: str) -> int:
    return go_duration(config[name]) if config.get(name) else 0
