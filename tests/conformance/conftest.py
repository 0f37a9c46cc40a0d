"""Shows at the end of a run how many recorded answers of the real programs were compared, and how many differ."""

from __future__ import annotations

import inspect
from collections.abc import Generator

import pytest
from support.conformance import PROPERTY, begin, counted, oracles_of, table

_CASE_NAMES = ("case", "path", "captured")


def pytest_runtest_setup(item: pytest.Item) -> None:
    begin(item.user_properties)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    del call
    report = yield
    callspec = getattr(item, "callspec", None)
    module = getattr(item, "module", None)
    is_case = callspec is not None and any(name in callspec.params for name in _CASE_NAMES)
    if report.when == "call" and is_case and module is not None and callspec is not None:
        oracles = oracles_of(module, inspect.getsource(module))
        if len(oracles) == 1:
            report.user_properties.append((PROPERTY, {"oracle": oracles[0], "case": callspec.id}))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [
        (report.user_properties, kind == "failed")
        for kind in ("passed", "failed")
        for report in terminalreporter.stats.get(kind, ())
        if getattr(report, "when", "") == "call"
    ]
    found = counted(reports)
    if found:
        terminalreporter.section("conformance")
        for line in table(found):
            terminalreporter.write_line(line)
