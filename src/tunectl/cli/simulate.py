"""`tunectl simulate`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tunectl.adapters.topology_files import load_topology
from tunectl.app.simulate import (
    Simulated,
    Target,
    fill_node,
    pods_of,
    simulate_pods,
    target_from_topology,
    targets_from_snapshots,
)
from tunectl.app.tiers import search_dirs
from tunectl.cli.options import command
from tunectl.cli.planning import platform_of, snapshots_of, tier_of
from tunectl.cli.session import Session
from tunectl.core.errors import InputError, problem
from tunectl.core.kubelet.pod import Pod
from tunectl.core.tier import Tier
from tunectl.planning.manifests import Manifests, read_manifests
from tunectl.planning.tier_file import load_tier
from tunectl.view.simulation import comparison_text, simulation_html, simulation_result, simulation_text


@command(
    "simulate",
    kind="Simulation",
    formats=("table", "json", "yaml", "html"),
    options=("tier", "where", "snapshot", "platform"),
)
@click.option("--pods", "pods", multiple=True, required=True, metavar="FILE", help="Manifests; repeatable; - is stdin.")
@click.option("--topology", metavar="NAME|SHAPE|FILE", help="A machine instead of nodes.")
@click.option("--compare", metavar="NAME|FILE", help="A second tier, on the same pods, beside the first.")
@click.option("--fill", is_flag=True, help="How many copies of the pod fit? The manifests must hold one pod.")
@click.option("--restart", is_flag=True, help="Restart the kubelet afterwards: which running pods would it refuse?")
def simulate(  # noqa: PLR0913  one parameter an option
    session: Session, *, pods: tuple[str, ...], topology: str | None, compare: str | None, fill: bool, restart: bool
) -> int:
    """Admit pods on the planned node: which CPUs each container gets, or why it is refused.

    Exit code: 0 every pod is admitted, 3 some are refused or the kubelet does not start.
    """
    manifests = read_manifests(pods)
    asked = pods_of(manifests.workloads)
    _check(manifests, asked, fill=fill)
    tiers = [tier_of(session)]
    if compare:
        tiers.append(load_tier(compare, search_dirs(session.where.inventory)))
    runs = [
        _run(tier, target, asked, fill=fill, restart=restart)
        for tier in tiers
        for target in _targets(session, tier, tiers[0], topology)
    ]
    result = simulation_result(runs, manifests)
    return session.emit(
        result,
        {
            "table": lambda screen: (comparison_text if compare else simulation_text)(runs, manifests, screen),
            "html": lambda _: simulation_html(runs, manifests),
        },
    )


def _targets(session: Session, tier: Tier, first: Tier, topology: str | None) -> list[Target]:
    if topology:
        return [target_from_topology(tier, topology, load_topology(topology), platform_of(session))]
    return targets_from_snapshots(tier, snapshots_of(session, first.pool_name), platform_of(session))


def _run(tier: Tier, target: Target, pods: Sequence[Pod], *, fill: bool, restart: bool) -> Simulated:
    if fill:
        return fill_node(tier, target, pods[0])
    return simulate_pods(tier, target, pods, restart=restart)


def _check(manifests: Manifests, pods: Sequence[Pod], *, fill: bool) -> None:
    if not pods:
        skipped = ", ".join(name for name, _ in manifests.skipped) or "nothing"
        raise _refused("the manifests make no pods", f"they hold {skipped}", "name files with pods or workloads")
    if fill and len(manifests.workloads) != 1:
        raise _refused("--fill takes one pod", f"the manifests make {len(pods)}", "name a manifest with one workload")


def _refused(what: str, why: str, fix: str) -> InputError:
    return InputError((problem("TUN-1804", what, where="--pods", why=why, fix=fix),))
