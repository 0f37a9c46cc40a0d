# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The configuration that a kubelet makes of its main file, its drop-ins and its flags.

Source: Kubernetes 1.36 `cmd/kubelet/app/server.go`, measured on the kubelet: defaults; the main file, whose
evictionHard replaces the default map; drop-ins as JSON merge patches (maps by key, lists whole, null takes away); what
they make of it is decoded again, with defaults again; flags (maps whole, feature gates by key).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .config_decode import Decoded, Path, decode
from .config_gates import LATEST, Version, locked_gates, unknown_gates
from .config_types import (
    API_VERSION,
    DEFAULT_EVICTION,
    DEFAULTS_OF_ABSENT,
    DEFAULTS_OF_EMPTY,
    KIND,
    fields_of,
)
from .go_values import go_duration

EVICTION = "evictionHard"
GATES = "featureGates"
_HEAD = ("apiVersion", "kind")
_KEPT = "enforceNodeAllocatable"
_FAIL_CGROUP_V1_SINCE: Version = (1, 35)

WRONG_TYPE = "wrong type or unparsable value"
NO_KIND = "apiVersion or kind missing or unknown"
EMPTY_FILE = "file is empty"
UNREADABLE = "file cannot be read"
UNKNOWN_GATE = "featureGates: unknown gate"
LOCKED_GATE = "featureGates: gate is locked"


@dataclass(frozen=True)
class ConfigFile:
    """A configuration file decoded as YAML.

    Shape: `document` is JSON data, None for an empty file; `unreadable` says why there is no document.
    """

    path: str
    document: Any = None
    unreadable: str = ""


@dataclass(frozen=True)
class Reason:
    """Why a kubelet does not start.

    Shape: `rule` names the rule that is broken, in fixed words; `path` is the field or the entry that breaks it, empty
    when it is none; `what` is a sentence with the values, `fix` says what to write instead; `file` is where it was set,
    "" when nothing tells.
    """

    rule: str
    what: str
    path: Path = ()
    file: str = ""
    fix: str = ""


@dataclass(frozen=True)
class Ignored:
    """A field that the kubelet skips, and where it stands."""

    file: str
    path: Path


@dataclass
class MergedConfig:
    """The configuration in force.

    Shape: `config` has every default; it is empty when `reasons` say why the kubelet could not load it. `sources` maps
    paths of fields and of entries of maps to the file, or flag, that set them last; what is not in it is a default.
    `unknown_gates` are gates that are only warned about.
    """

    config: dict[str, Any] = field(default_factory=dict)
    sources: dict[Path, str] = field(default_factory=dict)
    ignored: list[Ignored] = field(default_factory=list)
    reasons: list[Reason] = field(default_factory=list)
    unknown_gates: list[str] = field(default_factory=list)

    def source(self, path: Path) -> str:
        """Return what set a field or the nearest thing around it, "" for a default."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.sources:
                return self.sources[path[:end]]
        return ""


@dataclass(frozen=True)
class Flags:
    """What flags set, as fields of a configuration; `faults` are (flag, what is wrong with it)."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    source: str = "command line"
    faults: Sequence[tuple[str, str]] = ()


class _RefusedError(Exception):
    """The kubelet does not get further; carries the reasons."""

    def __init__(self, reasons: Iterable[Reason]) -> None:
        """Keep the reasons."""
        super().__init__()
        self.reasons = list(reasons)


def merge_config(
    main: ConfigFile | None,
    dropins: Sequence[ConfigFile] | None,
    flags: Flags = Flags(),
    *,
    version: Version = LATEST,
    tolerant: bool = False,
) -> MergedConfig:
    """Return the configuration in force, or the reasons why it cannot be loaded.

    Shape: `main` is None without `--config`; `dropins` are the `.conf` files in the order in which they count, None
    without `--config-dir`. `tolerant` is a kubelet that only warns of feature gates it does not know (OpenShift's).
    """
    merger = _Merger(version, tolerant=tolerant)
    try:
        merger.merge(main, dropins, flags)
    except _RefusedError as refused:
        merger.result.config = {}
        merger.result.reasons = refused.reasons
    return merger.result


def with_defaults(config: Mapping[str, Any], version: Version = LATEST) -> dict[str, Any]:
    """Return a configuration with the defaults of what it leaves out; evictionHard has none of its own here."""
    fields = fields_of(version)
    result = {name: value for name, value in DEFAULTS_OF_ABSENT.items() if name in fields}
    result.update(config)
    if "failCgroupV1" in fields:
        result.setdefault("failCgroupV1", version >= _FAIL_CGROUP_V1_SINCE)
    for name, value in DEFAULTS_OF_EMPTY.items():
        if name in fields and _is_empty(result.get(name), value):
            result[name] = value
    pulls = result.get("maxParallelImagePulls")
    result.setdefault("serializeImagePulls", pulls is None or pulls < 2)  # noqa: PLR2004  more than one at a time
    given = config.get("nodeStatusUpdateFrequency")
    if _is_empty(result.get("nodeStatusReportFrequency"), "5m"):
        result["nodeStatusReportFrequency"] = "5m" if _is_empty(given, "10s") else given
    if result["podPidsLimit"] < 0:
        result["podPidsLimit"] = -1
    return result


def _is_empty(value: Any, default: Any) -> bool:
    if value is default or value == default:
        return False
    if value in (None, "", 0):
        return True
    return isinstance(value, str) and isinstance(default, str) and default[:1].isdigit() and _is_zero(value)


def _is_zero(text: str) -> bool:
    try:
        return go_duration(text) == 0
    except ValueError:
        return False


