# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Reads Kubernetes manifests: every object that makes pods, with the file and line it stands at."""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..core.errors import InputError, problem
from ..core.findings import Origin
from .manifest_source import Source, contains_itself
from .manifest_yaml import Document, ManifestYamlError, read_documents

STDIN = "-"
_SUFFIXES = (".yaml", ".yml", ".json")
_STREAM = "standard input"
# Lists may hold lists, and aliases may repeat them: a small file could mean more than a cluster holds.
_DEEPEST = 20
_MOST_OBJECTS = 50_000
# Where the pod template of each kind is. Source: Kubernetes API reference, workload resources.
TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "Pod": (),
    "PodTemplate": ("template",),
    "ReplicationController": ("spec", "template"),
    "ReplicaSet": ("spec", "template"),
    "Deployment": ("spec", "template"),
    "StatefulSet": ("spec", "template"),
    "DaemonSet": ("spec", "template"),
    "Job": ("spec", "template"),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
}
_ONE_A_NODE = "DaemonSet"
_RELATED = ("Namespace", "PriorityClass", "RuntimeClass")
# Source: Kubernetes 1.36 API reference; earlier versions of these groups are no longer served.
API_VERSIONS: Mapping[str, str] = {
    **dict.fromkeys(("Pod", "PodTemplate", "ReplicationController"), "v1"),
    **dict.fromkeys(("ReplicaSet", "Deployment", "StatefulSet", "DaemonSet"), "apps/v1"),
    **dict.fromkeys(("Job", "CronJob"), "batch/v1"),
}
_BUILT_IN_GROUPS = ("", "apps", "batch", "extensions")


@dataclass(frozen=True)
class Workload:
    """One object that makes pods.

    Shape: `template` has `metadata` and `spec` of its pods; `replicas` is how many it makes (1 a node for a
    DaemonSet; completions in parallel for a Job); `origin` is where the object begins, `source` the text it is in.
    """

    kind: str
    name: str
    namespace: str
    replicas: int
    template: Mapping[str, Any]
    document: Mapping[str, Any]
    origin: Origin = Origin()
    source: Source | None = field(default=None, compare=False)

    @property
    def spec(self) -> Mapping[str, Any]:
        """The pod spec."""
        found = self.template.get("spec")
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True)
class Manifests:
    """What was read.

    Shape: `skipped` are objects that make no pods, as `Kind/name`, with where they stand; `related` are those of them
    that say something about pods (namespaces, priority and runtime classes); `texts` are the files, in their order.
    """

    workloads: tuple[Workload, ...] = ()
    skipped: tuple[tuple[str, Origin], ...] = field(default=())
    related: tuple[Mapping[str, Any], ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict, compare=False)


def read_manifests(paths: Sequence[str]) -> Manifests:
    """Return the workloads of files, directories (searched for .yaml, .yml, .json) and `-` for standard input.

    Shape: kinds of other API groups are skipped, also those that are called as a built-in one.
    Sad paths: `InputError` TUN-1801 for a path that cannot be read, TUN-1802 for text that is no YAML, TUN-1803 for
    an object without kind or with a spec of the wrong form, TUN-1807 for an API version that is not served.
    """
    return manifests_of(_texts(paths))


def manifests_of(texts: Iterable[tuple[str, str]]) -> Manifests:
    """Return the workloads of texts, each with the name of its file; raises as `read_manifests`."""
    workloads: list[Workload] = []
    skipped: list[tuple[str, Origin]] = []
    related: list[Mapping[str, Any]] = []
    known: dict[str, str] = {}
    for count, (found, text) in enumerate(_objects(texts, known)):
        item, origin = found.data, found.origin
        if count >= _MOST_OBJECTS:
            raise _bad_object(origin, "the manifests mean too many objects", f"at most {_MOST_OBJECTS} are read")
        workload = _workload(item, origin)
        if workload is None:
            skipped.append((f"{item.get('kind')}/{_name(item)}", origin))
            related += [item] if item["kind"] in _RELATED else []
        else:
            workloads.append(replace(workload, source=Source(origin.file, text, found.node)))
    return Manifests(tuple(workloads), tuple(skipped), tuple(related), known)


def _objects(texts: Iterable[tuple[str, str]], known: dict[str, str]) -> Iterator[tuple[Document, str]]:
    for file, text in texts:
        known[file] = text
        for document in _documents(text, file):
            if contains_itself(document.node):
                raise _bad_object(document.origin, "an alias holds itself", "no object can be written like that")
            for found in _of(document):
                yield found, text


