"""The commands, as data: their modules are imported only when they are used."""

from __future__ import annotations

import difflib
import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


@dataclass(frozen=True)
class Entry:
    """One command: where it is and what the help says about it."""

    name: str
    group: str
    help: str

    @property
    def module(self) -> str:
        """The module that holds the command, under the command's own name."""
        return f"tunectl.cli.{self.name}"


COMMANDS = (
    Entry("doctor", "Understand", "Check this computer, the inventory and the settings."),
    Entry("inspect", "Understand", "Show the CPUs, NUMA nodes and current tuning of nodes."),
    Entry("snapshot", "Understand", "Save what a plan and a verification need from nodes."),
    Entry("tier", "Understand", "List, show, check, compare and create tiers."),
    Entry("simulate", "Understand", "Admit pods on the planned node: who gets which CPUs, who is refused."),
    Entry("validate", "Understand", "Say whether a kubelet starts on a configuration, and which line keeps it."),
    Entry("audit", "Understand", "Tell from manifests what pods will be to the kubelet, and what is wrong."),
    Entry("explain", "Understand", "Explain a setting, check, error code or tier field."),
    Entry("render", "Change", "Write the manifests and files that a tier means."),
    Entry("plan", "Change", "Compare nodes with a tier; show the price; save the plan."),
    Entry("apply", "Change", "Apply a tier, or a saved plan, and verify each node."),
    Entry("rollback", "Change", "Return nodes to the generation before."),
    Entry("verify", "Prove", "Check every setting of a tier on its nodes."),
    Entry("status", "Prove", "One line a node: tier, generation, drift, reboot pending."),
    Entry("history", "Prove", "List what was done to the nodes, by which run."),
    Entry("bootstrap", "Build", "Make a cluster of bare machines, its nodes in their tiers."),
    Entry("lab", "Build", "Bring up simulated nodes or virtual machines on this computer."),
    Entry("completion", "Tool", "Print the completion script of a shell."),
    Entry("schema", "Tool", "Print the JSON schema of a document."),
    Entry("version", "Tool", "Print the version."),
)

_BY_NAME = {entry.name: entry for entry in COMMANDS}


class LazyGroup(click.Group):
    """The top command. Its help comes from the table alone."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        del ctx
        return [entry.name for entry in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command and return the command; None for an unknown name."""
        del ctx
        entry = _BY_NAME.get(cmd_name)
        if entry is None:
            return None
        command = getattr(importlib.import_module(entry.module), entry.name)
        if not isinstance(command, click.Command):
            raise TypeError(f"{entry.module}.{entry.name} is not a command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a command; an unknown one is a usage error that names the nearest."""
        name = args[0]
        if not name.startswith("-") and name not in _BY_NAME:
            near = difflib.get_close_matches(name, _BY_NAME, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else " `tunectl --help` lists the commands."
            raise click.UsageError(f"There is no command {name!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands that begin so, without importing any of them, and the options."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415  needed by shells only

        names = [CompletionItem(entry.name, help=entry.help) for entry in COMMANDS if entry.name.startswith(incomplete)]
        return names + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by group, without importing any of them."""
        del ctx
        width = max(len(entry.name) for entry in COMMANDS)
        for group in dict.fromkeys(entry.group for entry in COMMANDS):
            rows = [(entry.name.ljust(width), entry.help) for entry in COMMANDS if entry.group == group]
            with formatter.section(group):
                formatter.write_dl(rows)
