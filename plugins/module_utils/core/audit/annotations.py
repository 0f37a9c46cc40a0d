# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Annotations for the container runtime that work only with a runtime class and CPUs of the pod's own."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..findings import Severity
from ..kubelet.pod import exclusive_cpus
from .edits import Edit
from .expectation import Expectation
from .finding import PodFinding, Says, finding
from .paths import Path, as_text
from .subject import Subject

_SUFFIX = ".crio.io"
_ALIKE = 0.85


@dataclass(frozen=True)
class _Annotation:
    """What an annotation may say; an empty pattern takes anything."""

    allowed: str
    pattern: str = ""


# Source: CRI-O high-performance hooks; `true` is the older spelling of `disable`.
_KNOWN = {
    "cpu-load-balancing.crio.io": _Annotation("disable", r"disable|true"),
    "cpu-quota.crio.io": _Annotation("disable", r"disable|true"),
    "irq-load-balancing.crio.io": _Annotation("disable or housekeeping", r"disable|housekeeping|true"),
    "cpu-c-states.crio.io": _Annotation(
        "disable, enable or max_latency:MICROSECONDS", r"disable|enable|max_latency:\d+"
    ),
    "cpu-freq-governor.crio.io": _Annotation("a frequency governor, like performance"),
    "cpu-shared.crio.io": _Annotation("enable", r"enable"),
}


def check_annotations(subject: Subject, expectation: Expectation) -> Iterator[PodFinding]:
    """Yield the annotations of a pod that the runtime would ignore, each with the reason."""
    found = []
    for key, value in subject.annotations.items():
        name, slash, container = key.partition("/")
        path = subject.in_metadata("annotations", key)
        if name in _KNOWN:
            found.append(key)
            yield from _value(subject, path, key, value)
            if slash and container not in {one.name for one in subject.containers}:
                yield _misspelt(subject, path, key, f"the pod has no container {container!r}")
        elif name.endswith(_SUFFIX):
            near = difflib.get_close_matches(name, _KNOWN, n=1, cutoff=_ALIKE)
            if near:
                edit_free = f"the runtime knows {near[0]}"
                yield _misspelt(subject, path, key, edit_free)
    if found:
        yield from _without_cpus(subject, found)
        yield from _runtime_class(subject, expectation, found)


def _value(subject: Subject, path: Path, key: str, value: str) -> Iterator[PodFinding]:
    known = _KNOWN[key.partition("/")[0]]
    if known.pattern and not re.fullmatch(known.pattern, value):
        says = Says(
            f"annotation {key} is {value!r}, which the runtime ignores",
            expected=known.allowed,
            actual=value or "empty",
            edits=(Edit(path, known.allowed),) if " " not in known.allowed else (),
        )
        yield finding("pod.annotation.value", Severity.WARNING, subject, path, says)


def _misspelt(subject: Subject, path: Path, key: str, why: str) -> PodFinding:
    says = Says(f"annotation {key} does nothing: {why}", expected=why, actual=key)
    return finding("pod.annotation.unknown", Severity.WARNING, subject, path, says)


def _without_cpus(subject: Subject, found: list[str]) -> Iterator[PodFinding]:
    if any(exclusive_cpus(subject.pod, one.defaulted) for one in subject.containers):
        return
    path = subject.in_metadata("annotations", found[0])
    says = Says(
        f"{', '.join(found)}: the runtime follows them for containers with CPUs of their own only, and this pod "
        f"({subject.pod.qos.value}) has none",
        expected="a Guaranteed pod with a whole number of CPUs",
        actual=subject.pod.qos.value,
    )
    yield finding("pod.annotation.needs-cpus", Severity.CRITICAL, subject, path, says)


def _runtime_class(subject: Subject, expectation: Expectation, found: list[str]) -> Iterator[PodFinding]:
    named = as_text(subject.spec.get("runtimeClassName"))
    made = expectation.tier.runtime_class if expectation.tier is not None else ""
    if named and (not made or named == made or named in expectation.context.runtime_classes):
        return
    if named:
        path = subject.in_spec("runtimeClassName")
        message = f"runtimeClassName is {named}, and the profile of the tier makes {made}"
    else:
        path = subject.in_metadata("annotations", found[0])
        message = f"{', '.join(found)}: without a runtime class that allows them they are ignored"
    says = Says(
        message,
        expected=f"runtimeClassName: {made}" if made else "a runtimeClassName whose handler allows the annotations",
        actual=named or "no runtimeClassName",
        edits=(Edit(subject.in_spec("runtimeClassName"), made),) if made else (),
    )
    yield finding("pod.annotation.needs-runtime-class", Severity.CRITICAL, subject, path, says)
