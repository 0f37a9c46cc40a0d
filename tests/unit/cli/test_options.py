"""Options: durations, values over a tier, outputs, screens."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunectl.cli.options import parse_override
from tunectl.cli.output import OutputSpec, asked_outputs, parse_outputs
from tunectl.core.errors import InputError
from tunectl.view.screen import Screen, screen_for


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("irq.balance_isolated=false", "irq.balance_isolated", False),
        ("cpu.reserved=0-3,8", "cpu.reserved", "0-3,8"),
        ("cpu.reserved=0", "cpu.reserved", 0),
        ("kubelet.max_pods=-1", "kubelet.max_pods", -1),
        ("memory.ksm=null", "memory.ksm", None),
        ('cpu.reserved={"count": 4}', "cpu.reserved", {"count": 4}),
        ('kernel.args=["a=b"]', "kernel.args", ["a=b"]),
        ("kubelet.eviction_hard.memory.available=5%", "kubelet.eviction_hard.memory.available", "5%"),
        ("placement.labels.node-role.kubernetes.io/hpc=", "placement.labels.node-role.kubernetes.io/hpc", ""),
        ("summary=a=b", "summary", "a=b"),
        ("summary=007", "summary", "007"),
        ('summary="true"', "summary", "true"),
    ],
)
def test_values_over_a_tier_are_typed(text: str, path: str, value: object) -> None:
    assert parse_override(text) == (path, value)


@pytest.mark.parametrize("text", ["cpu.reserved", "=3", "kernel.args=[1", "a b=1", "", "1=2"])
def test_what_is_no_value_over_a_tier(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_override(text)
    assert caught.value.problems[0].code == "TUN-1005"


@given(st.recursive(st.booleans() | st.integers() | st.none(), st.lists, max_leaves=5))
def test_json_values_come_back(value: object) -> None:
    assert parse_override(f"a.b={json.dumps(value)}") == ("a.b", value)


def test_the_first_format_is_the_default() -> None:
    assert parse_outputs((), ("table", "json")) == (OutputSpec("table"),)


@pytest.mark.parametrize("value", ["", "=", "json=", "Json", "table,json"])
def test_outputs_that_are_none(value: str) -> None:
    with pytest.raises(InputError):
        parse_outputs((value,), ("table", "json"))


@pytest.mark.parametrize(
    ("args", "formats"),
    [
        (["plan", "-o", "json"], ["json"]),
        (["plan", "-o", "table", "-o", "junit=x.xml"], ["junit"]),
        (["plan", "--", "-o", "json"], []),
        (["plan", "--no-input"], []),
        (["plan", "-no", "json"], []),
        (["plan", "-o"], []),
    ],
)
def test_machine_outputs_are_found_in_a_raw_command_line(args: list[str], formats: list[str]) -> None:
    assert [spec.format for spec in asked_outputs(args)] == formats


def _stream(encoding: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding)


def test_colours_follow_flag_then_no_color_then_force_color() -> None:
    stream = _stream("utf-8")
    assert screen_for(stream, "always", {"NO_COLOR": "1"}).colour
    assert not screen_for(stream, "never", {"FORCE_COLOR": "1"}).colour
    assert not screen_for(stream, "auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}).colour
    assert screen_for(stream, "auto", {"FORCE_COLOR": "1"}).colour
    assert not screen_for(stream, "auto", {}).colour


def test_signs_follow_the_encoding_and_the_locale() -> None:
    assert screen_for(_stream("utf-8"), "auto", {}).unicode
    assert not screen_for(_stream("ascii"), "auto", {}).unicode
    assert not screen_for(_stream("latin-1"), "auto", {}).unicode
    assert not screen_for(_stream("utf-8"), "auto", {"LC_ALL": "C"}).unicode
    assert screen_for(_stream("utf-8"), "auto", {"LC_ALL": "C.UTF-8", "LANG": "C"}).unicode


def test_ascii_keeps_the_width_of_every_sign() -> None:
    text = "✓ pass ✗ FAIL – n/a │─┌┐└┘ … → × µ"  # noqa: RUF001
    drawn = Screen(unicode=False).text(text)
    assert drawn.isascii()
    assert len(drawn) == len(text)
