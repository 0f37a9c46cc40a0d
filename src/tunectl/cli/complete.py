"""What shells complete: tiers, nodes, saved plans, checks. Files only, nothing is contacted; never an error."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

Names = Callable[[click.Context], Iterator[str]]
_INI_HOST = re.compile(r"^(?![\[;#\s])([^\s=]+)(?:\s|$)")


def _completer(names: Names) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        del param
        try:
            found = dict.fromkeys(name for name in names(ctx) if name.startswith(incomplete))
        except Exception:  # noqa: BLE001  a shell that completes must not be disturbed by a broken file
            return []
        return [CompletionItem(name) for name in found]

    return complete


def _tiers(ctx: click.Context) -> Iterator[str]:
    from tunectl.app.tiers import search_dirs  # noqa: PLC0415  needed by shells only
    from tunectl.planning.tier_file import tier_files  # noqa: PLC0415  needed by shells only

    yield from sorted(tier_files(search_dirs(_inventory(ctx))))


def _nodes(ctx: click.Context) -> Iterator[str]:
    path = _inventory(ctx)
    if path is None or not path.is_file():
        return
    text = path.read_text(encoding="utf-8")
    if path.suffix in (".yaml", ".yml"):
        import yaml  # noqa: PLC0415  needed by shells only

        for group in (yaml.safe_load(text) or {}).values():
            yield from _hosts(group or {})
        return
    section = ""
    for line in text.splitlines():
        section = line.strip() if line.startswith("[") else section
        match = _INI_HOST.match(line)
        if match and not section.endswith((":vars]", ":children]")):
            yield match.group(1)


def _hosts(group: dict[str, Any]) -> Iterator[str]:
    yield from group.get("hosts") or {}
    for child in (group.get("children") or {}).values():
        yield from _hosts(child or {})


def _inventory(ctx: click.Context) -> Path | None:
    named = ctx.params.get("inventory") or os.environ.get("TUNECTL_INVENTORY")
    if named:
        return Path(named)
    usual = [Path("inventories") / name for name in ("hosts.yaml", "hosts.yml", "hosts.ini", "hosts")]
    return next((path for path in [*usual, Path(".tunectl/lab/default/hosts.yaml")] if path.is_file()), None)


def _plans(_ctx: click.Context) -> Iterator[str]:
    from tunectl.adapters.plan_files import saved_ids  # noqa: PLC0415  needed by shells only

    yield from saved_ids(Path.cwd())


def _checks(_ctx: click.Context) -> Iterator[str]:
    from tunectl.core.check_catalogue import CHECKS  # noqa: PLC0415  needed by shells only

    yield from CHECKS


def _machines(_ctx: click.Context) -> Iterator[str]:
    from tunectl.lab.machines import machine_names  # noqa: PLC0415  needed by shells only

    yield from machine_names()


def _words(_ctx: click.Context) -> Iterator[str]:
    from tunectl.app.explain import names  # noqa: PLC0415  needed by shells only

    yield from names()


tiers = _completer(_tiers)
nodes = _completer(_nodes)
plans = _completer(_plans)
checks = _completer(_checks)
machines = _completer(_machines)
words = _completer(_words)
