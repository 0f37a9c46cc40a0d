"""Findings and problems for people and for CI."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from tunectl.core.errors import InputError, RefusedError, problem
from tunectl.core.findings import Evidence, Finding, Origin, Severity, Verdict
from tunectl.view.findings import by_weight, findings_lines, merged, totals_line
from tunectl.view.junit import failure_junit, findings_junit
from tunectl.view.problem import error_text
from tunectl.view.screen import Screen

_FAIL = Finding(
    id="irq.affinity.reserved-only",
    verdict=Verdict.FAIL,
    severity=Severity.CRITICAL,
    subject="worker-03",
    message="irq 87 runs on isolated CPU 12",
    expected="0-1,32-33",
    actual="12",
    why="an interrupt on an isolated CPU stalls the pinned thread there",
    remedy="tunectl apply --tier hpc-massive",
    evidence=(Evidence("/proc/irq/87/smp_affinity_list", "12"),),
    asked_in=Origin("tiers/hpc-massive.yaml", 58, 3),
)
_PASS = replace(_FAIL, id="a.b", verdict=Verdict.PASS)
_UNKNOWN = replace(_FAIL, id="a.c", verdict=Verdict.UNKNOWN, severity=Severity.WARNING)
_NOT = replace(_FAIL, id="a.d", verdict=Verdict.NOT_APPLICABLE)
_TEXT = st.text(max_size=20)


def test_failures_come_first_then_by_severity_and_otherwise_in_order() -> None:
    mild = replace(_FAIL, id="z", severity=Severity.INFO)
    assert by_weight([_PASS, _UNKNOWN, mild, _FAIL, _NOT]) == [_FAIL, mild, _UNKNOWN, _NOT, _PASS]


def test_the_same_finding_on_several_nodes_is_said_once() -> None:
    other = replace(_FAIL, subject="worker-04")
    different = replace(_FAIL, subject="worker-05", actual="13")
    assert merged([_FAIL, other, different]) == [(_FAIL, ("worker-03", "worker-04")), (different, ("worker-05",))]


def test_what_is_right_is_not_listed() -> None:
    assert findings_lines([_PASS, _NOT], Screen()) == []
    lines = findings_lines([_PASS, _FAIL], Screen())
    assert lines[0] == "✗ critical   irq.affinity.reserved-only"
    assert [line.split()[0] for line in lines[1:]] == ["what", "on", "why", "fix", "asked"]


def test_totals_count_every_verdict() -> None:
    line = totals_line([_FAIL, _FAIL, _PASS, _UNKNOWN, _NOT], Screen())
    assert line == "✓ 1 pass   ✗ 2 fail   ? 1 unknown   - 1 not applicable"


def test_junit_says_the_same() -> None:
    text = findings_junit("tunectl verify", [("worker-03", [_FAIL, _PASS]), ("worker-04", [_UNKNOWN, _NOT])])
    root = ET.fromstring(text)  # noqa: S314  our own text
    assert (root.get("tests"), root.get("failures"), root.get("errors"), root.get("skipped")) == ("4", "1", "1", "1")
    first, second = root.findall("testsuite")
    assert (first.get("name"), first.get("tests"), first.get("failures"), first.get("errors")) == (
        "worker-03",
        "2",
        "1",
        "0",
    )
    assert (second.get("errors"), second.get("skipped")) == ("1", "1")
    case = first.findall("testcase")[0]
    assert (case.get("classname"), case.get("name")) == ("irq.affinity", "irq.affinity.reserved-only")
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("message") == _FAIL.message
    for part in (
        "wanted: 0-1,32-33",
        "found: 12",
        "read in /proc/irq/87/smp_affinity_list: 12",
        "hpc-massive.yaml:58:3",
    ):
        assert part in (failure.text or "")


@given(_TEXT, _TEXT, _TEXT)
def test_junit_is_well_formed_whatever_was_found(message: str, actual: str, node: str) -> None:
    finding = replace(_FAIL, message=message, actual=actual)
    root = ET.fromstring(findings_junit("t", [(node, [finding])]))  # noqa: S314  our own text
    found = root.findall(".//failure")
    assert len(found) == 1


def test_a_run_that_failed_is_a_junit_error() -> None:
    root = ET.fromstring(failure_junit("Report", [problem("TUN-5001", "no answer", why="timeout")]))  # noqa: S314
    assert root.get("errors") == "1"
    case = root.find(".//testcase")
    assert case is not None
    assert case.get("name") == "TUN-5001"


def test_an_error_has_its_five_parts_and_the_state_last() -> None:
    error = RefusedError((problem("TUN-2103", "it cannot be", where="t.yaml:12", why="5 is odd", fix="use 4"),))
    lines = error_text(error, Screen(), "refused").splitlines()
    assert lines[0] == "refused  it cannot be [TUN-2103]"
    assert lines[1:] == ["where    t.yaml:12", "why      5 is odd", "fix      use 4", "Nothing was changed."]


def test_all_problems_of_a_file_are_shown() -> None:
    error = InputError(
        tuple(problem(f"TUN-110{number}", f"mistake {number}", where=f"t.yaml:{number}") for number in range(4))
    )
    text = error_text(error, Screen())
    assert all(f"mistake {number}" in text and f"t.yaml:{number}" in text for number in range(4))
    assert text.count("Nothing was changed.") == 1


@given(st.text(alphabet="ab \n", max_size=400))
def test_errors_fit_the_screen(why: str) -> None:
    text = error_text(InputError((problem("TUN-1000", "x", why=why),)), Screen(width=80))
    longest = max((len(word) for word in why.split()), default=0)
    assert longest > 60 or all(len(line) <= 80 for line in text.splitlines())
