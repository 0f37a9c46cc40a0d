"""A plan for people: the split and its picture, the changes with price and reason, the findings, a better split."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tunectl.app.plan import Alike, Planned
from tunectl.core.alternatives import Alternative
from tunectl.core.cpuset import CpuSet
from tunectl.core.desired import Impact, Partition, Setting
from tunectl.core.findings import Origin
from tunectl.core.plan import Change, ChangeKind, PoolPlan
from tunectl.view.cpumap import ROLES, map_cpus
from tunectl.view.cpumap_text import map_text
from tunectl.view.findings import findings_lines
from tunectl.view.quantities import plural
from tunectl.view.screen import Screen
from tunectl.view.table import Cell, Column, Row, cpu_list, labelled, table_lines

PRICES = {
    Impact.REBOOT: "reboot",
    Impact.DRAIN: "drain, kubelet restart",
    Impact.RESTART: "kubelet restart",
    Impact.LIVE: "live",
    Impact.NONE: "nothing to do",
}
_SIGNS = {ChangeKind.ADD: ("+", "good"), ChangeKind.CHANGE: ("~", "attention"), ChangeKind.REMOVE: ("-", "bad")}
_MOST_NAMES = 6


@dataclass(frozen=True)
class ChangeRow:
    """One setting that changes on some nodes; `now` is what they have, joined where they differ."""

    change: Change
    nodes: tuple[str, ...]
    now: str


def change_rows(plan: PoolPlan) -> list[ChangeRow]:
    """Return the changes of all nodes by setting and wanted value, the dearest first, then in rendering order."""
    groups: dict[tuple[str, str | None, Impact], list[tuple[str, Change]]] = {}
    for node in plan.nodes:
        for change in node.changes:
            groups.setdefault((change.setting, change.wanted, change.impact), []).append((node.node, change))
    rows = []
    for members in groups.values():
        found = dict.fromkeys(now_text(change) for _, change in members)
        now = next(iter(found)) if len(found) == 1 else f"{len(found)} values"
        rows.append(ChangeRow(members[0][1], tuple(name for name, _ in members), now))
    return sorted(rows, key=lambda row: -row.change.impact.rank)


def plan_text(planned: Planned, screen: Screen, *, verbose: bool = False, reasons: bool = True) -> str:
    """Return the whole plan; without `reasons` each change is one line."""
    plan = planned.plan
    lines = [_headline(plan, screen, simulated=planned.simulated), ""]
    for alike in planned.alike:
        lines += _alike_lines(alike, plan, screen, verbose=verbose)
        lines.append("")
    lines += _changes_lines(plan, screen, verbose=verbose, reasons=reasons)
    findings = findings_lines(plan.all_findings, screen)
    if findings:
        lines += ["", *findings]
    for alike in planned.alike:
        for alternative in alike.alternatives:
            lines += ["", *_alternative_lines(alternative, plan, screen)]
    return "\n".join([*lines, "", *_closing_lines(plan, screen)]) + "\n"


def plan_summary_text(plan: PoolPlan, screen: Screen, *, verbose: bool = False) -> str:
    """Return the changes and the price alone, for the question before an apply."""
    lines = [_headline(plan, screen, simulated=any(node.simulated for node in plan.nodes)), ""]
    changes = _changes_lines(plan, screen, verbose=verbose, reasons=verbose)
    return "\n".join([*lines, *changes, "", *_closing_lines(plan, screen)])


def _headline(plan: PoolPlan, screen: Screen, *, simulated: bool) -> str:
    left = f"plan {plan.id}   tier {plan.tier} → pool {plan.pool}, {plural(len(plan.nodes), 'node')}"
    right = "simulated" if simulated else ""
    gap = max(3, screen.width - len(left) - len(right)) if right else 0
    return screen.paint(screen.text(left), "strong") + " " * gap + screen.paint(right, "attention")


def _alike_lines(alike: Alike, plan: PoolPlan, screen: Screen, *, verbose: bool) -> list[str]:
    lines = []
    names = [node.node for node in alike.nodes]
    if len(names) < len(plan.nodes):
        lines += labelled("nodes", _names(names), screen, 0, 11)
    sets = partition_sets(alike.partition)
    if not sets and not verbose:  # a picture of equal dots tells nothing
        count = plural(len(alike.topology.online), "CPU")
        return [*lines, *labelled("CPUs", f"{count}, none is set aside", screen, 0, 11)]
    for role, cpus in sets.items():
        text = f"{cpu_list(cpus.format())}   ({plural(len(cpus), 'CPU')})"
        lines += labelled(ROLES[role][1], text, screen, 0, 11)
    for reason in alike.partition.reasons:
        lines += labelled("why", reason, screen, 0, 11)
    return [*lines, *map_text(map_cpus(alike.topology, alike.partition), screen).splitlines()]


def _names(names: Sequence[str]) -> str:
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    return ", ".join(names[: _MOST_NAMES - 1]) + f" and {len(names) - _MOST_NAMES + 1} more"


def _changes_lines(plan: PoolPlan, screen: Screen, *, verbose: bool, reasons: bool) -> list[str]:
    rows = change_rows(plan)
    lines: list[str] = []
    if rows:
        columns = [
            Column(""),
            Column("CHANGE", elastic=True, least=44),
            Column("NODES", right=True),
            Column("NOW", elastic=True, least=8),
            Column("WANTED", elastic=True, least=12),
        ]
        drawn = table_lines(columns, [_change_cells(row) for row in rows], screen)
        lines.append(drawn[0])
        for index, (row, line) in enumerate(zip(rows, drawn[1:], strict=True)):
            if index == 0 or rows[index - 1].change.impact is not row.change.impact:
                lines.append("  " + screen.paint(PRICES[row.change.impact], "strong"))
            lines.append(line)
            if reasons:
                lines += _reason_lines(row.change.why, row.change.asked_in, screen)
    return [*lines, *_right_lines(plan, screen, verbose=verbose)]


def _change_cells(row: ChangeRow) -> Row:
    sign, role = _SIGNS[row.change.kind]
    name = row.change.setting.removeprefix("runtime.")  # what is left is a path, which says it all
    return [Cell(sign, role), Cell(name, "strong"), str(len(row.nodes)), row.now, wanted_text(row.change)]


def now_text(change: Change) -> str:
    """Return what a change starts from, as people write it; of two maps only what differs."""
    now, _ = _differing(change)
    return "-" if now is None else readable(now) or '""'


def wanted_text(change: Change) -> str:
    """Return what a change leads to, as people write it; of two maps only what differs."""
    _, wanted = _differing(change)
    return "-" if wanted is None else readable(wanted) or "set"


def _differing(change: Change) -> tuple[str | None, str | None]:
    try:
        now, wanted = json.loads(change.now or ""), json.loads(change.wanted or "")
    except ValueError:
        return change.now, change.wanted
    if not (isinstance(now, dict) and isinstance(wanted, dict)):
        return change.now, change.wanted
    keys = [key for key in (*wanted, *(key for key in now if key not in wanted)) if now.get(key) != wanted.get(key)]
    return _some(now, keys), _some(wanted, keys)


def _some(fields: dict[str, object], keys: Sequence[str]) -> str | None:
    kept = {key: fields[key] for key in keys if key in fields}
    return json.dumps(kept) if kept else None


def readable(text: str) -> str:
    """Return a value for people: a bare flag as `set`, JSON as key=value, all else as it is."""
    if text[:1] in ("{", "["):
        try:
            return value_text(json.loads(text))
        except ValueError:
            return text
    return text


def place_text(origin: Origin) -> str:
    """Return where a value was asked for, short: the file's name and the line."""
    name = origin.file.rpartition("/")[2]
    return f"{name}:{origin.line}" if origin.line else name


