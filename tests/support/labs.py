"""Simulated nodes for tests."""

from pathlib import Path

from tunectl.core.machine import topology_from_facts
from tunectl.core.snapshot import Snapshot
from tunectl.core.sysfs import read_topology
from tunectl.core.topology import Topology
from tunectl.lab.machines import parse_shape
from tunectl.lab.tree import build_tree

__all__ = ["node_tree", "snapshot_of", "text_of", "topology_of_tree"]


def node_tree(root: Path, shape: str = "2s4c2t", profile: str = "debian12") -> Path:
    """Build the tree of a small node and return its root."""
    build_tree(root, parse_shape(shape), profile=profile)
    return root


def snapshot_of(root: Path) -> Snapshot:
    """Read a tree as a node is read."""
    # The reader is a part of the collection: it is imported by that name.
    from ansible_collections.tunectl.node.plugins.module_utils.snapshot_reader import read_snapshot  # noqa: PLC0415

    taken = read_snapshot(str(root), root.name)
    return Snapshot.from_json(taken.to_json())


def topology_of_tree(root: Path) -> Topology:
    """Return the topology that a tree shows."""
    return read_topology(snapshot_of(root))


def topology_of_shape(shape: str) -> Topology:
    """Return the topology of a shape."""
    return topology_from_facts(parse_shape(shape))


def text_of(root: Path, path: str) -> str:
    """Return the stripped text of a file of a tree."""
    return (root / path.lstrip("/")).read_text().strip()
