"""The flags that say how nodes are drained."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from tunectl.ports import DrainOptions

_FLAGS = (
    click.option("--kubeconfig", type=click.Path(), default="", help="The cluster of the nodes, as for kubectl."),
    click.option("--context", "kube_context", default="", help="The context of the kubeconfig."),
    click.option(
        "--drain",
        type=click.Choice(("auto", "never")),
        default="auto",
        help="Drain nodes of a cluster before a change that ends their pods, or leave that to you.",
    ),
    click.option(
        "--drain-timeout",
        type=click.IntRange(min=0),
        default=0,
        help="Seconds that a drain may take, disruption budgets without room included; 0 refuses those.",
    ),
    click.option("--delete-emptydir-data", is_flag=True, help="Agree to lose data in emptyDir volumes."),
    click.option("--force", is_flag=True, help="Agree to lose pods that belong to no controller."),
)


def drain_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the flags of a drain, as keyword arguments."""
    for flag in reversed(_FLAGS):
        function = flag(function)
    return function


def drain_asked(given: Mapping[str, Any]) -> DrainOptions:
    """Return what the flags ask for; a kubeconfig is named from the directory that the command was started in."""
    kubeconfig = str(given["kubeconfig"] or "")
    return DrainOptions(
        mode=str(given["drain"]),
        kubeconfig=str(Path(kubeconfig).expanduser().absolute()) if kubeconfig else "",
        context=str(given["kube_context"] or ""),
        timeout_s=int(given["drain_timeout"]),
        delete_emptydir_data=bool(given["delete_emptydir_data"]),
        force=bool(given["force"]),
    )