def _texts(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        if path == STDIN:
            yield _STREAM, _decoded(sys.stdin.buffer.read(), _STREAM)
            continue
        for file in _files(path):
            yield str(file), _decoded(_bytes(file), str(file))


def _files(path: str) -> list[Path]:
    place = Path(path)
    try:
        if not place.is_dir():
            return [place]
        files = sorted(one for one in place.rglob("*") if one.suffix in _SUFFIXES and not one.is_dir())
    except (OSError, ValueError) as error:
        raise _unreadable(path, str(error)) from error
    if not files:
        raise _unreadable(path, "the directory holds no .yaml, .yml or .json file")
    return files


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise _unreadable(str(file), error.strerror or str(error)) from error
    except ValueError as error:
        raise _unreadable(str(file), str(error)) from error


def _decoded(raw: bytes, place: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise _unreadable(f"{place}:{line}", f"it is not UTF-8 text (byte {error.start})") from error


def _documents(text: str, file: str) -> Iterator[Document]:
    try:
        yield from read_documents(text, file)
    except ManifestYamlError as error:
        fix = "mend the file: kubectl apply --dry-run=client reads it the same way"
        where = str(error.origin)
        raise InputError(
            (problem("TUN-1802", "a manifest is not YAML", where=where, why=error.why, fix=fix),)
        ) from error


def _of(document: Document, depth: int = 0) -> Iterator[Document]:
    """Yield the objects of a document: itself, or the members of a List. Empty documents have none."""
    data, origin = document.data, document.origin
    if data is None:
        return
    if not isinstance(data, dict) or not isinstance(data.get("kind"), str) or not data["kind"]:
        raise _bad_object(origin, "an object has no kind", "every Kubernetes object names apiVersion and kind")
    if not isinstance(data.get("apiVersion"), str) or not data["apiVersion"]:
        raise _bad_object(origin, f"{_title(data)} has no apiVersion", "every Kubernetes object names one")
    if not data["kind"].endswith("List") or "items" not in data:
        yield document
        return
    items = document.items()
    if items is None or depth > _DEEPEST:
        why = f"lists are {depth} deep" if depth > _DEEPEST else "items is a list of objects"
        raise _bad_object(origin, f"{data['kind']} has no list of items that can be read", why)
    for item in items:
        yield from _of(item, depth + 1)


def _workload(item: Mapping[str, Any], origin: Origin) -> Workload | None:
    kind, version = str(item["kind"]), str(item["apiVersion"])
    group = version.rpartition("/")[0]
    if kind not in TEMPLATES or group not in _BUILT_IN_GROUPS:
        return None
    if version != API_VERSIONS[kind]:
        raise InputError(
            (
                problem(
                    "TUN-1807",
                    f"{_title(item)} is of API version {version}",
                    where=str(origin),
                    why=f"Kubernetes serves {kind} as {API_VERSIONS[kind]} only",
                    fix=f"write apiVersion: {API_VERSIONS[kind]}, and adapt the fields that differ",
                ),
            )
        )
    template: Any = item
    for key in TEMPLATES[kind]:
        template = template.get(key) if isinstance(template, dict) else None
    if not isinstance(template, dict) or not isinstance(template.get("spec"), dict):
        raise _bad_object(origin, f"{_title(item)} has no pod spec", "expected at " + _path(kind))
    metadata = item.get("metadata")
    namespace = str(metadata.get("namespace") or "") if isinstance(metadata, dict) else ""
    return Workload(kind, _name(item), namespace, _replicas(item, kind, origin), template, item, origin)


def _replicas(item: Mapping[str, Any], kind: str, origin: Origin) -> int:
    spec = item.get("spec")
    fields = spec if isinstance(spec, dict) else {}
    if kind in ("Pod", "PodTemplate", _ONE_A_NODE, "CronJob"):
        return 1
    name = "parallelism" if kind == "Job" else "replicas"
    value = fields.get(name, 1)
    if value is None:
        return 1
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        shown = "a number below 0" if isinstance(value, int) else reprlib.repr(value)
        raise _bad_object(origin, f"{_title(item)} has {name} {shown}", "it is a whole number, 0 or more")
    return value


def _path(kind: str) -> str:
    return ".".join((*TEMPLATES[kind], "spec"))


def _title(item: Mapping[str, Any]) -> str:
    return f"{item.get('kind')}/{_name(item)}"


def _name(item: Mapping[str, Any]) -> str:
    metadata = item.get("metadata")
    if not isinstance(metadata, dict):
        return "unnamed"
    return str(metadata.get("name") or metadata.get("generateName") or "unnamed")


def _unreadable(path: str, why: str) -> InputError:
    fix = "name manifest files, directories of them, or - for standard input"
    return InputError((problem("TUN-1801", "a manifest cannot be read", where=path, why=why, fix=fix),))


def _bad_object(place: Origin, what: str, why: str) -> InputError:
    return InputError((problem("TUN-1803", what, where=str(place), why=why, fix="mend the object"),))
