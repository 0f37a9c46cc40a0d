# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Pods as the kubelet reads them: defaulted requests, quality-of-service class, who may get exclusive CPUs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import Any

from ..quantity import parse_quantity, round_up

Resources = Mapping[str, Fraction]

SYSTEM_CRITICAL_PRIORITY = 2_000_000_000
_CLASS_RESOURCES = ("cpu", "memory")
_BURSTABLE_LOWEST, _BURSTABLE_HIGHEST = 3, 999


class Qos(Enum):
    """Quality-of-service classes."""

    GUARANTEED = "Guaranteed"
    BURSTABLE = "Burstable"
    BEST_EFFORT = "BestEffort"


@dataclass(frozen=True)
class Container:
    """A container after API defaulting. Scale: cores for cpu, bytes for memory and hugepages."""

    name: str
    requests: Resources = field(default_factory=dict)
    limits: Resources = field(default_factory=dict)
    is_init: bool = False
    is_sidecar: bool = False

    @property
    def memory_request(self) -> int:
        """Memory request in bytes, 0 when unset."""
        return round_up(self.requests.get("memory", Fraction(0)))


@dataclass(frozen=True)
class Pod:
    """A pod after API defaulting; `init` and `app` containers in their order."""

    name: str
    app: tuple[Container, ...]
    init: tuple[Container, ...] = ()
    requests: Resources = field(default_factory=dict)
    limits: Resources = field(default_factory=dict)
    priority: int = 0
    priority_class: str = ""
    is_static: bool = False

    @property
    def containers(self) -> tuple[Container, ...]:
        """Init containers, then app containers: the order of admission."""
        return self.init + self.app

    @cached_property
    def has_pod_resources(self) -> bool:
        """Whether resources are set at pod level."""
        return any(_is_pod_level(name) for name in (*self.requests, *self.limits))

    @cached_property
    def total_requests(self) -> Resources:
        """What the scheduler counts for the pod: its own requests where set, else the peak of its containers."""
        return {**aggregate_requests(self.init, self.app), **self.requests}

    @cached_property
    def qos(self) -> Qos:
        """The class. Source: Kubernetes 1.36, `ComputePodQOS`."""
        if self.has_pod_resources:
            return _qos([(self.requests, self.limits)], every_needs_limits=bool(self.limits))
        return _qos([(one.requests, one.limits) for one in self.containers], every_needs_limits=True)


def pod_from_spec(spec: Mapping[str, Any]) -> Pod:
    """Return the pod of a spec fragment, defaulted as the API server does.

    Shape: `name`, `containers`, `initContainers`, `resources` (pod level), `priority`, `priorityClassName`; a
    container's requests and limits stand in `resources`, or beside its name in the short form.
    Raises `InputError` for a quantity that cannot be read.
    """
    init = tuple(_container(one, is_init=True) for one in spec.get("initContainers") or ())
    app = tuple(_container(one, is_init=False) for one in spec.get("containers") or ())
    own = spec.get("resources") or {}
    limits = _quantities(own.get("limits"))
    requests = _pod_requests(_quantities(own.get("requests")), limits, init, app)
    return Pod(
        name=str(spec.get("name", "")),
        app=app,
        init=init,
        requests=requests,
        limits=limits,
        priority=int(spec.get("priority") or 0),
        priority_class=str(spec.get("priorityClassName") or ""),
        is_static=bool(spec.get("static")),
    )


def aggregate_requests(init: Sequence[Container], app: Sequence[Container]) -> dict[str, Fraction]:
    """Return what a pod needs at its peak: apps and sidecars together, or the largest init container on its way."""
    running: dict[str, Fraction] = {}
    for one in app:
        _add(running, one.requests)
    sidecars: dict[str, Fraction] = {}
    peak: dict[str, Fraction] = {}
    for one in init:
        if one.is_sidecar:
            _add(sidecars, one.requests)
            need = dict(sidecars)
        else:
            need = dict(one.requests)
            _add(need, sidecars)
        for name, value in need.items():
            peak[name] = max(peak.get(name, Fraction(0)), value)
    _add(running, sidecars)
    return {name: max(running.get(name, Fraction(0)), peak.get(name, Fraction(0))) for name in {**running, **peak}}


