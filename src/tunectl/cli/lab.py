"""`tunectl lab up|list|down|shell|power-cut|machines`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from tunectl.adapters.lab_folder import FolderLabs
from tunectl.app import lab as use
from tunectl.cli.options import command
from tunectl.cli.session import Session
from tunectl.core.errors import RefusedError, problem
from tunectl.view.envelope import Result
from tunectl.view.lab import lab_up_text, labs_text, machines_text, nodes_text

_FILE = click.Path(path_type=Path)


@click.group("lab", context_settings={"help_option_names": ["-h", "--help"]})
def lab() -> None:
    """Bring up simulated nodes or virtual machines on this computer, list them, take them down."""


_named = click.option("--name", default=use.DEFAULT_NAME, show_default=True, metavar="NAME", help="Name of the lab.")


def _request_options(body: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which nodes a lab has."""
    options = (
        click.option("--kind", type=click.Choice(use.KINDS), default="sim", show_default=True, help="Kind of nodes."),
        click.option("--count", type=int, metavar="N", help="How many nodes; they take the machines in turn."),
        click.option("--machine", "machines", multiple=True, metavar="NAME", help="A shipped machine; repeatable."),
        click.option("--shape", "shapes", multiple=True, metavar="SHAPE", help="Like 2s32c2t,1s64c2t4n; repeatable."),
        click.option("--snapshot", "snapshots", multiple=True, type=_FILE, help="The machines of a snapshot."),
        click.option("--topology", "topologies", multiple=True, type=_FILE, help="A described machine."),
        click.option("--pool", default="", metavar="NAME", help=f"Pool of the nodes [default: {use.DEFAULT_POOL}]."),
        click.option("--profile", default="", metavar="NAME", help="Their software, like debian12 or ubuntu2404."),
        click.option("--distro", default="", metavar="NAME", help="System of virtual machines: debian12, debian13."),
        click.option("--memory", "memory_mib", type=int, default=0, metavar="MIB", help="MiB a NUMA node of those."),
        click.option("--force", is_flag=True, help="Build the lab anew where it is up."),
    )
    for option in reversed(options):
        body = option(body)
    return body


@command("up", kind="Lab", parent=lab)
@_named
@_request_options
def up(session: Session, **values: Any) -> int:
    """Bring up a lab: six simulated nodes of four real machines, or those that the options name.

    A lab that is up stays as it is; virtual machines of it that are off are started. Everything is below .tunectl/lab
    of this folder. Virtual machines have a kernel, a boot loader and NUMA nodes of their own, under QEMU.
    """
    started = time.monotonic()
    request = use.LabRequest(**values)
    labs = FolderLabs(Path.cwd(), distro=request.distro, memory_mib=request.memory_mib, say=session.say)
    done = use.bring_up(labs, request)
    seconds = time.monotonic() - started
    is_default = done.lab.name == use.DEFAULT_NAME
    summary = {"name": done.lab.name, "created": done.created, "nodes": len(done.lab.nodes)}
    summary = {**summary, "started": list(done.started), "inventory": str(done.lab.inventory)}
    result = _result("Lab", [done.lab], summary)

    def table(screen: Any) -> str:
        return lab_up_text(done, screen, seconds=seconds, is_default=is_default)

    code = session.emit(result, {"table": table})
    where = "" if is_default else f" -i {done.lab.inventory}"
    session.next_step(f"tunectl plan --tier {done.lab.nodes[0].pool}{where}")
    return code


@command("list", kind="LabList", parent=lab)
def list_(session: Session) -> int:
    """List the labs of this folder."""
    labs = use.list_labs(FolderLabs(Path.cwd()))
    code = session.emit(
        _result("LabList", labs, {"labs": len(labs)}), {"table": lambda screen: labs_text(labs, screen)}
    )
    if not labs:
        session.next_step("tunectl lab up")
    return code


@command("machines", kind="MachineList", parent=lab)
def machines(session: Session) -> int:
    """List the machines that a lab can be built of."""
    known = FolderLabs(Path.cwd()).machines()
    result = Result("MachineList", summary={"machines": len(known)}, items=known)
    return session.emit(result, {"table": lambda screen: machines_text(known, screen)})


@command("down", kind="Lab", parent=lab)
@_named
def down(session: Session, name: str) -> int:
    """Remove a lab with its nodes. What was learned from it, the runs and plans, stays."""
    gone = use.take_down(FolderLabs(Path.cwd()), name)
    summary = {"name": gone.name, "removed": True, "nodes": len(gone.nodes)}
    result = Result("Lab", summary=summary, simulated=gone.is_simulated)
    text = f"lab {gone.name!r} is gone with its {nodes_text(gone)}\n"
    return session.emit(result, {"table": lambda screen: screen.text(text)})


@command("power-cut", kind="Lab", parent=lab)
@click.argument("node")
@_named
def power_cut(session: Session, node: str, name: str) -> int:
    """Take the power from a virtual machine, as a cut would. `tunectl lab up` boots it again from its disk."""
    cut, ran = use.cut_power(FolderLabs(Path.cwd()), name, node)
    text = f"{cut.name} has lost its power\n" if ran else f"{cut.name} was off already\n"
    result = Result("Lab", summary={"name": name, "node": cut.name, "ran": ran})
    code = session.emit(result, {"table": lambda screen: screen.text(text)})
    session.next_step("tunectl lab up" if name == use.DEFAULT_NAME else f"tunectl lab up --name {name}")
    return code


@command("shell", kind="LabShell", formats=(), parent=lab)
@click.argument("node")
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
@_named
def shell(session: Session, node: str, words: tuple[str, ...], name: str) -> int:
    """Open a shell on a NODE, or run a COMMAND there: over SSH on a virtual machine, in the tree of a simulated one.

    Exit code: that of the shell or the command.
    """
    labs = FolderLabs(Path.cwd())
    found = use.find_node(labs, name, node)
    remote = labs.shell(name, node)
    if remote:
        return _remote_shell(found, [*remote, *words])
    environment = {**os.environ, "TUNECTL_LAB_NODE": found.name}
    if words:
        return subprocess.call(words, cwd=found.root, env=environment)  # noqa: S603
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise RefusedError(
            (
                problem(
                    "TUN-3602",
                    "a shell needs a terminal",
                    where=f"lab shell {node}",
                    why="standard input or output is none",
                    fix=f"cd {found.root}",
                ),
            )
        )
    session.say(f"{found.name} is simulated: this shell runs here, in the directory tree that stands for the node.")
    return subprocess.call([os.environ.get("SHELL", "/bin/sh")], cwd=found.root, env=environment)  # noqa: S603


def _remote_shell(node: use.LabNode, command: Sequence[str]) -> int:
    if not node.is_running:
        fix = "tunectl lab up boots the machines of a lab that are off"
        raise RefusedError((problem("TUN-3603", f"{node.name} is off", where=f"lab shell {node.name}", fix=fix),))
    return subprocess.call(list(command))  # noqa: S603


def _result(kind: str, labs: Sequence[use.Lab], summary: dict[str, Any]) -> Result:
    items = [
        {
            "lab": one.name,
            "kind": one.kind,
            "node": node.name,
            "pool": node.pool,
            "machine": node.machine,
            "profile": node.profile,
            "cpus": node.cpus,
            "numaNodes": node.numa_nodes,
            "memoryKib": node.memory_kib,
            "root": str(node.root),
            "state": "running" if node.is_running else "off",
            "sshPort": node.ssh_port or None,
        }
        for one in labs
        for node in one.nodes
    ]
    return Result(kind, summary=summary, items=items, simulated=all(one.is_simulated for one in labs))
