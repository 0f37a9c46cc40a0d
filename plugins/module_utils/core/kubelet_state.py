# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The configuration that a node's kubelet makes of its files and flags, and which of them says what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .kubelet_command import KubeletCommand, has_kubelet, kubelet_command
from .kubelet_fields import DEFAULT_EVICTION, MANAGED_FIELDS, OTHER_FIELDS
from .kubelet_flags import flag_fields
from .snapshot import Snapshot

MAIN_FILE = "/var/lib/kubelet/config.yaml"
_API_VERSION = "kubelet.config.k8s.io/v1beta1"
_KIND = "KubeletConfiguration"
_EVICTION = "evictionHard"

# Source: kubelet configuration v1beta1, defaults on Linux.
DEFAULTS: dict[str, Any] = {
    "cpuManagerPolicy": "none",
    "cpuManagerReconcilePeriod": "10s",
    "topologyManagerPolicy": "none",
    "topologyManagerScope": "container",
    "memoryManagerPolicy": "None",
    "maxPods": 110,
    "podPidsLimit": -1,
    _EVICTION: DEFAULT_EVICTION,
    "enforceNodeAllocatable": ["pods"],
    "cgroupsPerQOS": True,
    "cpuCFSQuota": True,
    "cpuCFSQuotaPeriod": "100ms",
    "failSwapOn": True,
    "memoryThrottlingFactor": 0.9,
    "oomScoreAdj": -999,
    "protectKernelDefaults": False,
}
_TEXTS = (
    "cpuManagerPolicy",
    "cpuManagerReconcilePeriod",
    "topologyManagerPolicy",
    "topologyManagerScope",
    "memoryManagerPolicy",
    "reservedSystemCPUs",
    "cgroupDriver",
)
_TEXT_MAPS = (
    "cpuManagerPolicyOptions",
    "topologyManagerPolicyOptions",
    "systemReserved",
    "kubeReserved",
    _EVICTION,
    "evictionSoft",
    "evictionSoftGracePeriod",
    "evictionMinimumReclaim",
)
_NUMBERS = ("maxPods", "podPidsLimit", "podsPerCore", "oomScoreAdj")
_KNOWN = {name.lower(): name for name in (*MANAGED_FIELDS, *OTHER_FIELDS)}


@dataclass(frozen=True)
class KubeletState:
    """What a kubelet runs with when it starts on the files of the node.

    Shape: `config` is KubeletConfiguration with the defaults that tunectl knows; `sources` names for each field the
    file that set it last (a field that is not in it has its default); `config_dir` is the drop-in directory that
    the kubelet reads, "" when none; `trouble` says why nobody can tell, or why the kubelet would not start.
    """

    present: bool = False
    command: KubeletCommand = KubeletCommand()
    main_file: str = ""
    config_dir: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    trouble: str = ""


class _RefusedError(Exception):
    """The kubelet would not start on this; the message says why."""


def configuration_files(snapshot: Snapshot) -> tuple[str, ...]:
    """Return the kubelet's configuration files in the order in which they count: main file, drop-ins by path.

    Source: kubelet `--config-dir`: only `.conf`, directories below it are walked in lexical order.
    """
    return _files(snapshot, kubelet_command(snapshot))


def _files(snapshot: Snapshot, command: KubeletCommand) -> tuple[str, ...]:
    main = command.flag("config") or ("" if command.source else MAIN_FILE)
    mains = (main,) if main else ()
    directory = command.flag("config-dir").rstrip("/")
    return (*mains, *(_walk(snapshot, directory) if directory else ()))


