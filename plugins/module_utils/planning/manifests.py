# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Reads Kubernetes manifests: every object that makes pods, with the file and line it stands at."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ..core.errors import InputError, problem
from ..core.findings import Origin

STDIN = "-"
_SUFFIXES = (".yaml", ".yml", ".json")
_DEEPEST = 40
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


@dataclass(frozen=True)
class Workload:
    """One object that makes pods.

    Shape: `template` has `metadata` and `spec` of its pods; `replicas` is how many it makes (1 a node for a
    DaemonSet; completions in parallel for a Job); `origin` is where the object begins.
    """

    kind: str
    name: str
    namespace: str
    replicas: int
    template: Mapping[str, Any]
    document: Mapping[str, Any]
    origin: Origin = Origin()

    @property
    def spec(self) -> Mapping[str, Any]:
        """The pod spec."""
        found = self.template.get("spec")
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True)
class Manifests:
    """What was read. `skipped` are objects that make no pods, as `Kind/name`, with where they stand."""

    workloads: tuple[Workload, ...] = ()
    skipped: tuple[tuple[str, Origin], ...] = field(default=())


def read_manifests(paths: Sequence[str]) -> Manifests:
    """Return the workloads of files, directories (searched for .yaml, .yml, .json) and `-` for standard input.

    Sad paths: `InputError` TUN-1801 for a path that cannot be read, TUN-1802 for text that is no YAML, TUN-1803 for
    an object without kind or with a spec of the wrong form.
    """
    workloads: list[Workload] = []
    skipped: list[tuple[str, Origin]] = []
    for file, text in _texts(paths):
        for document, origin in _documents(text, file):
            for item in _items(document, origin, 0):
                workload = _workload(item, origin)
                if workload is None:
                    skipped.append((f"{item.get('kind')}/{_name(item)}", origin))
                else:
                    workloads.append(workload)
    return Manifests(tuple(workloads), tuple(skipped))


def _texts(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        if path == STDIN:
            yield "standard input", sys.stdin.read()
            continue
        place = Path(path)
        files = sorted(one for one in place.rglob("*") if one.suffix in _SUFFIXES) if place.is_dir() else [place]
        if not files:
            raise _unreadable(path, "the directory holds no .yaml, .yml or .json file")
        for file in files:
            yield str(file), _read(file)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise _unreadable(str(file), error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise _unreadable(str(file), f"it is not UTF-8 text (byte {error.start})") from error


def _documents(text: str, file: str) -> Iterator[tuple[Any, Origin]]:
    try:
        loader = yaml.SafeLoader(text)
        while loader.check_node():
            node = loader.get_node()
            if node is None:
                return
            yield loader.construct_document(node), Origin(file, node.start_mark.line + 1, node.start_mark.column + 1)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Origin(file, mark.line + 1, mark.column + 1) if mark else Origin(file)
        raise _not_yaml(place, str(error.problem or error.context)) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise _not_yaml(Origin(file), str(error).splitlines()[0]) from error


def _items(document: Any, origin: Origin, depth: int) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a document: itself, or the members of a List. Empty documents have none."""
    if document is None:
        return
    if not isinstance(document, dict) or not isinstance(document.get("kind"), str):
        raise _bad_object(origin, "an object has no kind", "every Kubernetes object names apiVersion and kind")
    if not str(document["kind"]).endswith("List"):
        yield document
        return
    items = document.get("items") or []
    if not isinstance(items, list) or depth > _DEEPEST:
        raise _bad_object(origin, f"{document['kind']} has no list of items", "items is a list of objects")
    for item in items:
        yield from _items(item, origin, depth + 1)


def _workload(item: Mapping[str, Any], origin: Origin) -> Workload | None:
    kind = str(item["kind"])
    if kind not in TEMPLATES:
        return None
    template: Any = item
    for key in TEMPLATES[kind]:
        template = template.get(key) if isinstance(template, dict) else None
    if not isinstance(template, dict) or not isinstance(template.get("spec"), dict):
        raise _bad_object(origin, f"{kind}/{_name(item)} has no pod spec", "expected at " + _path(kind))
    metadata = item.get("metadata")
    namespace = str(metadata.get("namespace") or "") if isinstance(metadata, dict) else ""
    return Workload(kind, _name(item), namespace, _replicas(item, kind, origin), template, item, origin)


def _replicas(item: Mapping[str, Any], kind: str, origin: Origin) -> int:
    spec = item.get("spec")
    fields = spec if isinstance(spec, dict) else {}
    if kind in ("Pod", "PodTemplate", _ONE_A_NODE, "CronJob"):
        return 1
    value = fields.get("parallelism" if kind == "Job" else "replicas", 1)
    if value is None:
        return 1
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _bad_object(origin, f"{kind}/{_name(item)} has {value!r} replicas", "a whole number, 0 or more")
    return value


def _path(kind: str) -> str:
    return ".".join((*TEMPLATES[kind], "spec"))


def _name(item: Mapping[str, Any]) -> str:
    metadata = item.get("metadata")
    if not isinstance(metadata, dict):
        return "unnamed"
    return str(metadata.get("name") or metadata.get("generateName") or "unnamed")


def _unreadable(path: str, why: str) -> InputError:
    fix = "name manifest files, directories of them, or - for standard input"
    return InputError((problem("TUN-1801", "a manifest cannot be read", where=path, why=why, fix=fix),))


def _not_yaml(place: Origin, why: str) -> InputError:
    return InputError((problem("TUN-1802", "a manifest is not YAML", where=str(place), why=why, fix="mend the file"),))


def _bad_object(place: Origin, what: str, why: str) -> InputError:
    return InputError((problem("TUN-1803", what, where=str(place), why=why, fix="mend the object"),))
