# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Copies apart: topology spread of replicas, anti-affinity between heavy applications."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ..findings import Severity
from ..kubelet.pod import aggregate_requests
from ..quantity import format_quantity
from .edits import Edit
from .expectation import Expectation, node_labels
from .finding import PodFinding, Says, finding
from .paths import as_list, as_map, as_text, at
from .subject import ONE_A_NODE, Subject

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
# Kinds whose pods serve until they are stopped; copies of a job just share the work.
SERVICES = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "DeploymentConfig")


def check_spread(subject: Subject, expectation: Expectation) -> Iterator[PodFinding]:
    """Yield whether the copies of a pod are kept apart, and whether the rules for it select them."""
    yield from _selects_nothing(subject)
    if subject.kind not in SERVICES or not subject.makes_copies or keeps_copies_apart(subject):
        return
    matters = expectation.pinned or is_heavy(subject, expectation)
    path = subject.in_spec("topologySpreadConstraints")
    says = Says(
        f"{subject.replicas} copies may all land on one node: nothing spreads them",
        expected=f"topologySpreadConstraints over {HOST}",
        actual="none",
        edits=tuple(Edit(path, one, append=True) for one in spread_of(subject)) if matters else (),
    )
    yield finding("pod.spread.missing", Severity.WARNING if matters else Severity.INFO, subject, path, says)


def spread_of(subject: Subject) -> list[dict[str, Any]]:
    """Return the constraints that spread copies over zones, then over nodes; none for a pod without labels.

    They prefer: where zones have no label, or a node is drained, a rule that insists leaves pods Pending.
    """
    labels = own_labels(subject)
    if not labels:
        return []
    return [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": dict(labels)},
        }
        for key in (ZONE, HOST)
    ]


def own_labels(subject: Subject) -> dict[str, str]:
    """Return the label by which a pod is told from others: its application's name, else all it has."""
    key, value = subject.app_label
    return {key: value} if key else dict(subject.labels)


def keeps_copies_apart(subject: Subject) -> bool:
    """Return whether some rule of the pod spreads its own copies over nodes."""
    constraints = as_list(subject.spec.get("topologySpreadConstraints"))
    if any(selects(as_map(one).get("labelSelector"), subject.labels) for one in constraints):
        return True
    return any(selects(term.get("labelSelector"), subject.labels) for term in _terms(subject, with_preferred=True))


def is_heavy(subject: Subject, expectation: Expectation) -> bool:
    """Return whether the application takes enough CPUs to be kept away from others like it.

    On a tier that shares its CPUs on purpose nobody is.
    """
    on_shared = expectation.tier is not None and not expectation.tier.pins
    return not on_shared and subject.kind != ONE_A_NODE and _cpus(subject) >= expectation.context.heavy_cpus


def _cpus(subject: Subject) -> Fraction:
    return {**aggregate_requests(subject.pod.init, subject.pod.app), **subject.pod.requests}.get("cpu", Fraction(0))


def check_anti_affinity(pairs: Sequence[tuple[Subject, Expectation]]) -> Iterator[tuple[int, PodFinding]]:
    """Yield, for heavy applications that may meet on a node, who does not repel whom, with its place in `pairs`.

    One of two is enough: the scheduler also keeps a pod away from nodes whose pods repel it.
    """
    for index, (subject, expectation) in enumerate(pairs):
        rivals = rivals_of(index, pairs)
        if rivals:
            yield index, _missing(subject, expectation, rivals)


def rivals_of(index: int, pairs: Sequence[tuple[Subject, Expectation]]) -> list[Subject]:
    """Return the heavy applications that a heavy one may meet on a node, with nothing to keep them apart."""
    subject, expectation = pairs[index]
    if not is_heavy(subject, expectation):
        return []
    return [
        other
        for number, (other, of_other) in enumerate(pairs)
        if number != index
        and is_heavy(other, of_other)
        and _may_meet(subject, expectation, other, of_other)
        and not (repels(subject, other) or repels(other, subject))
    ]


def _missing(subject: Subject, expectation: Expectation, rivals: Sequence[Subject]) -> PodFinding:
    path = subject.in_spec("affinity", "podAntiAffinity", REQUIRED)
    names = ", ".join(dict.fromkeys(one.title for one in rivals))
    term = repulsion(subject, rivals)
    says = Says(
        f"the pod takes {format_quantity(_cpus(subject))} CPUs (heavy from {expectation.context.heavy_cpus}) and may "
        f"share a node, its cache and its memory bandwidth with {names}",
        expected=f"required podAntiAffinity on {HOST}",
        actual="none",
        edits=(Edit(path, term, append=True),) if term else (),
        remedy="" if term else "Give each application the label app or app.kubernetes.io/name, and repel the others.",
    )
    return finding("pod.antiaffinity.missing", Severity.WARNING, subject, path, says)