def kubelet_state(snapshot: Snapshot, documents: Mapping[str, Any]) -> KubeletState:
    """Return the effective configuration; `documents` are the decoded files by path, None for an empty one.

    Source: measured on the kubelet: defaults, then the main file (its evictionHard replaces the default map), then
    drop-ins (maps by key, lists whole, null back to the default), then flags (maps whole, feature gates by key).
    """
    command = kubelet_command(snapshot)
    present = has_kubelet(snapshot, command)
    directory = command.flag("config-dir").rstrip("/")
    files = _files(snapshot, command)
    main = files[0] if files and not (directory and files[0].startswith(f"{directory}/")) else ""
    if not present:
        return KubeletState(trouble="the node has no kubelet")
    sources: dict[str, str] = {}
    try:
        # Nothing may say that the kubelet's usual file is used.
        assumed = not command.source and main not in snapshot.files
        config = _from_files(snapshot, documents, files[1:] if assumed else files, main, sources)
        trouble = ""
    except _RefusedError as error:
        config, trouble = {}, str(error)
    flags = flag_fields(command)
    if "featureGates" in flags:
        flags["featureGates"] = {**config.get("featureGates", {}), **flags["featureGates"]}
    sources.update(dict.fromkeys(flags, command.source))
    return KubeletState(
        present=True,
        command=command,
        main_file=main,
        config_dir=directory,
        config={**config, **flags} if not trouble else {},
        sources=sources,
        trouble=trouble,
    )


def _walk(snapshot: Snapshot, directory: str) -> Iterator[str]:
    for name in sorted(snapshot.names(directory)):
        path = f"{directory}/{name}"
        if path in snapshot.listings:
            yield from _walk(snapshot, path)
        elif name.endswith(".conf"):
            yield path


def _from_files(
    snapshot: Snapshot, documents: Mapping[str, Any], files: tuple[str, ...], main: str, sources: dict[str, str]
) -> dict[str, Any]:
    config: dict[str, Any] = _defaulted({})
    for path in files:
        document = _document(snapshot, documents, path)
        _check_types(document, path)
        if path == main:
            config = _main(document)
            sources.update(dict.fromkeys((name for name in document if name in config), path))
        else:
            config = _defaulted(_matched(_merged(config, document), config))
            sources.update(dict.fromkeys((_KNOWN.get(name.lower(), name) for name in document), path))
    return config


def _document(snapshot: Snapshot, documents: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    if path not in snapshot.files:
        raise _RefusedError(f"{path} could not be read: {snapshot.why_missing(path)}")
    if path not in documents:
        raise _RefusedError(f"{path} was not decoded")
    document = documents[path]
    if not isinstance(document, Mapping):
        raise _RefusedError(f"{path} is empty or no map; the kubelet does not start on it")
    if document.get("apiVersion") != _API_VERSION or document.get("kind") != _KIND:
        raise _RefusedError(f"{path} is not {_KIND} of {_API_VERSION}; the kubelet does not start on it")
    return {str(name): value for name, value in document.items() if name not in ("apiVersion", "kind")}


def _main(document: Mapping[str, Any]) -> dict[str, Any]:
    # The main file is decoded strictly by name: another spelling is an unknown field, and ignored.
    known = {name: value for name, value in document.items() if _KNOWN.get(name.lower(), name) == name}
    if document.get("mergeDefaultEvictionSettings") is True and known.get(_EVICTION):
        known[_EVICTION] = {**DEFAULT_EVICTION, **known[_EVICTION]}
    return _defaulted(known)


def _defaulted(config: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in config.items() if value is not None}
    return {**DEFAULTS, **given}


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON merge patch applied (RFC 7386)."""
    result = dict(base)
    for name, value in over.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, Mapping):
            inner = result.get(name)
            result[name] = _merged(inner if isinstance(inner, Mapping) else {}, value)
        else:
            result[name] = value
    return result


def _matched(config: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration after decoding: another spelling of a field counts where the right one is absent."""
    result = {name: value for name, value in config.items() if _KNOWN.get(name.lower(), name) == name}
    for name, value in config.items():
        right = _KNOWN.get(name.lower(), name)
        if right != name and right not in result and right not in base:
            result[right] = value
    return result


def _check_types(document: Mapping[str, Any], path: str) -> None:
    for name, value in document.items():
        if value is None:
            continue
        if name in _TEXTS and not isinstance(value, str):
            raise _RefusedError(f"{path}: {name} is {value!r} where a text belongs; the kubelet does not start on it")
        if name in _TEXT_MAPS and not _is_text_map(value):
            raise _RefusedError(f"{path}: {name} is no map of texts; the kubelet does not start on it")
        if name in _NUMBERS and (isinstance(value, bool) or not isinstance(value, int)):
            raise _RefusedError(f"{path}: {name} is {value!r} where a number belongs; the kubelet does not start on it")


def _is_text_map(value: Any) -> bool:
    return isinstance(value, Mapping) and all(item is None or isinstance(item, str) for item in value.values())
