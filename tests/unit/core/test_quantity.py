from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunectl.core.errors import InputError
from tunectl.core.quantity import (
    cpu_millis,
    format_bytes,
    format_quantity,
    is_percentage,
    parse_bytes,
    parse_quantity,
    round_up,
    threshold_bytes,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", Fraction(0)),
        ("4", Fraction(4)),
        ("+4", Fraction(4)),
        ("-4", Fraction(-4)),
        ("1500m", Fraction(3, 2)),
        ("0.1", Fraction(1, 10)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("2e3", Fraction(2000)),
        ("2E3", Fraction(2000)),
        ("2e-3", Fraction(1, 500)),
        ("2e+3", Fraction(2000)),
        ("1E", Fraction(10**18)),
        ("1Ei", Fraction(2**60)),
        ("1Gi", Fraction(2**30)),
        ("1.5Gi", Fraction(3 * 2**29)),
        ("1k", Fraction(1000)),
        ("1Ki", Fraction(1024)),
        ("8Gi", Fraction(8 * 2**30)),
        ("1n", Fraction(1, 10**9)),
        ("1u", Fraction(1, 10**6)),
        ("0.1n", Fraction(1, 10**9)),
        ("-0.1n", Fraction(-1, 10**9)),
        ("1e99", Fraction(2**63 - 1)),
        ("16Ei", Fraction(2**63 - 1)),
    ],
)
def test_every_legal_spelling_has_its_exact_value(text: str, value: Fraction) -> None:
    assert parse_quantity(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "1 Gi",
        "Gi",
        ".",
        "1.2.3",
        "1K",
        "1gi",
        "1ki",
        "1e",
        "1e1.5",
        "1e99999",
        "0x10",
        "1,5",
        "1Gi\n",
        "\u0661",
    ],
)
def test_what_is_no_quantity_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_quantity(text, "tiers/a.yml:3:9")
    assert caught.value.problems[0].code == "TUN-2200"
    assert caught.value.problems[0].where == "tiers/a.yml:3:9"


def test_whole_numbers_round_up_as_the_kubelet_does() -> None:
    assert parse_bytes("1500m") == 2
    assert cpu_millis("0.1") == 100
    assert cpu_millis("1u") == 1
    assert cpu_millis("1.9999") == 2000
    assert round_up(Fraction(-3, 2)) == -1


@given(st.integers(min_value=0, max_value=2**62))
def test_bytes_survive_a_round_trip(count: int) -> None:
    assert parse_bytes(format_bytes(count)) == count


@given(st.integers(min_value=-(2**60), max_value=2**60))
def test_nano_units_survive_a_round_trip(nano: int) -> None:
    value = Fraction(nano, 10**9)
    assert parse_quantity(format_quantity(value)) == value


def test_bytes_are_spelled_as_short_as_is_exact() -> None:
    assert format_bytes(11 * 2**30) == "11Gi"
    assert format_bytes(1100 * 2**20) == "1100Mi"
    assert format_bytes(4097) == "4097"
    assert format_bytes(0) == "0"
    assert format_bytes(2**70) == "1024Ei"


def test_percentages_are_computed_through_a_32_bit_float() -> None:
    assert threshold_bytes("5%", 64 * 2**30) == 3435973888
    assert threshold_bytes("100Mi", 64 * 2**30) == 100 * 2**20
    assert threshold_bytes("0%", 2**40) == 0
    assert threshold_bytes("100%", 2**40) == 0
    with pytest.raises(InputError):
        threshold_bytes("101%", 2**40)


def test_percentages_are_told_from_quantities() -> None:
    assert is_percentage("10%")
    assert is_percentage("0.5%")
    assert not is_percentage("10")
    assert not is_percentage("%")