def exclusive_cpus(pod: Pod, container: Container) -> int:
    """Return how many CPUs the static policy tries to pin for a container; 0 means the shared pool.

    Source: Kubernetes 1.36, static policy with PodLevelResourceManagers off.
    """
    if pod.qos is not Qos.GUARANTEED or pod.has_pod_resources:
        return 0
    return whole_cpus(container.requests)


def whole_cpus(requests: Resources) -> int:
    """Return the cpu request when it is a whole number of CPUs, else 0."""
    millis = round_up(requests.get("cpu", Fraction(0)) * 1000)
    return millis // 1000 if millis % 1000 == 0 else 0


def oom_score_adj(pod: Pod, container: Container, machine_memory: int) -> int:
    """Return the oom_score_adj that the kubelet gives a container's processes.

    Scale: `machine_memory` is the machine's memory in bytes (not allocatable); the result is -997, 3 to 999, or 1000.
    Source: Kubernetes 1.36, kubelet qos policy.
    """
    qos = pod.qos
    if qos is Qos.GUARANTEED or _is_node_critical(pod):
        return -997
    if qos is Qos.BEST_EFFORT:
        return 1000
    share = _pod_level_share(pod)
    score = _score(container.memory_request + share, machine_memory)
    if container.is_sidecar:
        smallest = min((one.memory_request for one in pod.app), default=0)
        score = min(score, _score(smallest + share, machine_memory))
    return _BURSTABLE_HIGHEST if score > _BURSTABLE_HIGHEST else max(score, _BURSTABLE_LOWEST)


def _score(request: int, capacity: int) -> int:
    return 1000 - int(Fraction(1000 * request, capacity)) if capacity else 1000


def _pod_level_share(pod: Pod) -> int:
    if "memory" not in pod.requests or not pod.has_pod_resources:
        return 0
    asked = round_up(pod.requests["memory"])
    inside = round_up(aggregate_requests(pod.init, pod.app).get("memory", Fraction(0)))
    return max(0, asked - inside) // len(pod.containers)


def _is_node_critical(pod: Pod) -> bool:
    critical = pod.is_static or pod.priority >= SYSTEM_CRITICAL_PRIORITY
    return critical and pod.priority_class == "system-node-critical"


def _container(spec: Mapping[str, Any], *, is_init: bool) -> Container:
    own = spec.get("resources") or spec
    limits = _quantities(own.get("limits"))
    requests = {**limits, **_quantities(own.get("requests"))}
    sidecar = is_init and spec.get("restartPolicy") == "Always"
    return Container(str(spec.get("name", "")), requests, limits, is_init, sidecar)


def _quantities(values: Mapping[str, Any] | None) -> dict[str, Fraction]:
    """The API server rounds every quantity up to thousandths."""
    read = {name: parse_quantity(str(value)) for name, value in (values or {}).items()}
    return {name: Fraction(round_up(value * 1000), 1000) for name, value in read.items()}


def _pod_requests(
    requests: Mapping[str, Fraction], limits: Resources, init: Sequence[Container], app: Sequence[Container]
) -> dict[str, Fraction]:
    filled = dict(requests)
    if not requests and not limits:
        return filled
    for source in (aggregate_requests(init, app), limits):
        for name, value in source.items():
            if name not in filled and _is_pod_level(name):
                filled[name] = value
    return filled


def _is_pod_level(name: str) -> bool:
    return name in _CLASS_RESOURCES or name.startswith("hugepages-")


def _add(total: dict[str, Fraction], more: Resources) -> None:
    for name, value in more.items():
        total[name] = total.get(name, Fraction(0)) + value


def _qos(pairs: Iterable[tuple[Resources, Resources]], *, every_needs_limits: bool) -> Qos:
    requests: dict[str, Fraction] = {}
    limits: dict[str, Fraction] = {}
    guaranteed = True
    for asked, capped in pairs:
        _add(requests, dict(_positive(asked)))
        bounded = dict(_positive(capped))
        _add(limits, bounded)
        if every_needs_limits and len(bounded) < len(_CLASS_RESOURCES):
            guaranteed = False
    if not requests and not limits:
        return Qos.BEST_EFFORT
    return Qos.GUARANTEED if guaranteed and requests == limits else Qos.BURSTABLE


def _positive(resources: Resources) -> Iterator[tuple[str, Fraction]]:
    return ((name, resources[name]) for name in _CLASS_RESOURCES if resources.get(name, Fraction(0)) > 0)