def _reason_lines(why: str, asked_in: Origin, screen: Screen) -> Iterator[str]:
    place = f" ({place_text(asked_in)})" if asked_in.file else ""
    for line in labelled("", f"{why}{place}", screen, 0, 5) if why or place else []:
        yield screen.paint(line, "dim")


def _right_lines(plan: PoolPlan, screen: Screen, *, verbose: bool) -> list[str]:
    matching = [node.matching for node in plan.nodes]
    if not any(matching):
        return []
    least, most = min(matching), max(matching)
    count = f"{most}" if least == most else f"{least} to {most}"
    noun = "setting is" if most == 1 else "settings are"
    more = "" if verbose else " (-v lists them)"
    lines = [f"  = {count} {noun} already right{' on each node' if len(matching) > 1 else ''}{more}"]
    if verbose:
        for setting in _untouched(plan):
            lines.append(f"  = {setting.id}: {value_text(setting.value)}")
            lines += _reason_lines(setting.why, setting.asked_in, screen)
    return lines


def _untouched(plan: PoolPlan) -> list[Setting]:
    changed = {change.setting for node in plan.nodes for change in node.changes}
    settings = {setting.id: setting for node in plan.nodes for setting in node.desired.settings}
    return [setting for setting in settings.values() if setting.id not in changed]


