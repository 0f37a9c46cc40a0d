# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""An object that makes pods, as the audit looks at it: the defaulted pod beside the fields as they were written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from ..findings import Origin
from ..kubelet.pod import Container, Pod, Qos, whole_cpus
from .paths import Path, as_list, as_map, as_text

ONE_A_NODE = "DaemonSet"
_NAMES = ("app.kubernetes.io/name", "app")


def nowhere(path: Path) -> Origin:
    """Return that the place of a field is not known."""
    del path
    return Origin()


@dataclass(frozen=True)
class ContainerView:
    """One container: its fields as written, its resources as defaulted, and where it stands in the object."""

    written: Mapping[str, Any]
    defaulted: Container
    path: Path

    @property
    def name(self) -> str:
        """The container's name."""
        return self.defaulted.name

    @property
    def kind(self) -> str:
        """What runs it: `app`, `init`, or `sidecar` for an init container that keeps running."""
        return "sidecar" if self.defaulted.is_sidecar else "init" if self.defaulted.is_init else "app"

    @property
    def title(self) -> str:
        """The container in a sentence."""
        word = {"app": "container", "init": "init container", "sidecar": "sidecar"}[self.kind]
        return f"{word} {self.name or 'without a name'}"

    def resource(self, part: str, name: str) -> str:
        """Return a quantity as written in `requests` or `limits`, empty where there is none."""
        return as_text(as_map(as_map(self.written.get("resources")).get(part)).get(name))

    def resource_path(self, part: str, name: str) -> Path:
        """Return the place of a quantity in the object."""
        return (*self.path, "resources", part, name)

    def is_fixed(self) -> bool:
        """Return whether it keeps its pod Guaranteed: limits of cpu and memory, and requests that equal them."""
        one = self.defaulted
        return all(
            one.limits.get(name, Fraction(0)) > 0 and one.requests.get(name) == one.limits[name]
            for name in ("cpu", "memory")
        )

    def is_whole(self) -> bool:
        """Return whether it would get CPUs of its own in a Guaranteed pod."""
        return self.is_fixed() and whole_cpus(self.defaulted.requests) > 0


@dataclass(frozen=True)
class Subject:
    """An object that makes pods.

    Shape: `document` is the whole object, `template` the path of its pod template, `pod` the defaulted pod; `place`
    tells the file and line of a field; `injection` names the service mesh that adds containers to the pod, empty
    where none does; `priority_known` is false when the priority is that of a class that nobody has described.
    """

    kind: str
    name: str
    namespace: str
    replicas: int
    document: Mapping[str, Any]
    template: Path
    pod: Pod
    place: Callable[[Path], Origin] = nowhere
    injection: str = ""
    priority_known: bool = True

    @property
    def title(self) -> str:
        """Kind and name, with the namespace where one is written."""
        return f"{self.kind}/{self.namespace}/{self.name}" if self.namespace else f"{self.kind}/{self.name}"

    @cached_property
    def _template(self) -> Mapping[str, Any]:
        value: Any = self.document
        for step in self.template:
            value = as_map(value).get(str(step))
        return as_map(value)

    @property
    def spec(self) -> Mapping[str, Any]:
        """The pod's spec as written."""
        return as_map(self._template.get("spec"))

    @property
    def labels(self) -> dict[str, str]:
        """The pod's labels."""
        return _texts(as_map(self._template.get("metadata")).get("labels"))

    @property
    def annotations(self) -> dict[str, str]:
        """The pod's annotations."""
        return _texts(as_map(self._template.get("metadata")).get("annotations"))

    def in_spec(self, *steps: str | int) -> Path:
        """Return the path of a field of the pod's spec."""
        return (*self.template, "spec", *steps)

    def in_metadata(self, *steps: str | int) -> Path:
        """Return the path of a field of the pod's metadata."""
        return (*self.template, "metadata", *steps)

    @cached_property
    def containers(self) -> tuple[ContainerView, ...]:
        """Init containers, then app containers."""
        return (*self._views("initContainers", self.pod.init), *self._views("containers", self.pod.app))

    def _views(self, key: str, defaulted: tuple[Container, ...]) -> Iterator[ContainerView]:
        for index, (written, one) in enumerate(zip(as_list(self.spec.get(key)), defaulted)):
            yield ContainerView(as_map(written), one, self.in_spec(key, index))

    @property
    def is_guaranteed(self) -> bool:
        """Whether the pod's class is Guaranteed."""
        return self.pod.qos is Qos.GUARANTEED

    @property
    def app_label(self) -> tuple[str, str]:
        """The label that names the application, as key and value; empty texts where it has none."""
        return next(((key, self.labels[key]) for key in _NAMES if self.labels.get(key)), ("", ""))

    @property
    def makes_copies(self) -> bool:
        """Whether several pods of it exist at a time, wherever the scheduler puts them."""
        return self.replicas > 1 and self.kind != ONE_A_NODE


def _texts(value: Any) -> dict[str, str]:
    return {str(key): as_text(item) for key, item in as_map(value).items()}
