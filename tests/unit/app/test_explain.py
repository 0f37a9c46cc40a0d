"""Explain: every code, check and field has an answer; a typo gets the nearest name."""

from __future__ import annotations

import pytest

from tunectl.app.explain import explain, names
from tunectl.core.check_catalogue import CHECKS
from tunectl.core.codes import CODES
from tunectl.core.errors import InputError


def test_every_name_has_an_explanation_that_says_something() -> None:
    for name in names():
        found = explain(name)
        assert [one.name for one in found][:1] == [name]
        assert found[0].title
        assert all(text for _, text in found[0].parts)


def test_a_code_says_at_which_stage_it_speaks() -> None:
    (one,) = explain("TUN-2103")
    assert one.kind == "error code"
    assert dict(one.parts)["stage"] == "the plan cannot be made"


def test_names_are_found_whatever_their_case() -> None:
    assert explain("tun-1000")[0].name == "TUN-1000"


def test_a_kubelet_name_leads_to_the_tier_field() -> None:
    assert any(one.name == "kubelet.topology_manager_policy" for one in explain("topologyManagerPolicy"))


def test_a_typo_gets_the_nearest_name() -> None:
    with pytest.raises(InputError) as caught:
        explain("cpu.sibling.split")
    assert "cpu.siblings.split" in caught.value.problems[0].fix


@pytest.mark.parametrize("word", ["", "!!", "qqqqqq"])
def test_what_has_no_explanation(word: str) -> None:
    with pytest.raises(InputError):
        explain(word)


def test_all_codes_are_within_a_known_stage_and_all_checks_are_dotted() -> None:
    assert all(dict(explain(code)[0].parts)["stage"] for code in CODES)
    assert all("." in check for check in CHECKS)
