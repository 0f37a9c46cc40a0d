"""Tiers written in tests: the shortest right file around a body, and what is wrong with a text."""

from __future__ import annotations

from pathlib import Path

import pytest

from tunectl.core.errors import InputError, Problem
from tunectl.core.tier import Tier
from tunectl.planning.tier_file import load_tier

HEAD = "apiVersion: tunectl.io/v1alpha1\nkind: Tier\nname: mine\n"


def write_tier(directory: Path, body: str, name: str = "mine") -> Path:
    """Write a tier file with a right head (three lines) and this body, and return its path."""
    path = directory / f"{name}.yaml"
    path.write_text(HEAD.replace("mine", name) + body, encoding="utf-8")
    return path


def load_body(directory: Path, body: str) -> Tier:
    """Return the tier that a body means."""
    return load_tier(str(write_tier(directory, body)))


def problems_of(directory: Path, body: str) -> tuple[Problem, ...]:
    """Return what is wrong with a body; its first line is line 4 of the file."""
    with pytest.raises(InputError) as caught:
        load_body(directory, body)
    return caught.value.problems


def place_of(problem: Problem) -> str:
    """Return `line:column` of a problem in a tier file."""
    return ":".join(problem.where.split(":")[-2:])
