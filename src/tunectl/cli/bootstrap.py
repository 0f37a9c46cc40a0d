"""`tunectl bootstrap preflight|kubeadm|openshift`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from tunectl.app.bootstrap import PHASES, PREFLIGHT, TUNING, PhaseResult, chosen_phases
from tunectl.app.bootstrap import bootstrap as do
from tunectl.app.tiers import search_dirs
from tunectl.cli.bootstrap_openshift import openshift
from tunectl.cli.confirm import confirm_changes
from tunectl.cli.inventory import named_inventory
from tunectl.cli.options import command
from tunectl.cli.session import Session
from tunectl.core.errors import InputError, problem
from tunectl.core.jsonform import to_json
from tunectl.view.bootstrap import bootstrap_items, bootstrap_text, phase_line, preflight_text
from tunectl.view.envelope import Result

_PHASE = click.Choice(PHASES)


@click.group("bootstrap", context_settings={"help_option_names": ["-h", "--help"]})
def bootstrap() -> None:
    """Make a cluster of bare machines, its nodes in their tiers from the first start."""


bootstrap.add_command(openshift)


def _cluster_options(body: Callable[..., Any]) -> Callable[..., Any]:
    options = (
        click.option("--tier", "tiers", multiple=True, metavar="POOL=TIER", help="The tier of a pool; repeatable."),
        click.option(
            "--accept", multiple=True, metavar="CHECK", help="A preflight check not to insist on; repeatable."
        ),
    )
    for option in reversed(options):
        body = option(body)
    return body


@command("preflight", kind="Preflight", options=("inventory",), parent=bootstrap)
@_cluster_options
def preflight(session: Session, *, tiers: tuple[str, ...], accept: tuple[str, ...]) -> int:
    """Say whether the machines of an inventory can become a kubeadm cluster. Changes nothing.

    Exit code 4: something forbids it. 5: something could not be looked at.
    """
    phases = _phases(session, tiers, accept)
    result = do((PREFLIGHT,), phases, lambda _: None, lambda: None)
    (phase,) = result.phases
    if phase.problems and not phase.findings:
        _raise(phase)
    document = Result(
        "Preflight",
        exit_code=result.exit_code,
        summary={"machines": phase.machines, "fit": phase.good},
        items=[to_json(finding) for finding in phase.findings],
        errors=phase.problems,
        simulated=phase.simulated,
    )
    code = session.emit(document, {"table": lambda screen: preflight_text(phase.findings, screen)})
    if phase.good:
        session.next_step(f"tunectl bootstrap kubeadm -i {session.where.inventory or 'INVENTORY'}")
    return code


@command("kubeadm", kind="Run", options=("inventory",), parent=bootstrap)
@_cluster_options
@click.option("--from", "start", type=_PHASE, help="Begin with this phase.")
@click.option("--until", "end", type=_PHASE, help="End with this phase.")
@click.option(
    "--skip", "skipped", type=click.Choice(PHASES[1:]), multiple=True, help="Leave this phase out; repeatable."
)
@click.option("-y", "--yes", is_flag=True, help="Answer the question with yes; nothing else is skipped.")
def kubeadm(  # noqa: PLR0913  the options of the command
    session: Session,
    *,
    tiers: tuple[str, ...],
    accept: tuple[str, ...],
    start: str | None,
    end: str | None,
    skipped: tuple[str, ...],
    yes: bool,
) -> int:
    """Make a kubeadm cluster of the machines of an inventory, phase by phase.

    Finished phases are checked, not done again; an interrupted one goes on. No machine is ever reset. The groups
    kube_control_plane and kube_workers and the variables tunectl_kube_* describe the cluster.
    """
    chosen = chosen_phases(start, end, skipped)
    phases = _phases(session, tiers, accept)

    def told(result: PhaseResult) -> None:
        session.say(phase_line(result, session.talk_screen))

    def confirm() -> None:
        todo = ", ".join(name for name in chosen if name != PREFLIGHT)
        confirm_changes(session, f"This makes a cluster: {todo}", yes=yes)

    result = do(chosen, phases, told, confirm)
    document = Result(
        "Run",
        exit_code=result.exit_code,
        summary={"state": result.state, "phases": {one.phase: one.state for one in result.phases}},
        items=bootstrap_items(result),
        errors=tuple(item for one in result.phases for item in one.problems),
        simulated=any(one.simulated for one in result.phases),
    )
    code = session.emit(document, {"table": lambda screen: bootstrap_text(result, screen)})
    for one in result.phases:
        for item in one.problems:
            session.say(f"{item.where}: {item.what}: {item.why} [{item.code}]\n    fix   {item.fix}")
    if result.exit_code:
        session.next_step("the same command again goes on where this one stopped")
    return code


def _raise(phase: PhaseResult) -> None:
    raise InputError(phase.problems, phase.note or "Nothing was changed.")


def _phases(session: Session, tiers: Sequence[str], accept: Sequence[str]) -> Any:
    from tunectl.adapters.bootstrap_phases import PlaybookPhases  # noqa: PLC0415  the help does without Ansible

    inventory = named_inventory(session)
    if inventory is None:
        raise InputError(
            (
                problem(
                    "TUN-1931",
                    "a bootstrap needs an inventory",
                    where="-i",
                    why="there are no machines without one, and simulated nodes cannot become a cluster",
                    fix="-i INVENTORY, with the groups kube_control_plane and kube_workers",
                ),
            )
        )
    variables: dict[str, Any] = {"tunectl_preflight_accept": list(accept)} if accept else {}
    return PlaybookPhases(
        inventory,
        run_dir=Path.cwd() / ".tunectl" / "bootstrap",
        tiers=dict(_pair(text) for text in tiers),
        tier_dirs=[str(path) for path in search_dirs(inventory)],
        tune=_tuner(session),
        forks=int(session.settings["forks"]),
        verbosity=3 if session.debug else 0,
        variables=variables,
    )


def _pair(text: str) -> tuple[str, str]:
    pool, equals, tier = text.partition("=")
    if not pool or not equals or not tier:
        raise InputError(
            (
                problem(
                    "TUN-1932",
                    "a tier of a pool is written POOL=TIER",
                    where=f"--tier {text}",
                    why="there is no pool, no = or no tier",
                    fix="--tier hpc-massive=hpc-massive",
                ),
            )
        )
    return pool, tier


def _tuner(session: Session) -> Callable[..., PhaseResult]:
    """Return what applies the machine part of a tier to machines that are no nodes yet."""
    from tunectl.adapters.run_store import FolderRuns  # noqa: PLC0415  the help does without Ansible
    from tunectl.app.apply import apply_plan  # noqa: PLC0415
    from tunectl.app.nodes import Selection  # noqa: PLC0415
    from tunectl.cli.inventory import ansible_nodes  # noqa: PLC0415
    from tunectl.planning.pool import plan_pool  # noqa: PLC0415
    from tunectl.planning.tier_file import load_tier  # noqa: PLC0415
    from tunectl.ports import CommitOptions  # noqa: PLC0415

    def tune(pool: str, name: str, bare: Sequence[Any]) -> PhaseResult:
        nodes = ansible_nodes(session)
        tier = load_tier(name, search_dirs(named_inventory(session)))
        members = nodes.snapshots(Selection(pool=pool).pool, ())
        allowed = {one.node for one in bare}
        machines = [one for one in members if one.node in allowed]
        left = len(members) - len(machines)
        note = f"{left} in the cluster already: tunectl apply changes those" if left else ""
        if not machines:
            return PhaseResult(TUNING, "unchanged", len(members), note=note)
        plan = plan_pool(tier, machines, machine_only=True)
        done = apply_plan(
            plan,
            machines,
            writer=nodes,
            store=FolderRuns(Path.cwd()),
            confirm=lambda _: None,
            on_event=lambda _: None,
            options=CommitOptions(),
        )
        changed = tuple(node.node for node in (done.run.nodes if done.run else ()) if node.state == "changed")
        problems = tuple(item for found in done.problems.values() for item in found) or _differing(done)
        state = "failed" if done.exit_code else ("ok" if changed else "unchanged")
        simulated = any(one.simulated for one in machines)
        return PhaseResult(TUNING, state, len(members), changed, note, problems, simulated=simulated)

    return tune


def _differing(done: Any) -> tuple[Any, ...]:
    return tuple(
        problem("TUN-3502", f"{one.id}: {one.message}", where=one.subject, why=one.why, fix=one.remedy)
        for one in done.findings
        if one.verdict.value == "fail" and done.exit_code
    )
