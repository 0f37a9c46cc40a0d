# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which feature gates a kubelet of a release knows, which may be set, and which are then on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from .gate_table import DEPENDENCIES, DEPENDENCIES_SINCE, GATES

Version = tuple[int, int]

LATEST: Version = (1, 36)
# The table has every gate of this release and of newer ones.
COMPLETE_SINCE: Version = (1, 33)
_STAGE = re.compile(r"([ABGD])(\d+)([+-])(!?)\Z")
_ALL = {"AllAlpha": "A", "AllBeta": "B"}


@dataclass(frozen=True)
class GateSpec:
    """A gate in one release. Shape: `stage` is A alpha, B beta, G stable or D deprecated; `default` says on or off."""

    stage: str
    default: bool
    locked: bool = False


@lru_cache(maxsize=16)
def gates_of(version: Version) -> Mapping[str, GateSpec]:
    """Return the gates of a release by name; newer releases than the newest known one count as that one."""
    minor = min(version, LATEST)[1]
    found = {}
    for line in GATES.strip().splitlines():
        name, *stages = line.split()
        spec = _spec(stages, minor)
        if spec is not None:
            found[name] = spec
    return {**found, **dict.fromkeys(_ALL, GateSpec("A", default=False))}


def _spec(stages: list[str], minor: int) -> GateSpec | None:
    spec: GateSpec | None = None
    for text in stages:
        if text.startswith("x"):
            return None if minor >= int(text[1:]) else spec
        match = _STAGE.match(text)
        if match and minor >= int(match.group(2)):
            spec = GateSpec(match.group(1), match.group(3) == "+", bool(match.group(4)))
    return spec


def unknown_gates(given: Mapping[str, bool], version: Version) -> list[str]:
    """Return the gates that a release does not know, in order."""
    known = gates_of(version)
    return sorted(name for name in given if name not in known)


def locked_gates(given: Mapping[str, bool], version: Version) -> list[str]:
    """Return the gates that are set against their locked default, in order."""
    known = gates_of(version)
    return sorted(
        name for name, on in given.items() if name in known and known[name].locked and known[name].default != on
    )


def enabled_gates(given: Mapping[str, bool], version: Version) -> dict[str, bool]:
    """Return whether each known gate is on. Source: Kubernetes component-base: AllAlpha and AllBeta set the unset."""
    known = gates_of(version)
    found = {name: spec.default for name, spec in known.items()}
    for name, stage in _ALL.items():
        if name in given:
            found.update({one: given[name] for one, spec in known.items() if spec.stage == stage and one not in _ALL})
    found.update({name: on for name, on in given.items() if name in known})
    return found


def is_enabled(name: str, given: Mapping[str, bool], version: Version = LATEST) -> bool:
    """Return whether a gate is on; one that the release does not know is off."""
    return enabled_gates(given, version).get(name, False)


def missing_prerequisites(given: Mapping[str, bool], version: Version) -> list[tuple[str, str]]:
    """Return (gate that is on, gate that it needs and that is off)."""
    if version < DEPENDENCIES_SINCE:
        return []
    on = enabled_gates(given, version)
    return [
        (name, needed)
        for name, all_needed in DEPENDENCIES.items()
        if on.get(name, False)
        for needed in all_needed
        if not on.get(needed, True)
    ]
