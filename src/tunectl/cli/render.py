"""`tunectl render`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tunectl.adapters.output_tree import TreeChange, write_tree
from tunectl.app.render import Rendered, needs_nodes, render_tiers
from tunectl.app.tiers import search_dirs
from tunectl.cli.options import command
from tunectl.cli.output import OutputSpec, write_file, write_stdout
from tunectl.cli.planning import platform_of, snapshots_of, tier_of
from tunectl.cli.render_workload import render_workload
from tunectl.cli.session import Session
from tunectl.core.desired import Platform
from tunectl.core.errors import InputError, problem
from tunectl.core.tier import Tier
from tunectl.planning.tier_file import load_tier
from tunectl.render.yaml_text import yaml_stream
from tunectl.view.envelope import Result
from tunectl.view.findings import findings_lines
from tunectl.view.quantities import plural
from tunectl.view.rendered import rendered_items, rendered_text


@command(
    "render",
    kind="Manifests",
    formats=("table", "json", "yaml", "dir"),
    options=("tier", "where", "snapshot", "platform"),
)
@click.option("--with", "others", multiple=True, metavar="NAME|FILE", help="Render this tier too; repeatable.")
@click.option(
    "--workload",
    "workloads",
    multiple=True,
    metavar="FILE",
    help="Write what this manifest lacks to run on the tier instead; repeatable; - is stdin.",
)
def render(session: Session, *, others: tuple[str, ...], workloads: tuple[str, ...]) -> int:
    """Write the manifests (openshift) or the files (kubeadm) that a tier means.

    `-o dir=DIR` writes them into a directory and removes what an earlier run left there; `-o yaml` is a stream for
    `kubectl apply -f -`. No node is contacted for a tier that needs none.

    With `--workload`, the selector, tolerations, spread and anti-affinity that its pods lack are written as a
    strategic-merge patch, with `-o yaml` merged into the manifest, comments and order kept.
    """
    if workloads:
        return render_workload(session, workloads)
    platform = platform_of(session)
    _check_outputs(session.outputs, platform)
    tiers = [tier_of(session), *(load_tier(name, search_dirs(session.where.inventory)) for name in others)]
    looks = _names_nodes(session)
    snapshots = {
        tier.name: snapshots_of(session, tier.pool_name) for tier in tiers if looks or needs_nodes(tier, platform)
    }
    rendered = render_tiers(tiers, snapshots, platform)
    _talk(session, rendered)
    return _emit(session, rendered, tiers)


def _names_nodes(session: Session) -> bool:
    where = session.where
    return bool(where.inventory or where.snapshots or where.nodes or where.pool)


def _check_outputs(specs: Sequence[OutputSpec], platform: Platform) -> None:
    for spec in specs:
        if spec.format == "dir" and spec.target is None:
            raise _bad_output("dir", "a tree of files has no place on stdout", "-o dir=DIR")
        if spec.format == "yaml" and platform is not Platform.OPENSHIFT:
            why = "the files of a node are no manifests that an API server takes"
            raise _bad_output("yaml", why, "-o dir=DIR, or --platform openshift")


def _bad_output(format_name: str, why: str, fix: str) -> InputError:
    return InputError((problem("TUN-1063", f"there is no output {format_name!r} here", where="-o", why=why, fix=fix),))


def _talk(session: Session, rendered: Sequence[Rendered]) -> None:
    for one in rendered:
        lines = findings_lines(one.findings, session.talk_screen)
        if lines:
            session.say("\n".join([f"tier {one.tier}:", *lines]))
        if not one.nodes and one.platform is Platform.OPENSHIFT:
            session.say(f"tier {one.tier}: no node was looked at; name nodes with -i or --snapshot to have it judged")


def _emit(session: Session, rendered: Sequence[Rendered], tiers: Sequence[Tier]) -> int:
    result = Result(
        "Manifests",
        summary={
            "tiers": [tier.name for tier in tiers],
            "platform": rendered[0].platform.value,
            "files": sum(len(one.files) for one in rendered),
            "nodes": sorted({node for one in rendered for node in one.nodes}),
        },
        items=rendered_items(rendered),
        simulated=any(one.simulated for one in rendered),
    )
    own = [spec for spec in session.outputs if spec.format in ("dir", "yaml")]
    for spec in own:
        _write(session, spec, rendered)
    session.outputs = tuple(spec for spec in session.outputs if spec not in own)
    verbose = session.verbose > 0
    return session.emit(result, {"table": lambda screen: rendered_text(rendered, screen, verbose=verbose)})


def _write(session: Session, spec: OutputSpec, rendered: Sequence[Rendered]) -> None:
    if spec.format == "dir" and spec.target is not None:
        files = {file.path: file.content for one in rendered for file in one.files}
        changed = write_tree(spec.target, files)
        session.say(f"{spec.target}: {_summary(changed)}")
        if rendered[0].platform is Platform.OPENSHIFT:
            recursive = " -R" if len(rendered) > 1 else ""
            session.say(f"Next: kubectl apply{recursive} -f {spec.target}")
        return
    text = yaml_stream(file.content for one in rendered for file in one.manifests)
    if spec.target is None:
        write_stdout(text)
    else:
        write_file(spec.target, text)


def _summary(changed: TreeChange) -> str:
    parts = [("written", changed.written), ("unchanged", changed.unchanged), ("removed", changed.removed)]
    return ", ".join(f"{plural(len(paths), 'file')} {word}" for word, paths in parts if paths) or "nothing to write"
