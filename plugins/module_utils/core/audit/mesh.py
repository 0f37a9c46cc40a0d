# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Service meshes: containers that are added when the pod is made, and what they do to its class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..errors import InputError
from ..findings import Severity
from ..quantity import parse_quantity
from .expectation import Expectation
from .finding import PodFinding, Says, finding
from .paths import as_map, as_text
from .qos import MESH_CONTAINERS
from .subject import Subject

ISTIO, LINKERD = "Istio", "Linkerd"


@dataclass(frozen=True)
class _Mesh:
    """How a mesh is told what its proxy may use: annotations of request and limit, by resource."""

    cpu: tuple[str, str]
    memory: tuple[str, str]


# Source: Istio resource annotations; Linkerd proxy configuration annotations.
_MESHES = {
    ISTIO: _Mesh(
        ("sidecar.istio.io/proxyCPU", "sidecar.istio.io/proxyCPULimit"),
        ("sidecar.istio.io/proxyMemory", "sidecar.istio.io/proxyMemoryLimit"),
    ),
    LINKERD: _Mesh(
        ("config.linkerd.io/proxy-cpu-request", "config.linkerd.io/proxy-cpu-limit"),
        ("config.linkerd.io/proxy-memory-request", "config.linkerd.io/proxy-memory-limit"),
    ),
}
_ISTIO_INJECT = "sidecar.istio.io/inject"
_LINKERD_INJECT = "linkerd.io/inject"


def injection_of(labels: Mapping[str, str], annotations: Mapping[str, str], namespace: Mapping[str, object]) -> str:
    """Return the mesh that adds containers to pods with these labels and annotations; empty when none does.

    Shape: `namespace` is the Namespace object where one is given. What the pod says wins over its namespace.
    Source: Istio sidecar injection; Linkerd automatic proxy injection.
    """
    metadata = as_map(as_map(namespace).get("metadata"))
    space_labels, space_notes = as_map(metadata.get("labels")), as_map(metadata.get("annotations"))
    istio = labels.get(_ISTIO_INJECT) or annotations.get(_ISTIO_INJECT) or ""
    in_space = as_text(space_labels.get("istio-injection")) == "enabled" or "istio.io/rev" in space_labels
    if istio == "true" or (in_space and istio != "false") or ("istio.io/rev" in labels and istio != "false"):
        return ISTIO
    linkerd = annotations.get(_LINKERD_INJECT) or as_text(space_notes.get(_LINKERD_INJECT))
    return LINKERD if linkerd in ("enabled", "ingress") else ""


def check_mesh(subject: Subject, expectation: Expectation) -> Iterator[PodFinding]:
    """Yield the finding about a mesh whose proxy would take the class Guaranteed from the pod."""
    mesh = _MESHES.get(subject.injection)
    if mesh is None or any(one.name in MESH_CONTAINERS for one in subject.containers):
        return  # none, or already in the manifest: its containers are judged like others
    if expectation.tier is not None and not expectation.tier.pins:
        return
    if not (subject.is_guaranteed and any(one.is_whole() for one in subject.containers)):
        return
    wrong = [pair for pair in (mesh.cpu, mesh.memory) if not _same(subject.annotations, pair)]
    if not wrong:
        return
    names = ", ".join(name for pair in wrong for name in pair)
    says = Says(
        f"{subject.injection} adds a proxy to the pod, and its requests and limits are not set to be the same: the pod "
        "becomes Burstable and loses its CPUs",
        expected=f"equal values of {names}",
        actual=", ".join(f"{name}={subject.annotations[name]}" for pair in wrong for name in pair if name in
                         subject.annotations) or "not set",
        remedy=f"Set the annotations {names}, request and limit to the same value.",
    )  # fmt: skip
    yield finding("pod.sidecar.injected", Severity.WARNING, subject, subject.in_metadata("annotations"), says)


def _same(annotations: Mapping[str, str], pair: tuple[str, str]) -> bool:
    request, limit = (annotations.get(name, "") for name in pair)
    if not request or not limit:
        return False
    try:
        return parse_quantity(request) == parse_quantity(limit) > 0
    except InputError:
        return False
