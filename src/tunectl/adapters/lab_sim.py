"""Simulated nodes: each is a directory tree that stands for a machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tunectl.app.lab import NodeSpec
from tunectl.lab.tree import build_tree


class Trees:
    """Builds directory trees. They are always there: nothing is to be started or stopped."""

    def build(self, draft: Path, place: Path, specs: Sequence[NodeSpec]) -> dict[str, Any]:  # noqa: ARG002
        """Make a tree a node; nothing more is to be said about them."""
        for spec in specs:
            tree = draft / "nodes" / spec.name
            tree.mkdir(parents=True)
            build_tree(tree, spec.machine, profile=spec.profile, name=spec.name)
        return {}

    def start(self, place: Path, data: Mapping[str, Any]) -> None:
        """Do nothing."""

    def stop(self, place: Path, data: Mapping[str, Any]) -> None:
        """Do nothing."""

    def cut(self, place: Path, node: Mapping[str, Any]) -> bool:  # noqa: ARG002
        """Return that there is no power to take."""
        return False

    def is_running(self, place: Path, node: Mapping[str, Any]) -> bool:  # noqa: ARG002
        """Return that a directory is always there."""
        return True

    def shell(self, place: Path, node: Mapping[str, Any]) -> Sequence[str]:  # noqa: ARG002
        """Return nothing: a directory needs no command."""
        return ()
