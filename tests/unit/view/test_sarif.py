"""SARIF 2.1.0: the parts that the standard requires, places, levels and fingerprints."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tunectl.core.errors import problem
from tunectl.core.findings import Finding, Origin, Severity, Verdict
from tunectl.view.sarif import failure_sarif, findings_sarif

# What SARIF 2.1.0 requires of the parts that are used, and the words that it allows.
_TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["version", "runs", "$schema"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name", "semanticVersion"],
                                "properties": {
                                    "semanticVersion": {"pattern": r"^\d+\.\d+\.\d+"},
                                    "rules": {
                                        "items": {
                                            "required": ["id", "shortDescription", "help"],
                                            "properties": {"shortDescription": _TEXT, "help": _TEXT},
                                        }
                                    },
                                },
                            }
                        },
                    },
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "invocations": {
                        "items": {
                            "required": ["executionSuccessful"],
                            "properties": {
                                "toolExecutionNotifications": {"items": {"required": ["message"]}},
                            },
                        }
                    },
                    "results": {
                        "items": {
                            "required": ["message", "ruleId", "ruleIndex"],
                            "properties": {
                                "message": _TEXT,
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "kind": {"enum": ["pass", "fail", "open", "notApplicable", "review", "informational"]},
                                "partialFingerprints": {"additionalProperties": {"type": "string"}},
                                "locations": {
                                    "items": {
                                        "properties": {
                                            "physicalLocation": {
                                                "required": ["artifactLocation"],
                                                "properties": {
                                                    "region": {
                                                        "properties": {
                                                            "startLine": {"minimum": 1},
                                                            "startColumn": {"minimum": 1},
                                                        }
                                                    }
                                                },
                                            }
                                        }
                                    }
                                },
                            },
                        }
                    },
                },
            },
        },
    },
}
_ONE = Finding(
    id="pod.cpu.not-whole",
    verdict=Verdict.FAIL,
    severity=Severity.WARNING,
    subject="Deployment/a",
    message="no whole number",
    remedy="Write one.",
    asked_in=Origin("apps/my app.yaml", 7, 3),
    setting="spec.x",
)


def _document(*findings: Finding) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(findings_sarif("audit", findings))
    Draft202012Validator(_SCHEMA).validate(document)
    return document


def _results(*findings: Finding) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = _document(*findings)["runs"][0]["results"]
    return results


def test_a_result_stands_at_its_line_and_names_its_rule() -> None:
    run = _document(_ONE)["runs"][0]
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == _ONE.id
    (location,) = result["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "apps/my%20app.yaml"},
        "region": {"startLine": 7, "startColumn": 3},
    }
    assert location["logicalLocations"][0]["fullyQualifiedName"] == "Deployment/a:spec.x"
    assert "no whole number" in result["message"]["text"]


@pytest.mark.parametrize(
    ("verdict", "severity", "kind", "level"),
    [
        (Verdict.FAIL, Severity.CRITICAL, "fail", "error"),
        (Verdict.FAIL, Severity.WARNING, "fail", "warning"),
        (Verdict.FAIL, Severity.INFO, "fail", "note"),
        (Verdict.UNKNOWN, Severity.CRITICAL, "open", "none"),
    ],
)
def test_levels(verdict: Verdict, severity: Severity, kind: str, level: str) -> None:
    (result,) = _results(replace(_ONE, verdict=verdict, severity=severity))
    assert (result["kind"], result["level"]) == (kind, level)


def test_what_is_right_is_left_out() -> None:
    passed, other = replace(_ONE, verdict=Verdict.PASS), replace(_ONE, verdict=Verdict.NOT_APPLICABLE)
    assert _results(passed, other) == []


def test_rules_are_listed_once_and_in_order() -> None:
    others = [replace(_ONE, id=name) for name in ("pod.qos.best-effort", "pod.cpu.not-whole", "pod.args.fixed-cpus")]
    rules = [rule["id"] for rule in _document(_ONE, *others)["runs"][0]["tool"]["driver"]["rules"]]
    assert rules == ["pod.args.fixed-cpus", "pod.cpu.not-whole", "pod.qos.best-effort"]


def test_a_check_of_a_setting_is_described_by_its_finding() -> None:
    one = replace(_ONE, id="kubelet.maxPods", setting="kubelet.maxPods", why="Pods are counted.")
    (rule,) = _document(one)["runs"][0]["tool"]["driver"]["rules"]
    assert rule["shortDescription"]["text"] == "kubelet.maxPods is as the tier wants it"
    assert rule["fullDescription"]["text"] == "Pods are counted."


@pytest.mark.parametrize(
    ("origin", "uri"),
    [
        (Origin("a.yaml", 1, 1), "a.yaml"),
        (Origin("/tmp/a.yaml", 1, 1), "file:///tmp/a.yaml"),  # noqa: S108  a name only
        (Origin("no-suffix", 1, 1), "no-suffix"),
        (Origin("standard input", 1, 1), None),
        (Origin(), None),
    ],
)
def test_places(origin: Origin, uri: str | None) -> None:
    (result,) = _results(replace(_ONE, asked_in=origin))
    physical = result["locations"][0].get("physicalLocation")
    assert (physical and physical["artifactLocation"]["uri"]) == uri


def _marks(*findings: Finding) -> list[str]:
    return [result["partialFingerprints"]["tunectl/v1"] for result in _results(*findings)]


def test_a_finding_stays_the_same_when_lines_move_and_words_change() -> None:
    moved = replace(_ONE, asked_in=Origin("a.yaml", 99, 1), message="other words", actual="4.5")
    assert _marks(_ONE) == _marks(moved)
    others = [replace(_ONE, subject="Pod/b"), replace(_ONE, setting="spec.y"), replace(_ONE, id="pod.qos.best-effort")]
    assert len({*_marks(_ONE), *(mark for other in others for mark in _marks(other))}) == 4


def test_findings_of_one_field_have_marks_of_their_own() -> None:
    assert len(set(_marks(_ONE, replace(_ONE, message="another"), _ONE))) == 3


def test_a_run_that_failed_says_so() -> None:
    document = json.loads(failure_sarif("audit", [problem("TUN-1801", "unreadable", where="x.yaml", why="not there")]))
    Draft202012Validator(_SCHEMA).validate(document)
    (run,) = document["runs"]
    assert run["results"] == []
    assert run["invocations"][0]["executionSuccessful"] is False
    (notice,) = run["invocations"][0]["toolExecutionNotifications"]
    assert notice["message"]["text"] == "x.yaml: unreadable: not there"
