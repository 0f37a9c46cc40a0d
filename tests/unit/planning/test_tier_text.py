"""The text of a tier: every value on its line, quoted where a reader could take it for something else."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tunectl.core.findings import Origin
from tunectl.core.tier import KernelSpec, KubeletSpec, Tier
from tunectl.planning.tier_text import scalar, tier_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("static", "static"),
        ("tunectl.io/v1alpha1", "tunectl.io/v1alpha1"),
        ("0-18,32-50", '"0-18,32-50"'),
        ("on", '"on"'),
        ("Yes", '"Yes"'),
        ("1e3", '"1e3"'),
        ("a: b # c", '"a: b # c"'),
        ("", '""'),
        (True, "true"),
        (5, "5"),
        (0.5, "0.5"),
        (None, "null"),
        ([], "[]"),
        ({}, "{}"),
    ],
)
def test_a_value_is_quoted_where_readers_disagree(value: object, text: str) -> None:
    assert scalar(value) == text


@settings(deadline=None)
@given(st.one_of(st.text(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False)))
def test_a_value_stays_on_its_line_and_is_read_back(value: object) -> None:
    text = scalar(value)
    assert "\n" not in text
    assert yaml.safe_load(text) == value


def test_lists_and_maps_stand_below_their_keys() -> None:
    config = {"registerWithTaints": [{"key": "a", "effect": "NoSchedule"}], "x": [["p", "q"], []]}
    tier = Tier("mine", kubelet=KubeletSpec(config=config), kernel=KernelSpec(args=("quiet", "a=b")))
    assert tier_text(tier) == (
        "apiVersion: tunectl.io/v1alpha1\nkind: Tier\nname: mine\nkubelet:\n  config:\n"
        "    registerWithTaints:\n      - key: a\n        effect: NoSchedule\n"
        "    x:\n      -\n        - p\n        - q\n      - []\n"
        'kernel:\n  args:\n    - quiet\n    - "a=b"\n'
    )


def test_the_place_of_a_value_is_a_comment_that_cannot_leave_its_line() -> None:
    tier = Tier("mine", origins={"name": Origin("dir\nname: other\x85/t.yaml", 3, 7)})
    assert yaml.safe_load(tier_text(tier))["name"] == "mine"
    assert tier_text(tier).splitlines()[2] == f"{'name: mine':<52} # dir?name: other?/t.yaml:3"
    assert "#" not in tier_text(tier, with_origins=False)
