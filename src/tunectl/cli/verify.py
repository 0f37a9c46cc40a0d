"""`tunectl verify`."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

import click

from tunectl.app.verify import Scope, known_failures
from tunectl.app.verify import verify as verify_nodes
from tunectl.cli.complete import checks as check_ids
from tunectl.cli.options import command
from tunectl.cli.planning import platform_of, snapshots_of, tier_of
from tunectl.cli.session import Session
from tunectl.core.errors import InputError, problem
from tunectl.core.findings import Severity
from tunectl.view.report import report_junit, report_result, report_text
from tunectl.view.report_html import report_html
from tunectl.view.sarif import findings_sarif

_FILE = click.Path(path_type=Path)
_LEVELS = click.Choice([severity.value for severity in Severity])


@command(
    "verify",
    kind="Report",
    formats=("table", "json", "yaml", "junit", "sarif", "html"),
    options=("tier", "where", "snapshot", "platform"),
)
@click.option(
    "--check", "checks", multiple=True, metavar="GLOB", help="Only these checks; repeatable.", shell_complete=check_ids
)
@click.option(
    "--skip", "skips", multiple=True, metavar="GLOB", help="Not these checks; repeatable.", shell_complete=check_ids
)
@click.option("--level", type=_LEVELS, default="info", help="Only checks at least this severe.")
@click.option(
    "--fail-on",
    type=click.Choice(("fail", "unknown")),
    default="unknown",
    help="Whether a check that could not look (exit code 5) counts, or failures (3) alone.",
)
@click.option("--baseline", type=_FILE, metavar="FILE", help="A saved JSON report; only new failures count.")
def verify(  # noqa: PLR0913  one parameter an option
    session: Session,
    *,
    checks: tuple[str, ...],
    skips: tuple[str, ...],
    level: str,
    fail_on: str,
    baseline: Path | None,
) -> int:
    """Check every setting of a tier on its nodes. Nothing is changed.

    Exit code: 0 all checks pass or do not apply, 3 some fail, 5 none fails but some could not look.
    """
    scope = Scope(
        checks=checks,
        skips=skips,
        level=Severity(level),
        known=known_failures(_read_report(baseline)) if baseline else frozenset(),
        unknown_fails=fail_on == "unknown",
    )
    tier = tier_of(session)
    report = verify_nodes(tier, snapshots_of(session, tier.pool_name), platform_of(session), scope)
    took_s = time.monotonic() - session.started
    code = session.emit(
        report_result(report),
        {
            "table": lambda screen: report_text(report, screen, took_s, verbose=session.verbose > 0),
            "junit": lambda _: report_junit(report),
            "sarif": lambda _: findings_sarif("verify", report.findings),
            "html": lambda _: report_html(report, session.started_at),
        },
    )
    if code:
        session.next_step(f"tunectl plan --tier {session.tier.name}")
    return code


def _read_report(path: Path) -> Mapping[str, object]:
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise _no_report(path, error.strerror or str(error)) from error
    except (ValueError, RecursionError) as error:
        raise _no_report(path, f"it is not JSON: {error}") from error
    return data if isinstance(data, dict) else {}


def _no_report(path: Path, why: str) -> InputError:
    fix = "save one with: tunectl verify --tier TIER -o json=FILE"
    return InputError((problem("TUN-1013", "the baseline cannot be read", where=str(path), why=why, fix=fix),))
