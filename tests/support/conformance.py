"""How many recorded answers were compared, and how many differ: gathered while the tests run, shown at the end."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

PROPERTY = "conformance"
_NAMED = re.compile(r"oracle_(?:dir|files)\(\s*\"([a-z0-9-]+)\"")
# The test that runs now, where tests that compare many answers at once note their counts.
_RUNNING: list[list[tuple[str, Any]]] = []


@dataclass
class Count:
    """One set of recorded answers: the cases that were compared, and those of them that differ."""

    cases: set[str] = field(default_factory=set)
    wrong: set[str] = field(default_factory=set)
    more_cases: int = 0
    more_wrong: int = 0

    @property
    def total(self) -> int:
        """How many cases."""
        return len(self.cases) + self.more_cases

    @property
    def mismatches(self) -> int:
        """How many of them differ."""
        return len(self.wrong) + self.more_wrong


def begin(properties: list[tuple[str, Any]]) -> None:
    """Note where the running test keeps its properties."""
    _RUNNING[:] = [properties]


def tally(oracle: str, cases: int, mismatches: int) -> None:
    """Count cases that one test compares in a loop."""
    for properties in _RUNNING:
        properties.append((PROPERTY, {"oracle": oracle, "cases": cases, "wrong": mismatches}))


def oracles_of(module: ModuleType, source: str) -> list[str]:
    """Return the sets that a test module names, or its ORACLE."""
    named = getattr(module, "ORACLE", None)
    return [str(named)] if named else sorted(set(_NAMED.findall(source)))


def counted(properties: Iterable[tuple[list[tuple[str, Any]], bool]]) -> dict[str, Count]:
    """Return the counts by set; each item are a report's properties and whether its test failed."""
    found: dict[str, Count] = {}
    for own, failed in properties:
        for name, value in own:
            if name != PROPERTY:
                continue
            count = found.setdefault(value["oracle"], Count())
            if "case" in value:
                count.cases.add(value["case"])
                if failed:
                    count.wrong.add(value["case"])
            else:
                count.more_cases += value["cases"]
                count.more_wrong += value["wrong"]
    return found


def table(found: dict[str, Count]) -> list[str]:
    """Return the lines of the table, a total below."""
    width = max(len(name) for name in (*found, "recorded answers"))
    rows = [(name, count.total, count.mismatches) for name, count in sorted(found.items())]
    rows.append(("total", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    lines = [f"{'recorded answers'.ljust(width)}   cases   mismatches"]
    return lines + [f"{name.ljust(width)}  {cases:6}  {wrong:11}" for name, cases, wrong in rows]