class _Merger:
    def __init__(self, version: Version, *, tolerant: bool) -> None:
        self.result = MergedConfig()
        self._version = version
        self._fields = fields_of(version)
        self._tolerant = tolerant

    def merge(self, main: ConfigFile | None, dropins: Sequence[ConfigFile] | None, flags: Flags) -> None:
        if flags.faults:
            raise _RefusedError(Reason("flags: unparsable value", what, (), flag) for flag, what in flags.faults)
        self._check_gates(flags.fields, flags.source)
        config = self._main(main)
        if dropins is not None:
            config = self._with_dropins(config, dropins)
        gates = {**config.get(GATES, {}), **flags.fields.get(GATES, {})}
        config.update({name: value for name, value in flags.fields.items() if name != GATES})
        if gates:
            config[GATES] = gates
        # Without an entry, no threshold is in force; the default map was put in where the kubelet puts it in.
        config.setdefault(EVICTION, {})
        self._note(flags.fields, flags.source, whole=True)
        self.result.config = config

    def _main(self, main: ConfigFile | None) -> dict[str, Any]:
        decoded = Decoded()
        if main is not None:
            document = _document(main)
            decoded = decode(document, self._fields)
            self._skip(decoded, main.path)
            if decoded.faults:
                raise _RefusedError(Reason(WRONG_TYPE, what, path, main.path) for path, what in decoded.faults)
            self._check_gates(decoded.values, main.path)
            self._note(decoded.values, main.path)
        config = with_defaults(decoded.values, self._version)
        if EVICTION not in config:
            config[EVICTION] = dict(DEFAULT_EVICTION)
        elif config.get("mergeDefaultEvictionSettings"):
            config[EVICTION] = {**DEFAULT_EVICTION, **config[EVICTION]}
        return config

    def _with_dropins(self, config: Mapping[str, Any], dropins: Sequence[ConfigFile]) -> dict[str, Any]:
        # Empty values do not survive the way through JSON, except the two that the fields' declarations keep.
        merged = {name: value for name, value in config.items() if value not in ({}, []) or name == _KEPT}
        for dropin in dropins:
            document = _document(dropin)
            merged = _patched(merged, document)
            self._note_spelled(document, dropin.path)
        decoded = decode(merged, self._fields, folded=True)
        for path in decoded.ignored:
            self.result.ignored.append(Ignored(self.result.source(path), path))
        if decoded.faults:
            raise _RefusedError(
                Reason(WRONG_TYPE, what, path, self.result.source(path)) for path, what in decoded.faults
            )
        self._check_gates(decoded.values, self.result.source((GATES,)))
        return with_defaults(decoded.values, self._version)

    def _check_gates(self, values: Mapping[str, Any], file: str) -> None:
        given = values.get(GATES) or {}
        reasons = []
        for name in unknown_gates(given, self._version):
            if self._tolerant:
                self.result.unknown_gates = sorted({*self.result.unknown_gates, name})
            else:
                what = f"kubelet {_dotted(self._version)} does not know the feature gate {name}"
                reasons.append(Reason(UNKNOWN_GATE, what, (GATES, name), self.result.source((GATES, name)) or file))
        for name in locked_gates(given, self._version):
            state = "off" if given[name] else "on"
            what = f"feature gate {name} is locked {state} in kubelet {_dotted(self._version)}"
            reasons.append(Reason(LOCKED_GATE, what, (GATES, name), self.result.source((GATES, name)) or file))
        if reasons:
            raise _RefusedError(reasons)

    def _skip(self, decoded: Decoded, file: str) -> None:
        self.result.ignored += [Ignored(file, path) for path in decoded.ignored]

    def _note(self, values: Mapping[str, Any], file: str, *, whole: bool = False) -> None:
        for name, value in values.items():
            if whole and name != GATES:
                for path in [path for path in self.result.sources if path[0] == name]:
                    del self.result.sources[path]
            self.result.sources[(name,)] = file
            for key in value if isinstance(value, Mapping) else ():
                self.result.sources[(name, key)] = file

    def _note_spelled(self, document: Mapping[str, Any], file: str) -> None:
        """Note what a drop-in sets, under the names that it uses and under the right ones."""
        for key, value in document.items():
            self._note({key: value}, file)
            if key not in self._fields:
                names = {name.lower(): name for name in self._fields}
                self._note({names.get(str(key).lower(), key): value}, file)


def _document(file: ConfigFile) -> dict[str, Any]:
    if file.unreadable:
        raise _RefusedError([Reason(UNREADABLE, file.unreadable, (), file.path)])
    if file.document is None:
        raise _RefusedError([Reason(EMPTY_FILE, "the file is empty", (), file.path)])
    if not isinstance(file.document, Mapping):
        raise _RefusedError([Reason(NO_KIND, "the file is no map of fields", (), file.path)])
    head = [file.document.get(name) for name in _HEAD]
    if head != [API_VERSION, KIND]:
        what = f"the file must say apiVersion: {API_VERSION} and kind: {KIND}"
        at: Path = next(((name,) for name in _HEAD if name in file.document), ())
        raise _RefusedError([Reason(NO_KIND, what, at, file.path)])
    return {str(name): value for name, value in file.document.items() if name not in _HEAD}


def _patched(base: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON merge patch applied (RFC 7386)."""
    result = dict(base)
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, Mapping):
            inner = result.get(name)
            result[name] = _patched(inner if isinstance(inner, Mapping) else {}, value)
        else:
            result[name] = value
    return result


def _dotted(version: Version) -> str:
    return f"{version[0]}.{version[1]}"