def repulsion(subject: Subject, rivals: Sequence[Subject]) -> dict[str, Any] | None:
    """Return the required anti-affinity term against other applications; None when no one label names them all."""
    keys = {one.app_label[0] for one in rivals}
    own_key, own_name = subject.app_label
    if len(keys) != 1 or "" in keys:
        return None
    names = sorted({one.app_label[1] for one in rivals})
    if own_key in keys and own_name in names:
        return None  # two objects of one application: a rule by its name would keep its own copies apart
    term: dict[str, Any] = {
        "labelSelector": {"matchExpressions": [{"key": keys.pop(), "operator": "In", "values": names}]},
        "topologyKey": HOST,
    }
    spaces = sorted({one.namespace for one in rivals})
    if spaces == [subject.namespace]:
        return term  # a term without namespaces is about the pod's own
    # Where a manifest leaves the namespace open, the name of the application has to do.
    return {**term, **({"namespaces": spaces} if all(spaces) else {"namespaceSelector": {}})}


def repels(subject: Subject, other: Subject) -> bool:
    """Return whether a pod refuses nodes on which another one runs."""
    for term in _terms(subject, with_preferred=False):
        if selects(term.get("labelSelector"), other.labels) and _in_namespaces(term, subject, other):
            return True
    return False


def _in_namespaces(term: Mapping[str, Any], subject: Subject, other: Subject) -> bool:
    selector = term.get("namespaceSelector")
    if isinstance(selector, Mapping) and not selector:
        return True
    named = [as_text(one) for one in as_list(term.get("namespaces"))]
    if named:
        return (other.namespace or "default") in named
    if selector is not None:
        return True  # it goes by labels of namespaces, which nobody here knows: the author has thought of them
    return (other.namespace or "default") == (subject.namespace or "default")


def _terms(subject: Subject, *, with_preferred: bool) -> Iterator[Mapping[str, Any]]:
    """Yield the anti-affinity terms that keep pods on different nodes."""
    rules = as_map(at(subject.spec, ("affinity", "podAntiAffinity")))
    terms = [as_map(one) for one in as_list(rules.get(REQUIRED))]
    if with_preferred:
        terms += [as_map(as_map(one).get("podAffinityTerm")) for one in as_list(rules.get(_PREFERRED))]
    for term in terms:
        if as_text(term.get("topologyKey")) in (HOST, ZONE):
            yield term


def selects(selector: Any, labels: Mapping[str, str]) -> bool:
    """Return whether a label selector matches; one that is absent matches nothing, an empty one everything.

    Source: Kubernetes API, LabelSelector.
    """
    if not isinstance(selector, Mapping):
        return False
    for key, value in as_map(selector.get("matchLabels")).items():
        if labels.get(str(key)) != as_text(value):
            return False
    return all(_matches(as_map(one), labels) for one in as_list(selector.get("matchExpressions")))


def _matches(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, operator = as_text(expression.get("key")), as_text(expression.get("operator"))
    values = {as_text(one) for one in as_list(expression.get("values"))}
    answers = {
        "In": labels.get(key) in values,
        "NotIn": labels.get(key) not in values,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }
    return answers.get(operator, False)


def _may_meet(subject: Subject, expectation: Expectation, other: Subject, of_other: Expectation) -> bool:
    """Whether two pods can land on the same node: no label of which they demand different values."""
    if expectation.tier is not None and of_other.tier is not None and expectation.tier != of_other.tier:
        return False
    mine, theirs = node_labels(subject), node_labels(other)
    return all(mine[key] & theirs[key] for key in mine.keys() & theirs.keys())


def _selects_nothing(subject: Subject) -> Iterator[PodFinding]:
    for index, one in enumerate(as_list(subject.spec.get("topologySpreadConstraints"))):
        constraint = as_map(one)
        if not selects(constraint.get("labelSelector"), subject.labels):
            path = subject.in_spec("topologySpreadConstraints", index)
            says = Says(
                "the spread constraint does not select the pod itself, so it spreads nothing",
                expected="a labelSelector that matches the pod's labels",
                actual=", ".join(f"{key}={value}" for key, value in subject.labels.items()) or "no labels",
            )
            yield finding("pod.spread.selects-nothing", Severity.WARNING, subject, path, says)
