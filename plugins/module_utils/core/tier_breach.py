# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Rules across the fields of a tier: what one says, and when it can be judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from .tier import Tier
from .tier_tree import Fault


@dataclass(frozen=True)
class Breach:
    """One broken rule: the field to change, what contradicts what, and the way out."""

    path: str
    what: str
    why: str = ""
    fix: str = ""


@dataclass(frozen=True)
class Rule:
    """A rule with its code; `fields` are what it reads, so that it is left out while one of them is not understood."""

    code: str
    fields: tuple[str, ...]
    check: Callable[[Tier], Iterable[Breach]]


def breaches(rules: Iterable[Rule], tier: Tier, failed: AbstractSet[str]) -> Iterator[Fault]:
    """Yield the faults of a tier whose fields are right one by one; rules about a `failed` field are left out."""
    for rule in rules:
        if any(_related(one, other) for one in failed for other in rule.fields):
            continue
        for breach in rule.check(tier):
            origin = tier.origin(breach.path)
            yield Fault(origin, breach.path, rule.code, breach.what, breach.why, breach.fix)


def _related(one: str, other: str) -> bool:
    return (one + ".").startswith(other + ".") or (other + ".").startswith(one + ".")


def repeated(words: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield position and word of every word that stood there before."""
    seen: set[str] = set()
    for position, word in enumerate(words):
        if word in seen:
            yield position, word
        seen.add(word)
