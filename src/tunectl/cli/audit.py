"""`tunectl audit`."""

from __future__ import annotations

import click

from tunectl.adapters.topology_files import load_topology
from tunectl.app.audit import AuditRequest, audit_manifests, correct, tier_with_machines
from tunectl.app.simulate import target_from_topology, targets_from_snapshots
from tunectl.app.tiers import search_dirs
from tunectl.cli import complete
from tunectl.cli.inventory import named_inventory
from tunectl.cli.options import command
from tunectl.cli.planning import platform_of, snapshots_of, tier_of
from tunectl.cli.session import Session
from tunectl.core.audit.context import HEAVY_CPUS, AuditTier
from tunectl.core.errors import InputError, problem
from tunectl.core.findings import Severity
from tunectl.core.quantity import parse_bytes
from tunectl.core.sysfs import read_topology
from tunectl.core.tier import Tier
from tunectl.planning.manifests import Manifests, read_manifests
from tunectl.planning.tier_file import load_tier
from tunectl.view.audit import (
    audit_junit,
    audit_result,
    audit_sarif,
    audit_text,
    correction_diff,
    left_lines,
)


@command(
    "audit",
    kind="Audit",
    formats=("table", "json", "yaml", "sarif", "junit"),
    options=("tier", "where", "snapshot", "platform"),
)
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option(
    "--with",
    "others",
    multiple=True,
    metavar="NAME|FILE",
    help="A further tier; each pod is judged by the one it selects; repeatable.",
    shell_complete=complete.tiers,
)
@click.option("--topology", metavar="NAME|SHAPE|FILE", help="A machine of the tiers instead of nodes.")
@click.option("--node-memory", metavar="QUANTITY", help="Memory of a machine, like 64Gi, for the OOM scores.")
@click.option(
    "--heavy-cpus",
    type=click.IntRange(1),
    default=HEAVY_CPUS,
    show_default=True,
    metavar="N",
    help="From how many CPUs an application counts as heavy.",
)
@click.option(
    "--fail-on",
    type=click.Choice([severity.value for severity in Severity]),
    default=Severity.WARNING.value,
    show_default=True,
    help="From which severity on findings make the exit code 3.",
)
@click.option("--fix", is_flag=True, help="Print the corrected manifests as a unified diff; no file is written.")
def audit(  # noqa: PLR0913  one parameter an option
    session: Session,
    *,
    files: tuple[str, ...],
    others: tuple[str, ...],
    topology: str | None,
    node_memory: str | None,
    heavy_cpus: int,
    fail_on: str,
    fix: bool,
) -> int:
    """Tell what pods will be to the kubelet, and what is wrong with them, from their manifests.

    FILE is a manifest, a directory of them, or - for standard input. Exit code: 0 nothing at or above --fail-on was
    found, 3 something was, 5 something could not be judged.
    """
    manifests = read_manifests(files)
    _check(manifests, files)
    tiers = _tiers(session, others, topology)
    memory = _memory(session, node_memory, topology, judged=bool(tiers))
    request = AuditRequest(tiers, memory, heavy_cpus, Severity(fail_on))
    result = audit_manifests(manifests, request)
    correction = correct(manifests, request) if fix else None
    code = session.emit(
        audit_result(result, manifests, request.fail_on, correction),
        {
            "table": lambda screen: (
                audit_text(result, manifests, screen, request.fail_on, verbose=session.verbose > 0)
                if correction is None
                else correction_diff(correction)
            ),
            "sarif": lambda _: audit_sarif(result),
            "junit": lambda _: audit_junit(result),
        },
    )
    if correction is not None:
        left = left_lines(correction, result, session.talk_screen)
        if left:
            session.say(left)
    return code


def _check(manifests: Manifests, files: tuple[str, ...]) -> None:
    if manifests.workloads:
        return
    held = ", ".join(name for name, _ in manifests.skipped[:6]) or "nothing"
    fix = "name files with pods, or with objects that make them"
    what = "the manifests make no pods"
    raise InputError((problem("TUN-1804", what, where=" ".join(files), why=f"they hold {held}", fix=fix),))


def _tiers(session: Session, others: tuple[str, ...], topology: str | None) -> tuple[AuditTier, ...]:
    """Return the tiers that were named, with machines where some were named too."""
    if not session.tier.name:
        if others:
            why = "--with names a further tier"
            raise InputError((problem("TUN-1015", "no tier was named", where="--tier", why=why, fix="--tier NAME"),))
        return ()
    search = search_dirs(named_inventory(session))
    tiers = [tier_of(session), *(load_tier(name, search) for name in others)]
    return tuple(_with_machines(session, tier, topology) for tier in tiers)


def _with_machines(session: Session, tier: Tier, topology: str | None) -> AuditTier:
    platform, where = platform_of(session), session.where
    if topology:
        targets = [target_from_topology(tier, topology, load_topology(topology), platform)]
    elif where.inventory or where.snapshots or where.nodes or where.pool:
        targets = targets_from_snapshots(tier, snapshots_of(session, tier.pool_name), platform)
    else:
        targets = []
    return tier_with_machines(tier, targets, platform)


def _memory(session: Session, text: str | None, topology: str | None, *, judged: bool) -> int:
    """Return the machine memory that was named, in bytes; 0 leaves it to the machines of the tiers."""
    if text:
        return max(0, parse_bytes(text, "--node-memory"))
    if judged or not (topology or session.where.snapshots):
        return 0
    machine = load_topology(topology) if topology else read_topology(snapshots_of(session, None)[0])
    return sum(node.memory_kib for node in machine.numa_nodes) * 1024
