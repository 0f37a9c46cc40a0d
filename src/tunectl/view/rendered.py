"""Rendered files for people: the tree of files, and what each of them is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from tunectl.app.render import Rendered, RenderedFile
from tunectl.view.quantities import plural
from tunectl.view.screen import Screen


def rendered_text(rendered: Sequence[Rendered], screen: Screen, *, verbose: bool = False) -> str:
    """Return the tree of files of each tier; with `verbose` their contents too."""
    return "\n".join(_tier_text(one, screen, verbose=verbose) for one in rendered)


def rendered_items(rendered: Sequence[Rendered]) -> list[dict[str, Any]]:
    """Return one object a file for the document; `nodes` are those that the file is for, all of the pool when empty."""
    return [
        {
            "tier": one.tier,
            "pool": one.pool,
            "path": file.path,
            "what": file.what,
            "nodes": list(one.trees.get(_tree_of(file, one), ())),
            "content": file.content,
        }
        for one in rendered
        for file in one.files
    ]


def _tier_text(rendered: Rendered, screen: Screen, *, verbose: bool) -> str:
    seen = f"{plural(len(rendered.nodes), 'node')} looked at" if rendered.nodes else "no node looked at"
    simulated = "   simulated" if rendered.simulated else ""
    lines = [f"tier {rendered.tier} for pool {rendered.pool}   {rendered.platform.value}   {seen}{simulated}", ""]
    for tree, files in groupby(rendered.files, key=lambda file: _tree_of(file, rendered)):
        if tree:
            lines.append(f"  {screen.paint(tree, 'strong')}/   for {', '.join(rendered.trees[tree])}")
        lines += [line for file in files for line in _file_lines(file, tree, screen, verbose=verbose)]
    return screen.text("\n".join(lines)) + "\n"


def _tree_of(file: RenderedFile, rendered: Rendered) -> str:
    """Return the directory of the node files that a file belongs to, `` for the others."""
    return next((tree for tree in rendered.trees if file.path.startswith(f"{tree}/")), "")


def _file_lines(file: RenderedFile, tree: str, screen: Screen, *, verbose: bool) -> Iterator[str]:
    indent = "    " if tree else "  "
    yield indent + screen.paint(file.path.removeprefix(f"{tree}/") if tree else file.path, "strong")
    yield f"{indent}  {screen.paint(file.what, 'dim')}"
    if verbose:
        yield from (f"{indent}  | {line}".rstrip() for line in file.content.splitlines())