def value_text(value: object) -> str:
    """Return a wanted value as one line: text as it is, a flag as `set`, maps as key=value, memory by NUMA node."""
    if value is None:
        return "set"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict) and set(value) == {"numaNode", "limits"}:
        return f"node {value['numaNode']} {value_text(value['limits'])}"
    if isinstance(value, dict):
        return " ".join(f"{key}={value_text(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return "; ".join(value_text(item) for item in value)
    return str(value)


def alternative_command(alternative: Alternative, tier: str) -> str:
    """Return the command that plans with the better split."""
    sets = f"--set cpu.reserved={alternative.reserved} --set cpu.isolated={alternative.isolated}"
    return f"tunectl plan --tier {tier} {sets}"


def _alternative_lines(alternative: Alternative, plan: PoolPlan, screen: Screen) -> list[str]:
    lines = [screen.paint("a better split", "strong")]
    lines += labelled(
        "reserved", f"{cpu_list(alternative.reserved.format())}   ({len(alternative.reserved)} CPUs)", screen
    )
    lines += labelled(
        "isolated", f"{cpu_list(alternative.isolated.format())}   ({len(alternative.isolated)} CPUs)", screen
    )
    lines += labelled("why", alternative.reason, screen)
    # Broken where a shell takes it up again, so that it can be copied whatever its length.
    parts = alternative_command(alternative, plan.tier).split(" --set ")
    command = [f"{parts[0]} \\", *(f"  --set {part} \\" for part in parts[1:-1]), f"  --set {parts[-1]}"]
    lines.append(f"  {screen.paint('try', 'dim')}      {command[0]}")
    return [*lines, *(" " * 11 + line for line in command[1:])]


def _closing_lines(plan: PoolPlan, screen: Screen) -> list[str]:
    lines = [f"price    {price_text(plan)}"]
    if plan.blocked:
        count = sum(finding.blocks for finding in plan.all_findings)
        lines.append(screen.paint(f"refused  {plural(count, 'critical finding')}: apply will not do this plan", "bad"))
    return [screen.text(line) for line in lines]


def price_text(plan: PoolPlan) -> str:
    """Return what the plan costs, in nodes."""
    counts = {impact: sum(node.impact is impact for node in plan.changed) for impact in PRICES}
    words = {
        Impact.REBOOT: ("reboots", "reboot"),
        Impact.DRAIN: ("is drained and restarts its kubelet", "are drained and restart their kubelets"),
        Impact.RESTART: ("restarts its kubelet", "restart their kubelets"),
        Impact.LIVE: ("changes live", "change live"),
    }
    parts = [
        f"{plural(count, 'node')} {words[impact][count > 1]}"
        for impact, count in counts.items()
        if count and impact in words
    ]
    return ", ".join(parts) or "nothing: every node already runs the tier"


def partition_sets(partition: Partition) -> dict[str, CpuSet]:
    """Return the sets of a partition that are not empty, by role."""
    return {role: getattr(partition, role) for role in ROLES if getattr(partition, role, None)}
