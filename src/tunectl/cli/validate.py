"""`tunectl validate`."""

from __future__ import annotations

from pathlib import Path

import click

from tunectl.adapters.kubelet_files import read_checkpoints, read_config_file, read_dropins
from tunectl.adapters.topology_files import load_topology
from tunectl.app.validate import (
    Judged,
    Validation,
    Written,
    parse_flags,
    parse_version,
    validate_files,
    validate_node,
    validate_plan,
    validate_tier,
)
from tunectl.cli.options import command
from tunectl.cli.planning import platform_of, snapshots_of, tier_of
from tunectl.cli.session import Session
from tunectl.core.errors import InputError, problem
from tunectl.core.kubelet.node import Flavor
from tunectl.view.validation import validation_junit, validation_result, validation_text

_PATH = click.Path(path_type=Path)


@command(
    "validate",
    kind="Validation",
    formats=("table", "json", "yaml", "junit"),
    options=("tier", "where", "snapshot", "platform"),
)
@click.argument("file", type=_PATH, required=False)
@click.option("--drop-in", "dropins", type=_PATH, metavar="DIR", help="The directory that --config-dir names.")
@click.option("--flags", metavar="TEXT", help="The kubelet's flags, as in KUBELET_EXTRA_ARGS.")
@click.option("--topology", metavar="NAME|SHAPE|FILE", help="A machine instead of nodes.")
@click.option("--kubelet-version", "version", metavar="X.Y", help="The kubelet's release.")
@click.option("--flavor", type=click.Choice([one.value for one in Flavor]), help="Whose kubelet it is.")
@click.option("--checkpoints", type=_PATH, metavar="DIR", help="Where cpu_manager_state and memory_manager_state are.")
def validate(  # noqa: PLR0913  one parameter an option
    session: Session,
    *,
    file: Path | None,
    dropins: Path | None,
    flags: str | None,
    topology: str | None,
    version: str | None,
    flavor: str | None,
    checkpoints: Path | None,
) -> int:
    """Does a kubelet start on FILE, on what nodes have, or on what a tier makes of them? Nothing is changed.

    Exit code: 0 it starts, 3 it does not start or would do damage, 2 a file cannot be read.
    """
    if flags is not None:
        parse_flags(flags)
    written = Written(
        main=read_config_file(file) if file is not None else None,
        dropins=read_dropins(dropins) if dropins is not None else None,
        flags=flags,
        checkpoints=read_checkpoints(checkpoints) if checkpoints is not None else None,
        version=parse_version(version) if version is not None else None,
        flavor=Flavor(flavor) if flavor is not None else None,
    )
    result = Validation(tuple(_judge(session, written, topology)))
    code = session.emit(
        validation_result(result),
        {
            "table": lambda screen: validation_text(result, screen),
            "junit": lambda _: validation_junit(result),
        },
    )
    if code:
        session.next_step("tunectl explain CHECK says more about a check")
    return code


def _judge(session: Session, written: Written, topology: str | None) -> list[Judged]:
    machine = load_topology(topology) if topology else None
    platform = platform_of(session)
    if session.tier.name:
        _refuse_beside_a_tier(written)
        tier = tier_of(session)
        if machine is not None and topology:
            return [validate_tier(tier, machine, topology, platform, written.version)]
        return [validate_plan(tier, one, platform) for one in snapshots_of(session, tier.pool_name)]
    if machine is not None or (written.main is not None and not _names_nodes(session)):
        name = topology or (written.main.name if written.main is not None else "kubelet")
        return [validate_files(written, machine, name)]
    return [validate_node(written, one, platform) for one in snapshots_of(session, None)]


def _names_nodes(session: Session) -> bool:
    where = session.where
    by_flag = session.settings.values["inventory"].source.startswith("flag")
    return bool(by_flag or where.snapshots or where.nodes or where.pool)


def _refuse_beside_a_tier(written: Written) -> None:
    parts = {
        "FILE": written.main,
        "--drop-in": written.dropins,
        "--flags": written.flags,
        "--checkpoints": written.checkpoints,
    }
    given = [name for name, value in parts.items() if value is not None]
    if given:
        what = f"{' and '.join(given)} cannot be named beside a tier"
        why = "a tier is judged with the files, flags and checkpoints that its nodes have"
        raise InputError((problem("TUN-1813", what, where="--tier", why=why, fix="leave one of the two out"),))
