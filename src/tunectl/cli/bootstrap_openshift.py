"""`tunectl bootstrap openshift`."""

from __future__ import annotations

from pathlib import Path

import click

from tunectl.adapters.install_dir import write_manifests
from tunectl.app.render import needs_nodes, render_tiers
from tunectl.app.tiers import search_dirs
from tunectl.cli.options import command
from tunectl.cli.planning import snapshots_of, tier_of
from tunectl.cli.session import Session
from tunectl.core.desired import Platform
from tunectl.planning.tier_file import load_tier
from tunectl.view.envelope import Result
from tunectl.view.quantities import plural


@command("openshift", kind="Manifests", options=("tier", "inventory", "snapshot"))
@click.option(
    "--install-dir",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The directory of openshift-install, after its `create manifests`.",
)
@click.option("--with", "others", multiple=True, metavar="NAME|FILE", help="Write this tier too; repeatable.")
def openshift(session: Session, *, install_dir: Path, others: tuple[str, ...]) -> int:
    """Write the manifests of a tier into the directory of openshift-install, so that nodes have it at first boot.

    Run it between `openshift-install create manifests` and `create ignition-configs` or `create cluster`. Files of
    others are never touched; a second run changes nothing.
    """
    tiers = [tier_of(session), *(load_tier(name, search_dirs(session.where.inventory)) for name in others)]
    looks = bool(session.where.inventory or session.where.snapshots)
    snapshots = {
        tier.name: snapshots_of(session, tier.pool_name)
        for tier in tiers
        if looks or needs_nodes(tier, Platform.OPENSHIFT)
    }
    rendered = render_tiers(tiers, snapshots, Platform.OPENSHIFT)
    files = {
        f"99_tunectl-{one.tier}-{Path(file.path).name}": file.content for one in rendered for file in one.manifests
    }
    change = write_manifests(install_dir, files)
    items = [
        {"path": f"openshift/{name}", "state": state}
        for state, names in (("written", change.written), ("unchanged", change.unchanged), ("removed", change.removed))
        for name in names
    ]
    result = Result(
        "Manifests",
        summary={"tiers": [tier.name for tier in tiers], "files": len(files), "written": len(change.written)},
        items=items,
        simulated=any(one.simulated for one in rendered),
    )
    lines = [f"  {item['state'].ljust(10)} {install_dir}/{item['path']}" for item in items]
    said = f"{plural(len(change.written), 'file')} written, {len(change.unchanged)} unchanged"
    text = "\n".join([*lines, said]) + "\n"
    code = session.emit(result, {"table": lambda screen: screen.text(text)})
    session.next_step(f"openshift-install create cluster --dir {install_dir}")
    return code
