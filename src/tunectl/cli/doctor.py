"""`tunectl doctor`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from tunectl.adapters.inventory import inventory_groups
from tunectl.app.doctor import Surroundings, examine
from tunectl.app.settings import SETTINGS
from tunectl.cli.options import command
from tunectl.cli.session import Session
from tunectl.core.findings import Finding, Verdict, count_verdicts
from tunectl.core.jsonform import to_json
from tunectl.view.envelope import Result
from tunectl.view.findings import VERDICTS, totals_line
from tunectl.view.screen import Screen
from tunectl.view.table import Cell, Column, Row, labelled, table_lines

_CANDIDATES = ("hosts.yaml", "hosts.yml", "hosts.ini", "hosts")


@command("doctor", kind="Doctor", options=("where",))
@click.option("--settings", "show_settings", is_flag=True, help="List every setting with its value and source.")
def doctor(session: Session, *, show_settings: bool) -> int:
    """Check this computer, the inventory and the settings."""
    if show_settings:
        return _settings(session)
    around = Surroundings(Path.cwd(), _inventory(session), inventory_groups, os.environ.get("PATH", os.defpath))
    findings = examine(around)
    counts = count_verdicts(findings)
    result = Result(
        "Doctor",
        exit_code=3 if counts[Verdict.FAIL] else 0,
        summary={verdict.value: count for verdict, count in counts.items()},
        items=[to_json(finding) for finding in findings],
    )
    code = session.emit(result, {"table": lambda screen: _text(findings, screen)})
    if code == 0:
        session.next_step("tunectl plan --tier hpc-massive")
    return code


def _inventory(session: Session) -> Path | None:
    if session.where.inventory is not None:
        return session.where.inventory
    return next((path for name in _CANDIDATES if (path := Path("inventories") / name).is_file()), None)


def _text(findings: tuple[Finding, ...], screen: Screen) -> str:
    lines = []
    for finding in findings:
        sign, role = VERDICTS[finding.verdict]
        lines.append(f"  {screen.paint(screen.text(sign.ljust(9)), role)}  {finding.message}")
        if finding.verdict is not Verdict.PASS:
            parts = (("why", finding.actual), ("fix", finding.remedy))
            lines += [line for label, text in parts if text for line in labelled(label, text, screen, 13, 5)]
    return "\n".join([*lines, "", "  " + totals_line(findings, screen)]) + "\n"


def _settings(session: Session) -> int:
    values = session.settings.values
    items = [
        {
            "name": one.name,
            "value": values[one.name].text,
            "source": values[one.name].source,
            "variable": one.variable,
            "default": one.default,
            "help": one.help,
        }
        for one in SETTINGS
    ]

    def draw(screen: Screen) -> str:
        columns = [Column("SETTING"), Column("VALUE", elastic=True), Column("SOURCE", elastic=True), Column("VARIABLE")]
        rows: list[Row] = [
            [Cell(item["name"], "strong"), item["value"] or "(empty)", item["source"], item["variable"]]
            for item in items
        ]
        return "\n".join(table_lines(columns, rows, screen)) + "\n"

    return session.emit(Result("Doctor", summary={"settings": len(items)}, items=items), {"table": draw})
