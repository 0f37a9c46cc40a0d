"""`tunectl plan`."""

from __future__ import annotations

from pathlib import Path

import click

from tunectl.adapters.plan_files import SavedPlan
from tunectl.app.plan import Planned, refuse_dearer
from tunectl.cli.options import command
from tunectl.cli.planning import keep_plan, planned_for
from tunectl.cli.session import Session
from tunectl.core.desired import Impact
from tunectl.view.envelope import worst
from tunectl.view.plan import plan_text
from tunectl.view.plan_diff import plan_diff
from tunectl.view.plan_html import plan_html, plan_markdown
from tunectl.view.plan_json import plan_result
from tunectl.view.screen import Screen

_IMPACTS = click.Choice([impact.value for impact in Impact if impact is not Impact.NONE])
_FILE = click.Path(path_type=Path)


@command(
    "plan",
    kind="PlanReport",
    formats=("table", "json", "yaml", "html", "markdown", "diff"),
    options=("tier", "where", "snapshot", "platform"),
)
@click.option("--out", type=_FILE, metavar="FILE", help="Save the plan there instead of .tunectl/plans/.")
@click.option("--diff", "with_diff", is_flag=True, help="Also show what changes in each file.")
@click.option("--max-impact", type=_IMPACTS, help="Refuse a plan that needs a dearer step.")
@click.option("--detailed-exitcode", is_flag=True, help="Exit with 3 when something is to be changed.")
def plan(
    session: Session, *, out: Path | None, with_diff: bool, max_impact: str | None, detailed_exitcode: bool
) -> int:
    """Compare nodes with a tier, show what would change at which price, and save the plan.

    Nothing is changed on any node. `tunectl apply ID` does exactly what the plan says, or refuses.
    """
    planned = planned_for(session)
    saved = keep_plan(planned.plan, out)
    if max_impact is not None:
        refuse_dearer(planned.plan, Impact(max_impact))
    code = worst([4 if planned.plan.blocked else 0, 3 if detailed_exitcode and planned.plan.changed else 0])
    session.emit(
        plan_result(planned, saved.path, saved.sha256, code),
        {
            "table": lambda screen: _text(planned, saved, session, screen, with_diff=with_diff),
            "html": lambda _: plan_html(planned, session.started_at),
            "markdown": lambda screen: plan_markdown(planned, screen),
            "diff": lambda screen: plan_diff(planned, screen),
        },
    )
    if planned.plan.changed and not planned.plan.blocked:
        session.next_step(f"tunectl apply {out or planned.plan.id}")
    return code


def _text(planned: Planned, saved: SavedPlan, session: Session, screen: Screen, *, with_diff: bool) -> str:
    text = plan_text(planned, screen, verbose=session.verbose > 0)
    if with_diff:
        text += "\n" + plan_diff(planned, screen)
    return text + f"saved    {saved.path}   sha256 {saved.sha256[:12]}\n"
