"""JUnit: suite = node, case = check; failure = fail, error = unknown, skipped = not applicable."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from tunectl.core.errors import Problem
from tunectl.core.findings import Finding, Verdict

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_TAGS = {Verdict.FAIL: "failure", Verdict.UNKNOWN: "error", Verdict.NOT_APPLICABLE: "skipped"}


@dataclass(frozen=True)
class _Case:
    name: str
    group: str
    tag: str = ""
    message: str = ""
    text: str = ""

    def xml(self) -> str:
        head = f"    <testcase classname={_attribute(self.group)} name={_attribute(self.name)}"
        if not self.tag:
            return head + "/>"
        body = f"<{self.tag} message={_attribute(self.message)}>{escape(_clean(self.text))}</{self.tag}>"
        return f"{head}>\n      {body}\n    </testcase>"


def findings_junit(title: str, suites: Sequence[tuple[str, Sequence[Finding]]], errors: Sequence[Problem] = ()) -> str:
    """Return the JUnit document of findings by node; problems that belong to no check become a suite of their own."""
    cases = [(name, [_finding_case(finding) for finding in findings]) for name, findings in suites]
    if errors:
        cases.append(("tunectl", [_problem_case(problem) for problem in errors]))
    return _document(title, cases)


def failure_junit(kind: str, errors: Iterable[Problem]) -> str:
    """Return the JUnit document of a run that could not do its work."""
    return _document(f"tunectl {kind}", [("tunectl", [_problem_case(problem) for problem in errors])])


def _finding_case(finding: Finding) -> _Case:
    group = finding.id.rpartition(".")[0] or finding.id
    if finding.verdict is Verdict.PASS:
        return _Case(finding.id, group)
    parts = [
        ("wanted", finding.expected),
        ("found", finding.actual),
        ("asked in", str(finding.asked_in)),
        *((f"read in {evidence.file}", evidence.text) for evidence in finding.evidence),
        ("why", finding.why),
        ("fix", finding.remedy),
    ]
    text = "\n".join(f"{label}: {value}" for label, value in parts if value)
    return _Case(finding.id, group, _TAGS[finding.verdict], finding.message, text)


def _problem_case(problem: Problem) -> _Case:
    parts = [("where", problem.where), ("why", problem.why), ("fix", problem.fix)]
    text = "\n".join(f"{label}: {value}" for label, value in parts if value)
    return _Case(problem.code, "tunectl", "error", problem.what, text)


def _document(title: str, suites: Sequence[tuple[str, Sequence[_Case]]]) -> str:
    everything = [case for _, cases in suites for case in cases]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites name={_attribute(title)} {_totals(everything)}>"]
    for name, cases in suites:
        lines.append(f"  <testsuite name={_attribute(name)} {_totals(cases)}>")
        lines += [case.xml() for case in cases]
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _totals(cases: Sequence[_Case]) -> str:
    counts = {tag: sum(case.tag == tag for case in cases) for tag in ("failure", "error", "skipped")}
    failures, errors, skipped = counts["failure"], counts["error"], counts["skipped"]
    return f'tests="{len(cases)}" failures="{failures}" errors="{errors}" skipped="{skipped}"'


def _attribute(text: str) -> str:
    return quoteattr(_clean(text), {"\n": "&#10;", "\t": "&#9;"})


def _clean(text: str) -> str:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
