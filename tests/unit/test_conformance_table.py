"""The table at the end of a conformance run."""

from types import ModuleType

from support.conformance import PROPERTY, begin, counted, oracles_of, table, tally


def test_a_case_counts_once_and_is_wrong_when_any_of_its_tests_fails() -> None:
    one, other = ({"oracle": "a", "case": name} for name in ("1", "2"))
    found = counted(
        [([(PROPERTY, one)], False), ([(PROPERTY, one)], True), ([(PROPERTY, other)], False), ([("else", 1)], True)]
    )
    assert (found["a"].total, found["a"].mismatches) == (2, 1)


def test_tests_that_compare_many_at_once_tell_their_counts() -> None:
    properties: list[tuple[str, object]] = []
    begin(properties)
    tally("b", 100, 3)
    begin([])
    found = counted([(properties, True)])
    assert (found["b"].total, found["b"].mismatches) == (100, 3)


def test_the_lines() -> None:
    found = counted([([(PROPERTY, {"oracle": "kubelet-state", "cases": 34, "wrong": 0})], False)])
    assert table(found) == [
        "recorded answers   cases   mismatches",
        "kubelet-state         34            0",
        "total                 34            0",
    ]


def test_a_module_names_its_sets() -> None:
    module = ModuleType("m")
    assert oracles_of(module, 'oracle_dir("x")\noracle_files(\n    "y", "*.json")\noracle_dir("x")') == ["x", "y"]
    module.__dict__["ORACLE"] = "z"
    assert oracles_of(module, "") == ["z"]
