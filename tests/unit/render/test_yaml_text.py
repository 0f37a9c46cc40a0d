"""YAML text reads back equal, keeps its bytes, and quotes what readers disagree about."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tunectl.render.yaml_text import yaml_stream, yaml_text

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
_LINES = st.text(alphabet="ab:- #\n'\"|>%\t", max_size=30)
_TROUBLE = st.sampled_from(
    [
        "0-18,32-50",
        "on",
        "Off",
        "YES",
        "n",
        "~",
        "null",
        "4",
        "0o17",
        "0x1F",
        "1e3",
        "1_000",
        "12:30",
        ".5",
        "-",
        "=",
        "<<",
    ]
)
_SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), _TEXT, _LINES, _TROUBLE)
_KEYS = st.one_of(_TEXT, _TROUBLE)
_DATA = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_KEYS, inner, max_size=4)),
    max_leaves=15,
)


@given(_DATA)
def test_it_reads_back_equal(data: Any) -> None:
    text = yaml_text(data)
    assert yaml.safe_load(text) == data
    assert text.endswith("\n")


@given(st.lists(st.dictionaries(_KEYS, _SCALARS, max_size=3), max_size=3))
def test_a_stream_reads_back_document_by_document(documents: list[Any]) -> None:
    assert list(yaml.safe_load_all(yaml_stream(yaml_text(one) for one in documents))) == documents


@given(_TROUBLE)
def test_strings_that_some_reader_takes_for_something_else_are_quoted(text: str) -> None:
    assert yaml_text({"a": text}) == f"a: {json.dumps(text)}\n"


@pytest.mark.parametrize(
    "text",
    ["static", "single-numa-node", "node-role.kubernetes.io/hpc", "memory.available", "/sys/kernel", "nohz_full=1-3,5"],
)
def test_names_stay_plain(text: str) -> None:
    assert yaml_text([text]) == f"- {text}\n"


def test_text_of_several_lines_stands_as_it_is() -> None:
    assert yaml_text({"data": "[main]\n\ninclude=x\n"}) == "data: |\n  [main]\n\n  include=x\n"
    assert yaml_text({"data": "a\nb"}) == "data: |-\n  a\n  b\n"


@pytest.mark.parametrize("text", ["a \nb\n", " a\nb\n", "a\nb\n\n", "\n\n", "a\tb\nc\n", "\u00e4\nb\n"])
def test_text_that_a_block_could_lose_is_quoted(text: str) -> None:
    assert yaml_text({"a": text}).startswith('a: "')


def test_mappings_keep_their_order_and_empty_ones_stay_on_the_line() -> None:
    assert yaml_text({"b": {}, "a": [], "c": [{"x": 1, "y": [2]}]}) == (
        'b: {}\na: []\nc:\n  - x: 1\n    "y":\n      - 2\n'
    )


def test_numbers_that_are_none_are_spelled_out() -> None:
    assert yaml_text([float("inf"), float("-inf"), float("nan")]) == "- .inf\n- -.inf\n- .nan\n"


def test_other_values_are_refused() -> None:
    with pytest.raises(TypeError, match="set has no YAML form"):
        yaml_text({"a": {1}})
