"""Laws of tier files: no text breaks the loader, and what is written is read back as the same tier."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from support.tier_strategies import right_documents, strange_documents
from support.tiers import HEAD

from tunectl.core.errors import InputError
from tunectl.core.tier import Tier
from tunectl.core.tier_data import tier_data
from tunectl.core.tier_describe import tier_json_schema
from tunectl.core.tier_schema import decode_tier
from tunectl.planning.tier_file import load_tier, tier_files
from tunectl.planning.tier_text import tier_text
from tunectl.planning.yaml_tree import YamlError, read_tree

SCHEMA = Draft202012Validator(tier_json_schema())
PIECES = st.sampled_from(
    [
        *"{}[]:,#&*!|>'\"%@`-? \n\t\\",
        "\n  ",
        "<<: ",
        "*a",
        "&a ",
        "---\n",
        "...\n",
        "!!int ",
        "null",
        "0-3",
        "cpu:",
        "\x85",
        "\ufeff",
    ]
)


def read(text: str) -> Tier | None:
    """Return the tier of a text, None where it is refused in the way that users see."""
    try:
        tree, faults = read_tree(text, "t.yaml")
        return decode_tier(tree, tuple(faults))
    except (YamlError, InputError):
        return None


@settings(deadline=None)
@given(st.one_of(st.text(), st.lists(PIECES, max_size=30).map("".join)))
def test_any_text_is_a_tier_or_refused(text: str) -> None:
    read(text)
    read(HEAD + text)


@settings(deadline=None)
@given(strange_documents())
def test_any_data_is_a_tier_or_refused(document: Any) -> None:
    read(yaml.safe_dump(document, allow_unicode=True))


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_any_bytes_are_a_tier_or_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "t.yaml"
    path.write_bytes(content)
    with contextlib.suppress(InputError):
        load_tier(str(path))


@settings(max_examples=200, deadline=None)
@given(right_documents())
def test_what_is_written_is_read_back_as_the_same_tier(document: dict[str, Any]) -> None:
    tier = read(yaml.safe_dump(document, sort_keys=False))
    if tier is None:
        return
    assert read(tier_text(tier)) == tier
    assert read(tier_text(tier, with_origins=False)) == tier
    assert read(yaml.safe_dump(tier_data(tier))) == tier


@pytest.mark.parametrize("name", sorted(tier_files()))
def test_the_text_of_a_built_in_tier_is_the_tier(name: str) -> None:
    tier = load_tier(name)
    assert read(tier_text(tier)) == tier


@settings(max_examples=200, deadline=None)
@given(right_documents())
def test_the_schema_takes_every_tier_that_loads(document: dict[str, Any]) -> None:
    if read(yaml.safe_dump(document)) is not None:
        assert [error.message for error in SCHEMA.iter_errors(document)] == []


@settings(deadline=None)
@given(strange_documents())
def test_the_schema_refuses_nothing_that_loads(document: Any) -> None:
    text = yaml.safe_dump(document, allow_unicode=True)
    if read(text) is not None:
        assert [error.message for error in SCHEMA.iter_errors(yaml.safe_load(text))] == []
