"""Kubelet files are read as the kubelet's YAML reader does: types, repeated keys, the first document, places."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tunectl.planning.kubelet_yaml import read_config_text


def value_of(text: str) -> Any:
    found = read_config_text(f"a: {text}\n")
    assert not found.fault, found.fault
    return found.document["a"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("110.0", 110),
        ("1e3", 1000),
        ("1.5", 1.5),
        ("0x10", 16),
        ("010", 8),
        ("0b11", 3),
        ("1_000", 1000),
        ("-7", -7),
        ("09", 9),
        ("yes", True),
        ("On", True),
        ("oN", "oN"),
        ("False", False),
        ("~", None),
        ("", None),
        ("1:30", "1:30"),
        ("2001-01-02", "2001-01-02"),
        ("0-3", "0-3"),
        ("1Gi", "1Gi"),
        ("'1'", "1"),
        ('"true"', "true"),
        ("[1, x]", [1, "x"]),
        ("{b: 1}", {"b": 1}),
        ("!!str 1", "1"),
        ("|\n  1\n", "1\n"),
    ],
)
def test_types(text: str, value: Any) -> None:
    found = value_of(text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a: 1\n\tb: 2\n", 2, 1),
        ("a: [1\n", 2, 1),
        ("a: b: c\n", 1, 5),
        ("a: !!python/object:os.system {}\n", 1, 4),
        ("a: .inf\n", 1, 4),
        ("a: .NaN\n", 1, 4),
        ("? [x]\n: 1\n", 1, 3),
        ("a: &x [*x]\n", 1, 4),
        ('{"a": 1,}\n', 1, 9),
        ("{a: 1}\n", 1, 2),
        ("<<: 1\n", 1, 5),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(text: str, line: int, column: int) -> None:
    found = read_config_text(text)
    assert found.fault
    assert found.document is None
    assert found.fault_place == (line, column)


def test_of_two_equal_keys_the_later_counts_and_is_told() -> None:
    found = read_config_text("maxPods: 1\nkubeReserved:\n  cpu: 1\n  cpu: 2\nmaxPods: 3\n")
    assert found.document == {"maxPods": 3, "kubeReserved": {"cpu": 2}}
    assert found.twice == (("kubeReserved", "cpu"), ("maxPods",))
    assert found.place(("maxPods",)) == (5, 10)


def test_of_several_documents_the_first_counts_whatever_follows() -> None:
    assert read_config_text("a: 1\n---\nb: 2\n").document == {"a": 1}
    assert read_config_text("a: 1\n---\n- [\n").document == {"a": 1}


def test_only_a_text_without_characters_is_empty() -> None:
    assert read_config_text("").document is None
    for text in ("\n", "# nothing\n", "---\n", "null\n"):
        assert read_config_text(text).document == {}


def test_anchors_and_merged_maps() -> None:
    text = "x: &x {cpu: '1', pid: '5'}\nkubeReserved:\n  <<: *x\n  cpu: '2'\nsystemReserved: *x\n"
    found = read_config_text(text).document
    assert found["kubeReserved"] == {"cpu": "2", "pid": "5"}
    assert found["systemReserved"] == {"cpu": "1", "pid": "5"}
    several = read_config_text("a: {<<: [{b: 1}, {b: 2, c: 3}]}\n").document
    assert several == {"a": {"b": 1, "c": 3}}


def test_aliases_that_mean_too_much_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert "too much" in read_config_text("\n".join(lines)).fault


def test_places_are_those_of_values_and_of_the_keys_of_collections() -> None:
    text = "reservedMemory:\n- numaNode: 0\n  limits:\n    memory: 1Gi\nevictionHard:\n  memory.available: 5%\n"
    found = read_config_text(text)
    assert found.place(("reservedMemory", 0, "limits", "memory")) == (4, 13)
    assert found.place(("reservedMemory",)) == (1, 1)
    assert found.place(("evictionHard", "memory.available")) == (6, 21)
    assert found.place(("evictionHard", "other")) == (5, 1)
    assert found.place(("nothing",)) == (0, 0)


# PyYAML does not write every control character so that it is read back.
TEXTS = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="\ufeff"), max_size=6)
NAMES = TEXTS.filter(bool)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(NAMES, JSON, max_size=4))
def test_json_and_what_yaml_writes_of_it_are_read_back(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    assert read_config_text(text).document == document
    # Quoted, for what is text to PyYAML is a number to the kubelet: 0E0.
    dumped = yaml.safe_dump(document, allow_unicode=True, default_style='"')
    assert read_config_text(dumped).document == document


@given(st.text(alphabet="ab:-[]{}&*!|>'\"#%@\t\n ,?<=~01.\x00é", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    found = read_config_text(text)
    assert (found.document is None) == bool(found.fault or not text)
