"""SARIF 2.1.0: rule = check with its documentation, result = finding at the line of the field it is about."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from tunectl import __version__
from tunectl.core.check_catalogue import CHECKS, CheckDoc
from tunectl.core.errors import Problem
from tunectl.core.findings import Finding, Origin, Severity, Verdict

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.CRITICAL: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
# Source: SARIF 2.1.0, 3.27.9: what could not be judged is open, and then has no level.
_KINDS = {Verdict.FAIL: "fail", Verdict.UNKNOWN: "open", Verdict.PASS: "pass", Verdict.NOT_APPLICABLE: "notApplicable"}
_FINGERPRINT = "tunectl/v1"
_STREAM = "standard input"


def findings_sarif(command: str, findings: Sequence[Finding]) -> str:
    """Return the SARIF document of what is not right; `command` names the run, like `audit`."""
    shown = [one for one in findings if one.verdict in (Verdict.FAIL, Verdict.UNKNOWN)]
    examples = {one.id: one for one in shown}
    rules = sorted(examples)
    seen: dict[str, int] = {}
    results = []
    for one in shown:
        mark = fingerprint(one)
        seen[mark] = seen.get(mark, 0) + 1
        results.append(_result(one, rules.index(one.id), mark if seen[mark] == 1 else f"{mark}:{seen[mark]}"))
    described = [_rule(examples[check]) for check in rules]
    return _document(command, described, results, {"executionSuccessful": True})


def failure_sarif(command: str, errors: Iterable[Problem]) -> str:
    """Return the SARIF document of a run that could not do its work."""
    notices = [
        {"level": "error", "descriptor": {"id": one.code}, "message": {"text": _sentence(one)}} for one in errors
    ]
    invocation = {"executionSuccessful": False, "toolExecutionNotifications": notices}
    return _document(command, [], [], invocation)


def _document(
    command: str, rules: list[dict[str, Any]], results: list[dict[str, Any]], invocation: dict[str, Any]
) -> str:
    driver: dict[str, Any] = {"name": "tunectl", "semanticVersion": __version__, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"tunectl/{command}"},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": results,
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False) + "\n"


def _rule(one: Finding) -> dict[str, Any]:
    """Return the rule of a check. That of a setting has no page in the catalogue: it is told by a finding of it."""
    document = CHECKS.get(one.id) or CheckDoc(f"{one.setting or one.id} is as the tier wants it", one.why, one.remedy)
    parts = [document.why, document.remedy, f"Source: {document.source}" if document.source else ""]
    return {
        "id": one.id,
        "shortDescription": {"text": document.title},
        "fullDescription": {"text": document.why or document.title},
        "help": {"text": "\n".join(part for part in parts if part) or document.title},
    }


def _result(one: Finding, index: int, mark: str) -> dict[str, Any]:
    fails = one.verdict is Verdict.FAIL
    return {
        "ruleId": one.id,
        "ruleIndex": index,
        "kind": _KINDS[one.verdict],
        "level": _LEVELS[one.severity] if fails else "none",
        "message": {"text": f"{one.subject}: {one.message}. {one.remedy}".strip()},
        "locations": [_location(one)],
        "partialFingerprints": {_FINGERPRINT: mark},
    }


def _location(one: Finding) -> dict[str, Any]:
    logical = {"name": one.subject, "kind": "resource", "fullyQualifiedName": _qualified(one)}
    physical = _physical(one.asked_in)
    return {**({"physicalLocation": physical} if physical else {}), "logicalLocations": [logical]}


def _qualified(one: Finding) -> str:
    return f"{one.subject}:{one.setting}" if one.setting else one.subject


def _physical(origin: Origin) -> dict[str, Any]:
    """Return file and place; nothing for texts that are no files."""
    if not origin.line or origin.file in ("", _STREAM):
        return {}
    region = {"startLine": origin.line, **({"startColumn": origin.column} if origin.column else {})}
    return {"artifactLocation": {"uri": _uri(origin.file)}, "region": region}


def _uri(file: str) -> str:
    path = PurePath(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def fingerprint(one: Finding) -> str:
    """Return what stays the same when lines move and values change: of check, object and field."""
    text = f"{one.id}\n{one.subject}\n{one.setting}"
    return hashlib.sha256(text.encode()).hexdigest()


def _sentence(one: Problem) -> str:
    return ": ".join(part for part in (one.where, one.what, one.why) if part)
