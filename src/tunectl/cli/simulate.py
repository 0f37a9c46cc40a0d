"""`tunectl simulate`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import click

from tunectl.adapters.topology_files import load_topology
from tunectl.app.simulate import (
    Simulated,
    Target,
    fill_node,
    pods_of,
    restart_live,
    simulate_pods,
    target_from_topology,
    targets_from_snapshots,
)
from tunectl.app.tiers import search_dirs
from tunectl.cli import complete
from tunectl.cli.inventory import named_inventory
from tunectl.cli.options import command
from tunectl.cli.planning import platform_of, snapshots_of, tier_of
from tunectl.cli.session import Session
from tunectl.core.errors import InputError, problem
from tunectl.core.kubelet.pod import Pod
from tunectl.core.tier import Tier
from tunectl.planning.manifests import Manifests, read_manifests
from tunectl.planning.tier_file import load_tier
from tunectl.view.simulation import comparison_text, simulation_text
from tunectl.view.simulation_html import simulation_html
from tunectl.view.simulation_json import simulation_result


@dataclass(frozen=True)
class _Asked:
    """What was asked for. Shape: `pods` is None where the pods of the nodes themselves are meant."""

    manifests: Manifests
    pods: Sequence[Pod] | None
    fill: bool
    restart: bool


@command(
    "simulate",
    kind="Simulation",
    formats=("table", "json", "yaml", "html"),
    options=("tier", "where", "snapshot", "platform"),
)
@click.option("--pods", "pods", multiple=True, metavar="FILE", help="Manifests; repeatable; - is stdin.")
@click.option(
    "--topology",
    metavar="NAME|SHAPE|FILE",
    shell_complete=complete.machines,
    help="A machine instead of nodes: a name of `tunectl lab machines`, a shape like 2s32c2t, or a file.",
)
@click.option(
    "--compare",
    metavar="NAME|FILE",
    shell_complete=complete.tiers,
    help="A second tier on the same pods, beside the first; --set is for the first.",
)
@click.option("--fill", is_flag=True, help="How many copies of the pod fit? The manifests must hold one workload.")
@click.option(
    "--restart",
    is_flag=True,
    help="Restart the kubelet afterwards; without --pods, over what runs on the nodes now.",
)
def simulate(  # noqa: PLR0913  one parameter an option
    session: Session, *, pods: tuple[str, ...], topology: str | None, compare: str | None, fill: bool, restart: bool
) -> int:
    """Admit pods on the planned node: which CPUs each container gets, or why it is refused.

    Exit code: 0 every pod is admitted, 3 some are refused or killed or the kubelet does not start, 5 a node's
    checkpoint could not be looked at.
    """
    asked = _asked(pods, fill=fill, restart=restart)
    _check(session, asked, topology)
    tiers = [tier_of(session)]
    if compare:
        tiers.append(load_tier(compare, search_dirs(named_inventory(session))))
    targets = _targets(session, tiers[0], asked, topology)
    runs = [_run(tier, target, asked) for tier in tiers for target in targets(tier)]
    result = simulation_result(runs, asked.manifests)
    text = comparison_text if compare else simulation_text
    return session.emit(
        result,
        {
            "table": lambda screen: text(runs, asked.manifests, screen, fill=fill),
            "html": lambda _: simulation_html(runs, asked.manifests),
        },
    )


def _asked(files: tuple[str, ...], *, fill: bool, restart: bool) -> _Asked:
    manifests = read_manifests(files)
    return _Asked(manifests, pods_of(manifests.workloads) if files else None, fill, restart)


def _targets(session: Session, first: Tier, asked: _Asked, topology: str | None) -> Callable[[Tier], list[Target]]:
    """Return what makes the targets of a tier; nodes are read once."""
    platform = platform_of(session)
    if topology:
        machine = load_topology(topology)
        return lambda tier: [target_from_topology(tier, topology, machine, platform)]
    snapshots = snapshots_of(session, first.pool_name)
    return lambda tier: targets_from_snapshots(tier, snapshots, platform, each=asked.pods is None)


def _run(tier: Tier, target: Target, asked: _Asked) -> Simulated:
    if asked.pods is None:
        return restart_live(tier, target)
    if asked.fill:
        return fill_node(tier, target, asked.pods[0])
    return simulate_pods(tier, target, asked.pods, restart=asked.restart)


def _check(session: Session, asked: _Asked, topology: str | None) -> None:
    where = session.where
    if topology and (where.snapshots or where.nodes or where.pool):
        why = "--topology describes a machine, --snapshot, --node and --pool choose nodes"
        raise _refused("a machine and nodes were named", "--topology", why, "leave one of them out")
    if asked.fill and asked.restart:
        raise _refused(
            "--fill and --restart were both asked for", "--fill", "they are two questions", "ask one of them"
        )
    if asked.pods is None:
        if not asked.restart or topology:
            why = "only a restart of nodes that run can do without: it takes the pods that are there"
            raise _refused("no pods were named", "--pods", why, "--pods FILE, or --restart without --topology")
        return
    if not asked.pods:
        skipped = ", ".join(name for name, _ in asked.manifests.skipped) or "nothing that makes pods"
        raise _refused(
            "the manifests make no pods", "--pods", f"they hold {skipped}", "name pods or workloads", "TUN-1804"
        )
    if asked.fill and len(asked.manifests.workloads) != 1:
        names = ", ".join(f"{one.kind}/{one.name}" for one in asked.manifests.workloads[:6])
        raise _refused("--fill takes one workload", "--pods", f"the manifests hold {names}", "name one of them")


def _refused(what: str, where: str, why: str, fix: str, code: str = "TUN-1808") -> InputError:
    return InputError((problem(code, what, where=where, why=why, fix=fix),))
