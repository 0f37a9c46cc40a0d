"""A plan as a page, and as markdown for a pull request."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from tunectl.app.plan import Alike, Planned
from tunectl.core.desired import Setting
from tunectl.core.findings import Finding, Verdict
from tunectl.core.plan import PoolPlan
from tunectl.view import html
from tunectl.view.cpumap import ROLES, map_cpus
from tunectl.view.cpumap_svg import map_svg
from tunectl.view.cpumap_text import map_text
from tunectl.view.findings import by_weight, merged
from tunectl.view.plan import (
    PRICES,
    ChangeRow,
    alternative_command,
    change_rows,
    partition_sets,
    price_text,
    value_text,
    wanted_text,
)
from tunectl.view.quantities import plural
from tunectl.view.screen import Screen

_SEVERITY_ROLES = {"critical": "bad", "warning": "attention", "info": "dim"}


def plan_html(planned: Planned, started_at: str) -> str:
    """Return the page: the split and its picture, price, changes, findings, every setting with its reason."""
    plan = planned.plan
    subtitle = f"plan {plan.id}, pool {plan.pool}, {plural(len(plan.nodes), 'node')}, {started_at}"
    body = [f"<p><b>Price:</b> {escape(price_text(plan))}</p>"]
    for alike in planned.alike:
        body += _alike(alike, plan)
    body += [*_changes(plan), *_findings(plan), *_settings(plan)]
    return html.page(f"Plan of tier {plan.tier}", subtitle, body, simulated=planned.simulated)


def _alike(alike: Alike, plan: PoolPlan) -> Iterator[str]:
    names = ", ".join(node.node for node in alike.nodes)
    yield f"<h2>{escape(names)}</h2>"
    yield html.definitions(
        [
            *(
                (ROLES[role][1], f"{cpus.format()} ({plural(len(cpus), 'CPU')})")
                for role, cpus in partition_sets(alike.partition).items()
            ),
            *(("why", reason) for reason in alike.partition.reasons),
        ]
    )
    yield map_svg(map_cpus(alike.topology, alike.partition), f"CPUs of {names}")
    for alternative in alike.alternatives:
        yield '<div class="card"><h3>A better split</h3>'
        yield html.definitions(
            [
                ("reserved", alternative.reserved.format()),
                ("isolated", alternative.isolated.format()),
                ("why", alternative.reason),
                ("try", alternative_command(alternative, plan.tier)),
            ]
        )
        yield "</div>"


def _changes(plan: PoolPlan) -> Iterator[str]:
    rows = change_rows(plan)
    yield f"<h2>{plural(len(rows), 'change')}</h2>"
    titles = ["", "Setting", "Nodes", "Price", "Now", "Wanted", "Why"]
    yield html.table(titles, [_change(row) for row in rows])


def _change(row: ChangeRow) -> list[str]:
    change = row.change
    nodes = f'<span title="{escape(", ".join(row.nodes))}">{len(row.nodes)}</span>'
    place = f" <span class=dim>{escape(str(change.asked_in))}</span>" if change.asked_in.file else ""
    return [
        escape(change.kind.value),
        html.mono(change.setting),
        nodes,
        escape(PRICES[change.impact]),
        html.mono(row.now),
        html.mono(wanted_text(change)),
        escape(change.why) + place,
    ]


def _findings(plan: PoolPlan) -> Iterator[str]:
    for finding, subjects in merged(by_weight(_open(plan))):
        role = _SEVERITY_ROLES[finding.severity.value]
        yield f'<div class="card"><h3>{html.mark(finding.severity.value, role)} {escape(finding.id)}</h3>'
        yield html.definitions(
            [
                ("what", finding.message),
                ("on", ", ".join(subjects)),
                ("why", finding.why),
                ("fix", finding.remedy),
                ("asked in", str(finding.asked_in)),
            ]
        )
        yield "</div>"


def _open(plan: PoolPlan) -> list[Finding]:
    return [one for one in plan.all_findings if one.verdict in (Verdict.FAIL, Verdict.UNKNOWN)]


def _settings(plan: PoolPlan) -> Iterator[str]:
    settings: dict[tuple[str, str], Setting] = {}
    for node in plan.nodes:
        for setting in node.desired.settings:
            settings.setdefault((setting.id, value_text(setting.value)), setting)
    rows = [
        [
            html.mono(setting.id),
            html.mono(value_text(setting.value)),
            escape(setting.why),
            html.mono(str(setting.asked_in)),
        ]
        for setting in settings.values()
    ]
    inner = html.table(["Setting", "Value", "Why", "Asked in"], rows)
    yield f"<details><summary>All {len(rows)} settings of the tier</summary>{inner}</details>"


def plan_markdown(planned: Planned, screen: Screen) -> str:
    """Return the plan as markdown, in the characters of the screen: headline, picture, changes, findings."""
    plan = planned.plan
    label = " (simulated)" if planned.simulated else ""
    lines = [
        f"### Plan `{plan.id}`: tier `{plan.tier}`, pool `{plan.pool}`{label}",
        "",
        f"**Price:** {price_text(plan)}",
        "",
    ]
    for alike in planned.alike:
        lines += _alike_markdown(alike, screen)
    rows = change_rows(plan)
    if rows:
        lines += ["| setting | nodes | price | now | wanted |", "| --- | --- | --- | --- | --- |"]
        lines += [_row_markdown(row) for row in rows]
        lines.append("")
    for finding, subjects in merged(by_weight(_open(plan))):
        lines.append(
            f"- **{finding.severity.value}** `{finding.id}`: {_inline(finding.message)} ({', '.join(subjects)})"
        )
        lines += [f"  - fix: {_inline(finding.remedy)}"] if finding.remedy else []
    return "\n".join(lines).rstrip() + "\n"


def _alike_markdown(alike: Alike, screen: Screen) -> list[str]:
    lines = [f"{', '.join(node.node for node in alike.nodes)}:", ""]
    lines += [
        f"- {ROLES[role][1]} `{cpus}` ({len(cpus)} CPUs)" for role, cpus in partition_sets(alike.partition).items()
    ]
    picture = map_text(map_cpus(alike.topology, alike.partition), Screen(unicode=screen.unicode))
    return [*lines, "", "```text", picture.rstrip("\n"), "```", ""]


def _row_markdown(row: ChangeRow) -> str:
    change = row.change
    cells = [
        _code(change.setting),
        str(len(row.nodes)),
        PRICES[change.impact],
        _code(row.now),
        _code(wanted_text(change)),
    ]
    return "| " + " | ".join(cells) + " |"


def _code(text: str) -> str:
    """Return text as code that cannot leave its table cell."""
    return f"`{text.replace('`', chr(39)).replace('|', '/').replace(chr(10), ' ')}`" if text else ""


def _inline(text: str) -> str:
    return " ".join(text.split()).replace("|", "/")
